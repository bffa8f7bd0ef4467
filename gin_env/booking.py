"""Booking the end of a deal into the state: a showdown, or a dead deal (docs/rules.md rows 13, 30-34, 37)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.showdown import boasts_unanswered, settle
from gin_env.state import Kind, State

Rows = NDArray[np.intp]

_RESULTS = ("kind", "winner", "knocker", "deadwood", "set_bits", "run_bits", "laid_bits")


def book_showdown(state: State, rows: Rows, knockers: NDArray[np.integer]) -> None:
    """Lay everything open and book the points, on top of those of catches."""
    rules = state.rules
    result = settle(
        rules,
        state.hands[rows],
        knockers.astype(np.intp),
        state.first_upcard[rows] if rules.spade_upcard_doubles else None,
        state.boasted[rows] if rules.boast else None,
    )
    state.points[rows] += result.points
    state.net_points[rows] += result.net_points
    for name in _RESULTS:
        getattr(state, name)[rows] = getattr(result, name)


def book_dead(state: State, rows: Rows) -> None:
    """Book deals that nobody wins; catches keep what they paid, and boasts pay the other side."""
    rules = state.rules
    state.kind[rows] = Kind.DEAD
    if rules.boast:
        points, net_points = boasts_unanswered(rules, state.boasted[rows], state.dealer[rows])
        state.points[rows] += points
        state.net_points[rows] += net_points
