"""``evaluate.py cross-play``: whether independently trained partners understand each other.

Each agent plays with itself (self-play) and with each of the others (cross-play), always against the same opponents.
What is lost when partners have not been trained together is the gap: what a team owed to conventions of its own.
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
    """Let independently trained agents play with themselves and with each other, against the same opponents."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(help="two agents or more, for example runs/seeds/seed-1 ...")]


def main(words: Sequence[str]) -> None:
    """Play every team, print the matrix and keep the results."""
    arguments = parse(Arguments, prog="evaluate.py cross-play", args=words)
    arguments.check()
    check_members("--agents", arguments.agents, 2)
    play_teams(
        arguments,
        "cross-play",
        f"cross-play of {len(arguments.agents)} agents",
        teams_of(arguments.agents),
        lambda matrix: sections(arguments, matrix),
    )


def sections(arguments: Arguments, matrix: TeamMatrix) -> list[dict[str, Any]]:
    """Return the matrix, the means and the gap."""
    # Means of some rows' cells and not of others would compare different agents.
    whole = matrix.complete(arguments.agents)
    own, mixed = [(agent, agent) for agent in whole], list(itertools.combinations(whole, 2))
    text = [
        f"Net points per deal of each team against {arguments.against}. On the diagonal an agent plays with itself, "
        "elsewhere with one that it has never met. Agents should be of like strength, as those that one method "
        "trained: between unlike ones the gap tells their strength, and nothing of how they understand each other."
    ]
    if len(whole) < len(arguments.agents):
        out = [agent for agent in arguments.agents if agent not in whole]
        text.append(f"Some matches were forfeited; the means leave out {', '.join(out)}.")
    found = [matrix.section("Cross-play", text, arguments.agents, arguments.agents)]
    if mixed:
        items = [
            ("self-play, mean", matrix.estimate(*own)),
            ("cross-play, mean", matrix.estimate(*mixed)),
            ("gap: self-play less cross-play", matrix.difference(own, mixed)),
        ]
        for agent in whole:
            theirs = [team for team in mixed if agent in team]
            items.append((f"gap of {agent}", matrix.difference([(agent, agent)], theirs)))
        bars = {
            "unit": "points per deal",
            "items": [{"label": label, "estimate": estimate.to_dict()} for label, estimate in items],
        }
        note = (
            "The intervals tell what other decks would change; how other training seeds would differ, the spread over "
            "the diagonal tells."
        )
        found.append({"title": "What is lost with partners never met", "text": [note], "bars": bars})
    return found
