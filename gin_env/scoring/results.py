"""The result of a showdown, and the decisions that every way of playing shares: who wins, which bonus, which box."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import UInt64Array
from gin_env.rules import Rules

Points = NDArray[np.int32]


class Kind(IntEnum):
    """How a deal ended."""

    NONE = 0  #: not yet
    DEAD = 1
    KNOCK = 2
    GIN = 3
    SMALL_GIN = 4
    TEAM_GIN = 5
    BIG_GIN = 6
    UNDERCUT = 7


class SettledDeals(Protocol):
    """The arrays that a ``Showdown`` and a ``State`` share: one row for each settled deal."""

    kind: NDArray[np.uint8]
    winner: NDArray[np.int8]
    knocker: NDArray[np.uint8]
    boasted: NDArray[np.uint8]
    points: Points
    net_points: Points
    deadwood: NDArray[np.uint8]
    set_bits: UInt64Array
    run_bits: UInt64Array
    laid_bits: UInt64Array


@dataclass(eq=False)
class Showdown:
    """The results of R showdowns, with P seats at the table and T teams; arrays are named as in ``State``."""

    kind: NDArray[np.uint8]  #: (R,) a ``Kind``
    winner: NDArray[np.int8]  #: (R,) the winning team, -1 for none
    knocker: NDArray[np.uint8]  #: (R,) the seat that knocked
    boasted: NDArray[np.uint8]  #: (R, P) 1 for seats that had boasted
    points: Points  #: (R, T) as a scorer writes them down
    net_points: Points  #: (R, T) the same against every other team: zero-sum
    deadwood: NDArray[np.uint8]  #: (R, P) points left after lay-offs
    set_bits: UInt64Array  #: (R, P) cards laid down in sets
    run_bits: UInt64Array  #: (R, P) cards laid down in runs
    laid_bits: UInt64Array  #: (R, P) cards laid off


def knocker_wins(
    rules: Rules, lead: NDArray[np.integer], is_protected: NDArray[np.bool_] | bool = False
) -> NDArray[np.bool_]:
    """Return whether a knock wins; otherwise it is undercut.

    Parameters
    ----------
    rules : Rules
        ``undercut_on_tie`` decides equal counts.
    lead : int array
        Deadwood of the other side, after lay-offs, minus that of the knocking side.
    is_protected : bool, or bool array of the same shape
        Whether the knock cannot be undercut at all, as gin.
    """
    wins_tie = not rules.undercut_on_tie
    return is_protected | (lead > 0) | ((lead == 0) & wins_tie)


@functools.lru_cache
def kind_bonuses(rules: Rules) -> NDArray[np.int64]:
    """Return the bonus that each ``Kind`` of result pays the winners, (8,), indexed by kind."""
    bonuses = np.zeros(len(Kind), dtype=np.int64)
    bonuses[Kind.GIN] = rules.gin_bonus
    bonuses[Kind.SMALL_GIN] = rules.small_gin_bonus
    bonuses[Kind.TEAM_GIN] = rules.team_gin_bonus
    bonuses[Kind.BIG_GIN] = rules.big_gin_bonus or 0
    bonuses[Kind.UNDERCUT] = rules.undercut_bonus
    return bonuses


def box_bonus_now(rules: Rules, tables_joined: bool = False) -> int:
    """Return what winning a deal adds to its points at once; 0 where boxes count at the end of the game.

    Two tables share one box: a table by itself pays none, the result of both together (``tables_joined``) does.
    """
    shares_box = rules.num_tables > 1 and not tables_joined
    return rules.box_bonus if rules.box_timing == "now" and not shares_box else 0


def two_team_points(
    rules: Rules,
    teams: tuple[NDArray[np.integer], NDArray[np.integer]],
    first_points: NDArray[np.integer],
    second_points: NDArray[np.integer],
) -> tuple[Points, Points]:
    """Return points and net points (R, T) of all teams where two of them (R,) get some points (R,)."""
    points, net_points = np.zeros((2, len(first_points), rules.num_teams), dtype=np.int32)
    rows = np.arange(len(first_points))
    first, second = teams

    points[rows, first], points[rows, second] = first_points, second_points
    net_points[rows, first], net_points[rows, second] = first_points - second_points, second_points - first_points
    return points, net_points
