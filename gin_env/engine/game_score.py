"""Games of many deals: scores, boxes, when a game ends, and what its end pays.

The functions work on M deals that have just ended. ``tables`` (M, K) holds the rows of each deal in a ``State``: one,
or the rows of both tables in mode ``two_tables``, which have the same score.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import Rows
from gin_env.engine.hollywood import add_to_sheets
from gin_env.engine.state import State
from gin_env.rules import Rules
from gin_env.scoring import Kind
from gin_env.scoring.two_tables import DealEnd, Numbers, join_tables, sole_leader


class GameEnd(NamedTuple):
    """What M deals changed in their games, and which of the games end with them."""

    score_gains: Numbers  #: (M, T) by how much the scores rose
    finished: NDArray[np.bool_]  #: (M,) a team reached the target
    truncated: NDArray[np.bool_]  #: (M,) cut short at ``max_deals``, without bonuses or winner
    bonuses: Numbers  #: (M, T) what the end pays on top: boxes, game and shutout bonus
    winner: NDArray[np.int8]  #: (M,) the winning team, -1 for none


def start_games(state: State, rows: Rows) -> None:
    """Set the scores of some rows to the start of a game."""
    for array in (state.scores, state.boxes, state.deals_played, state.sheet_scores, state.sheet_boxes):
        array[rows] = 0


def deal_totals(state: State, tables: Rows) -> DealEnd:
    """Return the results of deals; those of two tables are counted together."""
    if state.rules.num_tables > 1:
        dead: NDArray[np.bool_] = np.all(state.kind[tables] == Kind.DEAD, axis=1)
        return join_tables(state.rules, state.points[tables], state.net_points[tables], dead)
    first = tables[:, 0]
    return DealEnd(state.points[first].astype(np.int64), state.net_points[first].astype(np.int64), state.winner[first])


def add_to_games(state: State, tables: Rows, deals: DealEnd) -> GameEnd:
    """Add the points and boxes of deals to their games, and find which games end with them."""
    rules, first = state.rules, tables[:, 0]
    scores_before = state.scores[first]
    boxes = state.boxes[first] + (np.arange(rules.num_teams) == deals.winner[:, None])

    # One sheet for each game, or Hollywood's three, (M, S, T).
    if rules.score_sheet == "hollywood":
        sheet_scores, sheet_boxes = add_to_sheets(state, tables, deals)
    else:
        sheet_scores, sheet_boxes = (scores_before + deals.points)[:, None], boxes[:, None]
    scores = sheet_scores.sum(axis=1, dtype=np.int64)

    state.scores[tables] = scores[:, None]
    state.boxes[tables] = boxes[:, None]
    state.deals_played[tables] += 1

    # A game ends when a team has reached the target on every sheet.
    finished: NDArray[np.bool_] = np.all(np.any(sheet_scores >= rules.target, axis=2), axis=1)
    truncated = ~finished & (state.deals_played[first] >= rules.max_deals)
    bonuses = np.zeros(scores.shape, dtype=np.int64)
    for sheet in range(sheet_scores.shape[1]):
        bonuses += end_bonuses(rules, sheet_scores[:, sheet], sheet_boxes[:, sheet])
    bonuses *= finished[:, None]

    winner = np.where(finished, sole_leader(scores + bonuses), -1).astype(np.int8)
    return GameEnd(scores - scores_before, finished, truncated, bonuses, winner)


def end_bonuses(rules: Rules, scores: NDArray[np.integer], boxes: NDArray[np.integer]) -> Numbers:
    """Return what the end of a game, or of a sheet, pays on top of the scores, (M, T).

    The boxes (M, T), where they count at the end (``box_timing``); ``game_bonus`` for the team that reached the target
    (the one with the highest score, if several did); ``shutout_bonus`` for that team if the others won no deal.
    """
    bonuses = np.zeros(scores.shape, dtype=np.int64)
    if rules.box_timing == "end":
        bonuses += boxes.astype(np.int64) * rules.box_bonus

    leader = sole_leader(scores)
    decided = np.flatnonzero(leader >= 0)
    teams = leader[decided]
    is_shutout = boxes[decided].sum(axis=1) == boxes[decided, teams]
    bonuses[decided, teams] += rules.game_bonus + is_shutout * rules.shutout_bonus
    return bonuses
