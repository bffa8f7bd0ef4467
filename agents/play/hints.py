"""Hints: what an agent would do in the person's position, given the person's view and nothing else."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from agents.cli.agent_names import short_name
from agents.play.background import is_ctrl_c
from agents.play.choices import Choice
from agents.play.stages import Hint, Refused
from agents.thoughts import HasThoughts
from gin_env.episodes import Agent
from gin_env.episodes.agent import decide
from gin_env.observation import PlayerView

_PERCENT = 100

_log = logging.getLogger(__name__)


def ask_for_hint(agent: Agent, spec: str, view: PlayerView, choices: Sequence[Choice]) -> Hint:
    """Return what an agent would do, and how sure it is if it reports its thoughts.

    Parameters
    ----------
    agent : Agent
    spec : str
        The agent's name.
    view : PlayerView
        One row, in which the person is to move.
    choices : sequence of Choice
        The person's legal actions.

    Raises
    ------
    Refused
        The agent fails.
    """
    name = short_name(spec)
    try:
        action = view.layout.text(int(decide(agent, view)[0]))
        odds = agent.thoughts(view)[0].probabilities if isinstance(agent, HasThoughts) else {}
    except BaseException as error:  # whatever an agent of the user's own does, the game continues
        if is_ctrl_c(error):
            raise
        _log.exception("agent %r failed to give a hint", spec)
        raise Refused(f"agent {name!r} failed to give a hint; choose another one with --hint") from error

    choice = next(choice for choice in choices if choice.text == action)
    words = f"{name} would {choice.words}"
    words += f" ({choice.note})" if choice.note else ""
    words += f": it is {odds[action] * _PERCENT:.0f} % sure" if action in odds else ""
    return Hint(name, action, f"{words}.")
