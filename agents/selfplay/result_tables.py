"""The results of a training as lines and tables for the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.box import SIMPLE_HEAD
from rich.markup import escape
from rich.table import Table

from agents.arena import MatchResult
from agents.policy.model_files import read_description


def results_line(matches: Sequence[MatchResult]) -> str:
    """Return one line with the points per deal against each evaluation opponent."""
    return "   ".join(f"{match.names[1]} {match.points_per_deal.text(digits=1, sign=True)}" for match in matches)


def results_table(matches: Sequence[MatchResult], title: str) -> Table:
    """Return the table that closes a training: the last evaluation, one row per opponent."""
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


def seeds_table(folders: Sequence[Path]) -> Table:
    """Return the last results of several trainings that differ in their seeds, with mean and standard deviation."""
    results = [read_description(folder)["training"]["results"] for folder in folders]
    opponents = list(results[0])

    table = Table(title="points per deal by seed", title_justify="left", box=SIMPLE_HEAD)
    table.add_column("run")
    for opponent in opponents:
        table.add_column(escape(opponent), justify="right", no_wrap=True)
    for folder, points_by_opponent in zip(folders, results, strict=True):
        table.add_row(escape(str(folder)), *(f"{points:+.2f}" for points in points_by_opponent.values()))

    columns = [np.array([points[opponent] for points in results]) for opponent in opponents]
    table.add_row("mean", *(f"{column.mean():+.2f}" for column in columns))
    table.add_row("standard deviation", *(f"{column.std(ddof=1):.2f}" for column in columns))
    return table
