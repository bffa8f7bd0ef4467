"""Measure a training against fixed evaluation opponents (``--panel``), on the same duplicate deals every time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from agents.arena import MatchResult, play_match
from agents.arena.match.style import melded_share, style_estimates
from agents.arena.statistics.intervals import Estimate
from agents.policy import PolicyAgent
from gin_env.episodes import Agent
from gin_env.episodes.seat_events import EVENT_NAMES
from gin_env.rules import Rules

if TYPE_CHECKING:  # evaluating needs no PyTorch
    from stable_baselines3.common.logger import Logger

#: Seed of the evaluation's decks. No training plays them: those are seeded by the small numbers of --seed.
EVALUATION_SEED = 20_261_130
#: Measured in games, an evaluation plays this many times fewer of them than it would play deals.
DEALS_PER_GAME = 20
#: Figures of style that only partners have.
_TRADE_FIGURES = ("offers", "exchanges")


def play_evaluation(
    learner: PolicyAgent, opponents: Sequence[Agent], num_deals: int, episode: str = "deal"
) -> list[MatchResult]:
    """Play a duplicate match of ``num_deals`` deals against each of the evaluation opponents.

    With ``episode="game"`` whole games are played, ``DEALS_PER_GAME`` times fewer. The learner is the first side.
    """
    rules = learner.rules
    num_episodes = num_deals if episode == "deal" else num_deals // DEALS_PER_GAME
    num_pairs = max(num_episodes // rules.num_teams, 1)
    return [play_match(rules, learner, opponent, num_pairs, EVALUATION_SEED, episode=episode) for opponent in opponents]


def worst_points(matches: Sequence[MatchResult]) -> float:
    """Return the learner's worst result of an evaluation, in points per deal."""
    return min(match.points_per_deal.value for match in matches)


def learner_style(match: MatchResult, rules: Rules) -> dict[str, Estimate]:
    """Return how the learner, the first side, played in the deals of an evaluation match.

    The figures are those of ``agents.arena.match.style.RATIOS`` with their intervals. With partners there is also
    ``melded``, without an interval (``agents.arena.match.style.melded_share``); without partners the trades are left
    out. So is every figure that is not known.
    """
    assert match.records is not None
    figures = style_estimates(match.records, 0, rules.num_teams, match.seed)

    if rules.has_partners:
        totals = dict(zip(EVENT_NAMES, match.tally.events[0].sum(axis=0).tolist(), strict=True))
        share = melded_share(totals["trade_melds"], totals["exchanges"])
        figures["melded"] = Estimate(share, math.nan, math.nan)
    else:
        figures = {name: estimate for name, estimate in figures.items() if name not in _TRADE_FIGURES}

    return {name: estimate for name, estimate in figures.items() if not math.isnan(estimate.value)}


def log_matches(logger: Logger, matches: Sequence[MatchResult], rules: Rules) -> None:
    """Record the learner's points per deal and its style against each opponent, with the bounds of the intervals.

    The columns are ``eval/OPPONENT`` and ``style/FIGURE/OPPONENT``, as ``agents.arena.report.training`` reads them.
    """
    for match in matches:
        opponent = match.names[1].replace(",", ";")  # Stable-Baselines3 does not quote the headings of its CSV
        value, low, high = match.points_per_deal
        for column, figure in (("eval", value), ("eval_low", low), ("eval_high", high)):
            logger.record(f"{column}/{opponent}", figure)

        for name, (value, low, high) in learner_style(match, rules).items():
            logger.record(f"style/{name}/{opponent}", value)
            if math.isfinite(low) and math.isfinite(high):  # TensorBoard would draw each bound as a curve of its own
                logger.record(f"style_low/{name}/{opponent}", low, exclude="tensorboard")
                logger.record(f"style_high/{name}/{opponent}", high, exclude="tensorboard")
