"""Measure agents: matches on duplicate deals, tournaments, their statistics, and reports.

Programs call ``play_match``; people run ``evaluate.py`` (docs/arena.md).
"""

from agents.arena.match.duplicate_match import play_lineup, play_match
from agents.arena.match.lineup import Lineup
from agents.arena.match.result import MatchResult
from agents.arena.match.style import Style

__all__ = ["Lineup", "MatchResult", "Style", "play_lineup", "play_match"]
