"""The result of a deal that was played at two tables: the points of both added up (``team_score``)."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_env.rules import Rules
from gin_env.scoring.results import box_bonus_now

Numbers = NDArray[np.int64]


class DealEnd(NamedTuple):
    """The results of M deals, all tables of a deal together."""

    points: Numbers  #: (M, T) as a scorer writes them down
    net_points: Numbers  #: (M, T) the same against every other team: zero-sum
    winner: NDArray[np.int8]  #: (M,) the team that won the deal, -1 for none


def join_tables(
    rules: Rules, points: NDArray[np.integer], net_points: NDArray[np.integer], dead: NDArray[np.bool_]
) -> DealEnd:
    """Return the results of M deals from the points of each of their K tables, both arrays (M, K, T).

    Nobody wins a deal that is ``dead`` (M,) at all tables, whatever catches and boasts have paid.
    """
    gross: Numbers = points.sum(axis=1, dtype=np.int64)
    net: Numbers = net_points.sum(axis=1, dtype=np.int64)
    winner = np.where(dead, np.int8(-1), sole_leader(gross))
    scored = np.maximum(net, 0) if rules.team_score == "net" else gross

    box = (np.arange(rules.num_teams) == winner[:, None]) * box_bonus_now(rules, tables_joined=True)
    return DealEnd(scored + box, net + net_of(box), winner)


def net_of(amounts: NDArray[np.integer]) -> Numbers:
    """Return amounts per team (M, T) against every other team: zero-sum."""
    return amounts.astype(np.int64) * amounts.shape[1] - amounts.sum(axis=1, keepdims=True)


def sole_leader(amounts: NDArray[np.integer]) -> NDArray[np.int8]:
    """Return the team with the highest amount (M,), -1 where several have it."""
    is_alone = np.sum(amounts == amounts.max(axis=1, keepdims=True), axis=1) == 1
    return np.where(is_alone, amounts.argmax(axis=1), -1).astype(np.int8)
