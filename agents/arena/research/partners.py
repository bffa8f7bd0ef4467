"""``evaluate.py partners``: how well an agent plays with partners that it has never met.

Each agent is put together with each partner of a pool, scripted and trained ones, against the same opponents. A weak
partner costs everybody points; so beside the points stands what is lost to that partner's best-known partner: the
best team that he makes with anybody named here.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from agents.arena.research.teams import TeamMatrix, TeamOptions, check_members, play_teams, teams_of
from agents.cli import parse

DEFAULT_POOL = ("simple", "gin-only", "trade-greedy", "never-trade", "team-lookahead")


@dataclass(frozen=True, kw_only=True)
class Arguments(TeamOptions):
    """Put agents together with partners that they have never met."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(help="the agents that are examined")]
    pool: tuple[str, ...] = DEFAULT_POOL
    """the partners"""


def main(words: Sequence[str]) -> None:
    """Play every team, print the matrix and keep the results."""
    arguments = parse(Arguments, prog="evaluate.py partners", args=words)
    arguments.check()
    check_members("--agents", arguments.agents, 1)
    check_members("--pool", arguments.pool, 1)
    members = tuple(dict.fromkeys((*arguments.agents, *arguments.pool)))
    teams = [team for team in teams_of(members) if set(team) & set(arguments.pool)]
    play_teams(arguments, "partners", "partners never met", teams, lambda matrix: sections(arguments, matrix))


def best_known(matrix: TeamMatrix, partner: str, members: Sequence[str]) -> str | None:
    """Return the best_partner with whom a partner makes most points, of those who played with him."""
    known = [best_partner for best_partner in members if (best_partner, partner) in matrix.results]
    return max(known, key=lambda best_partner: matrix.estimate((best_partner, partner)).value, default=None)


def sections(arguments: Arguments, matrix: TeamMatrix) -> list[dict[str, Any]]:
    """Return the matrix of teams, and each agent's mean, worst partner and loss to the best-known partners."""
    members = tuple(dict.fromkeys((*arguments.agents, *arguments.pool)))
    chosen_by, measured_on = matrix.halves()
    best_partners = {partner: best_known(chosen_by, partner, members) for partner in arguments.pool}
    rows: list[list[Any]] = []
    for agent in arguments.agents:
        # (agent, partner) and (best-known partner, partner), where both were played
        met = [
            ((agent, partner), (best_partner, partner))
            for partner, best_partner in best_partners.items()
            if partner != agent and best_partner is not None and (agent, partner) in matrix.results
        ]
        if not met:
            continue
        worst = min(met, key=lambda pair: chosen_by.estimate(pair[0]).value)[0]
        most = min(met, key=lambda pair: chosen_by.difference([pair[0]], [pair[1]]).value)
        teams, best = zip(*met, strict=True)
        rows.append(
            [
                agent,
                matrix.estimate(*teams).to_dict(),
                worst[1],
                measured_on.estimate(worst).to_dict(),
                measured_on.difference(teams, best).to_dict(),
                most[0][1],
                measured_on.difference([most[0]], [most[1]]).to_dict(),
            ]
        )
    headings = [
        "agent",
        "mean over partners",
        "worst partner",
        "points with him",
        "relative to each partner's best-known partner, mean",
        "most is lost with",
        "relative to his best-known partner",
    ]
    told = [
        f"Net points per deal of each team against {arguments.against}; partners by column.",
        "The relative columns tell how much better (above 0) or worse the agent does than each partner's best-known "
        "partner. Worst partners and best-known partners are chosen by every other deck and measured on the rest, so "
        "that the choice flatters nobody; the points there differ a little from those of the matrix.",
    ]
    return [
        matrix.section("Partners never met", told[:1], members, arguments.pool),
        {"title": "Each agent with the pool", "text": told[1:], "table": {"headings": headings, "rows": rows}},
        {
            "title": "Best-known partners",
            "text": [],
            "table": {
                "headings": ["partner", "makes most points with"],
                "rows": [[partner, best_partner or "nobody"] for partner, best_partner in best_partners.items()],
            },
        },
    ]
