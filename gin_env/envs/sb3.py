"""A native Stable-Baselines3 ``VecEnv``: one learner in thousands of rows, the other seats played inside the step.

>>> env = GinVecEnv("palace_4p", num_envs=1024)
>>> model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=8192)

Every row's next observation is the learner's, so each row is one trajectory. Rows begin their next
episode by themselves, as Stable-Baselines3 expects; masks come from :meth:`GinVecEnv.action_masks`.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import ArrayLike, NDArray
from stable_baselines3.common.vec_env import VecEnv
from stable_baselines3.common.vec_env.base_vec_env import VecEnvIndices

from gin_env.engine import State
from gin_env.episodes import Agent
from gin_env.episodes.learner_step import LearnerStep
from gin_env.episodes.learner_table import LearnerTable
from gin_env.episodes.rewards import Reward
from gin_env.observation import ObservationEncoder, PlayerView
from gin_env.observation.critic import HiddenEncoder
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import Rules
from gin_env.scoring import Kind

Float32Array = NDArray[np.float32]


class GinVecEnv(VecEnv):
    """N episodes for Stable-Baselines3 and sb3-contrib's ``MaskablePPO``.

    Parameters
    ----------
    rules : Rules or str
    num_envs : int
        N; training is fastest with 512 to 2,048.
    opponents, partner, seats, episode, seed
        As in :class:`~gin_env.episodes.learner_table.LearnerTable`.
    reward : str or callable
        As there, but ``"scaled"`` by default: points divided to a size that suits a value network.
    observation : ObservationOptions, optional
        What the feature vector holds.
    offers : bool
        Whether the learner may offer cards to its partner; without, its masks never hold ``give`` but as an answer.
    show_hidden : bool
        Whether the cards that the learner may not know follow each feature vector, for a critic. A policy
        must read only the first ``encoder.size`` features.

    Notes
    -----
    ``infos`` holds one shared empty dict for all rows but those whose episode ended. Those carry
    ``terminal_observation``, ``TimeLimit.truncated``, ``episode`` (``r`` sum of rewards, ``l`` decisions
    of the learner, ``t`` seconds) and ``deal`` (``kind``, net ``points`` of the learner's team, ``turns``
    and whether the learner's team was the one to ``knock``) of the last deal.
    """

    def __init__(
        self,
        rules: Rules | str,
        num_envs: int = 1,
        opponents: Agent | Sequence[Agent] | None = None,
        partner: Agent | None = None,
        seats: str | ArrayLike = "spread",
        episode: str = "deal",
        reward: str | Reward = "scaled",
        observation: ObservationOptions | None = None,
        seed: int = 0,
        show_hidden: bool = False,
        offers: bool = True,
    ) -> None:
        self.table = LearnerTable(rules, num_envs, opponents, partner, seats, episode, reward, seed)
        self.encoder = ObservationEncoder(self.table.rules, observation)
        self.hidden = HiddenEncoder(self.table.rules) if show_hidden else None
        self.offers = offers
        self.render_mode = None
        size = self.encoder.size + (self.hidden.size if self.hidden else 0)
        super().__init__(
            num_envs,
            spaces.Box(-np.inf, np.inf, (size,), np.float32),
            spaces.Discrete(self.table.layout.size),
        )
        self._no_infos: list[dict[str, Any]] = [{}] * num_envs
        self._returns = np.zeros(num_envs)
        self._lengths = np.zeros(num_envs, dtype=np.int64)
        self._start = time.time()
        self._actions: NDArray[np.integer] | None = None

    def reset(self) -> Float32Array:
        """Begin all episodes anew; returns the observations (N, F)."""
        if self._seeds[0] is not None:
            self.table.seed(self._seeds[0])
        self._reset_seeds()
        self._reset_options()
        self.table.reset()
        self._returns[:] = 0.0
        self._lengths[:] = 0
        return self.observe()

    def step_async(self, actions: NDArray[np.integer]) -> None:
        """Take the learner's actions (N,)."""
        self._actions = actions

    def step_wait(self) -> tuple[Float32Array, Float32Array, NDArray[np.bool_], list[dict[str, Any]]]:
        """Play up to the learner's next decisions: observations (N, F), rewards (N,), dones (N,), infos.

        Raises ``IllegalAction`` before anything changes.
        """
        if self._actions is None:
            raise ValueError("step_wait without step_async")
        actions, self._actions = self._actions, None
        outcome = self.table.step(actions)
        self._returns += outcome.rewards
        self._lengths += 1
        infos = list(self._no_infos)
        if outcome.over.any():
            self._write_infos(outcome, infos)
            self._returns[outcome.over] = 0.0
            self._lengths[outcome.over] = 0
        return self.observe(), outcome.rewards, outcome.over, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the learner's legal actions (N, A)."""
        return self.table.action_masks() if self.offers else self.table.views().without_offers().legal_mask

    def set_opponents(self, opponents: Agent | Sequence[Agent], assignment: ArrayLike | None = None) -> None:
        """Seat other opponents from now on; arguments as in ``LearnerTable.set_opponents``."""
        self.table.set_opponents(opponents, assignment)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays that change while the rows are played, as ``Episodes.arrays`` does.

        Agents keep their own random streams, which are not among them.
        """
        return self.table.arrays() | {"returns": self._returns, "lengths": self._lengths}

    def observe(self) -> Float32Array:
        """Return the present observations (N, F)."""
        table = self.table
        rows = table.episodes.table_rows(np.arange(self.num_envs), table.seat)
        return self._encode(table.views(), table.state, rows)

    def _encode(self, view: PlayerView, state: State, rows: NDArray[np.intp]) -> Float32Array:
        """Return the observations (M, F) of a view of some rows of a state."""
        if not self.offers:
            view = view.without_offers()
        if self.hidden is None:
            return self.encoder.encode(view)
        out = np.empty((len(view), self.encoder.size + self.hidden.size), dtype=np.float32)
        self.encoder.encode(view, out[:, : self.encoder.size])
        out[:, self.encoder.size :] = self.hidden.encode(state, rows, view.seat)
        return out

    def _write_infos(self, outcome: LearnerStep, infos: list[dict[str, Any]]) -> None:
        """Replace the infos of the rows whose episode ended."""
        view = outcome.terminal_view()
        rows = np.flatnonzero(outcome.over)
        assert outcome.finished is not None
        observations = self._encode(view, outcome.finished, outcome.last_deals(rows)[1])
        columns = zip(
            rows.tolist(),
            outcome.truncated[rows].tolist(),
            self._returns[rows].tolist(),
            self._lengths[rows].tolist(),
            view.kind.tolist(),
            self._net_points(outcome, rows).tolist(),
            view.turn.tolist(),
            ((view.kind > Kind.DEAD) & (view.knocker % self.table.rules.num_teams == 0)).tolist(),
            strict=True,
        )
        seconds = round(time.time() - self._start, 6)
        for index, (row, truncated, total, length, kind, points, turns, knocked) in enumerate(columns):
            infos[row] = {
                "terminal_observation": observations[index],
                "TimeLimit.truncated": truncated,
                "episode": {"r": total, "l": length, "t": seconds},
                "deal": {"kind": Kind(kind).name.lower(), "points": points, "turns": turns, "knock": knocked},
            }

    def _net_points(self, outcome: LearnerStep, rows: NDArray[np.intp]) -> NDArray[np.int64]:
        """Return the net points (M,) of the learner's team in the deals that ended the episodes of some rows."""
        return outcome.net_points[outcome.last_deals(rows)[0], outcome.seats[rows] % self.table.rules.num_teams]

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed all rows and agents by one number; takes effect at the next reset. None goes on with the old streams."""
        self._seeds = [seed] * self.num_envs
        return self._seeds

    def close(self) -> None:
        """Nothing to release."""

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of this object once for each index; all rows share it."""
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute for all rows at once; raises ``ValueError`` when asked for some rows only."""
        if len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError(f"{attr_name}: the rows share their attributes, set it for all of them (indices=None)")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> Any:
        """Call a method once for all rows.

        ``action_masks`` returns its array (N, A) itself, or the rows asked for: one mask per row, as
        callers expect. Any other result is repeated for each index.
        """
        result = getattr(self, method_name)(*method_args, **method_kwargs)
        if method_name == "action_masks":
            return result if indices is None else result[list(self._get_indices(indices))]
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: VecEnvIndices = None) -> list[bool]:
        """Return False for each index: no Gymnasium wrappers inside."""
        return [False for _ in self._get_indices(indices)]
