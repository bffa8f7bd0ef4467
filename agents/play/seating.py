"""Who plays which seat: the person and an agent for each other seat, checked before the first deal."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from dataclasses import dataclass

from agents.checkpoints import SHIPPED, shipped_folder
from agents.cli.agent_names import LONGEST_NAME, short_name
from agents.registry import AGENT_NAMES
from agents.scripted.openspiel import OpenSpielAgent, check_shared
from gin_env.episodes.episodes import EPISODES
from gin_env.errors import did_you_mean, whole_number
from gin_env.rules import Rules, player_name


class Roster:
    """The agents that can be chosen: the registered ones, and those named on the command line.

    The page chooses only among these, so that no request can load code or open a file.

    Parameters
    ----------
    extra : sequence of str
        Names for ``agents.registry.load_agent``, in addition to the registered ones.
    """

    def __init__(self, extra: Sequence[str] = ()) -> None:
        self._extra = tuple(dict.fromkeys(spec for spec in extra if spec not in (*SHIPPED, *AGENT_NAMES)))

    def names(self, rules: Rules) -> list[str]:
        """Return the agents that can play these rules; those of the command line are not checked until they play."""
        return [name for name in (*SHIPPED, *AGENT_NAMES, OpenSpielAgent.name) if _fits(name, rules)] + [
            spec for spec in self._extra if spec != OpenSpielAgent.name
        ]

    def check(self, name: str, rules: Rules) -> str:
        """Return the name of an agent; raises ``ValueError`` unless it can be chosen for these rules."""
        known = self.names(rules)
        if name in known:
            return name
        hint = did_you_mean(name, known)
        raise ValueError(
            f"agent {name[:LONGEST_NAME]!r}: cannot be chosen for {rules.name}; {hint}one of {', '.join(known)} "
            "(others must be named on the command line: --agents)"
        )


def strongest(rules: Rules) -> str:
    """Return the name of the strongest agent for the given rules (docs/agents.md)."""
    if _fits("best", rules):
        return "best"
    return "team-lookahead" if rules.has_partners else "sharp"


def _fits(name: str, rules: Rules) -> bool:
    try:
        if name in SHIPPED:
            shipped_folder(name, rules)
        elif name == OpenSpielAgent.name:
            check_shared(rules)
            return importlib.util.find_spec("pyspiel") is not None
    except ValueError:
        return False
    return True


@dataclass(frozen=True)
class Seating:
    """Who plays which seat; made by :func:`seat_players`."""

    rules: Rules
    episode: str
    seat: int  #: the person's seat, counted over all tables
    agents: tuple[str, ...]  #: the agent of each seat, an empty string for the person's
    hint: str  #: the agent that gives hints
    name: str  #: the person's name

    @property
    def players(self) -> tuple[str, ...]:
        """Who plays each seat, as records name them."""
        return tuple(agent or self.name for agent in self.agents)

    @property
    def shown(self) -> tuple[str, ...]:
        """The players as the table shows them: ``player_1 (simple)``."""
        names = (short_name(agent) if agent else self.name for agent in self.agents)
        return tuple(f"{player_name(seat)} ({name})" for seat, name in enumerate(names))

    @property
    def short(self) -> tuple[str, ...]:
        """The players in sentences, without agents' names: ``player_1``, and ``player_0 (you)`` for the person."""
        return tuple(player_name(seat) if agent else self.shown[seat] for seat, agent in enumerate(self.agents))

    def side(self, team: int) -> str:
        """Return the names of a team's seats, over all tables."""
        return " and ".join(self.short[seat] for seat in self.rules.seats_of(team))

    @property
    def table(self) -> int:
        """The table at which the person sits."""
        return self.seat // self.rules.num_seats

    @property
    def first_seat(self) -> int:
        """The number of that table's first seat."""
        return self.table * self.rules.num_seats


def seat_players(
    roster: Roster,
    rules: Rules,
    seat: int = 0,
    partner: str | None = None,
    opponents: Sequence[str] = (),
    episode: str = "game",
    hint: str | None = None,
    name: str = "you",
) -> Seating:
    """Check who plays which seat, and return it.

    Parameters
    ----------
    roster : Roster
        The agents that can be chosen.
    rules : Rules
    seat : int
        The person's seat.
    partner : str, optional
        The agent in the other seat of the person's team; the strongest if empty or not given.
    opponents : sequence of str
        One agent for all seats of other teams, or one for each in seat order; the strongest where empty or not given.
    episode : {"deal", "game"}
    hint : str, optional
        The agent that gives hints; the strongest by default.
    name : str
        The person's name.

    Raises
    ------
    ValueError
        An argument does not fit the rules; the message says what would.
    """
    whole_number("seat", seat, 0, rules.num_players - 1, "seat")
    if episode not in EPISODES:
        raise ValueError(f"episode={episode!r}: expected one of {', '.join(EPISODES)}")
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise ValueError(f"name={name[: LONGEST_NAME + 1]!r}: expected 1 to {LONGEST_NAME} printable characters")
    if partner and not rules.has_teams:
        raise ValueError(f"partner={partner!r}: under {rules.name} every player plays alone; name opponents only")

    # One agent for all other teams, or one for each of their seats.
    others = [one for one in range(rules.num_players) if rules.team_of(one) != rules.team_of(seat)]
    chosen = tuple(one or strongest(rules) for one in opponents) or (strongest(rules),)
    if len(chosen) not in (1, len(others)):
        raise ValueError(
            f"opponents: expected 1 agent for all seats, or {len(others)}, one for each, got {len(chosen)}"
        )

    agents = dict.fromkeys(range(rules.num_players), partner or strongest(rules))
    agents |= dict(zip(others, chosen if len(chosen) > 1 else chosen * len(others), strict=True))
    agents[seat] = ""
    for agent in agents.values():
        if agent:
            roster.check(agent, rules)

    return Seating(
        rules=rules,
        episode=episode,
        seat=seat,
        agents=tuple(agents.values()),
        hint=roster.check(hint, rules) if hint else strongest(rules),
        name=name,
    )
