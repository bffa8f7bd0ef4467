"""The end of a deal written into the state: how it ended, the melds on the table, and the points of every team.

What a deal's points do to the game around it is in ``game_score.py``, and who deals next in ``next_dealer.py``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import Rows
from gin_env.engine.state import State
from gin_env.scoring import Kind
from gin_env.scoring.boasts import boasts_unanswered
from gin_env.scoring.showdown import settle


def settle_showdown(state: State, rows: Rows, knockers: NDArray[np.integer]) -> None:
    """Settle deals that ended with a knock or big gin of the given seats (M,); points of catches are kept."""
    rules = state.rules
    showdown = settle(
        rules,
        state.hands[rows],
        knockers.astype(np.intp),
        state.first_upcard[rows] if rules.spade_upcard_doubles else None,
        state.boasted[rows] if rules.boast else None,
    )
    state.points[rows] += showdown.points
    state.net_points[rows] += showdown.net_points

    state.kind[rows] = showdown.kind
    state.winner[rows] = showdown.winner
    state.knocker[rows] = showdown.knocker
    state.deadwood[rows] = showdown.deadwood
    state.set_bits[rows] = showdown.set_bits
    state.run_bits[rows] = showdown.run_bits
    state.laid_bits[rows] = showdown.laid_bits


def settle_dead_deal(state: State, rows: Rows) -> None:
    """Settle deals that nobody wins; points of catches are kept, and boasts pay the other side."""
    rules = state.rules
    state.kind[rows] = Kind.DEAD
    if rules.boast:
        points, net_points = boasts_unanswered(rules, state.boasted[rows], state.dealer[rows])
        state.points[rows] += points
        state.net_points[rows] += net_points
