"""What a hand may become: its least deadwood after the best discard, and after one more unseen card.

The least deadwood after the best discard does not require a trial of every discard. The discarded card is outside the
melds of the hand that remains; so for each choice of sets (the runs are then forced, see gin_env/cards/melds.py) the
best discard is the highest-value card outside the melds, and the least over all choices of sets is exact. Only if a
choice leaves no card outside its melds that may be discarded are all discards tried.

Of the unseen cards, only those that form a meld with cards of the hand are tried one by one. Any other card is either
discarded again or kept as deadwood.
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

#: (8192,) points of the highest-value card of a suit slice; 0 for an empty slice.
_SLICE_HIGHEST = np.array([min(bits.bit_length(), 10) for bits in range(2**13)], dtype=np.uint8)
#: Marks a card that cannot be drawn; more than any deadwood.
_NEVER = np.uint16(1000)


def least_after_discard(hands: UInt64Array, barred: UInt64Array | None = None) -> NDArray[np.uint8]:
    """Return the least deadwood of each hand after a discard.

    Parameters
    ----------
    hands : uint64, shape (M,)
    barred : uint64, shape (M,), optional
        Cards that may not be discarded.

    Returns
    -------
    uint8, shape (M,)
        The deadwood of the hand itself if no card may be discarded, as from an empty hand.
    """
    loose, rows, left = settled_slices(hands)
    best, is_stuck = _after_highest(loose, barred)

    # The other choices of sets, where runs compete for cards.
    if len(rows):
        slices = suit_slices(left).view(np.int64)
        points, none_discardable = _after_highest(SLICE_LOOSE.take(slices), None if barred is None else barred[rows])
        np.minimum.at(best, rows, points)
        np.logical_or.at(is_stuck, rows, none_discardable)

    # A choice that melds all cards needs no trial if their number is not a multiple of three: a longer meld then has a
    # card to spare.
    if barred is None:
        is_stuck &= np.bitwise_count(hands) % 3 == 0

    # Try every discard for hands with a choice that leaves nothing to discard outside its melds.
    discardable = hands if barred is None else hands & ~barred
    to_try = (is_stuck & (discardable != 0)).nonzero()[0]
    if len(to_try):
        rows, _, points = deadwood_after_each(hands[to_try], discardable[to_try])
        best[to_try] = np.minimum.reduceat(points, np.searchsorted(rows, np.arange(len(to_try))))
    return best


def _after_highest(loose: NDArray[np.int64], barred: UInt64Array | None) -> tuple[NDArray[np.uint8], NDArray[np.bool_]]:
    """Return the points of unmelded cards (4, M) without the highest-value one, and whether none may be discarded."""
    discardable = loose if barred is None else loose & ~suit_slices(barred).view(np.int64)
    highest = np.maximum.reduce(_SLICE_HIGHEST.take(discardable), axis=0)
    return np.add.reduce(SLICE_POINTS.take(loose), axis=0, dtype=np.uint8) - highest, highest == 0


def completing_cards(hands: UInt64Array) -> UInt64Array:
    """Return the cards (M,) outside each hand that would form a meld with its cards."""
    above, below = next_above(hands), next_below(hands)
    gaps = above & below
    pairs = hands & above  # the upper card of two neighbours
    runs = gaps | next_above(pairs) | next_below(next_below(pairs))

    spades, hearts, diamonds, clubs = suit_slices(hands)
    twice = (spades & hearts) | (diamonds & clubs) | ((spades | hearts) & (diamonds | clubs))
    return (runs | twice * EVERY_SUIT) & ~hands


def potential(hands: UInt64Array, unseen: UInt64Array, num_best: int) -> NDArray[np.float64]:
    """Return the mean deadwood of each hand after drawing one of its best unseen cards and the best discard.

    Parameters
    ----------
    hands : uint64, shape (M,)
    unseen : uint64, shape (M,)
        The cards that may be drawn.
    num_best : int
        The number of cards over which the mean is taken: those that leave the least deadwood.

    Returns
    -------
    float64, shape (M,)
        The deadwood of the hand itself if there is no unseen card.
    """
    # A card that forms no meld is discarded again or kept; the better one counts.
    now = deadwood(hands).astype(np.uint16)
    after = least_after_discard(hands).astype(np.uint16)[:, None] + CARD_POINTS[:NUM_CARDS]
    np.minimum(after, now[:, None], out=after)
    np.copyto(after, _NEVER, where=~unpack_cards(unseen))

    rows, cards = rows_and_cards(completing_cards(hands) & unseen)
    if len(rows):
        after[rows, cards] = least_after_discard(hands[rows] | CARD_BITS[cards])

    best = np.partition(after, num_best - 1, axis=1)[:, :num_best]
    can_be_drawn = best < _NEVER
    counts = can_be_drawn.sum(axis=1)
    sums = np.where(can_be_drawn, best, 0).sum(axis=1)
    return np.where(counts > 0, sums / np.maximum(counts, 1), now)
