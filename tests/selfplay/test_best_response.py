"""A best response as a user types it: one frozen opponent, fresh decks, honest words, and a kill that costs nothing."""

import itertools
import json
import shlex
import sys

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from agents.arena import play_match
from agents.cli import parsing as cli
from agents.policy import PolicyAgent
from agents.policy.model_files import Model, read_description, write_model
from agents.registry import load_agent
from agents.selfplay import best_response
from agents.selfplay import evaluation as panel
from agents.selfplay.arguments import network_options
from agents.selfplay.evaluation import PANEL_SEED
from agents.selfplay.opponent_pool import OpponentPool
from agents.selfplay.trainer import Session
from gin_env.engine import action_layout
from gin_env.observation import ObservationEncoder
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import Rules

SIZES = (16, 12)  # no default of --net
TINY = (
    "--preset classic_2p --timesteps 1024 --rows 64 --steps 8 --eval-every 512 --eval-deals 20 --deals 60 --threads 1"
)
OUTLOOK = ObservationOptions(outlook=True)


def random_weights(rules: Rules, actors: tuple[str, ...] = ("actor",)) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(1)
    sizes = [ObservationEncoder(rules, OUTLOOK).size, *SIZES, action_layout(rules).size]
    weights = {}
    for actor in actors:
        for number, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
            weights[f"{actor}.{number}.weight"] = generator.normal(0, 0.05, (outputs, inputs)).astype(np.float32)
            weights[f"{actor}.{number}.bias"] = np.zeros(outputs, np.float32)
    return weights


def save_network(folder, preset: str) -> None:
    rules = Rules.preset(preset)
    write_model(folder, Model(rules, OUTLOOK, "relu", random_weights(rules)), {})


@pytest.fixture
def main(tmp_path, monkeypatch):
    """Run the command to its end within this process, in a folder where ``start`` is a tiny network for classic_2p."""
    save_network(tmp_path / "start", "classic_2p")

    def call(*arguments):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["best_response.py", *shlex.split(" ".join(map(str, arguments)))])
        cli.run(best_response.main)

    return call


@pytest.fixture
def refused(main, capsys):
    def call(arguments):
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        assert ended.value.code == 2
        (line,) = capsys.readouterr().err.strip().splitlines()
        return line

    return call


def report_of(folder):
    return json.loads((folder / "best_response.json").read_text())


def test_a_run_says_how_much_the_agent_loses(main, tmp_path, monkeypatch, capsys):
    met, seeds = [], {"panel": set(), "report": set()}
    seat = OpponentPool.seat
    monkeypatch.setattr(OpponentPool, "seat", lambda *args, **rest: met.append(seat(*args, **rest)[0]) or seat(*args))
    for name, module, place in (("panel", panel, 4), ("report", best_response, 4)):

        def noting(*args, name=name, place=place, **rest):
            seeds[name].add(args[place])
            return play_match(*args, **rest)

        monkeypatch.setattr(module, "play_match", noting)
    main("random", TINY)
    folder = tmp_path / "runs" / "exploits-random"
    report, printed = report_of(folder), capsys.readouterr().out

    assert {agent.name for agents in met for agent in agents} == {"random"}
    options = json.loads((folder / "arguments.json").read_text())
    assert (options["opponents"], options["panel"], options["net"]) == (["random:1"], ["random"], [512, 256])

    assert seeds["panel"] == {PANEL_SEED}
    (fresh,) = seeds["report"]
    assert fresh not in {PANEL_SEED, report["seed"]}
    assert fresh == report["decks"]["seed"] >= 2**31  # above every --seed

    after = report["after"]
    assert report["exploit_found"]
    assert after["low"] > 30  # best for classic_2p beats random by about 50 points
    assert f"random loses at least {after['low']:.2f} (95 %) to a player made for it" in report["statement"][0]
    assert f"{after['value']:+.2f} ± " in report["statement"][0]
    assert "warm-started from best" in report["statement"][0]
    assert "lower bound" in report["statement"][2]
    for line in report["statement"]:
        assert line in printed
    assert report["budget"]["decisions"] == 1024
    assert report["budget"]["command"] == f"-m agents.selfplay.best_response random {TINY}"

    told = f"--agents runs/exploits-random/best random --preset classic_2p --deals 60 --seed {fresh}"
    assert report["again"] == f"python evaluate.py {told}"
    assert report["again"] in printed

    rules = Rules.preset("classic_2p")
    again = play_match(rules, load_agent(str(folder / "best"), rules), load_agent("random", rules), 30, fresh)
    assert again.points_per_deal.value == after["value"]
    before = play_match(rules, load_agent("best", rules), load_agent("random", rules), 30, fresh)
    assert before.points_per_deal.value == report["before"]["value"]
    assert report["gain"]["value"] == pytest.approx(after["value"] - report["before"]["value"])


def test_where_nothing_is_found_it_says_so(main, tmp_path, monkeypatch):
    results = itertools.chain([1.0], itertools.repeat(0.0))
    monkeypatch.setattr("agents.selfplay.trainer.worst_points", lambda _: next(results))
    main("lookahead", TINY, "--init start --output run")
    report = report_of(tmp_path / "run")
    assert not report["exploit_found"]
    assert report["statement"][0].endswith("warm-started from start: no exploit was found with this budget")
    assert report["best_after_decisions"] == 0  # the start was measured best
    assert set(report["gain"].values()) == {0.0}
    assert "training found nothing better" in report["statement"][1]
    assert read_description(tmp_path / "run")["network"]["shapes"]["actor.1.weight"] == [12, 16]


def test_the_same_command_goes_on_and_measures_anew(main, tmp_path, monkeypatch, refused):
    command = f"gold {TINY} --init start"
    measure = Session.measure

    def interrupted(session, num_deals):
        if session.num_decisions >= 512:
            raise KeyboardInterrupt
        return measure(session, num_deals)

    with monkeypatch.context() as patched:
        patched.setattr(Session, "measure", interrupted)
        with pytest.raises(SystemExit) as ended:
            main(command, "--output killed")
    assert ended.value.code == "interrupted; 512 decisions are kept; the same command goes on with them"
    assert not (tmp_path / "killed" / "best_response.json").exists()
    assert "holds a training with opponents ['gold:1'], panel ['gold']" in refused(
        f"simple {TINY} --init start --output killed"
    )
    main(command, "--output killed")
    main(command, "--output whole")
    for name in ("weights.npz", "best/weights.npz"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "whole" / name).read_bytes()
    first = report_of(tmp_path / "killed")
    assert first["after"] == report_of(tmp_path / "whole")["after"]

    main(command, "--output killed --deals 80")
    second = report_of(tmp_path / "killed")
    assert (first["decks"]["deals"], second["decks"]["deals"]) == (60, 80)
    assert first["budget"]["decisions"] == second["budget"]["decisions"] == 1024


def test_without_a_network_it_clones_a_teacher_in_both_seats_of_the_team(main, tmp_path, monkeypatch):
    sessions = []
    train = best_response._train
    monkeypatch.setattr(
        best_response, "_train", lambda session, *rest: sessions.append(session) or train(session, *rest)
    )
    main("random", TINY, "--preset palace_4p --timesteps 512 --teacher gold-k4 --output run")
    report = report_of(tmp_path / "run")
    assert report["warm_start"] == {"name": "gold-k4", "is_clone": True}
    assert report["budget"]["decisions_of_teacher"] == 512
    assert "warm-started from a clone of gold-k4" in report["statement"][0]
    assert report["statement"][1].startswith("gold-k4 itself: ")
    assert sessions[0].env.table.partner is None
    assert {agent.name for agent in sessions[0].env.table.opponents} == {"random"}


@pytest.mark.parametrize(
    ("agent", "preset", "start"),
    [
        ("simple", "eaai_2p", "best"),
        ("best", "palace_4p", "best"),
        ("best-no-trade", "palace_4p", "best"),  # a start that never trades would hide what trading wins
        ("start", "classic_2p", "start"),
        ("simple", "oklahoma_2p", "sharp"),
        ("simple", "rotation_3p", "sharp"),
    ],
)
def test_what_a_best_response_begins_with(agent, preset, start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_network(tmp_path / "start", "classic_2p")
    rules = Rules.preset(preset)
    options = best_response.Options(agent=agent, preset=preset)
    begun, arguments = best_response.prepare(options, rules, load_agent(agent, rules))
    assert begun.name == start
    assert (begun.model is None) == (start == "sharp") == (arguments.init is None)
    assert arguments.minutes == 10


@pytest.mark.parametrize("actors", [("actor",), ("seat_0.actor", "seat_1.actor")])
def test_a_saved_network_brings_its_own_sizes(actors):
    rules = Rules.preset("palace_4p")
    weights = random_weights(rules, actors)
    weights[f"{actors[0]}.skip.weight"] = np.zeros((action_layout(rules).size, 1), np.float32)
    options = network_options(Model(rules, OUTLOOK, "tanh", weights, offers=False))
    assert options["net"] == SIZES
    assert options["per_seat"] == (len(actors) == 2)
    assert (options["activation"], options["offers"], options["outlook"]) == ("tanh", False, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "required"),
        ("nobody", "unknown agent 'nobody'"),
        ("simple --preset palace_5p", "unknown preset 'palace_5p': did you mean 'palace_4p'?"),
        ("start --preset palace_4p", "was trained for classic_2p, not for palace_4p"),
        ("simple --preset palace_4p --init start", "--init start: that network sees other features"),
        ("simple --preset rotation_3p --init best", "no network is shipped for rotation_3p"),
        ("simple --init nothing", "no model folder 'nothing'"),
        ("simple --init start --teacher sharp", "--init and --teacher: give one of them, not both"),
        ("simple --teacher none", "--teacher none: name an agent, or leave it out"),
        ("simple --teacher nobody", "unknown agent 'nobody'"),
        ("simple --minutes 1 --timesteps 100", "give one of them, not both"),
        ("simple --deals 59 --preset classic_2p", "--deals 59: at least 60 are needed for an interval"),
        ("simple --rows 0", "--rows 0: at least 1"),
        ("start --preset classic_2p --output start", "--output start: already holds a model"),
    ],
)
def test_wrong_input_ends_in_one_line(arguments, message, refused, tmp_path):
    assert message in refused(arguments)
    assert [path.name for path in tmp_path.iterdir()] == ["start"]


def test_help_says_that_the_same_command_goes_on(main, capsys):
    with pytest.raises(SystemExit) as ended:
        main("--help")
    assert not ended.value.code
    assert "The same command goes on where it was killed" in " ".join(capsys.readouterr().out.split())


def test_a_network_of_other_rules_with_the_same_features_is_a_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_network(tmp_path / "start", "classic_2p")
    rules = Rules.preset("eaai_2p")
    options = best_response.Options(agent="simple", preset="eaai_2p", init="start")
    begun, _ = best_response.prepare(options, rules, load_agent("simple", rules))
    assert isinstance(begun.agent, PolicyAgent)
    assert begun.agent.rules == rules
