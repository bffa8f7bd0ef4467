"""What a hand may become: its least deadwood after the best throw, and after one more unseen card.

The least deadwood after the best throw needs no trial of every throw. Whatever is thrown lies outside the
melds of the hand that remains; so for each choice of sets (the runs are then forced, gin_env/cards/melds.py) the
best throw is the dearest card outside the melds, and the least over all choices of sets is exact. Only where
some choice leaves nothing that may be thrown outside its melds are all throws tried.

Of the unseen cards only those that make a meld with the hand are looked at one by one; any other is either
thrown again or kept as so many points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards.bitboards import (
    CARD_BITS,
    CARD_POINTS,
    EVERY_SUIT,
    NUM_CARDS,
    UInt64Array,
    rows_and_cards,
    suit_slices,
    unpack_cards,
)
from gin_env.cards.melds import (
    SLICE_LOOSE,
    SLICE_POINTS,
    deadwood,
    deadwood_after_each,
    next_above,
    next_below,
    settled_slices,
)

#: (8192,) the dearest card of a suit slice, in points; 0 for none.
_SLICE_DEAREST = np.array([min(bits.bit_length(), 10) for bits in range(2**13)], dtype=np.uint8)
#: Stands for a card that cannot come; more than any deadwood.
_NEVER = np.uint16(1000)


def least_after_discard(hands: UInt64Array, barred: UInt64Array | None = None) -> NDArray[np.uint8]:
    """Return the least deadwood (M,) of each hand (M,) after throwing a card that is not ``barred`` (M,).

    The deadwood itself where nothing may be thrown, as of an empty hand.
    """
    loose, rows, left = settled_slices(hands)
    best, stuck = _after_dearest(loose, barred)
    if len(rows):
        slices = suit_slices(left).view(np.int64)
        points, none_loose = _after_dearest(SLICE_LOOSE.take(slices), None if barred is None else barred[rows])
        np.minimum.at(best, rows, points)
        np.logical_or.at(stuck, rows, none_loose)
    if barred is None:  # melds of a hand that is no multiple of three cannot all be of three cards
        stuck &= np.bitwise_count(hands) % 3 == 0
    may = hands if barred is None else hands & ~barred
    tried = (stuck & (may != 0)).nonzero()[0]
    if len(tried):
        rows, _, points = deadwood_after_each(hands[tried], may[tried])
        best[tried] = np.minimum.reduceat(points, np.searchsorted(rows, np.arange(len(tried))))
    return best


def _after_dearest(loose: NDArray[np.int64], barred: UInt64Array | None) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the points of what is loose in each suit (4, M) without the dearest, and where none may be thrown."""
    discardable = loose if barred is None else loose & ~suit_slices(barred).view(np.int64)
    dearest = np.maximum.reduce(_SLICE_DEAREST.take(discardable), axis=0)
    return np.add.reduce(SLICE_POINTS.take(loose), axis=0, dtype=np.uint8) - dearest, dearest == 0


def completing_cards(hands: UInt64Array) -> UInt64Array:
    """Return the cards (M,) outside each hand that would lie in a meld with its cards."""
    above, below = next_above(hands), next_below(hands)
    gaps = above & below
    pairs = hands & above  # the upper card of two neighbours
    runs = gaps | next_above(pairs) | next_below(next_below(pairs))
    spades, hearts, diamonds, clubs = suit_slices(hands)
    twice = (spades & hearts) | (diamonds & clubs) | ((spades | hearts) & (diamonds | clubs))
    return (runs | twice * EVERY_SUIT) & ~hands


def potential(hands: UInt64Array, unseen: UInt64Array, num_best: int) -> NDArray[np.float64]:
    """Return the mean of the least deadwoods that one more unseen card and the best throw would leave.

    Parameters
    ----------
    hands : uint64, shape (M,)
    unseen : uint64, shape (M,)
        The cards that may come.
    num_best : int
        How many cards count: those that leave least.

    Returns
    -------
    float64, shape (M,)
        Of the deadwood itself where no card can come.
    """
    now = deadwood(hands).astype(np.uint16)
    after = least_after_discard(hands).astype(np.uint16)[:, None] + CARD_POINTS[:NUM_CARDS]
    np.minimum(after, now[:, None], out=after)
    np.copyto(after, _NEVER, where=~unpack_cards(unseen))
    rows, cards = rows_and_cards(completing_cards(hands) & unseen)
    if len(rows):
        after[rows, cards] = least_after_discard(hands[rows] | CARD_BITS[cards])
    best = np.partition(after, num_best - 1, axis=1)[:, :num_best]
    may_come = best < _NEVER
    counts = may_come.sum(axis=1)
    sums = np.where(may_come, best, 0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), now)
