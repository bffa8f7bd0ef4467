"""What the PettingZoo, Gymnasium and Stable-Baselines3 environments share.

Observation options, the forms of an observation and their spaces, render modes, illegal actions and what they cost, and
the picture that a learner sees.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces

from gin_env.engine import action_layout
from gin_env.episodes import Outcome
from gin_env.episodes.learner_step import LearnerStep
from gin_env.episodes.learner_table import LearnerTable
from gin_env.episodes.rewards import Reward, rewards_of
from gin_env.errors import IllegalAction
from gin_env.observation import ObservationEncoder, ObservationOptions, player_view
from gin_env.rendering.picture import picture_of
from gin_env.rendering.raster import load_pygame
from gin_env.rendering.shapes import Picture
from gin_env.rendering.table import table_of_view

#: ``"dict"``: ``{"observation", "action_mask"}``; ``"flat"``: the vector alone, with the mask in the info.
FORMS = ("dict", "flat")

#: What an illegal action does in a learner's environment: it ends the episode at a cost, or it raises.
ON_ILLEGAL = ("end", "raise")

#: Bounds of every feature. Most are in 0..1; scores and points may exceed 1, but never come near the upper bound.
FEATURE_LOW, FEATURE_HIGH = 0.0, 100_000.0
#: The lower bound with the lookahead features (``outlook``): some are negative, but never near this bound.
OUTLOOK_LOW = -100.0

#: An illegal action costs as much as losing a deal by this many points, in terms of the environment's own reward.
ILLEGAL_POINTS = 100.0

#: Pictures per second in videos and windows: slow enough to follow.
RENDER_FPS = 2

#: The render modes that need pygame.
_DRAWN_MODES = ("rgb_array", "human")


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise ``ValueError`` naming the argument if its value is not one of the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r}: must be one of {', '.join(map(repr, choices))}")


def observation_options(observation: ObservationOptions | None, **flags: bool | None) -> ObservationOptions:
    """Return the observation options of an environment, given as one object or as flags.

    Parameters
    ----------
    observation : ObservationOptions or None
    **flags : bool or None
        Fields of ``ObservationOptions``, a shorthand for the object; None leaves a field at its default.

    Raises
    ------
    ValueError
        Both the object and a flag are given, the object is of another type, or a flag is not a bool.
    """
    given = {name: flag for name, flag in flags.items() if flag is not None}
    if observation is None:
        return ObservationOptions(**given)

    if not isinstance(observation, ObservationOptions):
        raise ValueError(f"observation: expected ObservationOptions, got {observation!r}")
    if given:
        names = ", ".join(given)
        raise ValueError(f"observation and {names}: set {names} in the ObservationOptions, or give flags only")
    return observation


def observation_space(encoder: ObservationEncoder, form: str) -> spaces.Space[Any]:
    """Return a new observation space of one seat."""
    check_choice("form", form, FORMS)
    low = OUTLOOK_LOW if encoder.options.outlook else FEATURE_LOW
    features = spaces.Box(low, FEATURE_HIGH, (encoder.size,), np.float32)
    if form == "flat":
        return features
    num_actions = action_layout(encoder.rules).size
    return spaces.Dict({"observation": features, "action_mask": spaces.Box(0, 1, (num_actions,), np.int8)})


def action_index(action: Any, num_actions: int) -> int:
    """Return an action as an int; whether it is legal is left to the engine.

    Raises
    ------
    ValueError
        Not a whole number.
    IllegalAction
        A number too large for the engine's arrays.
    """
    try:
        index = operator.index(action)
    except TypeError:
        raise ValueError(f"action {action!r}: expected an index, such as layout.index('draw')") from None
    if abs(index) >= 2**31:
        raise IllegalAction(f"action {index}: the indices are 0 to {num_actions - 1}")
    return index


def resolve_illegal_reward(reward: Reward, illegal_reward: float | None, num_teams: int) -> float:
    """Return the reward for an illegal action: the given number, or the reward of losing by ``ILLEGAL_POINTS``."""
    if illegal_reward is not None:
        return check_illegal_reward(illegal_reward)

    others_points = ILLEGAL_POINTS / (num_teams - 1)
    loss_of_team_0 = Outcome(
        net_points=np.array([[-ILLEGAL_POINTS] + [others_points] * (num_teams - 1)]),
        takes_part=np.ones((1, num_teams), dtype=bool),
        deal_winner=np.array([1], dtype=np.int8),
        episode_over=np.array([True]),
        episode_winner=np.array([1], dtype=np.int8),
    )
    return float(rewards_of(reward, loss_of_team_0)[0, 0])


def check_illegal_reward(illegal_reward: float) -> float:
    """Return the reward for an illegal action as a float; raises ``ValueError`` unless it is a finite number."""
    is_number = isinstance(illegal_reward, int | float) and not isinstance(illegal_reward, bool)
    if not is_number or not math.isfinite(illegal_reward):
        raise ValueError(f"illegal_reward={illegal_reward!r}: must be a finite number")
    return float(illegal_reward)


def check_render_mode(mode: str | None, known: Sequence[str]) -> None:
    """Raise ``ValueError`` for a render mode that the environment does not have, or if it needs a missing pygame."""
    check_choice("render_mode", mode, (None, *known))
    if mode in _DRAWN_MODES:
        load_pygame()


def learners_picture(learners: LearnerTable, result: LearnerStep | None, row: int = 0) -> Picture:
    """Return the picture that the learner sees in a row, given the result of its last step.

    A deal that ended with that step is shown as it ended, although the next one has begun.
    """
    num_seats = learners.rules.num_seats
    if result is None or result.finished is None or row not in result.finished_rows:
        table = int(learners.seat[row]) // num_seats
        view = learners.views([row], history=True)
    else:
        table, seat = divmod(int(result.seats[row]), num_seats)
        _, finished_rows = result.last_deals(np.array([row]))
        view = player_view(result.finished, seat, finished_rows, history=True)
    return picture_of([table_of_view(view, first_seat=table * num_seats)])
