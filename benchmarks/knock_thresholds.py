"""Measure the scripted agents' ``team_knock_at``: the team's deadwood up to which a partner knocks.

python -m benchmarks.knock_thresholds

Prints net points per deal against ``simple`` as it is shipped, under ``palace_4p``, for each threshold
over 20,000 duplicate deals: the measurement by which the numbers in agents/scripted/base.py were chosen.
"""

from __future__ import annotations

from agents.arena import MatchResult, play_match
from agents.registry import load_agent
from agents.scripted.base import ScriptedAgent
from gin_env.rules import Rules

#: The agents whose knocks the threshold decides; the others of the ladder build on these or have limits of their own.
NAMES = ("gold", "simple", "gold-k4", "gin-only")
RIVAL = "simple"
THRESHOLDS = (10, 15, 20, 25, 30, 35, 40, 50, 99)
NUM_PAIRS = 10_000
SEED = 11


def measure(name: str, threshold: int, num_pairs: int = NUM_PAIRS) -> MatchResult:
    """Play a scripted agent with another threshold against ``simple``."""
    rules = Rules.preset("palace_4p")
    agent = load_agent(name, rules)
    if not isinstance(agent, ScriptedAgent):
        raise ValueError(f"agent {name!r} has no threshold")
    agent.team_knock_at = threshold
    return play_match(rules, agent, load_agent(RIVAL, rules), num_pairs, SEED)


def main() -> None:
    """Print one row per threshold and one column per agent."""
    print("| at most | " + " | ".join(NAMES) + " |")
    print("|---|" + "---|" * len(NAMES))
    for threshold in THRESHOLDS:
        cells = [measure(name, threshold).points_per_deal.text(sign=True) for name in NAMES]
        print(f"| {threshold} | " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
