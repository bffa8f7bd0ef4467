"""What measures agents: matches on duplicate deals, their intervals, and how each side played."""

from agents.arena.match import play_match
from agents.arena.result import MatchResult
from agents.arena.style import Style

__all__ = ["MatchResult", "Style", "play_match"]
