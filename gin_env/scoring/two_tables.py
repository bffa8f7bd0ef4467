"""The result of a deal that was played at two tables: what both of them paid, added up."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_env.rules import Rules

Numbers = NDArray[np.int64]


class DealEnd(NamedTuple):
    """What M deals come to, all tables together."""

    points: Numbers  #: (M, T) as a scorer writes them
    net_points: Numbers  #: (M, T) the same against every other team: zero-sum
    winner: NDArray[np.int8]  #: (M,) the team that won the deal, -1 for none


def join_tables(
    rules: Rules, points: NDArray[np.integer], net_points: NDArray[np.integer], dead: NDArray[np.bool_]
) -> DealEnd:
    """Return the result of M deals from what each of their tables paid, both arrays (M, K, T).

    Nobody wins a deal that is ``dead`` (M,) at all tables, whatever catches and boasts have paid.
    """
    gross: Numbers = points.sum(axis=1, dtype=np.int64)
    net: Numbers = net_points.sum(axis=1, dtype=np.int64)
    winner = np.where(dead, np.int8(-1), sole_leader(gross))
    counted = np.maximum(net, 0) if rules.team_score == "net" else gross
    if rules.box_timing == "now":
        box = (np.arange(rules.num_teams) == winner[:, None]) * rules.box_bonus
        counted, net = counted + box, net + net_of(box)
    return DealEnd(counted, net, winner)


def net_of(amounts: NDArray[np.integer]) -> Numbers:
    """Return amounts per team (M, T) against every other team: zero-sum."""
    return amounts.astype(np.int64) * amounts.shape[1] - amounts.sum(axis=1, keepdims=True)


def sole_leader(amounts: NDArray[np.integer]) -> NDArray[np.int8]:
    """Return the team with the most (M,), -1 where several have it."""
    alone = np.sum(amounts == amounts.max(axis=1, keepdims=True), axis=1) == 1
    return np.where(alone, amounts.argmax(axis=1), -1).astype(np.int8)
