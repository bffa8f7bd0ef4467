"""A fixed panel of scripted agents against which a training is measured, on the same duplicate deals each time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from agents.arena import MatchResult, play_match
from agents.arena.match.style import melded_share, style_estimates
from agents.arena.statistics.intervals import Estimate
from agents.policy import PolicyAgent
from agents.policy.model_files import read_description
from gin_env.episodes import Agent
from gin_env.episodes.seat_events import EVENT_NAMES
from gin_env.rules import Rules

if TYPE_CHECKING:  # a panel plays without PyTorch
    from stable_baselines3.common.logger import Logger

#: Decks of the panel: never those of a training, which are seeded by its small --seed.
PANEL_SEED = 20_261_130
#: Measured in games, the panel plays so many times fewer of them than it would play deals.
DEALS_OF_A_GAME = 20
#: Figures of style that only partners have.
_TRADE_FIGURES = ("offers", "exchanges")


def play_panel(agent: PolicyAgent, panel: Sequence[Agent], num_deals: int, episode: str = "deal") -> list[MatchResult]:
    """Return the agent's matches of so many deals against each of the panel, told from the agent.

    With ``episode="game"`` these are games, ``DEALS_OF_A_GAME`` times fewer.
    """
    rules = agent.rules
    num_episodes = num_deals if episode == "deal" else num_deals // DEALS_OF_A_GAME
    num_pairs = max(num_episodes // rules.num_teams, 1)
    return [play_match(rules, agent, opponent, num_pairs, PANEL_SEED, episode=episode) for opponent in panel]


def learner_style(match: MatchResult, rules: Rules) -> dict[str, Estimate]:
    """Return how the learner, the first side, played in the very deals of a match of the panel.

    The figures are those of ``agents.arena.match.style.RATIOS`` with their intervals. Where partners play, ``melded``
    comes to them, without an interval: ``agents.arena.match.style.melded_share``. What is not known is left out, and so
    are trades where nobody has a partner.
    """
    assert match.records is not None
    found = style_estimates(match.records, 0, rules.num_teams, match.seed)
    if rules.has_partners:
        totals = dict(zip(EVENT_NAMES, match.tally.events[0].sum(axis=0).tolist(), strict=True))
        found["melded"] = Estimate(melded_share(totals["trade_melds"], totals["exchanges"]), math.nan, math.nan)
    else:
        found = {name: estimate for name, estimate in found.items() if name not in _TRADE_FIGURES}
    return {name: estimate for name, estimate in found.items() if not math.isnan(estimate.value)}


def log_matches(logger: Logger, matches: Sequence[MatchResult], rules: Rules) -> None:
    """Record the learner's points per deal and its style against each of the panel, with the bounds of the intervals.

    They are ``eval/OPPONENT`` and ``style/FIGURE/OPPONENT``, as ``agents.arena.report.training`` reads them.
    """
    for match in matches:
        opponent = match.names[1].replace(",", ";")  # Stable-Baselines3 does not quote the headings of its CSV
        value, low, high = match.points_per_deal
        for log, figure in (("eval", value), ("eval_low", low), ("eval_high", high)):
            logger.record(f"{log}/{opponent}", figure)
        for name, (value, low, high) in learner_style(match, rules).items():
            logger.record(f"style/{name}/{opponent}", value)
            if math.isfinite(low) and math.isfinite(high):  # TensorBoard would draw each of them by itself
                logger.record(f"style_low/{name}/{opponent}", low, exclude="tensorboard")
                logger.record(f"style_high/{name}/{opponent}", high, exclude="tensorboard")


def worst_points(matches: Sequence[MatchResult]) -> float:
    """Return the agent's worst result in points per deal."""
    return min(match.points_per_deal.value for match in matches)


def panel_line(matches: Sequence[MatchResult]) -> str:
    """Return one line with the points per deal against each of the panel."""
    return "   ".join(f"{match.names[1]} {match.points_per_deal.text(digits=1, sign=True)}" for match in matches)


def seeds_table(folders: Sequence[Path]) -> Table:
    """Return the last results of several trainings that differ in their seeds, with their mean and spread."""
    table = Table(title="points per deal by seed", title_justify="left", box=SIMPLE_HEAD)
    results = [read_description(folder)["training"]["results"] for folder in folders]
    table.add_column("run")
    for name in results[0]:
        table.add_column(escape(name), justify="right", no_wrap=True)
    for folder, row in zip(folders, results, strict=True):
        table.add_row(escape(str(folder)), *(f"{points:+.2f}" for points in row.values()))
    columns = [np.array([row[name] for row in results]) for name in results[0]]
    table.add_row("mean", *(f"{column.mean():+.2f}" for column in columns))
    table.add_row("standard deviation", *(f"{column.std(ddof=1):.2f}" for column in columns))
    return table


def panel_table(matches: Sequence[MatchResult], title: str) -> Table:
    """Return the closing table."""
    table = Table(title=escape(title), title_justify="left", box=SIMPLE_HEAD)
    table.add_column("against")
    for heading in ("points per deal (95 %)", "won %", "lost %", "gin %", "dead %", f"{matches[0].episode}s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for match in matches:
        style = match.styles[0]
        table.add_row(
            escape(match.names[1]),
            match.points_per_deal.text(sign=True),
            f"{100 * match.win_rates[0].value:.1f}",
            f"{100 * match.win_rates[1].value:.1f}",
            f"{100 * style.gin:.1f}",
            f"{100 * style.dead:.1f}",
            f"{match.num_plays:,}",
        )
    return table
