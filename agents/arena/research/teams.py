"""Every partnership of some agents against the same opponents, on the same decks: the matrix behind two commands.

Cell (a, b) is the net points per deal of the team of ``a`` and ``b`` against ``--against``. All cells are played on
the same decks, with the teams' seats swapped, and means over cells are resampled deck by deck for all cells together.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.markup import escape

from agents.arena.match.result import MatchResult
from agents.arena.statistics.intervals import Estimate
from agents.arena.tournament.options import PlayOptions, ResultsOptions
from agents.arena.tournament.paired_comparison import difference_between, mean_over
from agents.arena.tournament.run import Played, play, print_results_folder
from agents.arena.tournament.summary import Outcome
from agents.arena.tournament.tables import print_forfeits, section_tables
from agents.arena.tournament.tournament import Pairing
from agents.cli import UserError
from gin_env.rules import Rules

#: Deals of each cell where none are asked for: ±0.7 points in a cell, less in the means.
DEFAULT_DEALS = 4_000

Team = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class TeamOptions(PlayOptions):
    """The options of commands that put teams together."""

    deals: int | None = DEFAULT_DEALS
    """deals of each team, an even number, as every deck is played with the teams' seats swapped"""
    against: str = "team-lookahead"
    """who holds both seats of the other team"""


def partnership_rules(options: ResultsOptions, specs: Sequence[str]) -> Rules:
    """Return the rules to play; raises ``UserError`` unless partners sit at one table."""
    rules = options.rules_for(specs)
    if not rules.has_partners:
        raise UserError(f"--preset {rules.name}: no partners sit together there; palace_4p has them")
    return rules


@dataclass(frozen=True, eq=False)
class TeamMatrix:
    """What every team came to.

    Attributes
    ----------
    results : dict
        By the two members, in both orders. Forfeited matches are left out.
    """

    results: dict[Team, MatchResult]

    @classmethod
    def of(cls, teams: Sequence[Team], outcomes: Sequence[Outcome]) -> TeamMatrix:
        """Read the outcomes of the teams' matches."""
        played = {}
        for team, outcome in zip(teams, outcomes, strict=True):
            if isinstance(outcome, MatchResult):
                played[team] = played[team[::-1]] = outcome
        return cls(played)

    def estimate(self, *teams: Team) -> Estimate:
        """Return the points per deal over some teams (over their common decks, where some played more)."""
        return mean_over([self.results[team] for team in teams])

    def difference(self, teams: Sequence[Team], others: Sequence[Team]) -> Estimate:
        """Return by how much some teams' points lie above those of others, deck by deck."""
        return difference_between([self.results[team] for team in teams], [self.results[team] for team in others])

    def complete(self, members: Sequence[str]) -> list[str]:
        """Return members of whom every team was played to its end; whoever lacks most is left out first."""
        left = list(members)
        while left:
            lacking = {one: sum((one, other) not in self.results for other in left) for one in left}
            worst = max(left, key=lambda one: lacking[one])
            if not lacking[worst]:
                break
            left.remove(worst)
        return left

    def halves(self) -> tuple[TeamMatrix, TeamMatrix]:
        """Return the matrix of the decks with even numbers, and that of those with odd ones.

        What is chosen by one half can be measured on the other: the best of several, measured by the deals that
        made it the best, looks better than it is.
        """
        return TeamMatrix(self._half(0)), TeamMatrix(self._half(1))

    def _half(self, first: int) -> dict[Team, MatchResult]:
        return {team: result.every_other_pair(first) for team, result in self.results.items()}

    def section(self, title: str, text: list[str], rows: Sequence[str], columns: Sequence[str]) -> dict[str, Any]:
        """Return the matrix for the summary."""
        values = [[self._cell(row, column) for column in columns] for row in rows]
        matrix = {"rows": list(rows), "columns": list(columns), "unit": "points per deal", "values": values}
        return {"title": title, "text": text, "matrix": matrix}

    def _cell(self, one: str, other: str) -> dict[str, Any] | None:
        return self.estimate((one, other)).to_dict() if (one, other) in self.results else None


def play_teams(
    options: TeamOptions,
    kind: str,
    title: str,
    teams: Sequence[Team],
    sections: Callable[[TeamMatrix], list[dict[str, Any]]],
) -> None:
    """Play teams, print the sections that are made of their matrix, and keep the results."""
    rules = partnership_rules(options, list(dict.fromkeys(itertools.chain(*teams))))
    played = play(
        options,
        f"evaluate.py {kind}",
        kind,
        f"{rules.name}: {title}",
        [Pairing((team, (options.against, options.against))) for team in teams],
        options.settings(rules),
        lambda outcomes: sections(TeamMatrix.of(teams, outcomes)),
    )
    print_sections(played)
    print_results_folder(played, options)


def teams_of(members: Sequence[str]) -> list[Team]:
    """Return every team of two members, each once, a member with itself included."""
    return list(itertools.combinations_with_replacement(members, 2))


def check_members(option: str, members: Sequence[str], at_least: int) -> None:
    """Raise ``UserError`` where too few agents are named, or one twice."""
    if len(members) < at_least:
        least = "an agent" if at_least == 1 else f"{at_least} agents"
        raise UserError(f"{option} {' '.join(members)}".strip() + f": name {least} or more")
    twice = [name for name in members if list(members).count(name) > 1]
    if twice:
        raise UserError(f"{option}: {twice[0]} is named twice")


def print_sections(played: Played) -> None:
    """Print forfeits and all sections."""
    console = Console()
    print_forfeits(played.outcomes, console)
    for section in played.summary["sections"]:
        for table in section_tables(section):
            console.print(table)
        for paragraph in section["text"]:
            console.print(escape(paragraph) + "\n", highlight=False)
