"""The Agent protocol: a strategy acts on a batch of views at once.

An agent is any object with a ``name``, ``act`` and ``reset``; :class:`Agent` is a convenient base class.

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
        The agent's name in tables and messages.
    needs_history : bool
        Whether ``act`` reads ``view.history``.
    """

    name: str = "agent"
    needs_history: bool = False

    def __init__(self) -> None:
        self.reset(0)

    def reset(self, seed: int) -> None:
        """Restart the agent's own random stream; called before a match."""
        self.generator = np.random.default_rng(seed)

    @abc.abstractmethod
    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return a legal action for each of the M rows, in all of which the viewer is to move; shape (M,)."""


class RandomAgent(Agent):
    """Plays uniformly random legal actions."""

    name = "random"

    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return random legal actions (M,)."""
        return random_actions(view.legal, view.layout, self.generator)


def check_agent(agent: object) -> None:
    """Raise ``ValueError`` for anything that is not an agent, such as a name or a class."""
    if isinstance(agent, type) or not callable(getattr(agent, "act", None)):
        raise ValueError(f"{agent!r} is not an agent: expected an object with act(view), such as gin_env.RandomAgent()")


def decide(agent: Agent, view: PlayerView) -> NDArray[np.intp]:
    """Return an agent's actions (M,) for a view after checking that they are legal.

    Raises
    ------
    AgentError
        The answer has another shape or type, or an action is illegal. The error keeps an opponent's mistake apart
        from the learner's.
    """
    legal, layout = view.legal.copy(), view.layout  # copied first: an agent may write into its view
    actions = np.asarray(agent.act(view))

    if actions.shape != (len(view),) or actions.dtype.kind not in "iu":
        raise AgentError(
            f"agent {agent.name!r}: expected an action index for each of {len(view)} rows, "
            f"got {actions.dtype} {actions.shape}"
        )

    in_range = np.clip(actions, 0, layout.size - 1)
    legal_bit = legal[np.arange(len(legal)), layout.word_of[in_range]] & layout.bit_of[in_range]
    illegal_rows = ((legal_bit == 0) | (in_range != actions)).nonzero()[0]
    if len(illegal_rows):
        row = int(illegal_rows[0])
        action = int(actions[row])
        text = repr(layout.text(action)) if in_range[row] == action else f"action {action}"
        legal_texts = ", ".join(layout.texts(legal[row]))

        error = AgentError(f"agent {agent.name!r} chose {text}, which is not legal there; legal: {legal_texts}")
        error.row = row
        raise error

    return actions
