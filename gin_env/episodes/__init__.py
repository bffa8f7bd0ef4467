"""Deals or whole games, played by agents."""

from __future__ import annotations

from gin_env.episodes.agent import Agent, RandomAgent
from gin_env.episodes.episodes import Episodes, Transition
from gin_env.episodes.rewards import Outcome

__all__ = ["Agent", "Episodes", "Outcome", "RandomAgent", "Transition"]
