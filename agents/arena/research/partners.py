"""``evaluate.py partners``: how well an agent plays with partners that it has never met.

Each agent is paired with each partner of a pool, scripted or trained, against the same opponents. A weak partner costs
every team points. The points are therefore also given relative to each partner's best-known partner: the one of all
agents named with whom that partner scores most.
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
    """Pair agents with partners that they have never met."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(help="the agents to examine")]
    pool: tuple[str, ...] = DEFAULT_POOL
    """the partners"""


def main(words: Sequence[str]) -> None:
    """Play every team, print the matrix and store the results."""
    arguments = parse(Arguments, prog="evaluate.py partners", args=words)
    arguments.check()
    check_members("--agents", arguments.agents, 1)
    check_members("--pool", arguments.pool, 1)
    members = tuple(dict.fromkeys((*arguments.agents, *arguments.pool)))
    teams = [team for team in teams_of(members) if set(team) & set(arguments.pool)]
    play_teams(arguments, "partners", "unknown partners", teams, lambda matrix: summary_sections(arguments, matrix))


def best_known(matrix: TeamMatrix, partner: str, members: Sequence[str]) -> str | None:
    """Return the member with which a partner scores most, None if no team of this partner has a result."""
    candidates = [member for member in members if (member, partner) in matrix.results]
    return max(candidates, key=lambda member: matrix.estimate((member, partner)).value, default=None)


def summary_sections(arguments: Arguments, matrix: TeamMatrix) -> list[dict[str, Any]]:
    """Return the summary's sections: the matrix, each agent's mean, worst partner and loss, and the best partners."""
    members = tuple(dict.fromkeys((*arguments.agents, *arguments.pool)))
    chosen_by, measured_on = matrix.halves()
    best_partners = {partner: best_known(chosen_by, partner, members) for partner in arguments.pool}

    rows: list[list[Any]] = []
    for agent in arguments.agents:
        # Compare (agent, partner) with (best-known partner, partner).
        compared = [
            ((agent, partner), (best_partner, partner))
            for partner, best_partner in best_partners.items()
            if partner != agent and best_partner is not None and (agent, partner) in matrix.results
        ]
        if not compared:
            continue

        worst = min(compared, key=lambda pair: chosen_by.estimate(pair[0]).value)[0]
        most = min(compared, key=lambda pair: chosen_by.difference([pair[0]], [pair[1]]).value)
        teams, best = zip(*compared, strict=True)
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
        "points with the worst",
        "relative to each partner's best-known partner, mean",
        "largest loss with",
        "relative to that partner's best-known partner",
    ]
    matrix_text = f"Net points per deal of each team against {arguments.against}; partners by column."
    table_text = (
        "The relative columns show how much better (above 0) or worse the agent does than each partner's best-known "
        "partner. Worst and best-known partners are chosen on every other deck and measured on the remaining decks, to "
        "avoid selection bias; their points therefore differ slightly from those of the matrix."
    )
    return [
        matrix.section("Unknown partners", [matrix_text], members, arguments.pool),
        {"title": "Each agent with the pool", "text": [table_text], "table": {"headings": headings, "rows": rows}},
        {
            "title": "Best-known partners",
            "text": [],
            "table": {
                "headings": ["partner", "scores most with"],
                "rows": [[partner, best_partner or "nobody"] for partner, best_partner in best_partners.items()],
            },
        },
    ]
