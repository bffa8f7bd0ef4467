"""The state: copies, rows taken and put back, pickling, and what is wrong with a broken one."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from gin_env.engine import Engine, State
from gin_env.engine.state import array_fields
from gin_env.notation.position_checks import card_problems
from tests.helpers.options import ALL_RULES, swept
from tests.helpers.play import play_on, rich_engine


def deep_pickle(engine: Engine) -> Engine:
    return pickle.loads(pickle.dumps(engine))


@pytest.mark.parametrize("copying", [copy.deepcopy, deep_pickle])
@pytest.mark.parametrize("name", ["palace_4p", "duel_all", "team_all", "rotation_all", "pooled_all", "tables_net"])
def test_copies_continue_alike(copying: Callable[[Engine], Engine], name: str) -> None:
    engine = rich_engine(ALL_RULES[name], 6, seed=2)
    for _ in play_on(engine, steps=20):
        pass
    twin = copying(engine)
    assert twin.rules == engine.rules
    for one, other in zip(play_on(engine, seed=3), play_on(twin, seed=3), strict=True):
        assert (one == other).all()
        assert twin.state.equals(engine.state)
    for one in (engine, twin):
        one.reset()
    assert twin.state.equals(engine.state)


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_rows_can_be_copied_and_put_back(name: str) -> None:
    engine = rich_engine(ALL_RULES[name], 6, seed=3)
    before = engine.state.clone()
    for _ in play_on(engine, steps=7):
        pass
    middle = engine.state.clone()
    assert not middle.equals(before)
    assert card_problems(before, 0) == []
    engine.state.put([1, 2], before.take([1, 2]))
    assert engine.state.take([2]).equals(before.take([2]))
    assert engine.state.take([0]).equals(middle.take([0]))
    assert not engine.state.take([0]).equals(before.take([0]))
    pieces = [middle.take([4, 5]), middle.take([0, 1, 2, 3])]
    assert State.concatenate(pieces).equals(middle.take([4, 5, 0, 1, 2, 3]))
    assert pickle.loads(pickle.dumps(middle)).equals(middle)


def test_a_broken_state_is_described() -> None:
    engine = Engine("palace_4p", 1, seed=0)
    engine.reset()
    assert card_problems(engine.state) == []
    broken = engine.state.clone()
    broken.hands[0, 1] |= broken.hands[0, 0] & ~(broken.hands[0, 0] - np.uint64(1))
    assert any("cards in two places" in problem for problem in card_problems(broken))
    broken = engine.state.clone()
    broken.hands[0, 2] &= broken.hands[0, 2] - np.uint64(1)
    assert any("cards missing" in problem for problem in card_problems(broken))
    assert any("seat 2 holds 6 cards" in problem for problem in card_problems(broken))
    assert {field.name for field in array_fields()} >= {"hands", "deck", "log"}
