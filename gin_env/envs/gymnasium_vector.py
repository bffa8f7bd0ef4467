"""Gymnasium's vector form: N tables with a learner each, on the batch engine.

>>> envs = gymnasium.make_vec("gin_env/palace_4p-v0", num_envs=1024)

Opponents act in batches inside ``step``. A row whose episode ends begins the next one in the same step
(``AutoresetMode.SAME_STEP``): the observation is already the new episode's, and how the old one ended
stands in ``infos["final_obs"]`` and ``infos["final_info"]``, in the rows that ``infos["_final_obs"]`` marks.
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
    observation_space,
    resolve_illegal_reward,
)
from gin_env.envs.reset_options import injected_deal, injected_position
from gin_env.episodes import Agent
from gin_env.episodes.learner_step import LearnerStep
from gin_env.episodes.learner_table import LearnerTable
from gin_env.episodes.rewards import Reward
from gin_env.episodes.seat_events import EVENT_NAMES, seat_events
from gin_env.errors import whole_number
from gin_env.observation import ObservationEncoder
from gin_env.observation.encoder import ObservationOptions
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
        Several are spread over the rows.
    seats : "spread", int or int (N,)
        The learner's seat in each row; by default the rows are dealt out over the teams or seats.
    rules, partner, episode, reward, form
        As in :class:`~gin_env.envs.gymnasium_env.GinRummySingleEnv`.
    render_mode : {"ansi", "rgb_array"}, optional
        ``render()`` returns what the learner sees in each row as text, or as a picture, (height, 720, 3) uint8.
    derived, showdown, buried_pile, outlook, on_illegal, illegal_reward
        As in :class:`~gin_env.envs.gymnasium_env.GinRummySingleEnv`.

    Notes
    -----
    ``infos["action_mask"]`` (N, A) int8 holds the legal actions and ``infos["seat"]`` (N,) the seat that the
    learner decides for. ``infos["final_info"]`` holds ``deal``, the facts of the deal that ended the
    episode, or ``illegal_action``, the text of the action that did. The facts are ``points``, ``net_points``
    and ``winner`` (-1 for none) of the deal, all tables together, ``kind``, ``knocker`` (-1 for none), ``turns``
    and ``events`` (the counts of :class:`~gin_env.episodes.seat_events.SeatEvents` by name, each (N, P) for the P seats
    there) at the learner's table, and of the game ``scores``, end ``bonuses`` and ``game_winner``. Pictures show a deal
    that ended with the last step as it ended, though the observation is the next one's already.
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
        self.table = LearnerTable(rules, num_envs, opponents, partner, seats, episode, reward, autoreset=False)
        options = ObservationOptions(derived=derived, showdown=showdown, buried_pile=buried_pile, outlook=outlook)
        self.encoder = ObservationEncoder(self.table.rules, options)
        self.num_envs, self.form, self.on_illegal, self.render_mode = num_envs, form, on_illegal, render_mode
        self._penalty = resolve_illegal_reward(self.table.episodes.reward, illegal_reward, self.table.rules.num_teams)
        self._seeded = self._begun = False
        self._outcome: LearnerStep | None = None  # what the last step brought
        self._rows = np.arange(num_envs)
        self.single_observation_space = observation_space(self.encoder, form)
        self.single_action_space = spaces.Discrete(self.table.layout.size)
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the legal actions (N, A)."""
        return self.table.action_masks()

    def reset(self, *, seed: int | None = None, options: Mapping[str, Any] | None = None) -> tuple[Any, dict[str, Any]]:
        """Begin new episodes in all rows; without a seed the old streams go on.

        ``options`` as in the single environment: ``deck`` and ``dealer`` for every row, ``position`` for every row or
        one for each. Only these episodes begin with them; the ones that follow within ``step`` are dealt.
        """
        super().reset(seed=seed)
        deck, dealer = injected_deal(self.table.rules, options)
        position = injected_position(self.table.rules, options, self.num_envs)
        if seed is not None or not self._seeded:
            self.table.seed(int(self.np_random.integers(2**63)) if seed is None else whole_number("seed", seed, 0))
            self._seeded = True
        decks = None if deck is None else np.broadcast_to(deck, (self.num_envs, *deck.shape))
        self._begun = False  # until the reset has succeeded
        self._outcome = None
        if position is None:
            self.table.reset(decks=decks, dealers=dealer)
        else:
            self.table.load(position)
        self._begun = True
        return self._answer()

    def step(
        self, actions: ArrayLike
    ) -> tuple[Any, NDArray[np.float32], NDArray[np.bool_], NDArray[np.bool_], dict[str, Any]]:
        """Apply the learner's actions (N,) and play up to its next turn in every row.

        Raises
        ------
        IllegalAction
            An action outside the action space, or with ``on_illegal="raise"`` any illegal one.
        """
        if not self._begun:
            raise ResetNeeded("no episodes are being played: call reset()")
        chosen = np.asarray(actions)
        illegal, reasons, stuck = self._judge(chosen)
        skip = np.zeros(self.num_envs, dtype=np.bool_)
        skip[illegal] = True
        outcome = self.table.step(chosen, skip=skip)
        self._outcome = outcome
        over, truncated = outcome.over, outcome.truncated
        over[illegal], truncated[illegal], outcome.rewards[illegal] = True, False, self._penalty
        ended = np.flatnonzero(over)
        finals: dict[str, Any] = {}
        if len(ended):
            features = self.encoder.encode(self.table.views(ended))
            features[np.searchsorted(ended, illegal)] = stuck
            finals = self._final_infos(outcome, ended, features, illegal, reasons)
            self.table.reset(rows=ended)
        observations, infos = self._answer()
        return observations, outcome.rewards, over & ~truncated, truncated, infos | finals

    def _judge(self, actions: NDArray) -> tuple[NDArray[np.intp], list[str], NDArray[np.float32]]:
        """Return the rows whose illegal action ends the episode, why, and what the learner sees there (M, F)."""
        layout = self.table.layout
        proper = actions.shape == (self.num_envs,) and actions.dtype.kind in "iu"
        proper = proper and bool(((actions >= 0) & (actions < layout.size)).all())
        if self.on_illegal == "raise" or not proper:
            illegal: NDArray[np.intp] = np.zeros(0, dtype=np.intp)  # the table raises for them
        else:
            words = self.table.episodes.legal(self._rows)[self._rows, layout.word_of[actions]]
            illegal = np.flatnonzero((words & layout.bit_of[actions]) == 0)
        if not len(illegal):
            return illegal, [], np.zeros((0, self.encoder.size), dtype=np.float32)
        reasons = [
            f"{layout.text(action)!r} is not legal; legal: {', '.join(layout.texts(words))}"
            for action, words in zip(actions[illegal], self.table.episodes.legal(illegal), strict=True)
        ]
        return illegal, reasons, self.encoder.encode(self.table.views(illegal))

    def render(self) -> tuple[str, ...] | tuple[NDArray[np.uint8], ...] | None:
        """Return what the learner sees in each row, as text or as a picture.

        Raises ``ValueError`` where pictures are asked for and pygame is missing.
        """
        if self.render_mode is None:
            return None
        if self.render_mode == "rgb_array":
            pictures = (learners_picture(self.table, self._outcome, row) for row in range(self.num_envs))
            return tuple(rgb_array(picture) for picture in pictures)
        view = self.table.views(history=True)
        seats = self.table.rules.num_seats
        first = (self.table.seat // seats * seats).tolist()
        return tuple(render_view(view, row, first[row]) for row in range(self.num_envs))

    def _answer(self) -> tuple[Any, dict[str, Any]]:
        """Return the observations and infos of rows in which it is all the learner's turn."""
        features = self.encoder.encode(self.table.views())
        mask = self.table.action_masks().view(np.int8)
        everywhere = np.ones(self.num_envs, dtype=np.bool_)
        infos = {"action_mask": mask, "_action_mask": everywhere, "seat": self.table.seat.copy(), "_seat": everywhere}
        return (features if self.form == "flat" else {"observation": features, "action_mask": mask}), infos

    def _final_infos(
        self,
        outcome: LearnerStep,
        ended: NDArray[np.intp],
        features: NDArray[np.float32],
        illegal: NDArray[np.intp],
        reasons: list[str],
    ) -> dict[str, Any]:
        """Return how the episodes of some rows ended, in Gymnasium's arrays over all rows."""
        final_obs = np.full(self.num_envs, None, dtype=object)
        for row, vector in zip(ended.tolist(), features, strict=True):
            nothing = np.zeros(self.table.layout.size, dtype=np.int8)
            final_obs[row] = vector if self.form == "flat" else {"observation": vector, "action_mask": nothing}
        over, played = np.zeros((2, self.num_envs), dtype=np.bool_)
        over[ended] = True
        played[ended] = True
        played[illegal] = False
        info: dict[str, Any] = {"deal": self._deals(outcome, played), "_deal": played}
        if len(illegal):
            texts = np.full(self.num_envs, None, dtype=object)
            texts[illegal] = reasons
            info |= {"illegal_action": texts, "_illegal_action": over & ~played}
        return {"final_obs": final_obs, "_final_obs": over, "final_info": info, "_final_info": over}

    def _deals(self, outcome: LearnerStep, played: NDArray[np.bool_]) -> dict[str, Any]:
        """Return the facts of the deals that have just ended in the marked rows, at the learner's table."""
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
        if outcome.finished is not None and len(rows):
            deals, tables = outcome.last_deals(rows)
            finished = outcome.finished
            facts["kind"][rows] = [Kind(kind).name.lower() for kind in finished.kind[tables].tolist()]
            seats = finished.knocker[tables].astype(np.int64)
            first = tables % rules.num_tables * rules.num_seats
            facts["knocker"][rows] = np.where(seats == NO_SEAT, -1, seats + first)
            facts["turns"][rows] = finished.turn[tables]
            facts["scores"][rows] = finished.scores[tables]
            for name in ("points", "net_points", "winner", "bonuses", "game_winner"):
                facts[name][rows] = getattr(outcome, name)[deals]
            counts = seat_events(finished, tables)
            events[:, rows] = [getattr(counts, name) for name in EVENT_NAMES]
        facts["events"] = dict(zip(EVENT_NAMES, events, strict=True)) | {f"_{name}": played for name in EVENT_NAMES}
        return facts | {f"_{name}": played for name in facts}
