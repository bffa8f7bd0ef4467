"""A folder of results in a report: its ``summary.json`` read and checked, and figures taken over several matches.

A *side* is who plays on one side of a match: an agent's name, or several joined by ``+`` where partners differ.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from agents.arena.statistics.intervals import Estimate, estimate_of
from agents.arena.statistics.ratings import side_name
from agents.arena.tournament.results_folder import FORMAT, SUMMARY_FILE
from gin_env.rules import Rules

_SUMMARY_TYPES = {
    "kind": str,
    "title": str,
    "version": str,
    "command": str,
    "rules_name": str,
    "rules": dict,
    "episode": str,
    "agents": list,
    "matches": list,
    "sections": list,
}


class Results(NamedTuple):
    """A folder of results."""

    folder: Path
    summary: Mapping[str, Any]  #: as ``summary.json`` has it
    rules: Rules

    @property
    def matches(self) -> list[Match]:
        """All matches, in the order of the file."""
        return [Match(match) for match in self.summary["matches"]]


class Match:
    """A match as a summary tells it, with missing figures as NaN.

    Attributes
    ----------
    data : mapping
        As the summary has it.
    names : list of list of str
        The agents of each side: the first, the second, and more where every team is a side of its own.
    sides : tuple of str
        What each side is called.
    points : Estimate
        Net points per deal of the first side.
    """

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.data = data
        self.names: list[list[str]] = data.get("sides") or [data["first"], data["second"]]
        self.sides = tuple(side_name(names) for names in self.names)
        self.points = estimate_of(data.get("points_per_deal"))

    def win_rate(self, side: int) -> Estimate:
        """Return the share of the episodes that a side won."""
        return self._of_side("win_rates", side)

    def told_from(self, side: str, num_teams: int) -> Estimate | None:
        """Return the points as one side sees them; None where the match does not say that.

        With two teams what one wins the other loses. With more, a second side that holds several is told nothing.
        """
        index = self.sides.index(side)
        if index == 0:
            return self.points
        if len(self.sides) > 2:
            return self._of_side("points_of_sides", index)
        return Estimate(-self.points.value, -self.points.high, -self.points.low) if num_teams == 2 else None

    def _of_side(self, key: str, side: int) -> Estimate:
        entries = self.data.get(key) or []
        return estimate_of(entries[side] if side < len(entries) else None)

    @property
    def forfeiter(self) -> int | None:
        """The side that gave the match away by a fault, None where none did."""
        forfeit = self.data.get("forfeit")
        return int(forfeit["side"]) if forfeit else None

    @property
    def loser(self) -> str | None:
        """What that side is called."""
        return None if self.forfeiter is None else self.sides[self.forfeiter]


# ---------------------------------------------------------------------- reading


def read_results(folder: Path) -> Results | None:
    """Return a folder's results, None where it holds none; raises ``ValueError`` where they are damaged or foreign."""
    path = folder / SUMMARY_FILE
    if not path.is_file():
        return None
    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}; make the results anew") from None
    found = summary.get("format") if isinstance(summary, dict) else None
    if found != FORMAT:
        raise ValueError(f"{path} has format {found!r}; this version reads {FORMAT!r}: make the results anew")
    for key, kind in _SUMMARY_TYPES.items():
        if not isinstance(summary.get(key), kind):
            raise ValueError(f"{path} is damaged: {key} is missing or no {kind.__name__}; make the results anew")
    for number, match in enumerate(summary["matches"], start=1):
        if not isinstance(match, dict) or not all(_is_side(match.get(side)) for side in ("first", "second")):
            raise ValueError(f"{path} is damaged: match {number} does not name its sides; make the results anew")
    fields: dict[str, Any] = {  # JSON has lists only
        name: tuple(value) if isinstance(value, list) else value for name, value in summary["rules"].items()
    }
    try:
        rules = Rules(**fields)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path} holds rules unknown here: {error}") from None
    return Results(folder, summary, rules)


def _is_side(names: Any) -> bool:
    return isinstance(names, list) and len(names) > 0 and all(isinstance(name, str) for name in names)


# ---------------------------------------------------------------------- over several matches


class Standing(NamedTuple):
    """What a side came to over all of its matches."""

    side: str
    points: float  #: mean of its net points per deal against each other side, each counted alike
    won: float  #: mean share of the episodes that it won
    better: int  #: matches whose interval lies above 0,
    level: int  #: holds it,
    worse: int  #: or lies below; a forfeit counts so for who gave the match away
    forfeits: int


def standings(matches: Sequence[Match], num_teams: int) -> list[Standing]:
    """Return all sides, the one with most points per deal first; those without a figure come last."""
    table = []
    for side in dict.fromkeys(side for match in matches for side in match.sides):
        own = [match for match in matches if side in match.sides and len(set(match.sides)) == len(match.sides)]
        told = [(match, match.told_from(side, num_teams)) for match in own]
        results = [result for _, result in told if result is not None]
        won = [match.win_rate(match.sides.index(side)).value for match, result in told if result is not None]
        lost_by_fault = sum(match.loser == side for match in own)
        won_by_fault = sum(match.forfeiter is not None for match in own) - lost_by_fault
        better = sum(result.low > 0 for result in results) + won_by_fault
        worse = sum(result.high < 0 for result in results) + lost_by_fault
        level = sum(result.low <= 0 <= result.high for result in results)
        rate = mean(won)
        points = mean(result.value for result in results)
        table.append(Standing(side, points, rate, better, level, worse, lost_by_fault))
    return sorted(table, key=lambda row: -math.inf if math.isnan(row.points) else row.points, reverse=True)


def result_between(matches: Sequence[Match], row: str, column: str, num_teams: int) -> Estimate | str | None:
    """Return what a side came to against another: points, a word where the match was forfeited, None if not played."""
    for match in sorted(matches, key=lambda match: match.sides[0] != row):  # its own view first
        if {row, column} == set(match.sides) and len(match.sides) == 2:
            if match.loser is not None:
                return "lost by\nforfeit" if match.loser == row else "won by\nforfeit"
            told = match.told_from(row, num_teams)
            if told is not None:
                return told
    return None


def entries_by_side(matches: Sequence[Match], key: str, order: Sequence[str]) -> dict[str, list[Any]]:
    """Return what each side's matches hold under a key with one entry for each side; forfeited ones have none.

    The sides come in the order given, those without an entry left out.
    """
    found: dict[str, list[Any]] = {side: [] for side in order}
    for match in matches:
        for side, entry in zip(match.sides, match.data.get(key) or [], strict=False):
            if entry:
                found[side].append(entry)
    return {side: entries for side, entries in found.items() if entries}


def mean(values: Iterable[float | None]) -> float:
    """Return the mean of the numbers among the values, NaN if there is none."""
    numbers = [value for value in values if value is not None and not math.isnan(value)]
    return sum(numbers) / len(numbers) if numbers else math.nan
