"""The matrix of teams behind ``cross-play`` and ``partners``, and helpers of all research commands.

Cell (a, b) is the net points per deal of the team of ``a`` and ``b`` against ``--against``. All cells are played on
the same duplicate deals, and means over cells are resampled deck by deck for all cells together.
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

#: Default number of deals of each cell: ±0.7 points for a cell, less for the means.
DEFAULT_DEALS = 4_000

Team = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class TeamOptions(PlayOptions):
    """The options of commands that form teams."""

    deals: int | None = DEFAULT_DEALS
    """deals of each team, an even number, because every deck is also played with the teams' seats swapped"""
    against: str = "team-lookahead"
    """the agent in both seats of the other team"""


def partnership_rules(options: ResultsOptions, specs: Sequence[str]) -> Rules:
    """Return the rules to play; raises ``UserError`` unless partners sit at the same table."""
    rules = options.rules_for(specs)
    if not rules.has_partners:
        raise UserError(f"--preset {rules.name}: no partners sit together under these rules; try palace_4p")
    return rules


@dataclass(frozen=True, eq=False)
class TeamMatrix:
    """The results of all teams.

    Attributes
    ----------
    results : dict
        By the two members, in both orders. Forfeited matches are left out.
    """

    results: dict[Team, MatchResult]

    @classmethod
    def from_outcomes(cls, teams: Sequence[Team], outcomes: Sequence[Outcome]) -> TeamMatrix:
        """Collect the outcomes of the teams' matches."""
        played = {}
        for team, outcome in zip(teams, outcomes, strict=True):
            if isinstance(outcome, MatchResult):
                played[team] = played[team[::-1]] = outcome
        return cls(played)

    def estimate(self, *teams: Team) -> Estimate:
        """Return the mean points per deal of some teams, over their common decks."""
        return mean_over([self.results[team] for team in teams])

    def difference(self, teams: Sequence[Team], others: Sequence[Team]) -> Estimate:
        """Return the difference between the mean points of two groups of teams, paired deck by deck."""
        return difference_between([self.results[team] for team in teams], [self.results[team] for team in others])

    def complete(self, members: Sequence[str]) -> list[str]:
        """Return members all of whose teams have results; members with the most missing results are removed first."""
        complete = list(members)
        while complete:
            missing = {name: sum((name, other) not in self.results for other in complete) for name in complete}
            worst = max(complete, key=lambda name: missing[name])
            if not missing[worst]:
                break
            complete.remove(worst)
        return complete

    def halves(self) -> tuple[TeamMatrix, TeamMatrix]:
        """Split the matrix into the decks with even numbers and those with odd numbers.

        A choice made on one half can be measured on the other. Measured on the deals by which it was chosen, the best
        of several would look better than it is.
        """
        return TeamMatrix(self._half(0)), TeamMatrix(self._half(1))

    def _half(self, first: int) -> dict[Team, MatchResult]:
        return {team: result.every_other_pair(first) for team, result in self.results.items()}

    def section(self, title: str, text: list[str], rows: Sequence[str], columns: Sequence[str]) -> dict[str, Any]:
        """Return the matrix as a section of the summary."""
        values = [[self._cell(row, column) for column in columns] for row in rows]
        matrix = {"rows": list(rows), "columns": list(columns), "unit": "points per deal", "values": values}
        return {"title": title, "text": text, "matrix": matrix}

    def _cell(self, row: str, column: str) -> dict[str, Any] | None:
        return self.estimate((row, column)).to_dict() if (row, column) in self.results else None


def play_teams(
    options: TeamOptions,
    kind: str,
    title: str,
    teams: Sequence[Team],
    sections: Callable[[TeamMatrix], list[dict[str, Any]]],
) -> None:
    """Play teams, print the sections made from their matrix, and store the results."""
    rules = partnership_rules(options, list(dict.fromkeys(itertools.chain(*teams))))
    played = play(
        options,
        f"evaluate.py {kind}",
        kind,
        f"{rules.name}: {title}",
        [Pairing((team, (options.against, options.against))) for team in teams],
        options.settings(rules),
        lambda outcomes: sections(TeamMatrix.from_outcomes(teams, outcomes)),
    )
    print_sections(played)
    print_results_folder(played, options)


def teams_of(members: Sequence[str]) -> list[Team]:
    """Return every team of two members once, including each member with itself."""
    return list(itertools.combinations_with_replacement(members, 2))


def check_members(option: str, members: Sequence[str], at_least: int) -> None:
    """Raise ``UserError`` if too few agents are named, or one is named twice."""
    if len(members) < at_least:
        least = "an agent" if at_least == 1 else f"{at_least} agents"
        raise UserError(f"{option} {' '.join(members)}".strip() + f": name {least} or more")
    repeated = [name for name in members if list(members).count(name) > 1]
    if repeated:
        raise UserError(f"{option}: {repeated[0]} is named twice")


def print_sections(played: Played) -> None:
    """Print forfeits and all sections."""
    console = Console()
    print_forfeits(played.outcomes, console)
    for section in played.summary["sections"]:
        for table in section_tables(section):
            console.print(table)
        for paragraph in section["text"]:
            console.print(escape(paragraph) + "\n", highlight=False)
