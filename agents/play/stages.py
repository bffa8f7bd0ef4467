"""The stages of a game, the frames between two decisions, and the errors of refused requests."""

from __future__ import annotations

import enum
from typing import NamedTuple

from gin_env.rendering.table import Table


class Refused(ValueError):
    """The request cannot be carried out now; the message says what can. Nothing has changed."""


class OldVersion(Refused):
    """The request is for an earlier position."""


class Unplayable(Refused):
    """The choices for a new game do not fit together; the message says what would."""


class Stage(enum.Enum):
    """What a game is waiting for."""

    TURN = "turn"  #: the person's decision
    THINKING = "thinking"  #: the agents, which are to move
    DEAL_OVER = "deal over"  #: the next deal
    GAME_OVER = "game over"  #: a new game
    STOPPED = "stopped"  #: a new game: an agent failed, and the deal cannot continue


class Frame(NamedTuple):
    """The table at one moment as the person saw it, and what had just happened."""

    table: Table
    words: str


class Hint(NamedTuple):
    """What an agent would do in the person's position."""

    agent: str
    action: str
    words: str  #: one sentence
