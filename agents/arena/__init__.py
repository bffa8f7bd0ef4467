"""What measures agents: matches on duplicate deals, tournaments, their statistics, and pages that show them.

``play_match`` is the door for programs; ``evaluate.py`` is the one for people (docs/arena.md).
"""

from agents.arena.match.duplicate_match import play_lineup, play_match
from agents.arena.match.lineup import Lineup
from agents.arena.match.result import MatchResult
from agents.arena.match.style import Style

__all__ = ["Lineup", "MatchResult", "Style", "play_lineup", "play_match"]
