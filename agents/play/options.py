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
#: The port of the page, unless another program uses it.
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
    """additional agents to choose from in the page: folders of saved models and classes of your own"""
    hint: str | None = None
    """who gives hints; by default the strongest agent for the rules"""
    episode: Literal["game", "deal"] = "game"
    """play games to the target score, or single deals"""
    name: str = "you"
    """your name at the table and in records"""
    seed: int | None = None
    """seeds the decks, dealers and agents of the first game; later games use the numbers that follow"""
    port: int | None = None
    """the port of the page; 0 for any free port; by default 8765, or a free port if that is in use"""
    open: bool = True
    """open the page in the browser"""

    def check(self) -> None:
        """Raise ``UserError`` for options that are wrong before anything starts."""
        if self.seed is not None and self.seed < 0:
            raise UserError(f"--seed {self.seed}: expected at least 0")
        if self.port is not None and not 0 <= self.port <= _HIGHEST_PORT:
            raise UserError(f"--port {self.port}: expected 0 to {_HIGHEST_PORT}")
        for spec in self.agents:
            if spec not in (*SHIPPED, *AGENT_NAMES) and ":" not in spec and not Path(spec).exists():
                raise UserError(
                    f"--agents {spec}: no such agent; expected a registered name, the folder of a saved model, "
                    "package.module:ClassName or file.py:ClassName"
                )

    def roster(self) -> Roster:
        """Return the agents that can be chosen."""
        named = [*self.agents, *self.opponents, self.partner, self.hint]
        return Roster([spec for spec in named if spec])

    def seating(self) -> Seating:
        """Return who plays which seat; raises ``ValueError`` if the options do not fit together."""
        rules = parse_rules(self.preset, self.rule)
        return seat_players(
            self.roster(), rules, self.seat, self.partner, self.opponents, self.episode, self.hint, self.name
        )
