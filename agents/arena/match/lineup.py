"""Who plays against whom: the sides of a match, and which side holds which team in each play of a deck.

There are two forms:

- **One against the rest**: two sides. In play ``k`` the first side holds team ``k`` and the second side all others.
  With two teams this is the usual duplicate match.
- **Every team its own side** (three teams or more): in play ``k`` side ``i`` holds team ``i + k``, so that each side
  holds every team once in the plays of a deck.

A side has one agent for each seat of a team. The seats of a team, in their order, are its **places**.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.episodes import Agent
from gin_env.rules import Rules

#: The number of sides in a match of one against the rest.
NUM_SIDES = 2


def seats_per_team(rules: Rules) -> int:
    """Return the number of seats of a team."""
    return rules.num_players // rules.num_teams


def sides_of_seats(rules: Rules, by_seat: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Regroup agents listed by seat into sides and places (side ``i`` holds team ``i`` in the first play).

    Raises ``ValueError`` unless there is one agent for each seat.
    """
    if len(by_seat) != rules.num_players:
        raise ValueError(f"{rules.name}: expected {rules.num_players} agents, one for each seat, got {len(by_seat)}")
    return [tuple(by_seat[seat] for seat in rules.seats_of(team)) for team in range(rules.num_teams)]


@dataclass(frozen=True, eq=False)
class Lineup:
    """The sides of a match.

    Attributes
    ----------
    rules : Rules
    agents : tuple of tuple of Agent
        Agents by side and place.
    side_of : intp, shape (T, T)
        ``side_of[k, t]`` is the side that holds team ``t`` in play ``k``.
    """

    rules: Rules
    agents: tuple[tuple[Agent, ...], ...]
    side_of: NDArray[np.intp]

    @classmethod
    def make(cls, rules: Rules, sides: Sequence[Agent | Sequence[Agent]]) -> Lineup:
        """Make the lineup of two sides, or of one side for each team.

        Parameters
        ----------
        rules : Rules
        sides : sequence of Agent, or of sequences of Agent
            For each side, one agent for all its seats or a sequence with one agent for each place of a team.

        Raises
        ------
        ValueError
            The wrong number of sides, the wrong number of agents on a side, or something that is not an agent.
        """
        teams, size = rules.num_teams, seats_per_team(rules)
        if len(sides) not in (NUM_SIDES, teams):
            expected = "2" if teams == NUM_SIDES else f"2 or {teams}"
            raise ValueError(f"{rules.name}: expected {expected} sides, got {len(sides)}")

        agents: tuple[tuple[Any, ...], ...] = tuple(
            tuple(side) if isinstance(side, list | tuple) else (side,) * size for side in sides
        )
        for side in agents:
            for agent in side:
                if not hasattr(agent, "act"):
                    raise ValueError(f"{agent!r} is not an agent: pass an object, see agents.registry.load_agent")
            if len(side) != size:
                raise ValueError(f"{rules.name}: expected {size} agents on a side, one for each seat, got {len(side)}")

        play, team = np.arange(teams)[:, None], np.arange(teams)
        side_of = (team - play) % teams if len(sides) == teams else team != play
        return cls(rules, agents, side_of.astype(np.intp))

    @property
    def num_sides(self) -> int:
        """The number of sides."""
        return len(self.agents)

    def distinct_agents(self) -> list[Agent]:
        """Return every agent object once, in the order of sides and places."""
        distinct: list[Agent] = []
        for side in self.agents:
            distinct += [agent for agent in side if all(agent is not other for other in distinct)]
        return distinct

    def by_seat(self) -> NDArray[np.intp]:
        """Return the index in ``distinct_agents`` of the agent in each seat of each play (T, players)."""
        number = {id(agent): index for index, agent in enumerate(self.distinct_agents())}
        seats = np.zeros((self.rules.num_teams, self.rules.num_players), dtype=np.intp)
        for play, seat in np.ndindex(seats.shape):
            side, place = self.at(play, seat)
            seats[play, seat] = number[id(self.agents[side][place])]
        return seats

    def at(self, play: int, seat: int) -> tuple[int, int]:
        """Return the side and the place of a seat (numbered over all tables) in a play."""
        team = self.rules.team_of(seat)
        return int(self.side_of[play, team]), seat // self.rules.num_teams
