"""The shipped networks: the agent ``best`` is the one for the rules, and needs no other file."""

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

FOLDERS = sorted(path.parent for path in Path(checkpoints.__file__).parent.glob(f"*/{DESCRIPTION_FILE}"))


def test_four_networks_are_shipped():
    assert [folder.name for folder in FOLDERS] == ["classic_2p", "eaai_2p", "palace_4p", "palace_4p-no-trade"]


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_network_has_a_card_and_says_how_it_was_trained(folder):
    assert (folder / "README.md").read_text().startswith("# `best")
    training = json.loads((folder / DESCRIPTION_FILE).read_text())["training"]
    assert {"method", "decisions", "minutes", "seed", "opponents", "command"} <= training.keys()
    weights = np.load(folder / WEIGHTS_FILE, allow_pickle=False)
    assert all("actor." in name and weights[name].dtype == np.float16 for name in weights.files)


def test_all_networks_together_are_a_few_megabytes():
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
def test_best_is_as_strong_as_its_card_says(preset, opponent, floor):
    """40,000 duplicate deals each, on other decks; the whole interval is above a floor slightly below the card's."""
    rules = Rules.preset(preset)
    match = play_match(rules, load_agent("best", rules), load_agent(opponent, rules), 20_000, seed=5)
    assert match.points_per_deal.low > floor


def test_the_network_without_trading_never_offers():
    rules = Rules.preset("palace_4p")
    match = play_match(rules, load_agent("best-no-trade", rules), load_agent("best", rules), 50, seed=3)
    assert match.styles[0].offers == 0
    assert match.styles[1].offers > 1


def test_best_serves_rules_that_differ_in_no_decision_and_refuses_others():
    assert shipped_folder("best", Rules.preset("eaai_2p", dealer_rule="winner")).name == "eaai_2p"
    with pytest.raises(ValueError, match=r"'best': no network is shipped for straight_2p, only for .*train one"):
        load_agent("best", Rules.preset("straight_2p"))
    with pytest.raises(ValueError, match="no network is shipped for eaai_2p"):
        load_agent("best-no-trade", Rules.preset("eaai_2p"))


def test_search_takes_any_agent_and_another_one_for_its_rollouts():
    rules = Rules.preset("eaai_2p")
    agent = load_agent("search:best,rollout=lookahead,worlds=32", rules)
    assert isinstance(agent, SearchAgent)
    assert (agent.base.name, agent.rollout.name, agent.worlds) == ("best", "lookahead", 32)
    with pytest.raises(ValueError, match="unknown agent 'nobody'"):
        load_agent("search:best,rollout=nobody", rules)
