"""The facts of finished deals and games that the environments put into ``info``."""

from __future__ import annotations

from typing import Any

from gin_env.engine import State
from gin_env.engine.state import NO_SEAT
from gin_env.episodes import Transition
from gin_env.episodes.learner_step import LearnerStep
from gin_env.episodes.seat_events import seat_events
from gin_env.rules import Rules, player_name
from gin_env.scoring.deal_result import describe_result


def deal_summary(transition: Transition | LearnerStep, deal: int = 0) -> dict[str, Any]:
    """Return the facts of a deal that has ended, hidden cards included, as plain Python values.

    Returns
    -------
    dict
        - ``kind``; ``knocker``, a seat or None; ``winner``, a team or None; ``turns``;
        - ``points`` and ``net_points`` of each team, and their ``scores`` after the deal; in a Hollywood game also
          ``sheets``, the scores on each sheet;
        - ``events``, for each seat a dict of the counts of :class:`~gin_env.episodes.seat_events.SeatEvents`;
        - if a seat knocked, ``bonuses``, ``deadwood`` of each seat after laying off, and ``spread`` and ``layoffs`` by
          seat as card texts.

        With two tables ``kind`` is ``"two_tables"`` (or ``"dead"``), ``knocker`` is None, the numbers are those of both
        tables, and ``tables`` holds the facts of each, with seats numbered at the table.

    Raises
    ------
    ValueError
        No deal ended with the step.
    """
    finished = _finished(transition)
    num_tables = finished.rules.num_tables
    if num_tables == 1:
        return _table_summary(finished, deal)

    first_row = deal * num_tables
    winner = int(transition.winner[deal])
    tables = [_table_summary(finished, row) for row in range(first_row, first_row + num_tables)]
    return {
        "kind": "dead" if all(table["kind"] == "dead" for table in tables) else "two_tables",
        "knocker": None,
        "winner": None if winner < 0 else winner,
        "points": transition.points[deal].tolist(),
        "net_points": transition.net_points[deal].tolist(),
        "turns": sum(table["turns"] for table in tables),
        **_scores(finished, first_row),
        "events": [counts for table in tables for counts in table["events"]],
        "tables": tables,
    }


def game_summary(transition: Transition | LearnerStep, deal: int = 0) -> dict[str, Any]:
    """Return how a game ended with a deal.

    Keys: ``winner`` (team or None), ``truncated``, ``bonuses`` per team (boxes, game and shutout bonus), and
    ``final_scores``, which include them.
    """
    finished = _finished(transition)
    winner = int(transition.game_winner[deal])
    bonuses = transition.bonuses[deal]
    scores = finished.scores[deal * finished.rules.num_tables]
    return {
        "winner": None if winner < 0 else winner,
        "truncated": bool(transition.truncated_deals[deal]),
        "bonuses": bonuses.tolist(),
        "final_scores": (scores + bonuses).tolist(),
    }


def game_line(rules: Rules, game: dict[str, Any]) -> str:
    """Return how a game ended as a line of text, from its ``game_summary``."""
    winner = "nobody"
    if game["winner"] is not None:
        winner = "+".join(player_name(seat) for seat in rules.seats_of(game["winner"]))
    return f"game      {winner} won, final scores {game['final_scores']}, including bonuses {game['bonuses']}"


def _finished(transition: Transition | LearnerStep) -> State:
    if transition.finished is None:
        raise ValueError("no deal ended with this step")
    return transition.finished


def _table_summary(finished: State, row: int) -> dict[str, Any]:
    """Return the facts of a finished deal at one table."""
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
        summary["spread"] = result.spread
        summary["layoffs"] = result.layoffs
    return summary


def _scores(finished: State, row: int) -> dict[str, Any]:
    """Return the scores after a deal, in a Hollywood game also those on each sheet."""
    scores = {"scores": finished.scores[row].tolist()}
    if finished.sheet_scores.size:
        scores["sheets"] = finished.sheet_scores[row].tolist()
    return scores
