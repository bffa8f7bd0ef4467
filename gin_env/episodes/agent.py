"""The Agent protocol: a strategy acts on a batch of views at once.

An agent is anything with a ``name``, an ``act`` and a ``reset``; :class:`Agent` is a convenient base.

>>> class Timid(Agent):
...     def act(self, view):
...         return view.legal_mask.argmax(axis=1)
"""

from __future__ import annotations

import abc

import numpy as np
from numpy.typing import NDArray

from gin_env.engine import random_actions
from gin_env.errors import AgentError
from gin_env.observation import PlayerView


class Agent(abc.ABC):
    """A strategy for one seat or many; it keeps nothing about a deal between calls.

    Attributes
    ----------
    name : str
        How it is called in tables.
    needs_history : bool
        Whether ``act`` reads ``view.history``.
    """

    name: str = "agent"
    needs_history: bool = False

    def __init__(self) -> None:
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Start the agent's own random stream anew; called before a match."""
        self.generator = np.random.default_rng(seed)

    @abc.abstractmethod
    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return one legal action for each of the M rows of a view in which the viewer is to move; shape (M,)."""


def decide(agent: Agent, view: PlayerView) -> NDArray[np.intp]:
    """Return an agent's actions (M,) for a view, one legal action each.

    Raises ``AgentError`` where it returns anything else, so that its fault is not taken for somebody else's.
    """
    legal, layout = view.legal.copy(), view.layout  # whatever the agent does to its view
    actions = np.asarray(agent.act(view))
    if actions.shape != (len(view),) or actions.dtype.kind not in "iu":
        raise AgentError(
            f"agent {agent.name!r} returned {actions.dtype} {actions.shape}: "
            f"one action index for each of {len(view)} rows is needed"
        )
    known = np.clip(actions, 0, layout.size - 1)
    allowed = legal[np.arange(len(legal)), layout.word_of[known]] & layout.bit_of[known]
    wrong = ((allowed == 0) | (known != actions)).nonzero()[0]
    if len(wrong):
        row, action = int(wrong[0]), int(actions[wrong[0]])
        text = repr(layout.text(action)) if known[row] == action else f"action {action}"
        could = ", ".join(layout.texts(legal[row]))
        error = AgentError(f"agent {agent.name!r} chose {text}, which is not legal there; legal: {could}")
        error.row = row
        raise error
    return actions


class RandomAgent(Agent):
    """Plays uniformly random legal actions."""

    name = "random"

    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return random legal actions (M,)."""
        return random_actions(view.legal, view.layout, self.generator)
