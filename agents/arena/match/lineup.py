"""Who plays whom: the sides of a match, and which side holds which team in each play of a deck.

Two forms:

- **one against the rest**: two sides; in play ``k`` the first holds team ``k`` and the second all others. With
  two teams that is the usual duplicate match.
- **every team its own side** (three teams or more): in play ``k`` side ``i`` holds team ``i + k``, so that over a
  pair each side holds every team once.

A side has one agent for each seat of a team (its **places**); a team's seats in their order are its places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.episodes import Agent
from gin_env.rules import Rules

#: Two sides hold this many teams or more between them: one of them the first, all others the second.
NUM_SIDES = 2


def places(rules: Rules) -> int:
    """Return the number of seats of a team."""
    return rules.num_players // rules.num_teams


def sides_of_seats(rules: Rules, by_seat: Sequence[Any]) -> list[tuple[Any, ...]]:
    """Return what stands by seat as what stands by side and place (side ``i`` holds team ``i`` in the first play).

    Raises ``ValueError`` unless there is one for each seat.
    """
    if len(by_seat) != rules.num_players:
        raise ValueError(f"{len(by_seat)} agents for {rules.name}: give {rules.num_players}, one for each seat")
    return [tuple(by_seat[seat] for seat in rules.seats_of(team)) for team in range(rules.num_teams)]


@dataclass(frozen=True, eq=False)
class Lineup:
    """The sides of a match.

    Attributes
    ----------
    rules : Rules
    agents : tuple of tuple of Agent
        By side and place.
    side_of : intp, shape (T, T)
        The side that holds team ``t`` in play ``k`` of a pair: ``side_of[k, t]``.
    """

    rules: Rules
    agents: tuple[tuple[Agent, ...], ...]
    side_of: NDArray[np.intp]

    @classmethod
    def make(cls, rules: Rules, sides: Sequence[Agent | Sequence[Agent]]) -> Lineup:
        """Return the lineup of two sides, or of one side for each team.

        Parameters
        ----------
        rules : Rules
        sides : sequence of Agent, or of sequences of Agent
            For each side an agent for all its seats, or one for each place of a team.

        Raises
        ------
        ValueError
            Another number of sides, or of agents on a side.
        """
        teams, size = rules.num_teams, places(rules)
        if len(sides) not in (NUM_SIDES, teams):
            wanted = "2" if teams == NUM_SIDES else f"2 or {teams}"
            raise ValueError(f"{len(sides)} sides for {rules.name}: {wanted} are needed")
        agents: tuple[tuple[Any, ...], ...] = tuple(
            tuple(side) if isinstance(side, list | tuple) else (side,) * size for side in sides
        )
        for side in agents:
            for agent in side:
                if not hasattr(agent, "act"):
                    raise ValueError(f"{agent!r} is no agent: give an object, as agents.registry.load_agent returns it")
            if len(side) != size:
                raise ValueError(f"a side of {len(side)} agents for {rules.name}: its teams have {size} seats")
        play, team = np.arange(teams)[:, None], np.arange(teams)
        side_of = (team - play) % teams if len(sides) == teams else team != play
        return cls(rules, agents, side_of.astype(np.intp))

    @property
    def num_sides(self) -> int:
        """How many sides play."""
        return len(self.agents)

    def different_agents(self) -> list[Agent]:
        """Return every agent once, in the order of sides and places."""
        found: list[Agent] = []
        for side in self.agents:
            found += [agent for agent in side if all(agent is not other for other in found)]
        return found

    def by_seat(self) -> NDArray[np.intp]:
        """Return which of the ``different_agents`` sits in each seat of each play (T, players)."""
        number = {id(agent): index for index, agent in enumerate(self.different_agents())}
        seats = np.zeros((self.rules.num_teams, self.rules.num_players), dtype=np.intp)
        for play, seat in np.ndindex(seats.shape):
            side, place = self.at(play, seat)
            seats[play, seat] = number[id(self.agents[side][place])]
        return seats

    def at(self, play: int, seat: int) -> tuple[int, int]:
        """Return the side and the place of a seat (counted over all tables) in a play."""
        team = self.rules.team_of(seat)
        return int(self.side_of[play, team]), seat // self.rules.num_teams
