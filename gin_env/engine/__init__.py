"""The engine: N deals at once, their state, what is legal, and what each action does."""

from __future__ import annotations

from gin_env.engine.actions import ActionLayout, action_layout
from gin_env.engine.engine import Engine
from gin_env.engine.sampling import random_actions
from gin_env.engine.state import Phase, State

__all__ = ["ActionLayout", "Engine", "Phase", "State", "action_layout", "random_actions"]
