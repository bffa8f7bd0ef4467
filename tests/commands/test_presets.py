"""Every preset on the command line: train.py leaves a model, evaluate.py measures it and records its deals."""

import csv
import json

import pytest

from tests.helpers.options import swept

pytest.importorskip("sb3_contrib")

import evaluate as evaluate_script
import train as train_script
from agents.policy import PolicyAgent
from agents.policy.model_files import read_description
from agents.selfplay.run_folder import read_state
from gin_env.notation.records import read_records
from gin_env.notation.replay import replay
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import PRESETS, Rules
from tests.helpers.training import run_command, skip_pictures

#: A training of three rollouts, the first with a teacher, one measurement on the way and one at the end.
MINIMAL = "--timesteps 768 --rows 16 --steps 16 --net 8 --minibatch 64 --epochs 1 --threads 1 --eval-every 512"
MINIMAL += " --eval-deals 1 --snapshot-every 256 --opponents self:1 past:1 simple:3 --panel gold"
MINIMAL += " --teacher simple --teacher-decisions 256 --teacher-epochs 1"


@pytest.fixture
def train(tmp_path, monkeypatch):
    """Run train.py to its end within this process, without pictures."""
    skip_pictures(monkeypatch)

    def call(arguments):
        run_command(train_script.main, monkeypatch, tmp_path, arguments)

    return call


@pytest.fixture
def evaluate(tmp_path, monkeypatch):
    """Run evaluate.py to its end within this process; return what it wrote with --json."""

    def call(arguments):
        run_command(evaluate_script.main, monkeypatch, tmp_path, f"{arguments} --json results.json")
        return json.loads((tmp_path / "results.json").read_text())

    return call


@pytest.mark.parametrize("preset", swept(PRESETS))
def test_every_preset_can_be_trained_and_its_model_evaluated(preset, train, evaluate, tmp_path, capsys):
    rules = Rules.preset(preset)
    train(f"{MINIMAL} --preset {preset} --output model")
    agent = PolicyAgent.load(tmp_path / "model")
    assert agent.rules == rules
    description = read_description(tmp_path / "model")
    assert description["training"]["decisions"] == 768
    assert len(read_state(tmp_path / "model")["snapshots"]) == 3
    log = list(csv.DictReader((tmp_path / "model" / "logs" / "progress.csv").open()))
    assert sum(float(line["deals/count"] or 0) for line in log) > 0
    assert sum(line["eval/gold"] != "" for line in log) == 2
    capsys.readouterr()
    deals = 3 * rules.num_teams
    written = evaluate(f"--agents model simple --deals {deals} --record all --output r")
    printed = capsys.readouterr().out
    assert f"{preset}, duplicate deals" in printed
    (match,) = written["matches"]
    assert written["rules_name"] == preset
    assert match["sides"] == [["model"], ["simple"]]
    assert match["plays"] == match["deals"] == deals == rules.num_teams * match["pairs"]
    (file,) = (tmp_path / "r" / "records").iterdir()
    records, problems = read_records(file)
    assert not problems
    assert len(records) == deals
    for record in records:
        replay(record)
        assert record.agents.count("model") * rules.num_teams == rules.num_players


def test_games_are_trained_for_and_measured_as_games(train, evaluate, tmp_path, capsys):
    rule = "--rule target=150 boast=on boast_points=9,8,7,6,5 big_gin_bonus=none"
    train(
        f"{MINIMAL} --preset biggin_2p {rule} --episode game --reward win --output model"
        " --derived --no-outlook --no-buried-pile"
    )
    assert "--agents model gold --episode game" in capsys.readouterr().out
    agent = PolicyAgent.load(tmp_path / "model")
    assert agent.rules == Rules.preset(
        "biggin_2p", target=150, boast=True, boast_points=(9, 8, 7, 6, 5), big_gin_bonus=None
    )
    assert agent.encoder.options == ObservationOptions(derived=True, buried_pile=False)
    assert not any(section.name == "pile" for section in agent.encoder.sections)
    training = read_description(tmp_path / "model")["training"]
    assert (training["episode"], training["reward"]) == ("game", "win")
    written = evaluate("--agents model gold --episode game --deals 6 --record all --output r")
    (match,) = written["matches"]
    assert (match["plays"], written["episode"]) == (6, "game")
    (file,) = (tmp_path / "r" / "records").iterdir()
    games, problems = read_records(file)
    assert not problems
    assert sum(len(game.deals) for game in games) == match["deals"] > 6
    assert all(max(game.deals[-1].after.scores) >= 150 for game in games)
    won = [game.agents[game.winner] for game in games]
    assert [rate["value"] for rate in match["win_rates"]] == pytest.approx(
        [won.count("model") / 6, won.count("gold") / 6]
    )
