"""The facts of finished deals and games that environments put into ``info``."""

from __future__ import annotations

from typing import Any

from gin_env.engine import State
from gin_env.engine.state import NO_SEAT
from gin_env.episodes import Transition
from gin_env.episodes.learner_step import LearnerStep
from gin_env.episodes.seat_events import seat_events
from gin_env.scoring.deal_result import describe_result


def deal_summary(transition: Transition | LearnerStep, deal: int = 0) -> dict[str, Any]:
    """Return the facts of a deal that has ended, all of them open, as plain Python values.

    Keys: ``kind``, ``knocker`` (seat or None), ``winner`` (team or None), ``points`` and ``net_points`` per
    team, ``turns``, ``scores`` per team after it, ``events`` per seat (a dict of the counts of
    :class:`~gin_env.episodes.seat_events.SeatEvents`), and, where somebody knocked, ``bonuses``, ``deadwood`` per seat
    after laying off, ``spread`` and ``layoffs`` by seat as card texts; with Hollywood's sheets also ``sheets``, the
    scores on each. With two tables ``kind`` is ``"two_tables"`` (or ``"dead"``), ``knocker`` None, the numbers are
    those of both, and ``tables`` holds the facts of each, seats counted at the table.
    """
    finished = transition.finished
    if finished is None:
        raise ValueError("no deal ended with this step")
    if finished.rules.num_tables == 1:
        return _table_summary(finished, deal)
    rows = range(deal * finished.rules.num_tables, (deal + 1) * finished.rules.num_tables)
    winner = int(transition.winner[deal])
    tables = [_table_summary(finished, row) for row in rows]
    return {
        "kind": "dead" if all(table["kind"] == "dead" for table in tables) else "two_tables",
        "knocker": None,
        "winner": None if winner < 0 else winner,
        "points": transition.points[deal].tolist(),
        "net_points": transition.net_points[deal].tolist(),
        "turns": sum(table["turns"] for table in tables),
        **_scores(finished, rows[0]),
        "events": [counts for table in tables for counts in table["events"]],
        "tables": tables,
    }


def game_summary(transition: Transition | LearnerStep, deal: int = 0) -> dict[str, Any]:
    """Return how a game ended with a deal.

    Keys: ``winner`` (team or None), ``truncated``, ``bonuses`` per team (boxes, game and shutout bonus) and
    ``final_scores`` with them.
    """
    finished = transition.finished
    if finished is None:
        raise ValueError("no deal ended with this step")
    winner, bonuses = int(transition.game_winner[deal]), transition.bonuses[deal]
    scores = finished.scores[deal * finished.rules.num_tables]
    return {
        "winner": None if winner < 0 else winner,
        "truncated": bool(transition.truncated_deals[deal]),
        "bonuses": bonuses.tolist(),
        "final_scores": (scores + bonuses).tolist(),
    }


def _scores(finished: State, row: int) -> dict[str, Any]:
    scores = {"scores": finished.scores[row].tolist()}
    return scores | ({"sheets": finished.sheet_scores[row].tolist()} if finished.sheet_scores.size else {})


def _table_summary(finished: State, row: int) -> dict[str, Any]:
    result = describe_result(finished.rules, finished, row)
    knocker = int(finished.knocker[row])
    summary: dict[str, Any] = {
        "kind": result.kind,
        "knocker": None if knocker == NO_SEAT else knocker,
        "winner": result.winner,
        "points": list(result.points),
        "net_points": list(result.net_points),
        "turns": int(finished.turn[row]),
        **_scores(finished, row),
        "events": seat_events(finished, row).of(0),
    }
    if result.deadwood is not None:
        summary["bonuses"] = result.bonuses
        summary["deadwood"] = list(result.deadwood)
        summary["spread"], summary["layoffs"] = result.spread, result.layoffs
    return summary
