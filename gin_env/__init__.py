"""Gin rummy for reinforcement learning: four-player partnerships with trading, two players, and the classic variants.

>>> import gin_env
>>> env = gin_env.env("palace_4p")  # PettingZoo: agents in turn
>>> env = gymnasium.make("gin_env/palace_4p-v0")  # Gymnasium: given agents play the other seats

Importing the package registers its environments with Gymnasium and PettingZoo. The public names are loaded on first
use, so that the rules and the engine load no more than they need.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from gin_env.envs.registration import register_environments

__version__ = "0.1.0"

if TYPE_CHECKING:
    from gin_env.engine.actions import ActionLayout, action_layout
    from gin_env.engine.engine import Engine
    from gin_env.engine.sampling import random_actions
    from gin_env.engine.state import Phase, State
    from gin_env.envs.aec import GinRummyEnv, env, parallel_env, raw_env
    from gin_env.envs.gymnasium_env import GinRummySingleEnv
    from gin_env.envs.gymnasium_vector import GinRummyVectorEnv
    from gin_env.episodes.agent import Agent, RandomAgent
    from gin_env.episodes.episodes import Episodes
    from gin_env.episodes.rewards import Outcome
    from gin_env.episodes.seat_events import SeatEvents, seat_events
    from gin_env.errors import IllegalAction, InvalidPosition
    from gin_env.notation.position import format_position, parse_position, status
    from gin_env.notation.recorder import Recorder
    from gin_env.notation.records import DealRecord, GameRecord, Thought, read_records, write_records
    from gin_env.notation.replay import replay
    from gin_env.observation.encoder import ObservationEncoder
    from gin_env.observation.features import ObservationOptions
    from gin_env.observation.view import PlayerView, player_view
    from gin_env.rendering.explanation import explain_deal
    from gin_env.rules.rulebook import describe_rules
    from gin_env.rules.rules import PRESETS, Rules
    from gin_env.scoring.calculator import score_deal, score_tables
    from gin_env.scoring.deal_result import DealResult
    from gin_env.scoring.results import Kind

#: The public names that each module defines: the imports above, which type checkers read, for use at run time.
_NAMES_BY_MODULE = {
    "engine.actions": "ActionLayout action_layout",
    "engine.engine": "Engine",
    "engine.sampling": "random_actions",
    "engine.state": "Phase State",
    "envs.aec": "GinRummyEnv env parallel_env raw_env",
    "envs.gymnasium_env": "GinRummySingleEnv",
    "envs.gymnasium_vector": "GinRummyVectorEnv",
    "episodes.agent": "Agent RandomAgent",
    "episodes.episodes": "Episodes",
    "episodes.rewards": "Outcome",
    "episodes.seat_events": "SeatEvents seat_events",
    "errors": "IllegalAction InvalidPosition",
    "notation.position": "format_position parse_position status",
    "notation.recorder": "Recorder",
    "notation.records": "DealRecord GameRecord Thought read_records write_records",
    "notation.replay": "replay",
    "observation.encoder": "ObservationEncoder",
    "observation.features": "ObservationOptions",
    "observation.view": "PlayerView player_view",
    "rendering.explanation": "explain_deal",
    "rules.rules": "PRESETS Rules",
    "rules.rulebook": "describe_rules",
    "scoring.calculator": "score_deal score_tables",
    "scoring.deal_result": "DealResult",
    "scoring.results": "Kind",
}
_MODULE_OF = {name: module for module, names in _NAMES_BY_MODULE.items() for name in names.split()}

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
    "random_actions",
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
