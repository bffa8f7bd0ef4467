"""evaluate.py as a user types it, including wrong input."""

import importlib.util
import itertools
import json
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

import evaluate as evaluate_script
from agents import cli
from agents.policy.model_files import DESCRIPTION_FILE, WEIGHTS_FILE, Model, write_model
from agents.registry import AGENT_NAMES
from gin_env.engine import action_layout
from gin_env.notation.records import read_records
from gin_env.notation.replay import replay_deals
from gin_env.observation import ObservationEncoder
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import PRESETS, Rules
from tests.helpers.paths import ROOT


class Done(NamedTuple):
    """What a command left: its exit status and its output."""

    returncode: int
    stdout: str
    stderr: str


@pytest.fixture
def evaluate(tmp_path, monkeypatch, capsys):
    """Run the command within this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments):
        monkeypatch.setattr(sys, "argv", ["evaluate.py", *map(str, arguments)])
        capsys.readouterr()
        try:
            cli.run(evaluate_script.main)
            status = 0
        except SystemExit as stop:
            status = stop.code or 0
        return Done(status, *capsys.readouterr())

    return run


def match_names(match):
    return [side[0] for side in match["sides"]]


def test_two_agents_make_a_table_and_a_file(tmp_path):
    """The script in a process of its own, with a pool of workers."""
    path = tmp_path / "results.json"
    arguments = (
        "--agents",
        "gin-only",
        "simple",
        "--preset",
        "eaai_2p",
        "--deals",
        "1000",
        "--seed",
        "4",
        "--json",
        path,
    )
    command = [sys.executable, str(ROOT / "evaluate.py"), *map(str, arguments), "--workers", "2"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "eaai_2p" in done.stdout
    assert "gin-only v simple" in done.stdout
    assert "swaps" not in done.stdout  # nobody trades in a duel
    written = json.loads(path.read_text())
    (match,) = written["matches"]
    assert match_names(match) == ["gin-only", "simple"]
    assert match["deals"] == 2 * match["pairs"] == 1000
    assert match["points_per_deal"]["low"] > 0
    assert f"{match['points_per_deal']['value']:+.2f}" in done.stdout
    assert written["rules"]["layoff"] == "greedy"
    assert written["seed"] == 4
    assert written["version"]


def test_the_first_agent_plays_the_others_and_the_seed_fixes_the_results(evaluate, tmp_path):
    results = []
    for name in ("a.json", "b.json"):
        done = evaluate(
            *("--agents", "gold", "simple", "random", "--deals", 60, "--workers", 1),
            *("--json", tmp_path / name, "--output", tmp_path / f"folder of {name}"),
        )
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
        *("--agents", "gold", "simple", "random", "--all-pairs", "--episode", "game", "--deals", 20, "--workers", 1),
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
        *("--rule", "catch_glass=on", "--deals", 30, "--record", "all", "--output", "all", "--workers", 1),
        *("--json", tmp_path / "results.json"),
    )
    assert done.returncode == 0, done.stderr
    assert "among equals the first wins one in 3" in " ".join(done.stdout.split())
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
    done = evaluate(
        "--agents", "gold", "gin-only", "--preset", "rotation_3p", "--deals", 300, "--json", path, "--workers", 1
    )
    assert done.returncode == 0, done.stderr
    assert "Deals that the first agent sits out do not count" in " ".join(done.stdout.split())
    (match,) = json.loads(path.read_text())["matches"]
    nobody = match["styles"][0]["dead"]
    assert sum(rate["value"] for rate in match["win_rates"]) == pytest.approx(1 - nobody)
    assert match["styles"][0]["won"] == pytest.approx(match["win_rates"][0]["value"])


@pytest.mark.parametrize(
    ("arguments", "text"),
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
        (["--agents", "simple", "ablate:gold,offers=none", "--preset", "eaai_2p"], "has no effect under eaai_2p"),
        (["--agents", "simple", "ablate:gold,offers=none,offers=random"], "offers is given twice"),
        (["--agents", "simple", "gold", "--seats", "a", "b"], "give one of --agents"),
        (["--seats", "simple", "gold", "simple"], "expected 4 agents, one for each seat, got 3"),
        (["--agents", "simple", "ablate:gold"], "offers=none"),
        (["--agents", "simple", "ablate:gold,mate=seen"], "mate=seen: expected hidden"),
        (["--benchmark", "two-player-v0", "simple"], "two-player-v0: expected one of two-player-v1, partnership-v1"),
        (["--benchmark", "two-player-v1", "simple", "--deals", "10"], "--deals: "),
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
def test_wrong_input_ends_in_one_line(evaluate, arguments, text):
    done = evaluate(*arguments)
    assert done.returncode == 2
    assert text in done.stderr
    assert done.stderr.strip().count("\n") == 0
    assert done.stderr.startswith("error: ")
    assert done.stdout == ""


@pytest.mark.parametrize("arguments", [["--agents", "simple", "gold", "--deals", "many"], ["--frobnicate"], []])
def test_arguments_that_cannot_be_parsed_end_the_same_way(evaluate, arguments):
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


def test_a_saved_model_plays_by_its_own_rules_by_default(evaluate, model):
    done = evaluate("--agents", "simple", model, "--deals", 200, "--workers", 1)
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
    done = evaluate("--agents", f"{tmp_path}/cheat.py:Cheat", "simple", "--deals", 20, "--workers", 1)
    assert done.returncode == 1  # no match has a result
    assert "cheat.py:Cheat forfeits" in done.stdout
    assert "'knock AS'" in done.stdout


def test_each_seat_may_have_its_own_agent(evaluate, tmp_path):
    done = evaluate(
        *("--seats", "gold", "simple", "random", "gin-only", "--deals", 200, "--workers", 1),
        *("--json", tmp_path / "r.json"),
    )
    assert done.returncode == 0, done.stderr
    assert "gold+random" in done.stdout
    (match,) = json.loads((tmp_path / "r.json").read_text())["matches"]
    assert match["sides"] == [["gold", "random"], ["simple", "gin-only"]]
    assert match["points_per_deal"]["high"] < 0  # a partner who plays at random


def test_three_single_players_make_a_match_of_three_sides(evaluate, tmp_path):
    done = evaluate(
        *("--seats", "gold", "simple", "random", "--preset", "free_for_all_3p", "--deals", 300, "--workers", 1),
        *("--json", tmp_path / "r.json"),
    )
    assert done.returncode == 0, done.stderr
    (match,) = json.loads((tmp_path / "r.json").read_text())["matches"]
    points = [side["value"] for side in match["points_of_sides"]]
    assert sum(points) == pytest.approx(0)
    assert points.index(min(points)) == 2
    assert f"{points[1]:+.2f}" in done.stdout


def test_agents_with_the_same_opponent_are_compared(evaluate, tmp_path):
    """The interval of the paired difference is narrower than that of independent matches."""
    done = evaluate(
        *("--agents", "gin-only", "gold", "gold-k4", "--preset", "eaai_2p", "--deals", 600, "--workers", 1),
        *("--json", tmp_path / "r.json"),
    )
    assert "Compared on the same decks" in done.stdout
    summary = json.loads((tmp_path / "r.json").read_text())
    (section,) = summary["sections"]
    ((name, difference),) = section["table"]["rows"]
    points = {match["second"][0]: match["points_per_deal"] for match in summary["matches"]}
    assert name == "gold-k4"
    assert difference["value"] == pytest.approx(points["gold"]["value"] - points["gold-k4"]["value"])
    widths = [estimate["high"] - estimate["low"] for estimate in (difference, *points.values())]
    assert widths[0] < 0.9 * np.hypot(widths[1], widths[2])


def test_a_report_is_written_from_results(evaluate, tmp_path):
    evaluate(
        *("--agents", "gold", "simple", "gin-only", "--all-pairs", "--preset", "eaai_2p", "--deals", 100),
        *("--output", "ladder", "--workers", 1),
    )
    done = evaluate("report", "ladder")
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "ladder" / "report.html").read_text()
    assert all(name in page for name in ("gold", "simple", "gin-only"))
    assert str(Path("ladder") / "figures" / "matrix.png") in done.stdout


@pytest.mark.skipif(importlib.util.find_spec("ray") is not None, reason="Ray is installed")
def test_without_ray_the_error_says_how_to_install_it(evaluate):
    done = evaluate("--agents", "gold", "simple", "--deals", 200, "--ray", "auto")
    assert done.returncode == 2
    assert done.stderr.strip() == "error: --ray needs Ray: pip install -e '.[scale]'"
