"""Read and check the ``summary.json`` of a results folder.

A *side* is named after its agent, or after several agents joined by ``+`` if partners differ.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
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
    """The contents of a results folder."""

    folder: Path
    summary: Mapping[str, Any]  #: the contents of ``summary.json``
    rules: Rules

    @property
    def matches(self) -> list[Match]:
        """All matches, in the order of the file."""
        return [Match(match) for match in self.summary["matches"]]


class Match:
    """A match of a summary; missing figures are NaN.

    Attributes
    ----------
    data : mapping
        The match's entry in the summary.
    names : list of list of str
        The agents of each side: the first, the second, and more if every team is a side of its own.
    sides : tuple of str
        The name of each side.
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

    def points_of(self, side: str, num_teams: int) -> Estimate | None:
        """Return the net points per deal of one side; None if the match does not have them.

        With two teams, one side's points are the negative of the other's. With more teams, a second side that holds
        several of them has no figure of its own.
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
        """The index of the side that forfeited, None without a forfeit."""
        forfeit = self.data.get("forfeit")
        return int(forfeit["side"]) if forfeit else None

    @property
    def loser(self) -> str | None:
        """The name of the side that forfeited, None without a forfeit."""
        return None if self.forfeiter is None else self.sides[self.forfeiter]


def read_results(folder: Path) -> Results | None:
    """Return a folder's results, None if it holds none; raises ``ValueError`` for damaged or unknown files."""
    path = folder / SUMMARY_FILE
    if not path.is_file():
        return None

    try:
        summary = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged: {error}; create the results again") from None

    file_format = summary.get("format") if isinstance(summary, dict) else None
    if file_format != FORMAT:
        raise ValueError(f"{path}: expected format {FORMAT!r}, got {file_format!r}; create the results again")
    for key, kind in _SUMMARY_TYPES.items():
        if not isinstance(summary.get(key), kind):
            raise ValueError(f"{path} is damaged: {key}: expected a {kind.__name__}; create the results again")
    for number, match in enumerate(summary["matches"], start=1):
        if not isinstance(match, dict) or not all(_is_side(match.get(side)) for side in ("first", "second")):
            raise ValueError(f"{path} is damaged: match {number} does not name its sides; create the results again")

    fields: dict[str, Any] = {  # JSON turns tuples into lists
        name: tuple(value) if isinstance(value, list) else value for name, value in summary["rules"].items()
    }
    try:
        rules = Rules(**fields)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{path}: the rules are not known to this version: {error}") from None
    return Results(folder, summary, rules)


def _is_side(names: Any) -> bool:
    return isinstance(names, list) and len(names) > 0 and all(isinstance(name, str) for name in names)
