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
    from gin_env.events import SeatEvents, seat_events
    from gin_env.explaining import explain_deal
    from gin_env.notation.position import format_position, parse_position, status
    from gin_env.notation.recorder import Recorder
    from gin_env.notation.records import DealRecord, GameRecord, Thought, read_records, write_records
    from gin_env.notation.replay import replay
    from gin_env.observation import ObservationEncoder, ObservationOptions
    from gin_env.rewards import Outcome
    from gin_env.rulebook import describe_rules
    from gin_env.rules import PRESETS, Rules
    from gin_env.scoring import DealResult, score_deal, score_tables
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
    "events": ("SeatEvents", "seat_events"),
    "explaining": ("explain_deal",),
    "notation.position": ("format_position", "parse_position", "status"),
    "notation.recorder": ("Recorder",),
    "notation.records": ("DealRecord", "GameRecord", "Thought", "read_records", "write_records"),
    "notation.replay": ("replay",),
    "observation": ("ObservationEncoder", "ObservationOptions"),
    "rewards": ("Outcome",),
    "rulebook": ("describe_rules",),
    "rules": ("PRESETS", "Rules"),
    "scoring": ("DealResult", "score_deal", "score_tables"),
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
    "DealRecord",
    "DealResult",
    "Engine",
    "Episodes",
    "GameRecord",
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
    "Recorder",
    "Rules",
    "SeatEvents",
    "State",
    "Thought",
    "__version__",
    "action_layout",
    "describe_rules",
    "env",
    "explain_deal",
    "format_position",
    "parallel_env",
    "parse_position",
    "player_view",
    "raw_env",
    "read_records",
    "replay",
    "score_deal",
    "score_tables",
    "seat_events",
    "status",
    "write_records",
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
