"""Every partnership of some agents against the same opponents, on the same decks: the matrix behind two commands.

Cell (a, b) is the net points per deal of the team of ``a`` and ``b`` against ``--against``. All cells are played on
the same decks, with the teams' seats swapped, and means over cells are resampled deck by deck for all cells together.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena.playing import PlayOptions
from agents.arena.result import MatchResult
from agents.arena.statistics import Estimate, paired_difference, ratio_estimate
from agents.arena.summary import Outcome
from agents.arena.tournament import Pairing
from agents.cli import UserError
from gin_env.rules import Rules

#: Deals of each cell where none are asked for: ±0.7 points in a cell, less in the means.
DEFAULT_DEALS = 4_000

Cells = list[tuple[str, str]]


@dataclass(frozen=True, kw_only=True)
class TeamOptions(PlayOptions):
    """The options of commands that put teams together."""

    against: str = "team-lookahead"
    """who holds both seats of the other team"""

    def team_rules(self, specs: Sequence[str]) -> Rules:
        """Return the rules; raises ``UserError`` unless partners sit at one table."""
        rules = self.rules_for(specs)
        if not rules.has_partners:
            raise UserError(f"--preset {rules.name}: no partners sit together there; palace_4p has them")
        return rules


@dataclass(frozen=True, eq=False)
class TeamMatrix:
    """What every team came to.

    Attributes
    ----------
    cells : dict
        By the two members' names, in both orders: points and deals of each pair (n,).
    seed : int
        Of the resampling.
    """

    cells: dict[tuple[str, str], tuple[NDArray[np.float64], NDArray[np.float64]]]
    seed: int
    results: dict[tuple[str, str], MatchResult] = field(default_factory=dict)

    @classmethod
    def of(cls, teams: Sequence[tuple[str, str]], outcomes: Sequence[Outcome], seed: int) -> TeamMatrix:
        """Read the outcomes of the teams' matches; those forfeited are left out."""
        cells, results = {}, {}
        for team, outcome in zip(teams, outcomes, strict=True):
            if isinstance(outcome, MatchResult):
                points = outcome.play_points.sum(axis=1).astype(np.float64)
                deals = outcome.tally.deals[:, :, 0].sum(axis=1).astype(np.float64)
                for order in (team, team[::-1]):
                    cells[order], results[order] = (points, deals), outcome
        return cls(cells, seed, results)

    def estimate(self, *teams: tuple[str, str]) -> Estimate:
        """Return the mean over some teams."""
        return ratio_estimate(*self._sums(teams), self.seed)

    def difference(self, teams: Sequence[tuple[str, str]], others: Sequence[tuple[str, str]]) -> Estimate:
        """Return by how much some teams' mean lies above that of others, deck by deck."""
        return paired_difference(*self._sums(teams), *self._sums(others), self.seed)

    def _sums(self, teams: Sequence[tuple[str, str]]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        # Teams weigh the same, and all have played the same pairs.
        length = min(len(self.cells[team][0]) for team in teams)
        chosen = [[column[:length] for column in self.cells[team]] for team in teams]
        return np.sum([cell[0] for cell in chosen], axis=0), np.sum([cell[1] for cell in chosen], axis=0)

    def section(self, title: str, text: list[str], rows: Sequence[str], columns: Sequence[str]) -> dict[str, Any]:
        """Return the matrix for the summary."""
        values = [[self._cell(row, column) for column in columns] for row in rows]
        matrix = {"rows": list(rows), "columns": list(columns), "unit": "points per deal", "values": values}
        return {"title": title, "text": text, "matrix": matrix}

    def _cell(self, one: str, other: str) -> dict[str, Any] | None:
        if (one, other) not in self.cells:
            return None
        return self.estimate((one, other)).to_dict()


def teams_of(members: Sequence[str]) -> list[tuple[str, str]]:
    """Return every team of two members, each once, a member with itself included."""
    return list(itertools.combinations_with_replacement(members, 2))


def pairings_of(teams: Sequence[tuple[str, str]], against: str) -> list[Pairing]:
    """Return the matches of some teams against the same opponents."""
    return [Pairing((team, (against, against))) for team in teams]


def check_members(option: str, members: Sequence[str], at_least: int) -> None:
    """Raise ``UserError`` where too few agents are named, or one twice."""
    if len(members) < at_least:
        raise UserError(f"{option} {' '.join(members)}: name {at_least} agents or more")
    twice = [name for name in members if list(members).count(name) > 1]
    if twice:
        raise UserError(f"{option}: {twice[0]} is named twice")
