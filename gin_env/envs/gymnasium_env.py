"""Gymnasium: one learner at the table, given agents in the other seats.

>>> env = gymnasium.make("gin_env/palace_4p-v0", opponents=MyAgent())
>>> features, info = env.reset(seed=1)
>>> features, reward, terminated, truncated, info = env.step(info["action_mask"].argmax())

The others play inside ``reset`` and ``step``, so that the learner is always to move. In a partnership it
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
    observation_space,
    resolve_illegal_reward,
)
from gin_env.envs.deal_info import deal_summary, game_summary
from gin_env.envs.reset_options import injected_deal, injected_position
from gin_env.episodes import Agent
from gin_env.episodes.learner_step import LearnerStep
from gin_env.episodes.learner_table import LearnerTable
from gin_env.episodes.rewards import Reward
from gin_env.errors import IllegalAction, whole_number
from gin_env.observation import ObservationEncoder, PlayerView
from gin_env.observation.encoder import ObservationOptions
from gin_env.observation.view import single_view
from gin_env.rendering.raster import rgb_array
from gin_env.rendering.text import render_view
from gin_env.rendering.window import Window
from gin_env.rules import Rules, resolve_rules

_ROW = np.zeros(1, dtype=np.intp)  # the one row of the table


class GinRummySingleEnv(gymnasium.Env):
    """One table with one learner.

    Parameters
    ----------
    rules : Rules or str
        A rule system or a preset's name.
    seat : int
        The learner's seat (dealers are random, so one seat sees everything); without a partner agent the
        whole team of that seat is his.
    opponents : Agent, optional
        Plays the other team; uniformly random by default.
    partner : Agent, optional
        Plays the learner's partner; by default the learner plays both seats of its team.
    episode, reward
        As in :class:`~gin_env.episodes.episodes.Episodes`.
    form : {"flat", "dict"}
        Observations as the vector alone, or as ``{"observation", "action_mask"}``.
    derived, showdown, buried_pile, outlook : bool
        As in :class:`~gin_env.observation.encoder.ObservationOptions`.
    on_illegal : {"end", "raise"}
        Whether an illegal action ends the episode at the price of ``illegal_reward``, with the reason in
        ``info["illegal_action"]``, or raises ``IllegalAction`` and changes nothing.
    illegal_reward : float, optional
        By default the reward of a deal lost by 100 points.
    render_mode : {"ansi", "rgb_array", "human"}, optional
        ``render()`` returns what the learner sees as text or as a picture, (height, 720, 3) uint8, or every step shows
        it in a window until it is closed. Pictures and the window need pygame: ``pip install -e '.[render]'``.

    Notes
    -----
    ``info["action_mask"]`` (A,) int8 holds the legal actions, ``info["seat"]`` the seat that the learner
    decides for, ``info["deals"]`` the open facts of the deals that ended with the step, and with the last one
    of a game ``info["game"]`` how it ended. Options of ``reset`` are ``deck`` and ``dealer``, or a ``position``
    from which the others play up to the learner's turn. A deal that the others end before the learner's first
    decision is dealt anew; from a position it raises ``InvalidPosition``, as with a given deck.
    Pictures show a deal that has just ended in a game, with its showdown, until the next action.
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
        derived: bool = False,
        showdown: bool = False,
        buried_pile: bool = True,
        outlook: bool = False,
        on_illegal: str = "end",
        illegal_reward: float | None = None,
        render_mode: str | None = None,
    ) -> None:
        check_render_mode(render_mode, self.metadata["render_modes"])
        check_choice("on_illegal", on_illegal, ON_ILLEGAL)
        resolved = resolve_rules(rules)
        whole_number("seat", seat, 0, resolved.num_players - 1, "seat")
        self.table = LearnerTable(resolved, 1, opponents, partner, seat, episode, reward, autoreset=False)
        options = ObservationOptions(derived=derived, showdown=showdown, buried_pile=buried_pile, outlook=outlook)
        self.encoder = ObservationEncoder(self.table.rules, options)
        self.form, self.on_illegal, self.render_mode = form, on_illegal, render_mode
        self._penalty = resolve_illegal_reward(self.table.episodes.reward, illegal_reward, resolved.num_teams)
        self._window = Window("gin rummy", self.metadata["render_fps"])
        self._outcome: LearnerStep | None = None  # what the last step brought
        self._seeded = False
        self._over = True
        self.observation_space = observation_space(self.encoder, form)
        self.action_space = spaces.Discrete(self.table.layout.size)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions (A,); none when the episode is over."""
        return self.table.action_masks()[0] & (not self._over)

    def view(self, history: bool = False) -> PlayerView:
        """Return what the learner may know as a ``PlayerView`` of one row, on request with the deal's events."""
        return self.table.views(history=history)

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin a new episode and play up to the learner's first turn; without a seed the old stream goes on.

        Raises
        ------
        ValueError
            A deck, dealer or position in ``options`` that cannot be played.
        """
        super().reset(seed=seed)
        deck, dealer = injected_deal(self.table.rules, options)
        position = injected_position(self.table.rules, options)
        if seed is not None or not self._seeded:
            self.table.seed(int(self.np_random.integers(2**63)) if seed is None else whole_number("seed", seed, 0))
            self._seeded = True
        self._over = True  # until the reset has succeeded
        self._outcome = None
        if position is None:
            self.table.reset(decks=deck, dealers=dealer)
        else:
            self.table.load(position)
        self._over = False
        return self._answer([])

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
            outcome = self.table.step(np.array([index]))
        except IllegalAction as error:
            if self.on_illegal == "raise" or not self.action_space.contains(np.int64(index)):
                raise
            self._over = True
            self._outcome = None
            observation, info = self._answer([])
            return observation, self._penalty, True, False, {**info, "illegal_action": str(error)}
        self._outcome = outcome
        self._over = bool(outcome.over[0])
        truncated = bool(outcome.truncated[0])
        deals = [deal_summary(outcome, deal) for deal in range(len(outcome.finished_rows))]
        observation, info = self._answer(deals)
        if self._over and self.table.episodes.episode == "game":
            info["game"] = game_summary(outcome, int(outcome.last_deals(_ROW)[0][0]))
        return observation, float(outcome.rewards[0]), self._over and not truncated, truncated, info

    def render(self) -> str | NDArray[np.uint8] | None:
        """Return what the learner sees as text or as a picture, or show it in a window.

        Raises ``ValueError`` where pygame or, for a window, a display is missing.
        """
        if self.render_mode is None:
            gymnasium.logger.warn(
                f"render_mode is None: make the environment with one of {self.metadata['render_modes']}"
            )
            return None
        if self.render_mode == "ansi":
            num_seats = self.table.rules.num_seats
            return render_view(self.view(history=True), first_seat=int(self.table.seat[0]) // num_seats * num_seats)
        picture = learners_picture(self.table, self._outcome)
        if self.render_mode == "rgb_array":
            return rgb_array(picture)
        self._window.show(picture)
        return None

    def close(self) -> None:
        """Close the window, where one is open."""
        self._window.close()

    def _answer(self, deals: list[dict[str, Any]]) -> tuple[Any, dict[str, Any]]:
        """Return the observation and the info."""
        table, seat = divmod(int(self.table.seat[0]), self.table.rules.num_seats)
        features = self.encoder.encode_single(single_view(self.table.state, seat, table))
        mask = self.action_masks().view(np.int8)
        info: dict[str, Any] = {"action_mask": mask, "seat": int(self.table.seat[0])}
        if deals:
            info["deals"] = deals
        if self.render_mode == "human":
            self.render()
        return (features if self.form == "flat" else {"observation": features, "action_mask": mask}), info
