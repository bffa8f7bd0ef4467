"""The command line of ``python -m agents.play``."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import tyro

from agents.cli import UserError
from agents.cli.rule_options import parse_rules
from agents.play.seating import Roster, Seating, seat_players
from agents.registry import AGENT_NAMES, SHIPPED
from gin_env.rules import PRESETS

DEFAULT_PRESET = "palace_4p"
#: Where the page is found unless another program has the port.
DEFAULT_PORT = 8765
_HIGHEST_PORT = 65_535

_PRESET_HELP = f"rules: {', '.join(PRESETS)}"
_AGENT_HELP = (
    f"{', '.join((*SHIPPED, *AGENT_NAMES))}, the folder of a saved model, package.module:ClassName, file.py:ClassName, "
    "or search: and any of these; by default the strongest for the rules"
)


@dataclass(frozen=True, kw_only=True)
class PlayArguments:
    """Play against agents, in the browser or in the terminal.

    python -m agents.play

    python -m agents.play --text --preset classic_2p --opponents simple
    """

    text: bool = False
    """play in the terminal; needs no browser and no server"""
    preset: Annotated[str, tyro.conf.arg(help=_PRESET_HELP)] = DEFAULT_PRESET
    rule: tuple[str, ...] = ()
    """fields of the rules to replace, for example knock_limit=5 boast=on"""
    seat: int = 0
    """your seat, from 0"""
    partner: Annotated[str | None, tyro.conf.arg(help=f"who plays your partner: {_AGENT_HELP}")] = None
    opponents: tuple[str, ...] = ()
    """who plays the others: one agent for all, or one for each of their seats; by default the strongest"""
    agents: tuple[str, ...] = ()
    """more agents that can be chosen in the page: folders of saved models and classes of your own"""
    hint: str | None = None
    """who gives hints; by default the strongest agent for the rules"""
    episode: Literal["game", "deal"] = "game"
    """play games to the target score, or single deals"""
    name: str = "you"
    """what you are called at the table and in records"""
    seed: int | None = None
    """fixes decks, dealers and the agents' chances of the first game (the next one has the next number)"""
    port: int | None = None
    """the page's port; 0 takes any free one; by default 8765, or a free one if that is taken"""
    open: bool = True
    """open the page in the browser"""

    def check(self) -> None:
        """Raise ``UserError`` for what can be refused before anything starts."""
        if self.seed is not None and self.seed < 0:
            raise UserError(f"--seed {self.seed}: at least 0")
        if self.port is not None and not 0 <= self.port <= _HIGHEST_PORT:
            raise UserError(f"--port {self.port}: from 0 to {_HIGHEST_PORT}")
        for spec in self.agents:
            if spec not in (*SHIPPED, *AGENT_NAMES) and ":" not in spec and not Path(spec).exists():
                raise UserError(
                    f"--agents {spec}: no such agent; a registered name, the folder of a saved model, "
                    "package.module:ClassName or file.py:ClassName is needed"
                )

    def roster(self) -> Roster:
        """Return the agents that may be asked to play."""
        named = [*self.agents, *self.opponents, self.partner, self.hint]
        return Roster([spec for spec in named if spec])

    def seating(self) -> Seating:
        """Return who plays what; raises ``ValueError`` for what does not fit."""
        rules = parse_rules(self.preset, self.rule)
        return seat_players(
            self.roster(), rules, self.seat, self.partner, self.opponents, self.episode, self.hint, self.name
        )
