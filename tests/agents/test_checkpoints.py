"""The shipped networks: named by ``best``, chosen by the rules, readable without any other file."""

import json
from pathlib import Path

import numpy as np
import pytest

from agents import checkpoints
from agents.arena import play_match
from agents.checkpoints import shipped_folder
from agents.policy import PolicyAgent
from agents.policy.model_files import DESCRIPTION_FILE, WEIGHTS_FILE
from agents.registry import load_agent
from agents.search.search_agent import SearchAgent
from gin_env.rules import Rules

HERE = Path(checkpoints.__file__).parent
FOLDERS = sorted(path.parent for path in HERE.glob(f"*/{DESCRIPTION_FILE}"))


def test_these_are_shipped():
    assert [folder.name for folder in FOLDERS] == ["classic_2p", "eaai_2p", "palace_4p", "palace_4p-no-trade"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_checkpoint_has_a_card_and_knows_how_it_was_made(folder):
    assert (folder / "README.md").read_text().startswith("# `best")
    training = json.loads((folder / DESCRIPTION_FILE).read_text())["training"]
    assert {"method", "decisions", "minutes", "seed", "opponents", "command"} <= training.keys()
    weights = np.load(folder / WEIGHTS_FILE, allow_pickle=False)
    assert all("actor." in name and weights[name].dtype == np.float16 for name in weights.files)


def test_all_checkpoints_are_a_few_megabytes():
    assert sum(path.stat().st_size for folder in FOLDERS for path in folder.iterdir()) < 10e6


@pytest.mark.parametrize("rules", ["classic_2p", "eaai_2p", "palace_4p"])
def test_best_beats_simple(rules):
    rules = Rules.preset(rules)
    agent = load_agent("best", rules)
    assert isinstance(agent, PolicyAgent)
    assert agent.name == "best"
    match = play_match(rules, agent, load_agent("simple", rules), 400, seed=2)
    assert match.points_per_deal.low > 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("preset", "opponent", "floor"),
    [
        ("eaai_2p", "simple", 5.0),
        ("eaai_2p", "gin-only", 4.0),
        ("eaai_2p", "gold-k4", 5.0),
        ("eaai_2p", "lookahead", 1.0),
        ("classic_2p", "simple", 4.5),
        ("classic_2p", "lookahead", 1.0),
        ("palace_4p", "simple", 13.0),
        ("palace_4p", "gin-only", 13.5),
        ("palace_4p", "never-trade", 41.0),
        ("palace_4p", "team-lookahead", 0.5),
        ("palace_4p", "best-no-trade", 30.0),
    ],
)
def test_best_is_as_strong_as_it_is_said_to_be(preset, opponent, floor):
    """40,000 duplicate deals each, on decks of their own; the whole interval lies above a floor a little below it."""
    rules = Rules.preset(preset)
    match = play_match(rules, load_agent("best", rules), load_agent(opponent, rules), 20_000, seed=5)
    assert match.points_per_deal.low > floor


def test_the_network_without_trading_never_offers():
    rules = Rules.preset("palace_4p")
    match = play_match(rules, load_agent("best-no-trade", rules), load_agent("best", rules), 50, seed=3)
    assert match.styles[0].offers == 0
    assert match.styles[1].offers > 1


def test_rules_that_change_no_decision_are_served_and_others_refused():
    assert shipped_folder("best", Rules.preset("eaai_2p", dealer_rule="winner")).name == "eaai_2p"
    with pytest.raises(ValueError, match=r"'best': no network is shipped for straight_2p, only for .*train one"):
        load_agent("best", Rules.preset("straight_2p"))
    with pytest.raises(ValueError, match="no network is shipped for eaai_2p"):
        load_agent("best-no-trade", Rules.preset("eaai_2p"))


def test_search_takes_any_agent_and_another_for_its_roll_outs():
    rules = Rules.preset("eaai_2p")
    agent = load_agent("search:best,rollout=lookahead,worlds=32", rules)
    assert isinstance(agent, SearchAgent)
    assert (agent.base.name, agent.rollout.name, agent.worlds) == ("best", "lookahead", 32)
    with pytest.raises(ValueError, match="unknown agent 'nobody'"):
        load_agent("search:best,rollout=nobody", rules)
