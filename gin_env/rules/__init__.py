"""Which game is played: ``Rules``, the presets, and the rule book in sentences."""

from __future__ import annotations

from gin_env.rules.rulebook import describe_rules
from gin_env.rules.rules import PRESETS, Rules, player_name, resolve_rules, upcard_limits

__all__ = ["PRESETS", "Rules", "describe_rules", "player_name", "resolve_rules", "upcard_limits"]
