"""Registers every preset with Gymnasium and PettingZoo, as ``gin_env/palace_4p-v0`` and so on."""

from __future__ import annotations

import gymnasium
import pettingzoo

from gin_env.rules import PRESETS

#: The environments' version: raised when their behaviour changes.
VERSION = 0


def register_environments() -> None:
    """Register all presets; a second call does nothing."""
    for preset in PRESETS:
        name = f"gin_env/{preset}-v{VERSION}"
        if name not in gymnasium.registry:
            gymnasium.register(
                name,
                entry_point="gin_env.envs.gymnasium_env:GinRummySingleEnv",
                vector_entry_point="gin_env.envs.gymnasium_vector:GinRummyVectorEnv",
                kwargs={"rules": preset},
            )
        # PettingZoo has had a registry since 1.27.
        if hasattr(pettingzoo, "register") and name not in pettingzoo.aec_registry:
            pettingzoo.register("aec", name, "gin_env.envs.aec:env", kwargs={"rules": preset})
            pettingzoo.register("parallel", name, "gin_env.envs.aec:parallel_env", kwargs={"rules": preset})
