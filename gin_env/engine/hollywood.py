"""Hollywood scoring (``score_sheet="hollywood"``): a game's deals are counted on three overlapping sheets.

A team's first win counts on sheet 1, its second on sheets 1 and 2, later ones on all. A sheet closes when a team
reaches the target on it; the game ends when all are closed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import Rows
from gin_env.engine.state import State
from gin_env.rules import Rules
from gin_env.scoring.two_tables import DealEnd


def add_to_sheets(state: State, tables: Rows, deals: DealEnd) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Add the points and boxes of deals to their sheets; return the scores and boxes of all sheets, both (M, S, T).

    To be called before the deals' boxes are added to ``state.boxes``. ``tables`` is (M, K), as in ``game_score.py``.
    """
    first = tables[:, 0]
    is_winner = np.arange(state.rules.num_teams) == deals.winner[:, None]
    counts = _sheets_that_count(state.rules, state.sheet_scores[first], state.boxes[first] + is_winner)

    state.sheet_scores[tables] += (counts * deals.points[:, None]).astype(np.int32)[:, None]
    state.sheet_boxes[tables] += (counts & is_winner[:, None])[:, None]
    return state.sheet_scores[first], state.sheet_boxes[first]


def _sheets_that_count(rules: Rules, sheet_scores: NDArray[np.int32], boxes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return on which sheets a team's points of this deal are written, (M, S, T): those it has reached and still open.

    ``boxes`` (M, T) are the wins of the game, with this deal's.
    """
    num_sheets = sheet_scores.shape[1]
    is_open: NDArray[np.bool_] = np.all(sheet_scores < rules.target, axis=2)
    num_reached = np.clip(boxes, 1, num_sheets)
    return (np.arange(num_sheets)[:, None] < num_reached[:, None]) & is_open[:, :, None]
