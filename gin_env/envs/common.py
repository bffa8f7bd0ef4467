"""What the PettingZoo and the Gymnasium environments share.

The forms of an observation and their spaces, render modes, the price of an illegal action, and the picture that a
learner sees.
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
from gin_env.observation import ObservationEncoder, player_view
from gin_env.rendering.picture import picture_of
from gin_env.rendering.raster import load_pygame
from gin_env.rendering.shapes import Picture
from gin_env.rendering.table import table_of_view

#: ``"dict"``: ``{"observation", "action_mask"}``; ``"flat"``: the vector alone, the mask in the info.
FORMS = ("dict", "flat")

#: Bounds of every feature. Most lie in 0..1; scores and points may pass 1, but nothing comes near the upper bound.
FEATURE_LOW, FEATURE_HIGH = 0.0, 100_000.0
#: Lower bound with ``outlook=True``: more than the usual deadwood is written below 0, but never near this bound.
OUTLOOK_LOW = -100.0

#: What becomes of an illegal action in a learner's environment: the episode ends at a price, or it raises.
ON_ILLEGAL = ("end", "raise")

#: Pictures a second in videos and windows: slow enough to follow.
RENDER_FPS = 2

#: The render modes that need pygame.
_DRAWN = ("rgb_array", "human")

#: An illegal action costs what losing a deal by so many points would, in the environment's own reward.
ILLEGAL_POINTS = 100.0


def check_render_mode(mode: str | None, known: Sequence[str]) -> None:
    """Raise ``ValueError`` for a render mode that an environment does not have, or that needs pygame where it lacks."""
    check_choice("render_mode", mode, (None, *known))
    if mode in _DRAWN:
        load_pygame()


def check_choice(name: str, value: Any, choices: tuple[Any, ...]) -> None:
    """Raise ``ValueError`` naming an argument whose value is none of the choices."""
    if value not in choices:
        raise ValueError(f"{name}={value!r}: must be one of {', '.join(map(repr, choices))}")


def observation_space(encoder: ObservationEncoder, form: str) -> spaces.Space[Any]:
    """Return a new observation space of one seat."""
    check_choice("form", form, FORMS)
    low = OUTLOOK_LOW if encoder.options.outlook else FEATURE_LOW
    features = spaces.Box(low, FEATURE_HIGH, (encoder.size,), np.float32)
    if form == "flat":
        return features
    num_actions = action_layout(encoder.rules).size
    return spaces.Dict({"observation": features, "action_mask": spaces.Box(0, 1, (num_actions,), np.int8)})


def check_illegal_reward(given: float) -> float:
    """Return the price of an illegal action as a float; raises ``ValueError`` for anything but a finite number."""
    if isinstance(given, bool) or not isinstance(given, (int, float)) or not math.isfinite(given):
        raise ValueError(f"illegal_reward={given!r}: must be a finite number")
    return float(given)


def action_index(action: Any, num_actions: int) -> int:
    """Return an action as an int.

    Raises ``ValueError`` for what is no whole number, and ``IllegalAction`` for a number that no array can hold;
    the engine judges all others.
    """
    try:
        index = operator.index(action)
    except TypeError:
        raise ValueError(f"action {action!r}: give its index, as layout.index('draw') does") from None
    if abs(index) >= 2**31:
        raise IllegalAction(f"action {index}: the indices are 0 to {num_actions - 1}")
    return index


def resolve_illegal_reward(reward: Reward, given: float | None, num_teams: int) -> float:
    """Return what an illegal action costs: the number given, or the reward of a deal lost by ``ILLEGAL_POINTS``."""
    if given is not None:
        return check_illegal_reward(given)
    lost = Outcome(
        net_points=np.array([[-ILLEGAL_POINTS] + [ILLEGAL_POINTS / (num_teams - 1)] * (num_teams - 1)]),
        takes_part=np.ones((1, num_teams), dtype=bool),
        deal_winner=np.array([1], dtype=np.int8),
        episode_over=np.array([True]),
        episode_winner=np.array([1], dtype=np.int8),
    )
    return float(rewards_of(reward, lost)[0, 0])


def learners_picture(learners: LearnerTable, outcome: LearnerStep | None, row: int = 0) -> Picture:
    """Return the picture that the learner sees in a row, given what its last step brought.

    A deal that ended with that step is shown as it ended, though the next one has begun.
    """
    rules = learners.rules
    if outcome is None or outcome.finished is None or row not in outcome.finished_rows:
        table, view = int(learners.seat[row]) // rules.num_seats, learners.views([row], history=True)
    else:
        table, seat = divmod(int(outcome.seats[row]), rules.num_seats)
        view = player_view(outcome.finished, seat, outcome.last_deals(np.array([row]))[1], history=True)
    return picture_of([table_of_view(view, first_seat=table * rules.num_seats)])
