"""Means and paired differences over several matches on the same decks.

To find out whether a search, a different training or another threshold helps, let one agent play both versions
(``evaluate.py --agents lookahead best search:best``) and read the paired difference. Both versions met the same
decks, so the luck of the cards cancels and the interval is narrower than those of the two matches suggest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena.match.result import MatchResult
from agents.arena.statistics.intervals import Estimate, paired_difference, ratio_estimate

TITLE = "Compared on the same decks"

Sums = tuple[NDArray[np.float64], NDArray[np.float64]]


def sums_over(results: Sequence[MatchResult], side: int = 0) -> Sums:
    """Return a side's points and deals of each deck, summed over matches; only decks that all matches played."""
    length = min(result.num_pairs for result in results)
    columns = [result.pair_points(side) for result in results]
    return np.sum([points[:length] for points, _ in columns], 0), np.sum([deals[:length] for _, deals in columns], 0)


def mean_over(results: Sequence[MatchResult], side: int = 0) -> Estimate:
    """Return a side's net points per deal over several matches, with an interval resampled by their common decks."""
    return ratio_estimate(*sums_over(results, side), results[0].seed)


def difference_between(one: Sequence[MatchResult], other: Sequence[MatchResult], side: int = 0) -> Estimate:
    """Return the difference between a side's means over two groups of matches, paired deck by deck."""
    length = min(result.num_pairs for result in (*one, *other))
    points, deals = (column[:length] for column in sums_over(one, side))
    other_points, other_deals = (column[:length] for column in sums_over(other, side))
    return paired_difference(points, deals, other_points, other_deals, one[0].seed)


def compared_section(results: Sequence[MatchResult]) -> list[dict[str, Any]]:
    """Return a section that compares an agent's opponents with the first of them; [] if there is only one."""
    if len(results) < 2 or len({result.names[0] for result in results}) > 1:
        return []

    reference, first = results[0], results[0].names[0]
    rows = [[result.names[1], difference_between([result], [reference], side=1).to_dict()] for result in results[1:]]
    text = (
        f"Points per deal against {first}, relative to those of {reference.names[1]}. Both played the same decks, so "
        "the luck of the cards cancels."
    )
    headings = ["agent", f"points per deal relative to {reference.names[1]}"]
    return [{"title": TITLE, "text": [text], "table": {"headings": headings, "rows": rows}}]
