"""A trained network is shipped: its actor as float16 in the folder of the checkpoints, with a model card."""

import numpy as np
import pytest

pytest.importorskip("tyro")

from agents import checkpoints
from agents.checkpoints import checkpoint_folder, shipped_folder
from agents.policy import PolicyAgent
from agents.policy.model_files import WEIGHTS_FILE, Model, write_model
from agents.selfplay.ship_checkpoint import ship, without_output
from gin_env.observation import ObservationOptions
from gin_env.rules import Rules
from tests.helpers.networks import random_weights

TRAINING = {
    "method": "from scratch",
    "decisions": 1000,
    "decisions_of_teacher": 0,
    "minutes": 1.5,
    "seed": 1,
    "opponents": ["self:1"],
    "command": "train.py --preset classic_2p --output runs/mine",
}


def save_network(folder, rules):
    observation = ObservationOptions(outlook=True)
    weights = random_weights(rules, observation) | {"critic.0.weight": np.zeros((1, 3), np.float32)}
    write_model(folder, Model(rules, observation, "relu", weights), TRAINING)


def test_shipped_networks_lie_where_best_looks_for_them():
    assert checkpoint_folder("best", "classic_2p") == shipped_folder("best", Rules.preset("classic_2p"))


def test_a_shipped_network_is_its_actor_with_a_measured_card(tmp_path, monkeypatch, capsys):
    rules = Rules.preset("classic_2p")
    save_network(tmp_path / "trained", rules)
    monkeypatch.setattr(checkpoints, "_HERE", tmp_path / "shipped")
    ship(tmp_path / "trained", "best", opponents=("random",), deals=4, notes="It has learnt nothing.")
    folder = tmp_path / "shipped" / "classic_2p"
    assert PolicyAgent.load(folder).rules == rules
    weights = np.load(folder / WEIGHTS_FILE)
    assert all(name.startswith("actor.") and weights[name].dtype == np.float16 for name in weights.files)
    card = (folder / "README.md").read_text()
    assert card.startswith("# `best` for `classic_2p`")
    assert "- `python train.py --preset classic_2p`\n" in card
    assert "| random | " in card
    assert card.endswith("It has learnt nothing.\n")
    assert capsys.readouterr().out.split()[0] == "random"


@pytest.mark.parametrize(
    ("name", "rules", "message"),
    [
        ("worst", Rules.preset("classic_2p"), "best, best-no-trade, got worst"),
        ("best", Rules.preset("classic_2p", gin_bonus=30), "not a preset"),
    ],
)
def test_only_a_known_name_and_a_preset_can_be_shipped(name, rules, message, tmp_path, monkeypatch):
    save_network(tmp_path / "trained", rules)
    monkeypatch.setattr(checkpoints, "_HERE", tmp_path / "shipped")
    with pytest.raises(ValueError, match=message):
        ship(tmp_path / "trained", name, opponents=("random",), deals=4)
    assert not (tmp_path / "shipped").exists()


@pytest.mark.parametrize("option", ["--output runs/mine", "--output=runs/mine"])
def test_a_command_is_shown_without_its_output_folder(option):
    assert without_output(f"train.py --rows 64 {option} --seed 2") == "train.py --rows 64 --seed 2"
