"""What a seat may know (``PlayerView``), and how a network sees it (``ObservationEncoder``)."""

from __future__ import annotations

from gin_env.observation.encoder import ObservationEncoder
from gin_env.observation.features import ObservationOptions
from gin_env.observation.view import PlayerView, player_view

__all__ = ["ObservationEncoder", "ObservationOptions", "PlayerView", "player_view"]
