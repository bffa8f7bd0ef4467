"""A best response as a user types it: one frozen opponent, fresh decks, an honest report, a run that can resume."""

import itertools
import json
import re

import numpy as np
import pytest

pytest.importorskip("sb3_contrib")

from agents.arena import play_match
from agents.policy import PolicyAgent
from agents.policy.model_files import Model, read_description, write_model
from agents.registry import load_agent
from agents.selfplay import best_response, evaluation
from agents.selfplay.arguments import network_options
from agents.selfplay.evaluation import EVALUATION_SEED
from agents.selfplay.opponent_pool import OpponentPool
from agents.selfplay.trainer import Trainer
from gin_env.engine import action_layout
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import Rules
from tests.helpers.networks import HIDDEN_SIZES, random_weights
from tests.helpers.training import run_command, skip_matches, skip_pictures

TINY = "--preset classic_2p --timesteps 512 --rows 32 --steps 8 --eval-every 256 --eval-deals 20 --deals 60 --threads 1"
OUTLOOK = ObservationOptions(outlook=True)


def save_network(folder, preset: str) -> None:
    rules = Rules.preset(preset)
    write_model(folder, Model(rules, OUTLOOK, "relu", random_weights(rules, OUTLOOK)), {})


@pytest.fixture
def main(tmp_path, monkeypatch):
    """Run the command to its end within this process, in a folder where ``start`` is a tiny network for classic_2p."""
    save_network(tmp_path / "start", "classic_2p")
    skip_pictures(monkeypatch)

    def call(*arguments):
        run_command(best_response.main, monkeypatch, tmp_path, " ".join(map(str, arguments)))

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


def test_a_run_reports_how_much_the_agent_loses(main, tmp_path, monkeypatch, capsys):
    opponents, seeds = set(), {"evaluation": set(), "report": set()}
    choose_opponents = OpponentPool.choose_opponents

    def note_opponents(*args, **options):
        agents, assignment = choose_opponents(*args, **options)
        opponents.update(agent.name for agent in agents)
        return agents, assignment

    monkeypatch.setattr(OpponentPool, "choose_opponents", note_opponents)
    for name, module in (("evaluation", evaluation), ("report", best_response)):

        def note_seed(*args, name=name, **options):
            seeds[name].add(args[4])
            return play_match(*args, **options)

        monkeypatch.setattr(module, "play_match", note_seed)
    main("random", TINY)
    folder = tmp_path / "runs" / "exploits-random"
    report, printed = report_of(folder), capsys.readouterr().out

    assert opponents == {"random"}
    options = json.loads((folder / "arguments.json").read_text())
    assert (options["opponents"], options["panel"], options["net"]) == (["random:1"], ["random"], [512, 256])

    assert seeds["evaluation"] == {EVALUATION_SEED}
    (fresh,) = seeds["report"]
    assert fresh not in {EVALUATION_SEED, report["seed"]}
    assert fresh == report["decks"]["seed"] >= 2**31  # above every --seed

    after = report["after"]
    assert report["exploit_found"]
    assert after["low"] > 30  # best for classic_2p beats random by about 50 points
    assert f"random loses at least {after['low']:.2f} (95 %)" in report["statement"][0]
    assert f"{after['value']:+.2f} ± " in report["statement"][0]
    assert "warm-started from best" in report["statement"][0]
    assert "lower bound" in report["statement"][2]
    for line in report["statement"]:
        assert line in printed
    assert report["budget"]["decisions"] == 512
    assert report["budget"]["command"] == f"-m agents.selfplay.best_response random {TINY}"

    match = f"--agents runs/exploits-random/best random --preset classic_2p --deals 60 --seed {fresh}"
    assert report["again"] == f"python evaluate.py {match}"
    assert report["again"] in printed

    rules = Rules.preset("classic_2p")
    again = play_match(rules, load_agent(str(folder / "best"), rules), load_agent("random", rules), 30, fresh)
    assert again.points_per_deal.value == after["value"]
    before = play_match(rules, load_agent("best", rules), load_agent("random", rules), 30, fresh)
    assert before.points_per_deal.value == report["before"]["value"]
    assert report["gain"]["value"] == pytest.approx(after["value"] - report["before"]["value"])


def test_a_run_without_an_exploit_says_so(main, tmp_path, monkeypatch):
    skip_matches(monkeypatch)
    results = itertools.chain([1.0], itertools.repeat(0.0))
    monkeypatch.setattr("agents.selfplay.trainer.worst_points", lambda _: next(results))
    main("gold", TINY, "--init start --output run")
    report = report_of(tmp_path / "run")
    assert not report["exploit_found"]
    assert report["statement"][0].endswith("warm-started from start: no exploit was found with this budget")
    assert report["best_after_decisions"] == 0  # the start was measured best
    assert set(report["gain"].values()) == {0.0}
    assert "training found nothing better" in report["statement"][1]
    assert read_description(tmp_path / "run")["network"]["shapes"]["actor.1.weight"] == [12, 16]


def test_the_same_command_continues_and_measures_again(main, tmp_path, monkeypatch, refused):
    command = f"gold {TINY} --init start"
    measure = Trainer.measure

    def interrupted(trainer, num_deals):
        if trainer.num_decisions >= 256:
            raise KeyboardInterrupt
        return measure(trainer, num_deals)

    with monkeypatch.context() as patched:
        patched.setattr(Trainer, "measure", interrupted)
        with pytest.raises(SystemExit) as ended:
            main(command, "--output killed")
    assert re.fullmatch("interrupted; 256 decisions .* the same command .*", ended.value.code)
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
    assert first["budget"]["decisions"] == second["budget"]["decisions"] == 512


def test_without_a_network_it_clones_a_teacher_in_both_seats_of_the_team(main, tmp_path, monkeypatch):
    trainers = []
    train = best_response.train
    monkeypatch.setattr(
        best_response, "train", lambda trainer, *rest: trainers.append(trainer) or train(trainer, *rest)
    )
    skip_matches(monkeypatch)
    main("simple", TINY, "--preset palace_4p --timesteps 256 --teacher gold-k4 --output run")
    report = report_of(tmp_path / "run")
    assert report["warm_start"] == {"name": "gold-k4", "is_clone": True}
    assert report["budget"]["decisions_of_teacher"] == 256
    assert "warm-started from a clone of gold-k4" in report["statement"][0]
    assert report["statement"][1].startswith("gold-k4 itself: ")
    table = trainers[0].env.table
    assert table.partner is None
    assert {agent.name for agent in table.opponents} == {"simple"}


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
def test_a_best_response_starts_from_the_best_network_there_is(agent, preset, start, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_network(tmp_path / "start", "classic_2p")
    rules = Rules.preset(preset)
    options = best_response.Options(agent=agent, preset=preset)
    warm_start, arguments = best_response.prepare(options, rules, load_agent(agent, rules))
    assert warm_start.name == start
    assert (warm_start.model is None) == (start == "sharp") == (arguments.init is None)
    assert arguments.minutes == 10


@pytest.mark.parametrize("actors", [("actor",), ("seat_0.actor", "seat_1.actor")])
def test_a_saved_network_brings_its_own_sizes(actors):
    rules = Rules.preset("palace_4p")
    weights = random_weights(rules, OUTLOOK, actors)
    weights[f"{actors[0]}.skip.weight"] = np.zeros((action_layout(rules).size, 1), np.float32)
    options = network_options(Model(rules, OUTLOOK, "tanh", weights, offers=False))
    assert options["net"] == HIDDEN_SIZES
    assert options["per_seat"] == (len(actors) == 2)
    assert (options["activation"], options["offers"], options["outlook"]) == ("tanh", False, True)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "required"),
        ("nobody", "unknown agent 'nobody'"),
        ("simple --preset palace_5p", "'palace_5p'.*'palace_4p'"),
        ("start --preset palace_4p", "was trained for classic_2p, not for palace_4p"),
        ("simple --preset palace_4p --init start", "--init start: .*other features"),
        ("simple --preset rotation_3p --init best", "no network is shipped for rotation_3p"),
        ("simple --init nothing", "no model folder 'nothing'"),
        ("simple --init start --teacher sharp", "--init and --teacher: give one of them, not both"),
        ("simple --teacher none", "--teacher: .*got none"),
        ("simple --teacher nobody", "unknown agent 'nobody'"),
        ("simple --minutes 1 --timesteps 100", "give one of them, not both"),
        ("simple --deals 59 --preset classic_2p", "--deals: .*60.*got 59"),
        ("simple --rows 0", "--rows: .*got 0"),
        ("start --preset classic_2p --output start", "--output start: already holds a model"),
    ],
)
def test_invalid_input_ends_in_one_line(arguments, message, refused, tmp_path):
    assert re.search(message, refused(arguments))
    assert [path.name for path in tmp_path.iterdir()] == ["start"]


def test_help_says_that_the_same_command_continues(main, capsys):
    with pytest.raises(SystemExit) as ended:
        main("--help")
    assert not ended.value.code
    assert "The same command continues where it was interrupted" in " ".join(capsys.readouterr().out.split())


def test_a_network_for_other_rules_with_the_same_features_can_be_the_start(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    save_network(tmp_path / "start", "classic_2p")
    rules = Rules.preset("eaai_2p")
    options = best_response.Options(agent="simple", preset="eaai_2p", init="start")
    warm_start, _ = best_response.prepare(options, rules, load_agent("simple", rules))
    assert isinstance(warm_start.agent, PolicyAgent)
    assert warm_start.agent.rules == rules
