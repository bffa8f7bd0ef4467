"""Who may end the deal: the knock limit, and hands without deadwood."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import Rows, UInt64Array
from gin_env.cards.melds import deadwood, meldable_cards
from gin_env.engine.state import State
from gin_env.rules import upcard_limits


def knock_limits(state: State, rows: Rows) -> int | NDArray[np.intp]:
    """Return the most deadwood with which one may knock: one number, or one for each row (M,).

    With ``limit_from_upcard`` the first upcard's value is the limit if it is lower than ``knock_limit``.
    """
    rules = state.rules
    return upcard_limits(rules)[state.first_upcard[rows]] if rules.limit_from_upcard else rules.knock_limit


def has_no_deadwood(hands: UInt64Array) -> NDArray[np.bool_]:
    """Return which hands (M,) can be melded completely."""
    # Few hands consist of cards that are in some meld; only those need the search for an arrangement.
    result = meldable_cards(hands) == hands
    candidates = np.flatnonzero(result)
    result[candidates] = deadwood(hands[candidates]) == 0
    return result


def big_gin_words(state: State, hands: UInt64Array) -> UInt64Array:
    """Return the bitmasks (M,) of big gin, legal for hands with the drawn card and without deadwood."""
    return np.uint64(1 << state.layout.big_gin) * has_no_deadwood(hands)
