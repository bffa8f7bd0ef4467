"""Figures over several matches: the standings of all sides, the result between two of them, means."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from agents.arena.report.results import Match
from agents.arena.statistics.intervals import Estimate


class Standing(NamedTuple):
    """A side's results over all of its matches."""

    side: str
    points: float  #: mean of its net points per deal over its matches, all with equal weight
    won: float  #: mean share of the episodes that it won
    better: int  #: matches with an interval above 0, and matches won by forfeit
    level: int  #: matches with an interval that contains 0
    worse: int  #: matches with an interval below 0, and matches lost by forfeit
    forfeits: int


def standings(matches: Sequence[Match], num_teams: int) -> list[Standing]:
    """Return the standings of all sides, sorted by points per deal; sides without a figure come last."""
    table = []
    for side in dict.fromkeys(side for match in matches for side in match.sides):
        own = [match for match in matches if side in match.sides and len(set(match.sides)) == len(match.sides)]
        with_points = [(match, match.points_of(side, num_teams)) for match in own]
        results = [points for _, points in with_points if points is not None]
        win_rates = [
            match.win_rate(match.sides.index(side)).value for match, points in with_points if points is not None
        ]

        forfeits = sum(match.loser == side for match in own)
        won_by_forfeit = sum(match.forfeiter is not None for match in own) - forfeits
        table.append(
            Standing(
                side=side,
                points=mean(result.value for result in results),
                won=mean(win_rates),
                better=sum(result.low > 0 for result in results) + won_by_forfeit,
                level=sum(result.low <= 0 <= result.high for result in results),
                worse=sum(result.high < 0 for result in results) + forfeits,
                forfeits=forfeits,
            )
        )
    return sorted(table, key=lambda row: -math.inf if math.isnan(row.points) else row.points, reverse=True)


def result_between(matches: Sequence[Match], row: str, column: str, num_teams: int) -> Estimate | str | None:
    """Return a side's result against another: points, a text if the match was forfeited, None if not played."""
    for match in sorted(matches, key=lambda match: match.sides[0] != row):  # prefer matches with the row's side first
        if {row, column} == set(match.sides) and len(match.sides) == 2:
            if match.loser is not None:
                return "lost by\nforfeit" if match.loser == row else "won by\nforfeit"
            points = match.points_of(row, num_teams)
            if points is not None:
                return points
    return None


def entries_by_side(matches: Sequence[Match], key: str, order: Sequence[str]) -> dict[str, list[Any]]:
    """Collect, for each side, the entries of its matches under a key that has one entry for each side.

    Forfeited matches have no entries. Sides are in the given order; sides without an entry are left out.
    """
    by_side: dict[str, list[Any]] = {side: [] for side in order}
    for match in matches:
        for side, entry in zip(match.sides, match.data.get(key) or [], strict=False):
            if entry:
                by_side[side].append(entry)
    return {side: entries for side, entries in by_side.items() if entries}


def mean(values: Iterable[float | None]) -> float:
    """Return the mean of the known values, NaN if there are none."""
    numbers = [value for value in values if value is not None and not math.isnan(value)]
    return sum(numbers) / len(numbers) if numbers else math.nan
