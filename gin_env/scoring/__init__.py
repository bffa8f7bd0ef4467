"""From a knock to points: pure functions of cards and rules. Start with ``showdown.settle``."""

from __future__ import annotations

from gin_env.scoring.calculator import score_deal, score_tables
from gin_env.scoring.deal_result import DealResult
from gin_env.scoring.results import Kind, Showdown

__all__ = ["DealResult", "Kind", "Showdown", "score_deal", "score_tables"]
