"""How much of MaskablePPO's speed the environment costs: GinVecEnv next to an environment that costs nothing.

python -m benchmarks.training

Both have the same spaces, rows, rollout length, minibatch, epochs and network, by default those of
train.py, and are measured in turn within one run, so that other load on the machine affects both.
"""

# ruff: noqa: D102 (VecEnv documents the methods of FreeVecEnv)

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

# As in train.py: threads that wait for each other must sleep.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
# As a script too, find train.py and the packages next to this folder.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common.vec_env import VecEnv

from agents.selfplay.arguments import Arguments
from agents.selfplay.network import Precision, SelfPlayPolicy, activation_class, uses_bfloat16
from agents.selfplay.rollout_buffer import LeanRolloutBuffer
from gin_env.envs.sb3 import GinVecEnv
from gin_env.observation.encoder import ObservationOptions

#: The share of the free environment's throughput that GinVecEnv is to reach.
TARGET = 0.85
DEFAULTS = Arguments()


class FreeVecEnv(VecEnv):
    """Has the spaces of another environment, repeats one observation and one mask of it, and computes nothing."""

    def __init__(self, like: GinVecEnv) -> None:
        self.render_mode = None
        super().__init__(like.num_envs, like.observation_space, like.action_space)
        self._observations = like.reset()
        self._masks = like.action_masks()
        self._rewards = np.zeros(self.num_envs, dtype=np.float32)
        self._dones = np.zeros(self.num_envs, dtype=bool)
        self._infos: list[dict[str, Any]] = [{}] * self.num_envs

    def reset(self) -> np.ndarray:
        return self._observations

    def step_async(self, actions: np.ndarray) -> None:
        pass

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        return self._observations, self._rewards, self._dones, self._infos

    def action_masks(self) -> np.ndarray:
        return self._masks

    def env_method(self, method_name: str, *args: Any, indices: Any = None, **kwargs: Any) -> Any:
        return getattr(self, method_name)(*args, **kwargs)

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        return [getattr(self, attr_name)] * self.num_envs

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        setattr(self, attr_name, value)

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        return [False] * self.num_envs

    def seed(self, seed: int | None = None) -> list[int | None]:
        return [seed] * self.num_envs

    def close(self) -> None:
        pass


class TrainingSpeed(NamedTuple):
    """Decisions per second with GinVecEnv and with the free environment, and the former's share: medians over rounds.

    The two are measured in turns, and the share is taken round by round, so that a drift of the machine cancels.
    """

    gin: float
    free: float
    ratio: float


def measure_training(
    rules: str = DEFAULTS.preset,
    rows: int = DEFAULTS.rows,
    steps: int = DEFAULTS.steps,
    minibatch: int = DEFAULTS.minibatch,
    epochs: int = DEFAULTS.epochs,
    net: tuple[int, ...] = DEFAULTS.net,
    rounds: int = 5,
    precision: Precision = "auto",
    threads: int = DEFAULTS.threads,
    outlook: bool = False,
) -> TrainingSpeed:
    """Measure MaskablePPO with random opponents and with an environment that costs nothing, in turns.

    A round is one rollout of ``rows * steps`` decisions and the updates from it, for each of the two;
    one round before the first is not counted.
    """
    torch.set_num_threads(threads)
    torch.distributions.Distribution.set_default_validate_args(False)
    gin = GinVecEnv(rules, rows, observation=ObservationOptions(derived=not outlook, outlook=outlook))
    models = [
        MaskablePPO(
            SelfPlayPolicy,
            env,
            n_steps=steps,
            batch_size=minibatch,
            n_epochs=epochs,
            rollout_buffer_class=LeanRolloutBuffer,
            policy_kwargs={
                "net_arch": list(net),
                "activation_fn": activation_class(DEFAULTS.activation),
                "num_seen": gin.encoder.size,
                "in_bfloat16": uses_bfloat16(precision),
            },
            device="cpu",
        )
        for env in (gin, FreeVecEnv(gin))
    ]
    seconds: list[list[float]] = [[], []]
    for _ in range(rounds + 1):
        for model, times in zip(models, seconds, strict=True):
            start = time.perf_counter()
            model.learn(rows * steps, reset_num_timesteps=False, log_interval=None)
            times.append(time.perf_counter() - start)
    gin_speed, free_speed = rows * steps / np.array(seconds)[:, 1:]
    return TrainingSpeed(*(float(np.median(x)) for x in (gin_speed, free_speed, gin_speed / free_speed)))


def main() -> None:
    print(f"MaskablePPO, decisions per second, rollouts and updates on {DEFAULTS.threads} of {os.cpu_count()} cores")
    for rules in ("palace_4p", "classic_2p"):
        for precision, outlook in (("bfloat16", False), ("float32", False), ("bfloat16", True)):
            speed = measure_training(rules, precision=precision, outlook=outlook)
            features = "outlook" if outlook else "derived features"
            print(
                f"  {rules}, {precision}, {features}: {speed.gin:,.0f} decisions/s with GinVecEnv, "
                f"{speed.free:,.0f} with a free environment: {speed.ratio:.0%} (target {TARGET:.0%})",
                flush=True,
            )


if __name__ == "__main__":
    main()
