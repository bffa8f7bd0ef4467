"""``evaluate.py partners``: how well an agent plays with partners that it has never met.

Each agent is put together with each partner of a pool, scripted and trained ones, against the same opponents. A weak
partner costs everybody points; so beside the points stands what is lost to that partner's best-known mate: the best
team that he makes with anybody named here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from agents.arena.playing import play, tell_where
from agents.arena.research.printing import print_sections
from agents.arena.research.teams import (
    DEFAULT_DEALS,
    TeamMatrix,
    TeamOptions,
    check_members,
    pairings_of,
    teams_of,
)
from agents.cli import parse

DEFAULT_POOL = ("simple", "gin-only", "trade-greedy", "never-trade", "team-lookahead")


@dataclass(frozen=True, kw_only=True)
class Arguments(TeamOptions):
    """Put agents together with partners that they have never met."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(help="the agents that are examined")]
    pool: tuple[str, ...] = DEFAULT_POOL
    """the partners"""
    deals: int | None = DEFAULT_DEALS
    """deals of each team, an even number, as every deck is played with the teams' seats swapped"""


def main(words: Sequence[str]) -> None:
    """Play every team, print the matrix and keep the results."""
    arguments = parse(Arguments, prog="evaluate.py partners", args=words)
    arguments.check()
    check_members("--agents", arguments.agents, 1)
    check_members("--pool", arguments.pool, 1)
    members = tuple(dict.fromkeys((*arguments.agents, *arguments.pool)))
    settings = arguments.settings(arguments.team_rules(members))
    teams = teams_of(members)
    played = play(
        arguments,
        "evaluate.py partners",
        "partners",
        f"{settings.rules.name}: partners never met",
        pairings_of(teams, arguments.against),
        settings,
        lambda outcomes: sections(arguments, TeamMatrix.of(teams, outcomes, settings.seed)),
    )
    print_sections(played)
    tell_where(played, arguments)


@dataclass(frozen=True)
class WithPartner:
    """An agent with one partner: points, and what is lost to the partner's best-known mate."""

    partner: str
    mate: str
    team: tuple[str, str]
    best_team: tuple[str, str]


def best_known(matrix: TeamMatrix, partner: str, members: Sequence[str]) -> str | None:
    """Return the mate with whom a partner makes most points, of those who played with him."""
    known = [mate for mate in members if (mate, partner) in matrix.cells]
    if not known:
        return None
    return max(known, key=lambda mate: matrix.estimate((mate, partner)).value)


def sections(arguments: Arguments, matrix: TeamMatrix) -> list[dict[str, Any]]:
    """Return the matrix of teams, and each agent's mean, worst partner and loss to the best-known mates."""
    members = tuple(dict.fromkeys((*arguments.agents, *arguments.pool)))
    text = [f"Net points per deal of each team against {arguments.against}; partners by column."]
    found = [matrix.section("Partners never met", text, members, arguments.pool)]
    rows: list[list[Any]] = []
    for agent in arguments.agents:
        met = [
            WithPartner(partner, mate, (agent, partner), (mate, partner))
            for partner in arguments.pool
            if partner != agent
            and (agent, partner) in matrix.cells
            and (mate := best_known(matrix, partner, members)) is not None
        ]
        if not met:
            continue
        teams, best = [one.team for one in met], [one.best_team for one in met]
        worst = min(met, key=lambda one: matrix.estimate(one.team).value)
        losses = {one.partner: matrix.difference([one.team], [one.best_team]) for one in met}
        most = min(losses, key=lambda partner: losses[partner].value)
        rows.append(
            [
                agent,
                matrix.estimate(*teams).to_dict(),
                worst.partner,
                matrix.estimate(worst.team).to_dict(),
                matrix.difference(teams, best).to_dict(),
                most,
                losses[most].to_dict(),
            ]
        )
    headings = [
        "agent",
        "mean over partners",
        "worst partner",
        "points with him",
        "relative to each partner's best-known mate, mean",
        "most is lost with",
        "relative to his best-known mate",
    ]
    mates = [[partner, best_known(matrix, partner, members) or "none"] for partner in arguments.pool]
    found.append(
        {
            "title": "Each agent with the pool",
            "text": [
                "0 in the relative columns means: nobody here plays better with these partners. The best-known mate is "
                "chosen by the same deals, which makes the relative figures a little too low."
            ],
            "table": {"headings": headings, "rows": rows},
        }
    )
    found.append(
        {
            "title": "Best-known mates",
            "text": [],
            "table": {"headings": ["partner", "makes most points with"], "rows": mates},
        }
    )
    return found
