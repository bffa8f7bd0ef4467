"""What measures agents: matches on duplicate deals, their intervals, and how each side played."""

from agents.arena.match import MatchResult, play_match
from agents.arena.style import Style

__all__ = ["MatchResult", "Style", "play_match"]
