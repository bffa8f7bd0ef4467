"""The defenders' lay-offs: which cards to lay on the open melds so that the fewest points are left.

``best_layoffs`` is exact: it considers every arrangement of both defenders' hands and every order of laying
off, with chains across the two defenders (``cross_chain``). Two facts keep the search small:

- A card that fits both a set and a run is best laid on the run, since nothing can follow it on the set. So a
  choice of laid-off cards is possible exactly when each is the fourth card of an open set or connected to an
  open run by other laid-off cards.
- A card that belongs to no meld of its holder is always laid off. Only cards that a meld of their holder could
  use need a decision, with one branch each.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import Rows, UInt64Array, lowest_first_key
from gin_env.cards.melds import (
    best_of_each,
    deadwood,
    first_arrangements,
    fourth_cards,
    meldable_cards,
    neighbours,
)

_ONE = np.uint64(1)


class Defence(NamedTuple):
    """The reply of D defenders to each of M spreads."""

    laid_bits: UInt64Array  #: (M, D) cards that each defender lays off
    deadwood: NDArray[np.uint8]  #: (M, D) points that each has left
    set_bits: UInt64Array  #: (M, D) cards that each lays down in sets of their own
    run_bits: UInt64Array  #: (M, D) cards that each lays down in runs of their own

    def choose(self, index: NDArray[np.intp]) -> Defence:
        """Return the replies with these indices."""
        return Defence._make(array[index] for array in self)


def best_layoffs(
    set_bits: UInt64Array,
    run_bits: UInt64Array,
    hands: UInt64Array,
    cross_chain: bool = True,
) -> Defence:
    """Find the lay-offs that leave the defenders the fewest points together.

    Parameters
    ----------
    set_bits, run_bits : uint64, shape (M,)
        The open melds: cards in sets and cards in runs.
    hands : uint64, shape (M, D)
        The hands of one or two defenders.
    cross_chain : bool
        Whether a defender may continue a run where the partner's laid-off card ends it.

    Returns
    -------
    Defence
        Of equally good lay-offs the one with the fewest cards, then the lowest ids.
    """
    search = _LayoffSearch(set_bits, run_bits, hands, cross_chain)
    rows, laid = search.choices()
    kept = hands[rows] & ~laid[:, None]
    points = deadwood(kept.ravel()).reshape(kept.shape)

    if len(rows) > len(hands):
        total = points.sum(axis=1, dtype=np.int64)
        best = best_of_each(rows, len(hands), total, np.bitwise_count(laid), ~lowest_first_key(laid))
    else:
        best = np.argsort(rows)

    melds = first_arrangements(kept[best].ravel())
    return Defence(
        hands & laid[best][:, None],
        points[best],
        melds.set_bits.reshape(hands.shape),
        melds.run_bits.reshape(hands.shape),
    )


def extended_runs(
    runs: UInt64Array, cards: UInt64Array, step: Callable[[UInt64Array], UInt64Array] = neighbours
) -> UInt64Array:
    """Return runs (M,) with all cards on them that fit there one after another: at both ends, or as ``step`` says."""
    while True:
        added = step(runs) & cards & ~runs
        if not added.any():
            return runs
        runs = runs | added


class _LayoffSearch:
    """Branch on each card that could be laid off but that a meld of its holder could use."""

    def __init__(self, set_bits: UInt64Array, run_bits: UInt64Array, hands: UInt64Array, cross_chain: bool) -> None:
        all_cards = np.bitwise_or.reduce(hands, axis=1)
        self.run_bits = run_bits
        self.fits_sets = fourth_cards(set_bits) & all_cards
        self.meldable = np.bitwise_or.reduce(meldable_cards(hands.ravel()).reshape(hands.shape), axis=1)
        # Cards that may follow one another on a run, (G, M): one group, or one for each defender.
        self.groups = all_cards[None] if cross_chain else np.ascontiguousarray(hands.T)

    def choices(self) -> tuple[Rows, UInt64Array]:
        """Return every sensible choice of laid-off cards: ``(rows, laid_bits)``, unordered."""
        rows = np.arange(len(self.run_bits))
        runs = np.broadcast_to(self.run_bits, self.groups.shape)  # (G, M) the open runs as each group extends them
        allowed = ~self.meldable  # cards to lay off wherever they fit
        undecided = self.meldable
        finished_rows, finished_laid = [], []

        while True:
            runs, reachable = self._extend(rows, runs, allowed)
            fits_sets = self.fits_sets[rows]
            candidates = (reachable | fits_sets) & undecided
            is_open = candidates != 0

            laid = (np.bitwise_or.reduce(runs, axis=0) & ~self.run_bits[rows]) | (fits_sets & allowed)
            finished_rows.append(rows[~is_open])
            finished_laid.append(laid[~is_open])
            if not is_open.any():
                return np.concatenate(finished_rows), np.concatenate(finished_laid)

            # Decide the lowest candidate of each unfinished choice: first keep it, then lay it off.
            candidates = candidates[is_open]
            card = candidates & (~candidates + _ONE)
            rows, runs = rows[is_open], runs[:, is_open]
            undecided, allowed = undecided[is_open] & ~card, allowed[is_open]
            rows = np.concatenate([rows, rows])
            runs = np.concatenate([runs, runs], axis=1)
            undecided = np.concatenate([undecided, undecided])
            allowed = np.concatenate([allowed, allowed | card])

    def _extend(self, rows: Rows, runs: UInt64Array, allowed: UInt64Array) -> tuple[UInt64Array, UInt64Array]:
        """Lay allowed cards on the runs until none fits; return the runs and all cards (M,) that would fit next."""
        groups = self.groups[:, rows]
        while True:
            reachable = neighbours(runs) & groups & ~runs
            added = reachable & allowed
            if not added.any():
                return runs, np.bitwise_or.reduce(reachable, axis=0)
            runs = runs | added
