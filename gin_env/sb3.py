"""The Stable-Baselines3 environment, ``from gin_env.sb3 import GinVecEnv``: the only import that needs that library."""

from __future__ import annotations

from gin_env.envs.sb3 import GinVecEnv

__all__ = ["GinVecEnv"]
