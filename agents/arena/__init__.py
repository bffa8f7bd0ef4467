"""What measures agents: matches on duplicate deals, their intervals, and how each side played."""

from agents.arena.match import play_match
from agents.arena.result import PLAYS_PER_PAIR, MatchResult
from agents.arena.style import Style

__all__ = ["PLAYS_PER_PAIR", "MatchResult", "Style", "play_match"]
