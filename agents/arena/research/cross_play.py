"""``evaluate.py cross-play``: how well independently trained partners understand each other.

Each agent plays with itself (self-play) and with each of the others (cross-play), always against the same opponents.
The gap is the loss when partners were not trained together: the value of conventions that only a team itself knows.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import tyro

from agents.arena.research.teams import TeamMatrix, TeamOptions, check_members, play_teams, teams_of
from agents.cli import parse


@dataclass(frozen=True, kw_only=True)
class Arguments(TeamOptions):
    """Pair independently trained agents with themselves and with each other, against the same opponents."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(help="two agents or more, for example runs/seeds/seed-1 ...")]


def main(words: Sequence[str]) -> None:
    """Play every team, print the matrix and store the results."""
    arguments = parse(Arguments, prog="evaluate.py cross-play", args=words)
    arguments.check()
    check_members("--agents", arguments.agents, 2)
    play_teams(
        arguments,
        "cross-play",
        f"cross-play of {len(arguments.agents)} agents",
        teams_of(arguments.agents),
        lambda matrix: summary_sections(arguments, matrix),
    )


def summary_sections(arguments: Arguments, matrix: TeamMatrix) -> list[dict[str, Any]]:
    """Return the summary's sections: the matrix, the means and the gap."""
    # Means over the cells of complete rows only; otherwise they would compare different agents.
    complete = matrix.complete(arguments.agents)
    own, mixed = [(agent, agent) for agent in complete], list(itertools.combinations(complete, 2))

    text = [
        f"Net points per deal of each team against {arguments.against}. On the diagonal an agent plays with itself, "
        "elsewhere with a partner that it has never met. The agents should be equally strong, for example trained by "
        "the same method: between unequal agents the gap measures their strength, not how well they cooperate."
    ]
    if len(complete) < len(arguments.agents):
        left_out = [agent for agent in arguments.agents if agent not in complete]
        text.append(f"Some matches were forfeited; the means leave out {', '.join(left_out)}.")
    sections = [matrix.section("Cross-play", text, arguments.agents, arguments.agents)]

    if mixed:
        items = [
            ("self-play, mean", matrix.estimate(*own)),
            ("cross-play, mean", matrix.estimate(*mixed)),
            ("gap: self-play minus cross-play", matrix.difference(own, mixed)),
        ]
        for agent in complete:
            own_mixed = [team for team in mixed if agent in team]
            items.append((f"gap of {agent}", matrix.difference([(agent, agent)], own_mixed)))
        bars = {
            "unit": "points per deal",
            "items": [{"label": label, "estimate": estimate.to_dict()} for label, estimate in items],
        }
        note = (
            "The intervals show the uncertainty from the decks. The spread over the diagonal shows how much the "
            "training seeds differ."
        )
        sections.append({"title": "Loss with unknown partners", "text": [note], "bars": bars})
    return sections
