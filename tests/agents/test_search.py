"""Search at decision time: it reads the view alone, is fair to every candidate, and makes its base stronger."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from agents.policy import PolicyAgent
from agents.registry import load_agent
from agents.scripted.gold import GoldAgent, GoldK4Agent
from agents.scripted.simple import SimpleAgent
from agents.search.belief import UNIFORM, Belief, believe
from agents.search.candidates import find_candidates
from agents.search.search_agent import SearchAgent, parse_search
from gin_env.cards.melds import deadwood
from gin_env.engine import Phase, action_layout
from gin_env.episodes import Agent
from gin_env.episodes.agent import decide
from gin_env.notation.position_checks import card_problems
from gin_env.observation import ObservationEncoder, PlayerView, player_view
from gin_env.observation.worlds import sample_worlds, world_keys
from gin_env.rules import Rules
from tests.helpers.play import play_on, rich_engine

EAAI = Rules.preset("eaai_2p")


def views_in_play(name: str, count: int = 12, steps: int = 11, history: bool = False) -> PlayerView:
    engine = rich_engine(name, count, seed=3)
    for _ in play_on(engine, seed=4, steps=steps):
        pass
    return player_view(engine.state, rows=np.flatnonzero(~engine.over), history=history)


@pytest.mark.parametrize("name", ["eaai_2p", "palace_4p"])
@pytest.mark.parametrize("steps", [10, 11])
def test_what_is_hidden_changes_nothing(name: str, steps: int) -> None:
    """Two states that show the same are played alike, alone or in a batch."""
    view = views_in_play(name, steps=steps)
    other = player_view(sample_worlds(view, 1, world_keys(5, len(view))), seats=view.seat)
    agent = SearchAgent(GoldK4Agent(), worlds=8, belief=Belief(0.1, 0.02, 0.3), batch_rows=256)
    agent.reset(7)
    actions = agent.act(view)
    agent.reset(7)
    np.testing.assert_array_equal(agent.act(other), actions)
    for row in (0, len(view) - 1):
        assert agent.act(view.choose([row])) == actions[row]
    assert agent.num_searched


@pytest.mark.parametrize(
    "name",
    ["eaai_2p", "palace_4p", "palace_4p(partner_hand_visible=False)", "rotation_3p", "free_for_all_3p", "two_tables_4p",
     "palace_2p(boast=True,catch_glass=True,big_gin_bonus=31,last_discard_knock=True)"],
)  # fmt: skip
def test_it_plays_legal_actions_under_every_kind_of_rules(name: str) -> None:
    engine = rich_engine(name, 4, seed=1)
    agent = SearchAgent(GoldAgent(), worlds=2, candidates=3)
    for step, _ in enumerate(play_on(engine, seed=2, steps=30)):
        if step % 3 == 0:
            decide(agent, player_view(engine.state, rows=np.flatnonzero(~engine.over)))
    assert agent.num_searched


def network(name: str) -> PolicyAgent:
    """A network that has learned nothing."""
    rules = Rules.preset(name)
    generator = np.random.default_rng(0)
    sizes = [ObservationEncoder(rules).size, 16, action_layout(rules).size]
    weights = {}
    for layer, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
        weights[f"actor.{layer}.weight"] = generator.standard_normal((outputs, inputs), dtype=np.float32)
        weights[f"actor.{layer}.bias"] = np.zeros(outputs, dtype=np.float32)
    return PolicyAgent(rules, weights, name="blank")


@pytest.mark.parametrize("name", ["eaai_2p", "palace_4p"])
def test_a_networks_likeliest_actions_are_compared(name: str) -> None:
    base, view = network(name), views_in_play(name, steps=12)
    choices = base.act(view)
    found = find_candidates(base, view, choices, most=3, min_probability=0.05)
    logits = np.where(view.legal_mask, base.logits(view), -np.inf)
    odds = np.exp(logits - logits.max(axis=1, keepdims=True))
    odds /= odds.sum(axis=1, keepdims=True)
    assert (odds[found.rows, found.actions] >= 0.05).all()
    np.testing.assert_array_equal(found.actions[found.is_base], odds.argmax(axis=1)[found.rows[found.is_base]])
    agent = SearchAgent(base, worlds=4, candidates=3)
    decide(agent, view)
    assert agent.name == "search:blank"


class Foolish(GoldK4Agent):
    """Throws the lowest card it may when it is first asked, and then plays as ``gold-k4``."""

    name = "foolish"
    asked = False

    def act(self, view: PlayerView) -> np.ndarray:
        """Return foolish actions, or sensible ones."""
        if self.asked:
            return super().act(view)
        self.asked = True
        lowest = view.legal_discard_bits & (~view.legal_discard_bits + np.uint64(1))
        return view.layout.discard + np.bitwise_count(lowest - np.uint64(1)).astype(np.intp)


def test_blunders_of_the_base_are_replaced() -> None:
    """A seat that may knock does so, or discards something else, though the base would break up the hand."""
    engine = rich_engine("eaai_2p", 200, seed=3)
    found: list[PlayerView] = []
    for _ in range(20):
        live = np.flatnonzero(~engine.over)
        view = player_view(engine.state, rows=live)
        found.append(view.choose(np.flatnonzero((view.legal_knock_bits != 0) & (view.phase == Phase.PLAY))))
        engine.step(GoldK4Agent().act(view), live)
    view = max(found, key=len)
    assert len(view) >= 10
    blunders = Foolish().act(view)
    agent = SearchAgent(Foolish(), worlds=32, candidates=4)
    actions = agent.act(view)
    assert agent.num_searched == len(view)
    assert agent.num_replaced == (actions != blunders).sum() > 0.7 * len(view)


def test_candidates_hold_the_choice_and_every_knock_but_not_too_many() -> None:
    view = views_in_play("palace_4p", count=32, steps=14)
    base = GoldAgent()
    choices = base.act(view)
    found = find_candidates(base, view, choices, most=5)
    counts = np.bincount(found.rows, minlength=len(view))
    assert counts.max() == 5
    assert (view.legal_mask[found.rows, found.actions]).all()
    np.testing.assert_array_equal(found.actions[found.is_base], choices[np.unique(found.rows)])
    for row in np.flatnonzero(view.legal_mask.sum(axis=1) > 1):
        actions = found.actions[found.rows == row]
        assert len(set(actions.tolist())) == len(actions) >= 2
        if view.legal_knock_bits[row]:
            assert ((actions >= view.layout.knock) & (actions < view.layout.knock + 52)).any()
    assert not counts[view.legal_mask.sum(axis=1) == 1].any()


def test_a_base_that_reads_the_history_gets_it() -> None:
    view = views_in_play("eaai_2p", history=True)
    agent = SearchAgent(SimpleAgent(), worlds=8)
    assert agent.needs_history
    first, searched = agent.act(view), agent.num_searched
    agent.reset(0)
    assert (agent.num_searched, searched > 0) == (0, True)
    np.testing.assert_array_equal(agent.act(view), first)


def test_a_belief_lowers_the_opponents_deadwood_and_keeps_what_is_known() -> None:
    view = views_in_play("eaai_2p", count=16, steps=16)
    keys = world_keys(1, len(view))
    before = sample_worlds(view, 30, keys)
    after = before.clone()
    believe(after, view, Belief(0.2, 0.0, 0.2), keys)
    others = np.repeat((view.seat + 1) % 2, 30)
    rows = np.arange(after.num_deals)
    assert deadwood(after.hands[rows, others]).mean() < deadwood(before.hands[rows, others]).mean() - 10
    assert not any(card_problems(after, row) for row in range(0, after.num_deals, 7))
    again = player_view(after, seats=np.repeat(view.seat, 30))
    np.testing.assert_array_equal(again.hand_bits, np.repeat(view.hand_bits, 30))
    np.testing.assert_array_equal(again.known_bits, np.repeat(view.known_bits, 30, axis=0))
    np.testing.assert_array_equal(after.first_upcard, before.first_upcard)


def test_a_budget_in_time_is_kept() -> None:
    view = views_in_play("eaai_2p", count=4)
    agent = SearchAgent(GoldK4Agent(), milliseconds=40)
    agent.act(view)
    assert agent.num_playouts >= 16 * agent.num_searched


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("search:", "search:gold-k4"),
        ("gold", "search:gold-k4"),
        ("search:gold,depth=3", "unknown option 'depth'"),
        ("search:gold,worlds=many", "worlds=many.*a number"),
        ("search:gold,belief=blind", "belief=blind.*usual or uniform"),
        ("search:gold,worlds=1", "worlds=1: must be"),
        ("search:gold,ms=0", "milliseconds=0.0.*more than 0"),
        ("search:gold,threshold=-1", "threshold=-1.0.*0 or more"),
        ("search:golden", "unknown agent 'golden'"),
    ],
)
def test_texts_that_name_no_search_are_refused(text: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        parse_search(text, EAAI, load_agent)


def test_a_text_names_base_and_options() -> None:
    agent: Agent = parse_search("search:gold-k4,worlds=24,candidates=3,threshold=0.5", EAAI, load_agent)
    assert isinstance(agent, SearchAgent)
    assert (agent.worlds, agent.candidates, agent.threshold, agent.milliseconds) == (24, 3, 0.5, None)
    assert agent.name == "search:gold-k4,worlds=24,candidates=3,threshold=0.5"
    assert isinstance(agent.base, GoldK4Agent)
    assert agent.belief is None
    assert parse_search("search:gold,belief=uniform", EAAI, load_agent).belief == UNIFORM
    assert parse_search("search:gold,ms=20", EAAI, load_agent).milliseconds == 20
