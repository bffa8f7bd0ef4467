"""Gin rummy for reinforcement learning: four-player partnerships with trading, two players, and the classic variants.

>>> import gin_env
>>> env = gin_env.env("palace_4p")  # PettingZoo: agents in turn
>>> env = gymnasium.make("gin_env/palace_4p-v0")  # Gymnasium: agents play the other seats

The names below load on first use: rules and engine need no more than NumPy. Importing the package
registers its environments with Gymnasium and PettingZoo.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from gin_env.actions import ActionLayout as ActionLayout
    from gin_env.actions import action_layout as action_layout
    from gin_env.agent import Agent as Agent
    from gin_env.agent import RandomAgent as RandomAgent
    from gin_env.doors import env as env
    from gin_env.doors import parallel_env as parallel_env
    from gin_env.doors import raw_env as raw_env
    from gin_env.engine import Engine as Engine
    from gin_env.episodes import Episodes as Episodes
    from gin_env.errors import IllegalAction as IllegalAction
    from gin_env.errors import InvalidPosition as InvalidPosition
    from gin_env.observation import ObservationEncoder as ObservationEncoder
    from gin_env.observation import ObservationOptions as ObservationOptions
    from gin_env.rules import PRESETS as PRESETS
    from gin_env.rules import Rules as Rules
    from gin_env.scoring import DealResult as DealResult
    from gin_env.scoring import score_deal as score_deal
    from gin_env.single import GinRummySingleEnv as GinRummySingleEnv
    from gin_env.state import Kind as Kind
    from gin_env.state import Phase as Phase
    from gin_env.state import State as State
    from gin_env.vector import GinRummyVectorEnv as GinRummyVectorEnv
    from gin_env.view import PlayerView as PlayerView
    from gin_env.view import player_view as player_view
