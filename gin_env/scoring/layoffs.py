"""The defenders' lay-offs: which cards they put on the open melds to be left with the fewest points.

``best_layoffs`` is exact (docs/rules.md row 29): both defenders' arrangements and every order of laying
off, chains across the two included. Two facts keep the search small. A card that fits a set and a run
is best put on the run, since nothing can follow it on the set; so a choice of laid cards is possible
exactly when each is the fourth of an open set or hangs on an open run by laid cards. And a card that
belongs to no meld of its holder is always laid. What is left is a question only for cards that a meld
of their holder could use, one branch each.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import UInt64Array, lowest_first_key
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
    """The defenders' reply to each of M spreads."""

    laid_bits: UInt64Array  #: (M, D) cards laid off by each defender
    deadwood: NDArray[np.uint8]  #: (M, D) points left to each
    set_bits: UInt64Array  #: (M, D) cards that each lays down in sets of his own
    run_bits: UInt64Array  #: (M, D) in runs of his own

    def choose(self, index: NDArray[np.intp]) -> Defence:
        """Return some of the replies."""
        return Defence._make(part[index] for part in self)


def best_layoffs(
    set_bits: UInt64Array,
    run_bits: UInt64Array,
    hands: UInt64Array,
    cross_chain: bool = True,
) -> Defence:
    """Find the joint best lay-offs onto open melds.

    Parameters
    ----------
    set_bits, run_bits : uint64, shape (M,)
        The open melds: cards in sets and cards in runs.
    hands : uint64, shape (M, D)
        The hands of one or two defenders.
    cross_chain : bool
        Whether a defender may go on where his partner's laid card ends a run (docs/rules.md row 29).

    Returns
    -------
    Defence
        Of equally good lay-offs the one with the fewest cards, then the lowest ids.
    """
    search = _LayoffSearch(set_bits, run_bits, hands, cross_chain)
    rows, laid = search.leaves()
    left = hands[rows] & ~laid[:, None]
    points = deadwood(left.ravel()).reshape(left.shape)
    if len(rows) > len(hands):
        total = points.sum(axis=1, dtype=np.int64)
        chosen = best_of_each(rows, len(hands), total, np.bitwise_count(laid), ~lowest_first_key(laid))
    else:
        chosen = np.argsort(rows)
    kept = first_arrangements(left[chosen].ravel())
    return Defence(
        hands & laid[chosen][:, None],
        points[chosen],
        kept.set_bits.reshape(hands.shape),
        kept.run_bits.reshape(hands.shape),
    )


class _LayoffSearch:
    """Branches on each card that could be laid off but that its holder's own melds could use."""

    def __init__(self, set_bits: UInt64Array, run_bits: UInt64Array, hands: UInt64Array, cross_chain: bool) -> None:
        everything = np.bitwise_or.reduce(hands, axis=1)
        self.run_bits = run_bits
        self.fits_sets = fourth_cards(set_bits) & everything
        self.wanted = np.bitwise_or.reduce(meldable_cards(hands.ravel()).reshape(hands.shape), axis=1)
        # Cards that may follow one another in a chain: (G, M), one group, or one for each defender.
        self.groups = everything[None] if cross_chain else np.ascontiguousarray(hands.T)

    def leaves(self) -> tuple[NDArray[np.intp], UInt64Array]:
        """Return every sensible choice of laid cards: ``(rows, laid_bits)``, unordered."""
        rows = np.arange(len(self.run_bits))
        runs = np.broadcast_to(self.run_bits, self.groups.shape)  # (G, M) the open runs as each group extends them
        allowed = ~self.wanted  # cards to lay where they fit
        undecided = self.wanted
        found_rows, found_laid = [], []
        while True:
            runs, reach = self._extend(rows, runs, allowed)
            fits_sets = self.fits_sets[rows]
            question = (reach | fits_sets) & undecided
            asking = question != 0
            laid = (np.bitwise_or.reduce(runs, axis=0) & ~self.run_bits[rows]) | (fits_sets & allowed)
            found_rows.append(rows[~asking])
            found_laid.append(laid[~asking])
            if not asking.any():
                return np.concatenate(found_rows), np.concatenate(found_laid)
            question = question[asking]
            card = question & (~question + _ONE)
            rows, runs = rows[asking], runs[:, asking]
            undecided, allowed = undecided[asking] & ~card, allowed[asking]
            rows = np.concatenate([rows, rows])
            runs = np.concatenate([runs, runs], axis=1)
            undecided = np.concatenate([undecided, undecided])
            allowed = np.concatenate([allowed, allowed | card])

    def _extend(
        self, rows: NDArray[np.intp], runs: UInt64Array, allowed: UInt64Array
    ) -> tuple[UInt64Array, UInt64Array]:
        """Lay allowed cards on the runs until none fits; return the runs and all cards (M,) that would fit next."""
        groups = self.groups[:, rows]
        while True:
            reach = neighbours(runs) & groups & ~runs
            more = reach & allowed
            if not more.any():
                return runs, np.bitwise_or.reduce(reach, axis=0)
            runs = runs | more
