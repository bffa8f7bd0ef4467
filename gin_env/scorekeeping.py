"""Games of many deals: score, boxes, the end and its bonuses, who deals next (docs/rules.md rows 6, 13, 34-36).

All functions work on some rows of a ``State`` whose deals have just ended.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_env.randomness import random_seats
from gin_env.state import Kind, State

Rows = NDArray[np.intp]


class GameEnd(NamedTuple):
    """Which of M games ended with the deal just booked."""

    finished: NDArray[np.bool_]  #: (M,) somebody reached the target
    truncated: NDArray[np.bool_]  #: (M,) cut short at ``max_deals``, without bonuses or winner
    bonuses: NDArray[np.int64]  #: (M, T) what the end pays on top: boxes, game and shutout bonus
    winner: NDArray[np.int8]  #: (M,) the winning team, -1 for none


def start_games(state: State, rows: Rows) -> None:
    """Set the scores of some rows to the start of a game."""
    state.scores[rows] = 0
    state.boxes[rows] = 0
    state.deals_played[rows] = 0


def book_deals(state: State, rows: Rows) -> GameEnd:
    """Add the points and boxes of deals that have ended to their games, and say which games end with them."""
    rules = state.rules
    state.scores[rows] += state.points[rows]
    won = np.flatnonzero(state.winner[rows] >= 0)
    state.boxes[rows[won], state.winner[rows[won]]] += 1
    state.deals_played[rows] += 1
    scores = state.scores[rows].astype(np.int64)
    finished = np.any(scores >= rules.target, axis=1)
    truncated = ~finished & (state.deals_played[rows] >= rules.max_deals)
    bonuses = end_bonuses(state, rows) * finished[:, None]
    totals = scores + bonuses
    ahead = np.where(totals[:, 0] == totals[:, 1], -1, totals.argmax(axis=1))
    return GameEnd(finished, truncated, bonuses, np.where(finished, ahead, -1).astype(np.int8))


def end_bonuses(state: State, rows: Rows) -> NDArray[np.int64]:
    """Return what the end of a game pays on top of the scores, (M, T).

    The boxes, where they count at the end; the game bonus for the team that reached the target (both:
    the higher score); the shutout bonus for that team if the others won no deal.
    """
    rules = state.rules
    scores, boxes = state.scores[rows], state.boxes[rows]
    bonuses = np.zeros(scores.shape, dtype=np.int64)
    if rules.box_timing == "end":
        bonuses += boxes.astype(np.int64) * rules.box_bonus
    first = scores.argmax(axis=1)
    decided = scores[:, 0] != scores[:, 1]
    index = np.arange(len(rows))
    shutout = boxes[index, 1 - first] == 0
    bonuses[index, first] += decided * (rules.game_bonus + shutout * rules.shutout_bonus)
    return bonuses


def next_dealers(state: State, rows: Rows) -> NDArray[np.uint8]:
    """Return the seat that deals next in each row (M,)."""
    rules = state.rules
    dealers = state.dealer[rows].astype(np.int64)
    clockwise = (dealers + 1) % rules.num_players
    if rules.dealer_rule in ("clockwise", "alternate"):
        after = clockwise
    elif rules.dealer_rule == "fixed":
        after = dealers
    elif rules.dealer_rule == "random":
        after = random_seats(state.stream_key[rows], state.deal_number[rows] + 1, rules.num_players).astype(np.int64)
    else:
        winner = state.winner[rows].astype(np.int64)
        team = winner if rules.dealer_rule == "winner" else 1 - winner
        # The team's next seat clockwise: one step if that seat is the team's, else two.
        steps = 1 + ((clockwise + team) % 2)
        after = np.where(winner >= 0, (dealers + steps) % rules.num_players, clockwise)
    if rules.dead_redeal == "same":
        after = np.where(state.kind[rows] == Kind.DEAD, dealers, after)
    return after.astype(np.uint8)
