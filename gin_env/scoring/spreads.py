"""What a showdown is made of: the knocking side's spreads, which of them are open, and the result.

A **spread** is one way for the knocking side to lay its melds with the least deadwood (docs/rules.md row 25).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import UInt64Array
from gin_env.cards.melds import first_arrangements, least_arrangements
from gin_env.rules import Rules

_CLOSED = np.uint64(0)


@dataclass(eq=False)
class Spreads:
    """Ways for the knocking side to lay its melds: M spreads, grouped by ascending row of R deals."""

    rows: NDArray[np.intp]  #: (M,)
    set_bits: UInt64Array  #: (M, K) for each of the K seats of the knocking side, the knocker first
    run_bits: UInt64Array  #: (M, K)
    deadwood: NDArray[np.uint8]  #: (M, K)

    def choose(self, index: NDArray[np.intp]) -> Spreads:
        """Return some of the spreads."""
        return Spreads(self.rows[index], self.set_bits[index], self.run_bits[index], self.deadwood[index])


def all_spreads(hands: UInt64Array, only_first: bool = False) -> Spreads:
    """Return every least-deadwood spread of the knocking side's hands (R, K), the lowest cards first."""
    rows: NDArray[np.intp] = np.arange(len(hands))
    columns: list[tuple[UInt64Array, UInt64Array, NDArray[np.uint8]]] = []
    for seat in range(hands.shape[1]):
        found = first_arrangements(hands[rows, seat]) if only_first else least_arrangements(hands[rows, seat])
        columns = [(sets[found.rows], runs[found.rows], points[found.rows]) for sets, runs, points in columns]
        columns.append((found.set_bits, found.run_bits, found.deadwood))
        rows = rows[found.rows]
    set_bits, run_bits, points = (np.stack(parts, axis=1) for parts in zip(*columns, strict=True))
    return Spreads(rows, set_bits, run_bits, points)


def open_seats(rules: Rules, deadwood: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return whose melds may be built on: (M, K), from the knocking side's deadwood (M, K) (rows 26, 27)."""
    clean = deadwood == 0
    if rules.team_layoff == "per_member" or not rules.has_partners:
        is_open = ~clean
    elif rules.team_layoff == "all":
        is_open = np.repeat(~clean.all(axis=1, keepdims=True), clean.shape[1], axis=1)
    else:  # knocker_only
        is_open = np.zeros_like(clean)
        is_open[:, 0] = ~clean[:, 0]
    if rules.layoff_on_gin:
        opened = np.ones_like(clean)
        if rules.has_partners and rules.team_layoff == "knocker_only":
            opened[:, 1:] = False
        is_open = is_open | (opened & clean)
    return is_open


def open_melds(rules: Rules, spreads: Spreads) -> tuple[UInt64Array, UInt64Array]:
    """Return the cards of open sets and of open runs of each spread, both (M,)."""
    is_open = open_seats(rules, spreads.deadwood)
    return (
        np.bitwise_or.reduce(np.where(is_open, spreads.set_bits, _CLOSED), axis=1),
        np.bitwise_or.reduce(np.where(is_open, spreads.run_bits, _CLOSED), axis=1),
    )
