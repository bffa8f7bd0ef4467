"""Impossible positions: how the deal ended, what it paid, and the game around it."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gin_env.cards.melds import deadwood
from gin_env.engine import Phase, State
from gin_env.engine.knocking import knock_limits
from gin_env.engine.settlement import settle_dead_deal, settle_showdown
from gin_env.engine.state import NO_SEAT
from gin_env.notation.position_facts import CATCH_SIZE, phase_of, seats_playing
from gin_env.scoring import Kind

#: The arrays that a showdown sets, apart from the points.
_SHOWDOWN_ARRAYS = ("kind", "winner", "deadwood", "set_bits", "run_bits", "laid_bits")


def result_problems(state: State, row: int) -> Iterator[str]:
    """Yield where the result is not that of the final hands: a deal that is over is settled again."""
    kind, phase = Kind(int(state.kind[row])), phase_of(state, row)
    if (kind is Kind.NONE) == (phase is Phase.OVER):
        yield f"kind={kind.name.lower()} in phase {phase.name.lower()}"
        return

    settled = state.take([row])
    settled.points[:] = settled.net_points[:] = 0
    if kind in (Kind.NONE, Kind.DEAD):
        yield from _no_showdown_problems(state, row)
        if kind is Kind.DEAD:
            settle_dead_deal(settled, np.arange(1))
    elif state.knocker[row] != state.turn_seat[row]:
        yield f"knocker={state.knocker[row]}: expected seat {state.turn_seat[row]}, whose turn it is"
        return
    else:
        yield from _knock_problems(state, row)
        settle_showdown(settled, np.arange(1), state.knocker[[row]])
        yield from _showdown_problems(state, row, settled)

    # Catches are paid during the deal, so any points besides the showdown's are theirs.
    points, net_points = state.points[row] - settled.points[0], state.net_points[row] - settled.net_points[0]
    yield from _catch_point_problems(state, row, points, net_points)


def _no_showdown_problems(state: State, row: int) -> Iterator[str]:
    showdown = state.set_bits[row] | state.run_bits[row] | state.laid_bits[row] | state.deadwood[row]
    if state.knocker[row] != NO_SEAT or state.winner[row] != -1 or showdown.any():
        yield "nobody has knocked, but there is a knocker, a winner or a showdown"


def _knock_problems(state: State, row: int) -> Iterator[str]:
    knocker = int(state.knocker[row])
    least = int(deadwood(state.hands[row, [knocker]])[0])
    limit = 0 if state.kind[row] == Kind.BIG_GIN else int(np.max(knock_limits(state, np.array([row]))))
    if least > limit:
        yield f"seat {knocker} knocked with {least} points of deadwood, expected at most {limit}"


def _showdown_problems(state: State, row: int, settled: State) -> Iterator[str]:
    for name in _SHOWDOWN_ARRAYS:
        value, expected = getattr(state, name)[row], getattr(settled, name)[0]
        if not np.array_equal(value, expected):
            yield f"{name} is not the showdown's: expected {expected.tolist()}, got {value.tolist()}"


def _catch_point_problems(state: State, row: int, points: np.ndarray, net_points: np.ndarray) -> Iterator[str]:
    """Check what was paid besides the showdown, by team (T,): ``catch_points`` for each catch, right or wrong."""
    rules = state.rules
    amount = rules.catch_points if rules.catch_glass else 0
    right_catches = int(state.caught_bits[row]).bit_count() // CATCH_SIZE
    not_whole_catches = (points % amount if amount else points).any()
    if (points < 0).any() or not_whole_catches or points.sum() < right_catches * amount:
        yield (
            f"points are {points.tolist()} besides the showdown's, "
            f"expected {amount} for each of at least {right_catches} catches"
        )

    teams_playing = [rules.team_of(seat) for seat in seats_playing(state, row)]
    playing = np.isin(np.arange(rules.num_teams), teams_playing)
    expected_net = (points * playing.sum() - points.sum()) * playing
    if not np.array_equal(net_points, expected_net) or points[~playing].any():
        yield "net_points do not fit the points"


def game_problems(state: State, row: int) -> Iterator[str]:
    """Yield contradictions in the game around the deal."""
    rules, over = state.rules, phase_of(state, row) is Phase.OVER
    scores, boxes, deals_played = state.scores[row], state.boxes[row], int(state.deals_played[row])
    if deals_played > rules.max_deals - (not over):
        yield f"deals_played={deals_played}: a game ends with deal {rules.max_deals}"
    if boxes.sum() > deals_played:
        yield f"boxes has {boxes.sum()} deals won, but deals_played={deals_played}"
    if not deals_played and (scores.any() or boxes.any()):
        yield "a game has scores before its first deal"
    yield from _sheet_problems(state, row)

    if not over and _leading_score(state, row) >= rules.target:
        yield f"the game was over before this deal: the target is {rules.target}"


def _sheet_problems(state: State, row: int) -> Iterator[str]:
    """Check overlapping score sheets (``score_sheet="hollywood"``)."""
    sheets = state.sheet_scores[row]
    if len(sheets) and not np.array_equal(sheets.sum(axis=0), state.scores[row]):
        yield "scores is not the sum of the sheets"
    if (state.sheet_boxes[row] > state.boxes[row]).any():
        yield "sheet_boxes counts more deals than boxes"


def _leading_score(state: State, row: int) -> int:
    """Return the score that ends the game: the best one, on the last sheet to be finished if there are several."""
    sheets = state.sheet_scores[row]
    best = sheets.max(axis=1) if len(sheets) else state.scores[row].max(keepdims=True)
    return int(best.min())
