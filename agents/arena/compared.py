"""Several agents that met the same one, compared on the decks they share: narrower than their intervals suggest.

To tell whether a search, another training, another threshold helps, let one agent play both versions
(``evaluate.py --agents lookahead best search:best``) and read the paired difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena.result import MatchResult
from agents.arena.statistics import Estimate, paired_difference

TITLE = "Compared on the same decks"


def compare(one: MatchResult, other: MatchResult) -> Estimate:
    """Return how many points per deal the second side of one match does better than that of another.

    Both against the same first side, on the same decks; where one match is longer, on those of both.
    """
    length = min(one.num_pairs, other.num_pairs)
    return paired_difference(*_lost(one, length), *_lost(other, length), one.seed)


def _lost(match: MatchResult, length: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the second side's points and the deals, pair by pair."""
    return -match.play_points[:length].sum(axis=1), match.tally.deals[:length, :, 0].sum(axis=1)


def compared_section(results: Sequence[MatchResult]) -> list[dict[str, Any]]:
    """Return the section for matches of one agent against several: each beside the one that did best; else nothing."""
    if len(results) < 2 or len({result.names[0] for result in results}) > 1:
        return []
    ranked = sorted(results, key=lambda result: result.points_per_deal.value)
    best, first = ranked[0], ranked[0].names[0]
    rows = [[result.names[1], compare(result, best).to_dict()] for result in ranked[1:]]
    text = (
        f"Points per deal against {first}, beside those of {best.names[1]}, which does best against it. Both met the "
        "same decks, so that the luck of the cards drops out."
    )
    headings = ["agent", f"points per deal beside {best.names[1]}"]
    return [{"title": TITLE, "text": [text], "table": {"headings": headings, "rows": rows}}]
