"""The knocking side's spreads, and which of their melds are open to the defenders.

A **spread** is one way for the knocking side to lay down its melds with the least deadwood (``Rules.spread``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import Rows, UInt64Array
from gin_env.cards.melds import first_arrangements, least_arrangements
from gin_env.rules import Rules

_NO_CARDS = np.uint64(0)


@dataclass(eq=False)
class Spreads:
    """M spreads of R deals, grouped by ascending row; K seats form the knocking side, the knocker first."""

    rows: Rows  #: (M,) the deal of each spread
    set_bits: UInt64Array  #: (M, K)
    run_bits: UInt64Array  #: (M, K)
    deadwood: NDArray[np.uint8]  #: (M, K)

    def choose(self, index: NDArray[np.intp]) -> Spreads:
        """Return the spreads with these indices."""
        return Spreads(self.rows[index], self.set_bits[index], self.run_bits[index], self.deadwood[index])


def all_spreads(rules: Rules, hands: UInt64Array) -> Spreads:
    """Return every spread of the knocking side's hands (R, K) that the rules let it choose, lowest cards first."""
    arrange = first_arrangements if rules.spread == "first" else least_arrangements
    rows: Rows = np.arange(len(hands))
    seats: list[tuple[UInt64Array, UInt64Array, NDArray[np.uint8]]] = []

    # Each seat multiplies the spreads so far by the arrangements of its own hand.
    for seat in range(hands.shape[1]):
        options = arrange(hands[rows, seat])
        seats = [(sets[options.rows], runs[options.rows], points[options.rows]) for sets, runs, points in seats]
        seats.append((options.set_bits, options.run_bits, options.deadwood))
        rows = rows[options.rows]

    set_bits, run_bits, points = (np.stack(columns, axis=1) for columns in zip(*seats, strict=True))
    return Spreads(rows, set_bits, run_bits, points)


def open_seats(rules: Rules, deadwood: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return whose melds the defenders may lay off on, (M, K), from the knocking side's deadwood (M, K).

    A hand without deadwood is closed unless ``layoff_on_gin``; between partners ``team_layoff`` decides.
    """
    has_no_deadwood = deadwood == 0
    if rules.team_layoff == "per_member" or not rules.has_partners:
        is_open = ~has_no_deadwood
    elif rules.team_layoff == "all":
        is_open = np.repeat(~has_no_deadwood.all(axis=1, keepdims=True), deadwood.shape[1], axis=1)
    else:  # knocker_only
        is_open = np.zeros_like(has_no_deadwood)
        is_open[:, 0] = ~has_no_deadwood[:, 0]

    if rules.layoff_on_gin:
        opened = has_no_deadwood.copy()
        if rules.has_partners and rules.team_layoff == "knocker_only":
            opened[:, 1:] = False
        is_open = is_open | opened
    return is_open


def open_melds(rules: Rules, spreads: Spreads) -> tuple[UInt64Array, UInt64Array]:
    """Return the cards of open sets and of open runs of each spread, both (M,)."""
    is_open = open_seats(rules, spreads.deadwood)
    return (
        np.bitwise_or.reduce(np.where(is_open, spreads.set_bits, _NO_CARDS), axis=1),
        np.bitwise_or.reduce(np.where(is_open, spreads.run_bits, _NO_CARDS), axis=1),
    )
