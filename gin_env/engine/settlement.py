"""The end of a deal written into the state, and games of many deals: score, boxes, bonuses, who deals next.

Functions of games work on deals that have just ended, given by their rows in a ``State``: ``tables`` is (M, K), the
rows of the K tables at which each of M deals was played, one but in mode ``two_tables``.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import Rows
from gin_env.cards.random_streams import random_seats
from gin_env.engine.state import State
from gin_env.rules import Rules
from gin_env.scoring import Kind
from gin_env.scoring.boasts import boasts_unanswered
from gin_env.scoring.showdown import settle
from gin_env.scoring.two_tables import DealEnd, Numbers, join_tables, sole_leader


class GameEnd(NamedTuple):
    """What M deals bring to their games, and which of them end."""

    score_gains: Numbers  #: (M, T) by how much the scores rose
    finished: NDArray[np.bool_]  #: (M,) somebody reached the target
    truncated: NDArray[np.bool_]  #: (M,) cut short at ``max_deals``, without bonuses or winner
    bonuses: Numbers  #: (M, T) what the end pays on top: boxes, game and shutout bonus
    winner: NDArray[np.int8]  #: (M,) the winning team, -1 for none


def start_games(state: State, rows: Rows) -> None:
    """Set the scores of some rows to the start of a game."""
    for name in ("scores", "boxes", "deals_played", "sheet_scores", "sheet_boxes"):
        getattr(state, name)[rows] = 0


def end_deals(state: State, tables: Rows) -> DealEnd:
    """Return the result of deals; two tables are counted together (docs/rules.md, section 2)."""
    if state.rules.num_tables > 1:
        dead: NDArray[np.bool_] = np.all(state.kind[tables] == Kind.DEAD, axis=1)
        return join_tables(state.rules, state.points[tables], state.net_points[tables], dead)
    first = tables[:, 0]
    return DealEnd(state.points[first].astype(np.int64), state.net_points[first].astype(np.int64), state.winner[first])


def add_to_games(state: State, tables: Rows, deals: DealEnd) -> GameEnd:
    """Add the points and boxes of deals to their games, and say which games end with them."""
    rules, first = state.rules, tables[:, 0]
    won = np.arange(rules.num_teams) == deals.winner[:, None]
    boxes = state.boxes[first] + won
    if rules.score_sheet == "hollywood":
        counts = _sheets_that_count(rules, state.sheet_scores[first], boxes)
        added = counts * deals.points[:, None]
        sheet_scores = state.sheet_scores[first] + added
        sheet_boxes = state.sheet_boxes[first] + (counts & won[:, None])
        state.sheet_scores[tables] = sheet_scores[:, None]
        state.sheet_boxes[tables] = sheet_boxes[:, None]
        score_gains = added.sum(axis=1)
        finished = np.all(np.any(sheet_scores >= rules.target, axis=2), axis=1)
        sheets = zip(sheet_scores.swapaxes(0, 1), sheet_boxes.swapaxes(0, 1), strict=True)
        bonuses = sum(end_bonuses(rules, *sheet) for sheet in sheets) * finished[:, None]
    else:
        score_gains = deals.points
        scores = state.scores[first] + score_gains
        finished = np.any(scores >= rules.target, axis=1)
        bonuses = end_bonuses(rules, scores, boxes) * finished[:, None]
    state.scores[tables] += score_gains[:, None].astype(np.int32)
    state.boxes[tables] = boxes[:, None]
    state.deals_played[tables] += 1
    truncated = ~finished & (state.deals_played[first] >= rules.max_deals)
    ahead = sole_leader(state.scores[first] + bonuses)
    return GameEnd(score_gains, finished, truncated, bonuses, np.where(finished, ahead, -1).astype(np.int8))


def _sheets_that_count(rules: Rules, sheet_scores: NDArray[np.int32], boxes: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return on which overlapping sheets a team's points of this deal are written, (M, S, T).

    A team's first win counts on sheet 1, its second on 1 and 2, later ones on all that are still open.
    """
    num_sheets = sheet_scores.shape[1]
    is_open: NDArray[np.bool_] = np.all(sheet_scores < rules.target, axis=2)
    reached = np.clip(boxes, 1, num_sheets)
    return (np.arange(num_sheets)[:, None] < reached[:, None]) & is_open[:, :, None]


def end_bonuses(rules: Rules, scores: NDArray[np.integer], boxes: NDArray[np.integer]) -> Numbers:
    """Return what the end of a game, or of a sheet, pays on top of the scores, (M, T).

    The boxes (M, T), where they count at the end; the game bonus for the team that reached the target
    (several: the highest score); the shutout bonus for that team if the others won no deal.
    """
    bonuses = np.zeros(scores.shape, dtype=np.int64)
    if rules.box_timing == "end":
        bonuses += boxes.astype(np.int64) * rules.box_bonus
    first = sole_leader(scores)
    decided = np.flatnonzero(first >= 0)
    team = first[decided]
    shutout = boxes[decided].sum(axis=1) == boxes[decided, team]
    bonuses[decided, team] += rules.game_bonus + shutout * rules.shutout_bonus
    return bonuses


def next_dealers(state: State, rows: Rows) -> NDArray[np.uint8]:
    """Return the seat that deals next in each row (M,)."""
    rules = state.rules
    dealers = state.dealer[rows].astype(np.int64)
    clockwise = (dealers + 1) % rules.num_seats
    if rules.mode == "rotation":
        after = clockwise if rules.rotation == "clockwise" else _rotation_losers(state, rows)
    elif rules.dealer_rule in ("clockwise", "alternate"):
        after = clockwise
    elif rules.dealer_rule == "fixed":
        after = dealers
    elif rules.dealer_rule == "random":
        after = random_seats(state.stream_key[rows], state.deal_number[rows] + 1, rules.num_seats).astype(np.int64)
    elif rules.mode == "free_for_all":
        after = _by_points(state, rows)
    else:
        winner = state.winner[rows].astype(np.int64)
        team = winner if rules.dealer_rule == "winner" else 1 - winner
        # The team's next seat clockwise: one step if that seat is the team's, else two.
        after = (dealers + 1 + ((clockwise + team) % 2)) % rules.num_seats
    if rules.dealer_rule != "fixed":
        dead = state.kind[rows] == Kind.DEAD
        if rules.dead_redeal == "same":
            after = np.where(dead, dealers, after)
        elif rules.dealer_rule != "random":
            after = np.where(dead, clockwise, after)
    return after.astype(np.uint8)


def _rotation_losers(state: State, rows: Rows) -> Numbers:
    """Return, of the two seats that played, the one that lost (M,)."""
    return np.arange(state.rules.num_seats).sum() - state.dealer[rows].astype(np.int64) - state.winner[rows]


def _by_points(state: State, rows: Rows) -> Numbers:
    """Return the seat with the lowest points of the deal, or the highest; of equals the first after the dealer (M,)."""
    rules = state.rules
    order = (state.dealer[rows].astype(np.intp)[:, None] + 1 + np.arange(rules.num_seats)) % rules.num_seats
    points = np.take_along_axis(state.points[rows], order, axis=1)
    place = points.argmax(axis=1) if rules.dealer_rule == "winner" else points.argmin(axis=1)
    return order[np.arange(len(rows)), place]


_RESULTS = ("kind", "winner", "knocker", "deadwood", "set_bits", "run_bits", "laid_bits")


def settle_showdown(state: State, rows: Rows, knockers: NDArray[np.integer]) -> None:
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


def settle_dead_deal(state: State, rows: Rows) -> None:
    """Book deals that nobody wins; catches keep what they paid, and boasts pay the other side."""
    rules = state.rules
    state.kind[rows] = Kind.DEAD
    if rules.boast:
        points, net_points = boasts_unanswered(rules, state.boasted[rows], state.dealer[rows])
        state.points[rows] += points
        state.net_points[rows] += net_points
