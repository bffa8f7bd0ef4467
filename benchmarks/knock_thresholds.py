"""Measure the scripted agents' knock thresholds: ``python benchmarks/knock_thresholds.py``.

``team_knock_at`` is the team's deadwood up to which a partner knocks. Prints net points per deal against the shipped
``simple``, under ``palace_4p``, for each threshold over 20,000 duplicate deals. The thresholds in
agents/scripted/base.py were chosen by this measurement.
"""

from __future__ import annotations

import sys
from pathlib import Path

# Run as a script, find the packages next to this folder.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from agents.arena import MatchResult, play_match
from agents.registry import load_agent
from agents.scripted.base import ScriptedAgent
from gin_env.rules import Rules

#: The agents that use the threshold; other scripted agents are based on these or have limits of their own.
NAMES = ("gold", "simple", "gold-k4", "gin-only")
OPPONENT = "simple"
THRESHOLDS = (10, 15, 20, 25, 30, 35, 40, 50, 99)
NUM_PAIRS = 10_000
SEED = 11


def measure(name: str, threshold: int, num_pairs: int = NUM_PAIRS) -> MatchResult:
    """Play a scripted agent with the given threshold against ``simple``."""
    rules = Rules.preset("palace_4p")
    agent = load_agent(name, rules)
    if not isinstance(agent, ScriptedAgent):
        raise ValueError(f"agent {name!r}: expected a scripted agent with a knock threshold")
    agent.team_knock_at = threshold
    return play_match(rules, agent, load_agent(OPPONENT, rules), num_pairs, SEED)


def main() -> None:
    """Print a table with a row for each threshold and a column for each agent."""
    print("| at most | " + " | ".join(NAMES) + " |")
    print("|---|" + "---|" * len(NAMES))
    for threshold in THRESHOLDS:
        cells = [measure(name, threshold).points_per_deal.text(sign=True) for name in NAMES]
        print(f"| {threshold} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
