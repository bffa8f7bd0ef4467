"""Gin rummy for reinforcement learning: four-player partnerships with trading, two players, and the classic variants.

>>> import gin_env
>>> env = gin_env.env("palace_4p")  # PettingZoo: agents in turn
>>> env = gymnasium.make("gin_env/palace_4p-v0")  # Gymnasium: agents play the other seats

Importing the package registers its environments with Gymnasium and PettingZoo. The names below load on
first use, so that rules and engine load no more than they need.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gin_env.registration import register_environments
from gin_env.version import __version__

if TYPE_CHECKING:
    from gin_env.actions import ActionLayout, action_layout
    from gin_env.aec import GinRummyEnv, env, parallel_env, raw_env
    from gin_env.agent import Agent, RandomAgent
    from gin_env.engine import Engine
    from gin_env.episodes import Episodes
    from gin_env.errors import IllegalAction, InvalidPosition
    from gin_env.observation import ObservationEncoder, ObservationOptions
    from gin_env.rewards import Outcome
    from gin_env.rules import PRESETS, Rules
    from gin_env.scoring import DealResult, score_deal
    from gin_env.single import GinRummySingleEnv
    from gin_env.state import Kind, Phase, State
    from gin_env.vector import GinRummyVectorEnv
    from gin_env.view import PlayerView, player_view

#: Public names by the module that holds them.
_HOMES = {
    "actions": ("ActionLayout", "action_layout"),
    "aec": ("GinRummyEnv", "env", "parallel_env", "raw_env"),
    "agent": ("Agent", "RandomAgent"),
    "engine": ("Engine",),
    "episodes": ("Episodes",),
    "errors": ("IllegalAction", "InvalidPosition"),
    "observation": ("ObservationEncoder", "ObservationOptions"),
    "rewards": ("Outcome",),
    "rules": ("PRESETS", "Rules"),
    "scoring": ("DealResult", "score_deal"),
    "single": ("GinRummySingleEnv",),
    "state": ("Kind", "Phase", "State"),
    "vector": ("GinRummyVectorEnv",),
    "view": ("PlayerView", "player_view"),
}
_MODULE_OF = {name: module for module, names in _HOMES.items() for name in names}

__all__ = [
    "PRESETS",
    "ActionLayout",
    "Agent",
    "DealResult",
    "Engine",
    "Episodes",
    "GinRummyEnv",
    "GinRummySingleEnv",
    "GinRummyVectorEnv",
    "IllegalAction",
    "InvalidPosition",
    "Kind",
    "ObservationEncoder",
    "ObservationOptions",
    "Outcome",
    "Phase",
    "PlayerView",
    "RandomAgent",
    "Rules",
    "State",
    "__version__",
    "action_layout",
    "env",
    "parallel_env",
    "player_view",
    "raw_env",
    "score_deal",
]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_MODULE_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


register_environments()
