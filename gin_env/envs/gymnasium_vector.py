"""Gymnasium's vector environment: N tables with a learner each, on the batch engine.

>>> envs = gymnasium.make_vec("gin_env/palace_4p-v0", num_envs=1024)

Opponents act in batches inside ``step``. A row whose episode ends begins the next one in the same step
(``AutoresetMode.SAME_STEP``): the observation already belongs to the new episode. How the old one ended is in
``infos["final_obs"]`` and ``infos["final_info"]``, in the rows that ``infos["_final_obs"]`` marks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from gin_env.engine.state import NO_SEAT
from gin_env.envs.common import (
    ON_ILLEGAL,
    RENDER_FPS,
    check_choice,
    check_render_mode,
    learners_picture,
    observation_options,
    observation_space,
    resolve_illegal_reward,
)
from gin_env.envs.reset_options import read_deck_and_dealer, read_position
from gin_env.episodes import Agent
from gin_env.episodes.learner_step import LearnerStep
from gin_env.episodes.learner_table import LearnerTable
from gin_env.episodes.rewards import Reward
from gin_env.episodes.seat_events import EVENT_NAMES, seat_events
from gin_env.errors import whole_number
from gin_env.observation import ObservationEncoder, ObservationOptions
from gin_env.rendering.raster import rgb_array
from gin_env.rendering.text import render_view
from gin_env.rules import Rules
from gin_env.scoring import Kind


class GinRummyVectorEnv(VectorEnv):
    """N tables with a learner each.

    Parameters
    ----------
    num_envs : int
        N, at least 1.
    opponents : Agent or sequence of Agent, optional
        Play the other teams; uniformly random by default. Several are spread over the rows.
    seats : "spread", int or int (N,)
        The learner's seat in each row; by default the rows are spread over the teams, with a partner over the seats.
    rules, partner, episode, reward, form
        As in :class:`~gin_env.envs.gymnasium_env.GinRummySingleEnv`.
    render_mode : {"ansi", "rgb_array"}, optional
        ``render()`` returns what the learner sees in each row as text, or as a picture, (height, 720, 3) uint8.
    derived, showdown, buried_pile, outlook, on_illegal, illegal_reward, observation
        As in :class:`~gin_env.envs.gymnasium_env.GinRummySingleEnv`.

    Notes
    -----
    ``infos["action_mask"]`` (N, A) int8 holds the legal actions, and ``infos["seat"]`` (N,) the seats for which the
    learner decides. ``infos["final_info"]`` holds ``illegal_action``, the text of an illegal action that ended the
    episode, or ``deal``, the facts of the deal that ended it:

    - ``points``, ``net_points`` and ``winner`` (-1 for none) of the deal, all tables together;
    - ``kind``, ``knocker`` (-1 for none), ``turns`` and ``events`` at the learner's table; ``events`` are the counts
      of :class:`~gin_env.episodes.seat_events.SeatEvents` by name, each (N, P) for the P seats there;
    - ``scores``, ``bonuses`` and ``game_winner`` of the game.

    Pictures show a deal that ended with the last step as it ended, although the observation is already the next one's.
    """

    metadata: dict[str, Any] = {
        "render_modes": ["ansi", "rgb_array"],
        "render_fps": RENDER_FPS,
        "autoreset_mode": AutoresetMode.SAME_STEP,
    }

    def __init__(
        self,
        num_envs: int = 1,
        rules: Rules | str = "palace_4p",
        opponents: Agent | Sequence[Agent] | None = None,
        partner: Agent | None = None,
        seats: str | ArrayLike = "spread",
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
        self.table = LearnerTable(rules, num_envs, opponents, partner, seats, episode, reward, autoreset=False)
        self.encoder = ObservationEncoder(self.table.rules, options)

        self.num_envs, self.form, self.on_illegal, self.render_mode = num_envs, form, on_illegal, render_mode
        self._penalty = resolve_illegal_reward(self.table.episodes.reward, illegal_reward, self.table.rules.num_teams)
        self._is_seeded = self._is_playing = False
        self._result: LearnerStep | None = None  # of the last step
        self._all_rows = np.arange(num_envs)

        self.single_observation_space = observation_space(self.encoder, form)
        self.single_action_space = spaces.Discrete(self.table.layout.size)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions (N, A)."""
        return self.table.action_masks()

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes in all rows; without a seed the random streams continue.

        ``options`` as in the single environment: ``deck`` and ``dealer`` for all rows, ``position`` for all rows or
        one for each. The episodes that follow within ``step`` are dealt at random.
        """
        super().reset(seed=seed)
        deck, dealer = read_deck_and_dealer(self.table.rules, options)
        position = read_position(self.table.rules, options, self.num_envs)
        if seed is not None or not self._is_seeded:
            self.table.seed(int(self.np_random.integers(2**63)) if seed is None else whole_number("seed", seed, 0))
            self._is_seeded = True

        self._is_playing = False  # until the reset has succeeded
        self._result = None
        decks = None if deck is None else np.broadcast_to(deck, (self.num_envs, *deck.shape))
        if position is None:
            self.table.reset(decks=decks, dealers=dealer)
        else:
            self.table.load(position)
        self._is_playing = True
        return self._observations_and_infos()

    def step(
        self, actions: ArrayLike
    ) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Apply the learner's actions (N,) and play up to its next turn in every row.

        Raises
        ------
        IllegalAction
            An action outside the action space, or with ``on_illegal="raise"`` any illegal one.
        """
        if not self._is_playing:
            raise ResetNeeded("no episodes are being played: call reset()")
        chosen = np.asarray(actions)

        # An illegal action ends its row's episode before it is played.
        illegal, reasons, illegal_features = self._illegal_rows(chosen)
        skip = np.zeros(self.num_envs, dtype=np.bool_)
        skip[illegal] = True
        self._result = result = self.table.step(chosen, skip=skip)
        over, truncated, rewards = result.over, result.truncated, result.rewards
        over[illegal], truncated[illegal], rewards[illegal] = True, False, self._penalty

        # Describe the episodes that ended, then begin the next ones.
        ended = np.flatnonzero(over)
        finals: dict[str, Any] = {}
        if len(ended):
            features = self.encoder.encode(self.table.views(ended))
            features[np.searchsorted(ended, illegal)] = illegal_features
            finals = self._final_infos(result, ended, features, illegal, reasons)
            self.table.reset(rows=ended)

        observations, infos = self._observations_and_infos()
        return observations, rewards, over & ~truncated, truncated, infos | finals

    def _illegal_rows(self, actions: NDArray[Any]) -> tuple[NDArray[np.intp], list[str], NDArray[np.float32]]:
        """Return the M rows whose illegal action ends the episode, the reasons, and the observations there (M, F)."""
        layout = self.table.layout
        is_one_for_each_row = actions.shape == (self.num_envs,) and actions.dtype.kind in "iu"
        are_in_space = is_one_for_each_row and bool(((actions >= 0) & (actions < layout.size)).all())

        illegal: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        if self.on_illegal == "end" and are_in_space:  # otherwise the table raises
            legal = self.table.episodes.legal(self._all_rows)[self._all_rows, layout.word_of[actions]]
            illegal = np.flatnonzero((legal & layout.bit_of[actions]) == 0)
        if not len(illegal):
            return illegal, [], np.zeros((0, self.encoder.size), dtype=np.float32)

        reasons = [
            f"{layout.text(action)!r} is not legal; legal: {', '.join(layout.texts(legal_words))}"
            for action, legal_words in zip(actions[illegal], self.table.episodes.legal(illegal), strict=True)
        ]
        return illegal, reasons, self.encoder.encode(self.table.views(illegal))

    def render(self) -> tuple[str, ...] | tuple[NDArray[np.uint8], ...] | None:
        """Return what the learner sees in each row, as text or as a picture.

        Raises ``ValueError`` if pygame, which pictures need, is missing.
        """
        if self.render_mode is None:
            return None
        if self.render_mode == "rgb_array":
            pictures = (learners_picture(self.table, self._result, row) for row in range(self.num_envs))
            return tuple(rgb_array(picture) for picture in pictures)

        view = self.table.views(history=True)
        num_seats = self.table.rules.num_seats
        first_seats = (self.table.seat // num_seats * num_seats).tolist()
        return tuple(render_view(view, row, first_seats[row]) for row in range(self.num_envs))

    def _observations_and_infos(self) -> tuple[Any, dict[str, Any]]:
        """Return the observations and infos of all rows, in each of which it is the learner's turn."""
        features = self.encoder.encode(self.table.views())
        mask = self.table.action_masks().view(np.int8)
        everywhere = np.ones(self.num_envs, dtype=np.bool_)
        infos = {"action_mask": mask, "_action_mask": everywhere, "seat": self.table.seat.copy(), "_seat": everywhere}
        return (features if self.form == "flat" else {"observation": features, "action_mask": mask}), infos

    def _final_infos(
        self,
        result: LearnerStep,
        ended: NDArray[np.intp],
        features: NDArray[np.float32],
        illegal: NDArray[np.intp],
        reasons: list[str],
    ) -> dict[str, Any]:
        """Return how the episodes of some rows ended, as Gymnasium's arrays of all rows."""
        final_obs = np.full(self.num_envs, None, dtype=object)
        for row, vector in zip(ended.tolist(), features, strict=True):
            no_action = np.zeros(self.table.layout.size, dtype=np.int8)
            final_obs[row] = vector if self.form == "flat" else {"observation": vector, "action_mask": no_action}

        over, played = np.zeros((2, self.num_envs), dtype=np.bool_)
        over[ended] = True
        played[ended] = True
        played[illegal] = False

        info: dict[str, Any] = {"deal": self._final_deals(result, played), "_deal": played}
        if len(illegal):
            texts = np.full(self.num_envs, None, dtype=object)
            texts[illegal] = reasons
            info |= {"illegal_action": texts, "_illegal_action": over & ~played}
        return {"final_obs": final_obs, "_final_obs": over, "final_info": info, "_final_info": over}

    def _final_deals(self, result: LearnerStep, played: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the facts of the deals that ended the episodes of the marked rows, at the learner's table."""
        rules, rows = self.table.rules, np.flatnonzero(played)
        by_team = (self.num_envs, rules.num_teams)
        facts: dict[str, Any] = {
            "kind": np.full(self.num_envs, None, dtype=object),
            "points": np.zeros(by_team, dtype=np.int64),
            "net_points": np.zeros(by_team, dtype=np.int64),
            "winner": np.full(self.num_envs, -1),
            "knocker": np.full(self.num_envs, -1),
            "turns": np.zeros(self.num_envs, dtype=np.int64),
            "scores": np.zeros(by_team, dtype=np.int64),
            "bonuses": np.zeros(by_team, dtype=np.int64),
            "game_winner": np.full(self.num_envs, -1),
        }
        events = np.zeros((len(EVENT_NAMES), self.num_envs, rules.num_seats), dtype=np.int64)

        if result.finished is not None and len(rows):
            finished = result.finished
            deals, tables = result.last_deals(rows)

            # Of the deal as a whole.
            for name in ("points", "net_points", "winner", "bonuses", "game_winner"):
                facts[name][rows] = getattr(result, name)[deals]

            # At the learner's table; knockers are numbered across all tables.
            facts["kind"][rows] = [Kind(kind).name.lower() for kind in finished.kind[tables].tolist()]
            knockers = finished.knocker[tables].astype(np.int64)
            first_seats = tables % rules.num_tables * rules.num_seats
            facts["knocker"][rows] = np.where(knockers == NO_SEAT, -1, knockers + first_seats)
            facts["turns"][rows] = finished.turn[tables]
            facts["scores"][rows] = finished.scores[tables]
            counts = seat_events(finished, tables)
            events[:, rows] = [getattr(counts, name) for name in EVENT_NAMES]

        facts["events"] = dict(zip(EVENT_NAMES, events, strict=True)) | {f"_{name}": played for name in EVENT_NAMES}
        return facts | {f"_{name}": played for name in facts}
