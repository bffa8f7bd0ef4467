"""``from gin_env.sb3 import GinVecEnv``: the only import of the package that needs Stable-Baselines3."""

from __future__ import annotations

from gin_env.envs.sb3 import GinVecEnv

__all__ = ["GinVecEnv"]
