"""Three players in rotation: the dealer sits out."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.engine import Engine, Phase
from gin_env.rules import Rules
from tests.helpers.options import OPTION_SETS
from tests.helpers.play import act, legal_texts, play_on, rich_engine


@pytest.mark.parametrize("rules", [Rules.preset("rotation_3p"), OPTION_SETS["rotation_all"]], ids=["preset", "all"])
def test_the_dealer_of_three_sits_out(rules: Rules) -> None:
    engine = rich_engine(rules, 30, seed=1)
    state, rows = engine.state, np.arange(30)
    assert (state.mover == (state.dealer + 1) % 3).all()
    assert (state.offers_left == 2).all()
    for _ in play_on(engine):
        going_on = state.phase != Phase.OVER
        assert (state.mover != state.dealer)[going_on].all()
        assert not state.hands[rows, state.dealer].any()
    assert set(state.dealer.tolist()) == {0, 1, 2}


def test_two_of_three_are_offered_the_upcard() -> None:
    engine = Engine("rotation_3p", seed=1)
    engine.reset(dealers=0)
    for seat in (1, 2):
        assert engine.state.mover[0] == seat
        act(engine, "pass")
    assert (engine.state.mover[0], legal_texts(engine)) == (1, ["draw"])
