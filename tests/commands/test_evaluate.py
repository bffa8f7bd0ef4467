"""evaluate.py as a user types it, wrong input included."""

import importlib.util
import itertools
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from agents.policy.model_files import DESCRIPTION_FILE, WEIGHTS_FILE, Model, write_model
from agents.registry import AGENT_NAMES
from gin_env.engine import action_layout
from gin_env.notation.records import read_records
from gin_env.notation.replay import replay_deals
from gin_env.observation import ObservationEncoder
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import PRESETS, Rules
from tests.helpers.paths import ROOT


@pytest.fixture
def evaluate(tmp_path):
    """Run the command in a folder of its own, where its results go."""

    def run(*arguments):
        command = [sys.executable, str(ROOT / "evaluate.py"), *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, timeout=120)

    return run


def match_names(match):
    return [side[0] for side in match["sides"]]


def test_two_agents_make_a_table_and_a_file(evaluate, tmp_path):
    path = tmp_path / "results.json"
    done = evaluate(
        "--agents", "gin-only", "simple", "--preset", "eaai_2p", "--deals", 2000, "--seed", 4, "--json", path
    )
    assert done.returncode == 0, done.stderr
    assert "eaai_2p" in done.stdout
    assert "gin-only v simple" in done.stdout
    assert "swaps" not in done.stdout  # nobody trades in a duel
    written = json.loads(path.read_text())
    (match,) = written["matches"]
    assert match_names(match) == ["gin-only", "simple"]
    assert match["deals"] == 2 * match["pairs"] == 2000
    assert match["points_per_deal"]["low"] > 0
    assert f"{match['points_per_deal']['value']:+.2f}" in done.stdout
    assert written["rules"]["layoff"] == "greedy"
    assert written["seed"] == 4
    assert written["version"]


def test_the_first_plays_each_of_the_others_and_the_same_seed_gives_the_same(evaluate, tmp_path):
    results = []
    for name in ("a.json", "b.json"):
        done = evaluate("--agents", "gold", "simple", "random", "--deals", 200, "--json", tmp_path / name)
        assert done.returncode == 0, done.stderr
        assert "swaps" in done.stdout
        results.append(json.loads((tmp_path / name).read_text()))
    matches = results[0]["matches"]
    assert [match_names(match) for match in matches] == [["gold", "simple"], ["gold", "random"]]
    assert results[0]["rules_name"] == "palace_4p"
    for one, other in zip(matches, results[1]["matches"], strict=True):
        assert one == other


def test_all_pairs_games_and_replaced_rules(evaluate, tmp_path):
    path = tmp_path / "results.json"
    done = evaluate(
        *("--agents", "gold", "simple", "random", "--all-pairs", "--episode", "game", "--deals", 20),
        *("--preset", "classic_2p", "--rule", "target=30", "layoff_on_gin=true", "box_timing=now", "--json", path),
    )
    assert done.returncode == 0, done.stderr
    written = json.loads(path.read_text())
    assert [match_names(match) for match in written["matches"]][2] == ["simple", "random"]
    assert len(written["matches"]) == 3
    assert (written["rules"]["target"], written["rules"]["layoff_on_gin"]) == (30, True)
    assert written["episode"] == "game"


def test_every_deal_of_every_pairing_is_recorded(evaluate, tmp_path):
    done = evaluate(
        *("--agents", "gold", "simple", "gin-only", "--all-pairs", "--preset", "free_for_all_3p", "--seed", 9),
        *("--rule", "catch_glass=on", "--deals", 30, "--record", "all", "--output", "all"),
        *("--json", tmp_path / "results.json"),
    )
    assert done.returncode == 0, done.stderr
    assert "of equal players the first wins one in 3" in " ".join(done.stdout.split())
    records = []
    for name in ("gold_v_simple", "gold_v_gin-only", "simple_v_gin-only"):
        (path,) = (tmp_path / "all" / "records").glob(f"{name}-*.jsonl.gz")
        found, problems = read_records(path)
        assert not problems
        records += found
    matches = json.loads((tmp_path / "results.json").read_text())["matches"]
    for number, match in enumerate(matches):
        first, second = match_names(match)
        played = records[30 * number : 30 * (number + 1)]
        assert Counter(record.agents for record in played) == {
            (first, second, second): 10,
            (second, first, second): 10,
            (second, second, first): 10,
        }
        net = sum(record.net_points[record.agents.index(first)] for record in played)
        assert match["points_per_deal"]["value"] == pytest.approx(net / 30)
        assert {tuple(record.seeds.items()) for record in played} == {(("match", 9),)}
    assert len(records) == 30 * len(matches) == 90
    replay_deals(records)


def test_deals_that_the_first_sits_out_do_not_count(evaluate, tmp_path):
    path = tmp_path / "results.json"
    done = evaluate("--agents", "gold", "gin-only", "--preset", "rotation_3p", "--deals", 300, "--json", path)
    assert done.returncode == 0, done.stderr
    assert "Deals that the first sits out do not count" in " ".join(done.stdout.split())
    (match,) = json.loads(path.read_text())["matches"]
    nobody = match["styles"][0]["dead"]
    assert sum(rate["value"] for rate in match["win_rates"]) == pytest.approx(1 - nobody)
    assert match["styles"][0]["won"] == pytest.approx(match["win_rates"][0]["value"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--agents", "simple"], "at least two agents"),
        (["--agents", "simple", "golt"], "did you mean 'gold'"),
        (["--agents", "simple", "gold", "--preset", "palace"], "did you mean 'palace"),
        (["--agents", "simple", "gold", "--deals", "0"], "--deals 0"),
        (["--agents", "simple", "gold", "--deals", "7"], "even number"),
        (
            ["--agents", "simple", "gold", "--preset", "free_for_all_5p", "--deals", "12"],
            "a multiple of 5 of at least 5",
        ),
        (["--agents", "simple", "gold", "--workers", "0"], "--workers 0"),
        (["--agents", "simple", "gold", "--time-limit", "0"], "--time-limit 0"),
        (["--agents", "simple", "gold", "--precision", "-1"], "--precision -1"),
        (["--agents", "simple", "gold", "simple", "--all-pairs"], "simple is named twice"),
        (["--agents", "simple", "gold", "gold"], "gold is named twice"),
        (["--seats", "a", "b", "c", "d", "--all-pairs"], "--all-pairs is for --agents"),
        (["--agents", "simple", "ablate:gold,offers=none", "--preset", "eaai_2p"], "takes nothing away under eaai_2p"),
        (["--agents", "simple", "ablate:gold,offers=none,offers=random"], "offers is given twice"),
        (["--agents", "simple", "gold", "--seats", "a", "b"], "give one of --agents"),
        (["--seats", "simple", "gold", "simple"], "give 4, one for each seat"),
        (["--agents", "simple", "ablate:gold"], "offers=none"),
        (["--agents", "simple", "ablate:gold,mate=seen"], "mate=seen: must be hidden"),
        (["--benchmark", "two-player-v0", "simple"], "one of two-player-v1, partnership-v1"),
        (["--benchmark", "two-player-v1", "simple", "--deals", "10"], "--deals: is fixed"),
        (["cross-play", "--agents", "simple"], "name 2 agents or more"),
        (["cross-play", "--agents", "simple", "gold", "--preset", "eaai_2p"], "no partners sit together"),
        (["ablations", "--agents", "simple", "gold", "--untraded", "never-trade"], "give 2, one for each agent"),
        (["crosplay", "--agents", "simple"], "did you mean cross-play"),
        (["--benchmark", "two-player-v1"], "--benchmark two-player-v1: give its name and one agent"),
        (["partners", "--agents", "simple", "--pool"], "--pool: name an agent or more"),
        (["report"], "name a folder"),
        (["report", "/no/such"], "/no/such"),
        (["--agents", "simple", "gold", "--seed", "-3"], "--seed -3"),
        (["--agents", "simple", "gold", "--json", "/no/such/folder/x.json"], "cannot be written"),
        (["--agents", "simple", "gold", "--json", "/"], "cannot be written"),
        (["--agents", "simple", "gold", "--output", "/proc/no"], "--output /proc/no: cannot be written"),
        (["--agents", "simple", "gold", "--rule", "knock_limit=50"], "from 0 to 10"),
        (["--agents", "simple", "gold", "--rule", "knock_limit=low"], "knock_limit='low'"),
        (["--agents", "simple", "gold", "--rule", "knok_limit=5"], "did you mean 'knock_limit'"),
        (["--agents", "simple", "gold", "--rule", "knock_limit"], "write a field and its value"),
        (["--agents", "simple", "gold", "--rule", "mode=duel"], "num_players=4"),
        (["--agents", "simple", "runs/none"], "no such folder"),
        (["--agents", "simple", "nothing.py:Agent"], "no file nothing.py"),
    ],
)
def test_wrong_input_ends_in_one_line(evaluate, arguments, words):
    done = evaluate(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert done.stderr.startswith("error: ")
    assert done.stdout == ""


@pytest.mark.parametrize("arguments", [["--agents", "simple", "gold", "--deals", "many"], ["--frobnicate"], []])
def test_what_the_parser_refuses_exits_alike(evaluate, arguments):
    done = evaluate(*arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert done.stdout == ""


def test_help_names_every_agent_and_preset(evaluate):
    done = evaluate("--help")
    assert done.returncode == 0
    words = done.stdout.replace("│", " ").split()
    for name in (*AGENT_NAMES, *PRESETS, "cross-play", "ablations"):
        assert name in words or f"{name}," in words or f"{name};" in words


@pytest.fixture
def model(tmp_path):
    """A saved model of random weights for eaai_2p."""
    rules, options = Rules.preset("eaai_2p"), ObservationOptions()
    generator = np.random.default_rng(0)
    sizes = [ObservationEncoder(rules, options).size, 8, action_layout(rules).size]
    weights = {}
    for layer, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
        weights[f"actor.{layer}.weight"] = generator.normal(size=(outputs, inputs)).astype(np.float32)
        weights[f"actor.{layer}.bias"] = np.zeros(outputs, dtype=np.float32)
    write_model(tmp_path / "model", Model(rules, options, "tanh", weights), {})
    return tmp_path / "model"


def test_a_saved_model_plays_by_its_own_rules_unless_told_otherwise(evaluate, model):
    done = evaluate("--agents", "simple", model, "--deals", 200)
    assert done.returncode == 0, done.stderr
    assert "eaai_2p, duplicate deals" in done.stdout
    other = evaluate("--agents", "simple", model, "--deals", 200, "--preset", "palace_2p")
    assert other.returncode == 2
    assert "was trained for eaai_2p, not for palace_2p" in other.stderr


@pytest.mark.parametrize("damage", ["description", "weights", "foreign"])
def test_a_damaged_model_ends_in_one_line(evaluate, model, damage):
    if damage == "description":
        (model / DESCRIPTION_FILE).write_text("{")
    elif damage == "weights":
        (model / WEIGHTS_FILE).write_bytes(b"nothing")
    else:
        (model / DESCRIPTION_FILE).write_text('{"name": "something else"}')
    done = evaluate("--agents", model, "simple")
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert done.stderr.strip().count("\n") == 0
    assert str(model) in done.stderr


def test_an_agent_that_breaks_the_rules_forfeits(evaluate, tmp_path):
    (tmp_path / "cheat.py").write_text(
        "import numpy as np\n"
        "from gin_env.episodes.agent import Agent\n"
        "class Cheat(Agent):\n"
        "    def act(self, view):\n"
        "        return np.full(len(view), view.layout.knock)\n"
    )
    done = evaluate("--agents", f"{tmp_path}/cheat.py:Cheat", "simple", "--deals", 20)
    assert done.returncode == 1  # nothing could be measured
    assert "cheat.py:Cheat forfeits" in done.stdout
    assert "'knock AS'" in done.stdout


def test_each_seat_may_have_its_own_agent(evaluate, tmp_path):
    done = evaluate("--seats", "gold", "simple", "random", "gin-only", "--deals", 200, "--json", tmp_path / "r.json")
    assert done.returncode == 0, done.stderr
    assert "gold+random" in done.stdout
    (match,) = json.loads((tmp_path / "r.json").read_text())["matches"]
    assert match["sides"] == [["gold", "random"], ["simple", "gin-only"]]
    assert match["points_per_deal"]["high"] < 0  # a partner who throws his cards away at random


def test_three_who_play_alone_are_a_match_of_three_sides(evaluate, tmp_path):
    done = evaluate(
        *("--seats", "gold", "simple", "random", "--preset", "free_for_all_3p", "--deals", 300),
        *("--json", tmp_path / "r.json"),
    )
    assert done.returncode == 0, done.stderr
    (match,) = json.loads((tmp_path / "r.json").read_text())["matches"]
    points = [side["value"] for side in match["points_of_sides"]]
    assert sum(points) == pytest.approx(0)
    assert points.index(min(points)) == 2
    assert f"{points[1]:+.2f}" in done.stdout


def test_agents_that_met_the_same_opponent_are_compared(evaluate, tmp_path):
    """The paired interval is narrower than the two matches' own intervals would make it."""
    done = evaluate(
        *("--agents", "gold", "lookahead", "sharp", "--preset", "eaai_2p", "--deals", 1000),
        *("--json", tmp_path / "r.json"),
    )
    assert "Compared on the same decks" in done.stdout
    told = json.loads((tmp_path / "r.json").read_text())
    (section,) = told["sections"]
    ((name, difference),) = section["table"]["rows"]
    points = {match["second"][0]: match["points_per_deal"] for match in told["matches"]}
    best = min(points, key=lambda agent: points[agent]["value"])
    assert {name, best} == {"lookahead", "sharp"}
    assert difference["value"] == pytest.approx(points[best]["value"] - points[name]["value"])
    widths = [estimate["high"] - estimate["low"] for estimate in (difference, *points.values())]
    assert widths[0] < 0.9 * np.hypot(widths[1], widths[2])


def test_results_become_a_page(evaluate, tmp_path):
    evaluate("--agents", "gold", "simple", "gin-only", "--all-pairs", "--deals", 100, "--output", "ladder")
    done = evaluate("report", "ladder")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "ladder" / "report.html").read_text()
    assert all(name in page for name in ("gold", "simple", "gin-only"))
    assert str(Path("ladder") / "figures" / "matrix.png") in done.stdout


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_the_option_says_how_to_get_it(evaluate):
    done = evaluate("--agents", "gold", "simple", "--deals", 200, "--ray", "auto")
    assert done.returncode == 2
    assert done.stderr.strip() == "error: --ray needs Ray: pip install -e '.[scale]'"
