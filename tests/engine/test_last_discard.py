"""The last discard: the next seat may take it, only to knock."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.cards import CARD_BITS
from gin_env.engine import Engine, Phase
from gin_env.rules import Rules
from gin_env.scoring import Kind
from tests.helpers.options import OPTION_SETS
from tests.helpers.play import act, legal_texts, lively_actions, never_ending, play_on, rich_engine


def _knock_late(engine: Engine, generator: np.random.Generator) -> np.ndarray:
    """Never knock before the last discard; half of those who can take it do."""
    return lively_actions(engine, generator, eagerness=0.0, sense=1.0)


@pytest.mark.parametrize("name", [name for name, rules in OPTION_SETS.items() if rules.last_discard_knock])
def test_the_last_discard_is_for_a_knock_alone(name: str) -> None:
    engine = rich_engine(OPTION_SETS[name], 100, seed=5)
    state, layout, rules = engine.state, engine.layout, engine.rules
    ends = np.uint64(0 if layout.big_gin < 0 else 1 << layout.big_gin)
    offered = taken = 0
    for actions in play_on(engine, policy=_knock_late):
        last = state.phase == Phase.LAST_DISCARD
        offered += last.sum()
        assert (state.stock_count[last] == rules.stock_floor).all()
        assert np.isin(state.legal[last, 0], [0b01, 0b11]).all()
        assert not state.legal[last, 1:].any()
        takes = np.flatnonzero(last & (actions == 1))
        taken += len(takes)
        after = engine.state.clone()
        if len(takes):
            twin = Engine(rules, len(takes))
            twin.load(after.take(takes))
            twin.step(actions[takes])
            words = twin.state.legal
            assert not (words[:, 0] & ~ends).any()
            assert not np.delete(words, [0, layout.knock_word], axis=1).any()
            assert (words != 0).any(axis=1).all()
            assert not (words[:, layout.knock_word] & CARD_BITS[twin.state.taken_card]).any()
    assert offered > 20
    assert taken


def test_passing_the_last_discard_is_a_dead_deal() -> None:
    engine = Engine(Rules.preset("classic_2p", last_discard_knock=True, stock_floor=4), seed=3)
    engine.reset()
    while engine.state.phase[0] != Phase.LAST_DISCARD:
        choices = legal_texts(engine)
        act(engine, next(text for text in ("pass", "draw", *choices) if text in choices and "knock" not in text))
    act(engine, "pass")
    assert (engine.state.kind[0], engine.state.stock_count[0]) == (Kind.DEAD, 4)


def test_where_the_turn_cap_falls_on_the_last_discard_the_deal_is_dead() -> None:
    rules = Rules.preset("classic_2p", last_discard_knock=True, max_turns=50)
    engine = Engine(rules, 30, seed=6)
    engine.reset()
    for _ in play_on(engine, policy=_cycling):
        at_cap = engine.state.turn == 50
        assert (engine.state.phase[at_cap] == Phase.OVER).all()
    assert (engine.state.turn == 50).any()


def _cycling(engine: Engine, generator: np.random.Generator) -> np.ndarray:
    """Take from the pile in the first 21 turns, then draw: the stock reaches its floor with turn 50."""
    actions = never_ending(engine, generator)
    drawing = engine.state.phase == Phase.DRAW
    return np.where(drawing, np.where(engine.state.turn < 21, 1, 2), actions)
