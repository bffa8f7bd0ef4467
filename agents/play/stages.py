"""What a game waits for, what happened between two decisions, and how it says no."""

from __future__ import annotations

import enum
from typing import NamedTuple

from gin_env.rendering.table import Table


class Refused(ValueError):
    """What was asked cannot be done now; the message says what can. Nothing has changed."""


class OldVersion(Refused):
    """What was asked belongs to a position that has passed."""


class Unplayable(Refused):
    """What was chosen for a new game does not fit together; the message says what would."""


class Stage(enum.Enum):
    """What a game waits for."""

    TURN = "turn"  #: the person's decision
    THINKING = "thinking"  #: the agents, who are to move
    DEAL_OVER = "deal over"  #: the next deal
    GAME_OVER = "game over"  #: nothing: a new game
    STOPPED = "stopped"  #: nothing: an agent failed, and the deal cannot be played to its end


class Frame(NamedTuple):
    """The table at one moment as the person saw it, and what had just happened."""

    table: Table
    words: str


class Hint(NamedTuple):
    """What an agent would do in the person's place."""

    agent: str
    action: str
    words: str  #: one sentence
