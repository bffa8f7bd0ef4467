"""Gymnasium: one learner at the table, and given agents in the other seats.

>>> env = gymnasium.make("gin_env/palace_4p-v0", opponents=MyAgent())
>>> features, info = env.reset(seed=1)
>>> features, reward, terminated, truncated, info = env.step(info["action_mask"].argmax())

The others play inside ``reset`` and ``step``, so that the learner is always to move. In a partnership the learner
plays both seats of its team, unless a partner is given.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import gymnasium
import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from gin_env.envs.common import (
    ON_ILLEGAL,
    RENDER_FPS,
    action_index,
    check_choice,
    check_render_mode,
    learners_picture,
    observation_options,
    observation_space,
    resolve_illegal_reward,
)
from gin_env.envs.deal_info import deal_summary, game_summary
from gin_env.envs.reset_options import read_deck_and_dealer, read_position
from gin_env.episodes import Agent
from gin_env.episodes.learner_step import LearnerStep
from gin_env.episodes.learner_table import LearnerTable
from gin_env.episodes.rewards import Reward
from gin_env.errors import IllegalAction, whole_number
from gin_env.observation import ObservationEncoder, ObservationOptions, PlayerView
from gin_env.observation.view import single_view
from gin_env.rendering.raster import rgb_array
from gin_env.rendering.text import render_view
from gin_env.rendering.window import Window
from gin_env.rules import Rules, resolve_rules

_ROW = np.zeros(1, dtype=np.intp)  # the only row of the table


class GinRummySingleEnv(gymnasium.Env):
    """One table with one learner.

    Parameters
    ----------
    rules : Rules or str
        A rule system or a preset's name.
    seat : int
        The learner's seat; without a partner agent the learner plays that seat's whole team. Dealers are
        random, so one seat meets all situations.
    opponents : Agent, optional
        Plays the other teams; uniformly random by default.
    partner : Agent, optional
        Plays the learner's partner; by default the learner plays both seats of its team.
    episode, reward
        As in :class:`~gin_env.episodes.episodes.Episodes`.
    form : {"flat", "dict"}
        Observations as the vector alone, or as ``{"observation", "action_mask"}``.
    derived, showdown, buried_pile, outlook : bool, optional
        A shorthand for ``observation=ObservationOptions(derived=..., ...)``.
    on_illegal : {"end", "raise"}
        Whether an illegal action ends the episode with the reward ``illegal_reward`` and the reason in
        ``info["illegal_action"]``, or raises ``IllegalAction`` and changes nothing.
    illegal_reward : float, optional
        By default the reward of a deal lost by 100 points.
    render_mode : {"ansi", "rgb_array", "human"}, optional
        ``render()`` returns what the learner sees as text or as a picture, (height, 720, 3) uint8; with ``"human"``
        every step shows it in a window. Pictures and the window need pygame: ``pip install -e '.[render]'``.
    observation : ObservationOptions, optional
        What the feature vector contains; see :class:`~gin_env.observation.features.ObservationOptions`.

    Notes
    -----
    The info holds:

    - ``action_mask``, (A,) int8: the legal actions;
    - ``seat``: the seat for which the learner decides;
    - ``deals``, if any ended with the step: their facts, hidden cards included;
    - ``game``, with the last deal of a game: how the game ended.

    Options of ``reset`` are ``deck`` and ``dealer``, or a ``position`` from which the others play up to the learner's
    turn. If the others end a deal before the learner's first decision, a new one is dealt; with a given deck or
    position ``reset`` raises ``InvalidPosition`` instead.

    When a deal of a game ends, pictures show it, with its showdown, until the next action.
    """

    metadata: dict[str, Any] = {"render_modes": ["human", "ansi", "rgb_array"], "render_fps": RENDER_FPS}

    def __init__(
        self,
        rules: Rules | str = "palace_4p",
        seat: int = 0,
        opponents: Agent | None = None,
        partner: Agent | None = None,
        episode: str = "deal",
        reward: str | Reward = "points",
        form: str = "flat",
        derived: bool | None = None,
        showdown: bool | None = None,
        buried_pile: bool | None = None,
        outlook: bool | None = None,
        on_illegal: str = "end",
        illegal_reward: float | None = None,
        render_mode: str | None = None,
        observation: ObservationOptions | None = None,
    ) -> None:
        check_render_mode(render_mode, self.metadata["render_modes"])
        check_choice("on_illegal", on_illegal, ON_ILLEGAL)
        options = observation_options(
            observation, derived=derived, showdown=showdown, buried_pile=buried_pile, outlook=outlook
        )
        rules = resolve_rules(rules)
        whole_number("seat", seat, 0, rules.num_players - 1, "seat")
        self.table = LearnerTable(rules, 1, opponents, partner, seat, episode, reward, autoreset=False)
        self.encoder = ObservationEncoder(rules, options)

        self.form, self.on_illegal, self.render_mode = form, on_illegal, render_mode
        self._penalty = resolve_illegal_reward(self.table.episodes.reward, illegal_reward, rules.num_teams)
        self._window = Window("gin rummy", self.metadata["render_fps"])
        self._result: LearnerStep | None = None  # of the last step
        self._is_seeded = False
        self._over = True

        self.observation_space = observation_space(self.encoder, form)
        self.action_space = spaces.Discrete(self.table.layout.size)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions (A,), all False when the episode is over."""
        return self.table.action_masks()[0] & (not self._over)

    def view(self, history: bool = False) -> PlayerView:
        """Return what the learner may know, as a ``PlayerView`` of one row, optionally with the deal's events."""
        return self.table.views(history=history)

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a new episode and play up to the learner's first turn; without a seed the random stream continues.

        Raises
        ------
        ValueError
            A deck, dealer or position in ``options`` that cannot be played.
        """
        super().reset(seed=seed)
        deck, dealer = read_deck_and_dealer(self.table.rules, options)
        position = read_position(self.table.rules, options)
        if seed is not None or not self._is_seeded:
            self.table.seed(int(self.np_random.integers(2**63)) if seed is None else whole_number("seed", seed, 0))
            self._is_seeded = True

        self._over = True  # until the reset has succeeded
        self._result = None
        if position is None:
            self.table.reset(decks=deck, dealers=dealer)
        else:
            self.table.load(position)
        self._over = False
        return self._observation_and_info([])

    def step(self, action: Any) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Apply the learner's action and play up to its next turn or the end of the episode.

        Raises
        ------
        IllegalAction
            An action outside the action space, or with ``on_illegal="raise"`` any illegal one.
        gymnasium.error.ResetNeeded
            The episode is over.
        """
        if self._over:
            raise ResetNeeded("the episode is over, no action is legal: call reset()")
        index = action_index(action, self.table.layout.size)

        try:
            result = self.table.step(np.array([index]))
        except IllegalAction as error:
            if self.on_illegal == "raise" or not self.action_space.contains(np.int64(index)):
                raise
            self._over = True
            self._result = None
            observation, info = self._observation_and_info([])
            return observation, self._penalty, True, False, {**info, "illegal_action": str(error)}

        self._result = result
        self._over = bool(result.over[0])
        truncated = bool(result.truncated[0])
        deals = [deal_summary(result, deal) for deal in range(len(result.finished_rows))]
        observation, info = self._observation_and_info(deals)
        if self._over and self.table.episodes.episode == "game":
            last_deals, _ = result.last_deals(_ROW)
            info["game"] = game_summary(result, int(last_deals[0]))
        return observation, float(result.rewards[0]), self._over and not truncated, truncated, info

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return what the learner sees as text or as a picture, or show it in a window.

        Raises ``ValueError`` if pygame or, for a window, a display is missing.
        """
        if self.render_mode is None:
            gymnasium.logger.warn(
                f"render_mode is None: make the environment with one of {self.metadata['render_modes']}"
            )
            return None
        if self.render_mode == "ansi":
            num_seats = self.table.rules.num_seats
            first_seat = int(self.table.seat[0]) // num_seats * num_seats
            return render_view(self.view(history=True), first_seat=first_seat)

        picture = learners_picture(self.table, self._result)
        if self.render_mode == "rgb_array":
            return rgb_array(picture)
        self._window.show(picture)
        return None

    def close(self) -> None:
        """Close the window if one is open."""
        self._window.close()

    def _observation_and_info(self, deals: list[dict[str, Any]]) -> tuple[Any, dict[str, Any]]:
        """Return the observation and the info, and show the table in ``"human"`` mode."""
        table, seat = divmod(int(self.table.seat[0]), self.table.rules.num_seats)
        features = self.encoder.encode_single(single_view(self.table.state, seat, table))
        mask = self.action_masks().view(np.int8)

        info: dict[str, Any] = {"action_mask": mask, "seat": int(self.table.seat[0])}
        if deals:
            info["deals"] = deals
        if self.render_mode == "human":
            self.render()
        return (features if self.form == "flat" else {"observation": features, "action_mask": mask}), info
