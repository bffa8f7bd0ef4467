"""A native Stable-Baselines3 ``VecEnv``: one learner in thousands of rows, the other seats played inside the step.

>>> env = GinVecEnv("palace_4p", num_envs=1024)
>>> model = MaskablePPO("MlpPolicy", env, n_steps=64, batch_size=8192)

Every row's next observation is the learner's, so each row is one trajectory. Rows begin their next
episode automatically, as Stable-Baselines3 expects. Masks come from :meth:`GinVecEnv.action_masks`.
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
from gin_env.envs.common import observation_options
from gin_env.episodes import Agent
from gin_env.episodes.learner_step import LearnerStep
from gin_env.episodes.learner_table import LearnerTable
from gin_env.episodes.rewards import Reward
from gin_env.observation import ObservationEncoder, ObservationOptions, PlayerView
from gin_env.observation.critic import HiddenEncoder
from gin_env.rules import Rules
from gin_env.scoring import Kind

Float32Array = NDArray[np.float32]


class GinVecEnv(VecEnv):
    """N episodes for Stable-Baselines3 and sb3-contrib's ``MaskablePPO``.

    Parameters
    ----------
    rules : Rules or str
        A rule system or a preset's name.
    num_envs : int
        N; training is fastest with 512 to 2,048.
    opponents, partner, seats, episode, seed
        As in :class:`~gin_env.episodes.learner_table.LearnerTable`.
    reward : str or callable
        The same, but ``"scaled"`` by default: points divided to a size that suits a value network.
    observation : ObservationOptions, optional
        What the feature vector contains; see :class:`~gin_env.observation.features.ObservationOptions`.
    show_hidden : bool
        Whether the cards that the learner may not know follow each feature vector, for a privileged critic. A policy
        must read only the first ``encoder.size`` features.
    offers : bool
        Whether the learner may offer cards to its partner. If not, its masks allow ``give`` only as an answer.
    derived, showdown, buried_pile, outlook : bool, optional
        A shorthand for ``observation=ObservationOptions(derived=..., ...)``.

    Notes
    -----
    ``infos`` holds one shared empty dict for all rows whose episode continues. Rows whose episode ended have

    - ``terminal_observation`` and ``TimeLimit.truncated``;
    - ``episode``: ``r``, the sum of rewards, ``l``, the learner's decisions, and ``t``, the seconds since the start;
    - ``deal``, the last deal: ``kind``, ``points`` (net, of the learner's team), ``turns``, and whether the learner's
      team was the one to ``knock``.
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
        derived: bool | None = None,
        showdown: bool | None = None,
        buried_pile: bool | None = None,
        outlook: bool | None = None,
    ) -> None:
        options = observation_options(
            observation, derived=derived, showdown=showdown, buried_pile=buried_pile, outlook=outlook
        )
        self.table = LearnerTable(rules, num_envs, opponents, partner, seats, episode, reward, seed)
        self.encoder = ObservationEncoder(self.table.rules, options)
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
        """Begin new episodes in all rows; return the observations (N, F)."""
        if self._seeds[0] is not None:
            self.table.seed(self._seeds[0])
        self._reset_seeds()
        self._reset_options()

        self.table.reset()
        self._returns[:] = 0.0
        self._lengths[:] = 0
        return self.observe()

    def step_async(self, actions: NDArray[np.integer]) -> None:
        """Store the learner's actions (N,) for ``step_wait``."""
        self._actions = actions

    def step_wait(self) -> tuple[Float32Array, Float32Array, NDArray[np.bool_], list[dict[str, Any]]]:
        """Play up to the learner's next decisions; return observations (N, F), rewards (N,), dones (N,) and infos.

        Raises ``IllegalAction`` before anything changes.
        """
        if self._actions is None:
            raise ValueError("step_wait() was called without step_async()")
        actions, self._actions = self._actions, None

        result = self.table.step(actions)
        self._returns += result.rewards
        self._lengths += 1

        infos = list(self._no_infos)
        if result.over.any():
            self._write_infos(result, infos)
            self._returns[result.over] = 0.0
            self._lengths[result.over] = 0
        return self.observe(), result.rewards, result.over, infos

    def action_masks(self) -> NDArray[np.bool_]:
        """Return the learner's legal actions (N, A)."""
        return self.table.action_masks() if self.offers else self.table.views().without_offers().legal_mask

    def set_opponents(self, opponents: Agent | Sequence[Agent], assignment: ArrayLike | None = None) -> None:
        """Seat other opponents from now on; arguments as in ``LearnerTable.set_opponents``."""
        self.table.set_opponents(opponents, assignment)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays that change during play, by name, as ``Episodes.arrays`` does.

        The agents' random streams are not included.
        """
        return self.table.arrays() | {"returns": self._returns, "lengths": self._lengths}

    def observe(self) -> Float32Array:
        """Return the current observations (N, F)."""
        table = self.table
        rows = table.episodes.table_rows(np.arange(self.num_envs), table.seat)
        return self._encode(table.views(), table.state, rows)

    def _encode(self, view: PlayerView, state: State, rows: NDArray[np.intp]) -> Float32Array:
        """Return the observations (M, F) for a view of some rows of a state."""
        if not self.offers:
            view = view.without_offers()
        if self.hidden is None:
            return self.encoder.encode(view)

        num_seen = self.encoder.size
        observations = np.empty((len(view), num_seen + self.hidden.size), dtype=np.float32)
        self.encoder.encode(view, observations[:, :num_seen])
        observations[:, num_seen:] = self.hidden.encode(state, rows, view.seat)
        return observations

    def _write_infos(self, result: LearnerStep, infos: list[dict[str, Any]]) -> None:
        """Replace the infos of the rows whose episode ended."""
        assert result.finished is not None
        rows = np.flatnonzero(result.over)
        view = result.terminal_view()
        deals, finished_rows = result.last_deals(rows)
        observations = self._encode(view, result.finished, finished_rows)

        # In a view the learner's own team is team 0; in a result teams are numbered as in the state.
        num_teams = self.table.rules.num_teams
        net_points = result.net_points[deals, result.seats[rows] % num_teams]
        has_knocked = (view.kind > Kind.DEAD) & (view.knocker % num_teams == 0)

        seconds = round(time.time() - self._start, 6)
        columns = zip(
            rows.tolist(),
            observations,
            result.truncated[rows].tolist(),
            self._returns[rows].tolist(),
            self._lengths[rows].tolist(),
            view.kind.tolist(),
            net_points.tolist(),
            view.turn.tolist(),
            has_knocked.tolist(),
            strict=True,
        )
        for row, observation, truncated, total, length, kind, points, turns, knocked in columns:
            infos[row] = {
                "terminal_observation": observation,
                "TimeLimit.truncated": truncated,
                "episode": {"r": total, "l": length, "t": seconds},
                "deal": {"kind": Kind(kind).name.lower(), "points": points, "turns": turns, "knock": knocked},
            }

    def seed(self, seed: int | None = None) -> Sequence[int | None]:
        """Seed all rows and agents from the next reset on; None continues the random streams."""
        self._seeds = [seed] * self.num_envs
        return self._seeds

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def get_attr(self, attr_name: str, indices: VecEnvIndices = None) -> list[Any]:
        """Return an attribute of this object for each index; all rows share it."""
        value = getattr(self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: VecEnvIndices = None) -> None:
        """Set an attribute for all rows; raises ``ValueError`` if only some rows are selected."""
        if len(list(self._get_indices(indices))) != self.num_envs:
            raise ValueError(f"{attr_name}: all rows share their attributes, set it for all of them (indices=None)")
        setattr(self, attr_name, value)

    def env_method(
        self, method_name: str, *method_args: Any, indices: VecEnvIndices = None, **method_kwargs: Any
    ) -> Any:
        """Call a method once for all rows.

        ``action_masks`` returns its array (N, A), or the selected rows of it: one mask per row, as callers
        expect. Any other result is repeated for each index.
        """
        result = getattr(self, method_name)(*method_args, **method_kwargs)
        if method_name == "action_masks":
            return result if indices is None else result[list(self._get_indices(indices))]
        return [result for _ in self._get_indices(indices)]

    def env_is_wrapped(self, wrapper_class: type, indices: VecEnvIndices = None) -> list[bool]:
        """Return False for each index: there are no Gymnasium wrappers inside."""
        return [False for _ in self._get_indices(indices)]
