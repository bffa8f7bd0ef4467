"""How scripted agents trade with their partners: which card to offer, and which card to give back.

Both decisions minimize the **team's deadwood**: the partner's hand after the trade plus the mover's hand after the
trade and the best discard. An offer is a card outside the mover's best melds (of equal arrangements, the one with the
lowest cards) that lowers it, counting the partner's best answer; the answer is the card that leaves the least. Ties
go to the lowest card id.

The exact search is wide: about 5 offers x 7 answers x 8 discards per turn. Two facts avoid most of it. A received
card that makes no meld is either discarded again or kept at its value, and a given card that makes no meld adds its
value to the partner's deadwood.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_BITS, CARD_POINTS, NO_CARD, Rows, UInt64Array, unpack_cards
from gin_env.cards.hand_potential import completing_cards, least_after_discard
from gin_env.cards.melds import deadwood, deadwood_after_each, first_arrangements

Cards = NDArray[np.intp]
Points = NDArray[np.int64]

#: Keys order trials by points, then by card id in the low six bits.
_CARD_FIELD = 6
_CARD_MASK = (1 << _CARD_FIELD) - 1


def best_offers(hands: UInt64Array, partners: UInt64Array, givable: UInt64Array, taken: UInt64Array) -> Cards:
    """Return the card that each mover offers (M,), ``NO_CARD`` where no trade lowers the team's deadwood.

    Parameters
    ----------
    hands, partners : uint64, shape (M,)
        The movers' hands, with one card too many, and their partners' hands.
    givable : uint64, shape (M,)
        The cards that the rules let each mover offer.
    taken : uint64, shape (M,)
        The card that each mover may not discard in this turn, or no card.
    """
    melded = first_arrangements(hands)
    rows, cards = np.nonzero(unpack_cards(givable & ~(melded.set_bits | melded.run_bits)))
    if not len(rows):
        return np.full(len(hands), NO_CARD, dtype=np.intp)

    bits = CARD_BITS[cards]
    _, after = best_answers(hands[rows] ^ bits, partners[rows] | bits, taken[rows])
    without = least_after_discard(hands, taken).astype(np.int64) + deadwood(partners)
    return _lowest(rows, cards, after, without)


def best_selfish_offers(hands: UInt64Array, partners: UInt64Array, givable: UInt64Array, taken: UInt64Array) -> Cards:
    """Return the card outside their melds that each mover offers for their own hand alone (M,).

    It is the card for which some answer would lower the mover's own deadwood most; ``NO_CARD`` where none would. The
    arguments are those of :func:`best_offers`.
    """
    melded = first_arrangements(hands)
    rows, cards = np.nonzero(unpack_cards(givable & ~(melded.set_bits | melded.run_bits)))
    if not len(rows):
        return np.full(len(hands), NO_CARD, dtype=np.intp)

    trials, answers = np.nonzero(unpack_cards(partners[rows]))
    received = _least_after_receiving(hands[rows] ^ CARD_BITS[cards], taken[rows], trials, answers)
    after = np.minimum.reduceat(received, np.searchsorted(trials, np.arange(len(rows))))
    return _lowest(rows, cards, after, least_after_discard(hands, taken).astype(np.int64))


def _lowest(rows: Rows, cards: Cards, after: Points, without: Points) -> Cards:
    """Return, of K trials, the card that leaves each hand the least (M,), ``NO_CARD`` where no trade is better."""
    offers = np.full(len(without), NO_CARD, dtype=np.intp)
    better = np.flatnonzero(after < without[rows])

    # The least key of each row holds the fewest points and, among equals, the lowest card.
    best = np.full(len(without), np.iinfo(np.int64).max)
    np.minimum.at(best, rows[better], after[better] << _CARD_FIELD | cards[better])
    trading = np.unique(rows[better])
    offers[trading] = best[trading] & _CARD_MASK
    return offers


def best_answers(movers: UInt64Array, partners: UInt64Array, taken: UInt64Array) -> tuple[Cards, Points]:
    """Return the card that each partner gives back (M,) and the team's deadwood after it (M,).

    Parameters
    ----------
    movers, partners : uint64, shape (M,)
        The movers' hands without the offered card, and their partners' hands with it.
    taken : uint64, shape (M,)
        The card that each mover may not discard in this turn, or no card.
    """
    rows, answers, kept = deadwood_after_each(partners, partners)
    received = _least_after_receiving(movers, taken, rows, answers)
    keys = (kept + received) << _CARD_FIELD | answers
    best = np.minimum.reduceat(keys, np.searchsorted(rows, np.arange(len(partners))))
    return best & _CARD_MASK, best >> _CARD_FIELD


def own_answers(hands: UInt64Array) -> Cards:
    """Return the card that each hand (one too many) gives back when only that hand is known (M,)."""
    rows, answers, kept = deadwood_after_each(hands, hands)
    keys = kept.astype(np.int64) << _CARD_FIELD | answers
    return np.minimum.reduceat(keys, np.searchsorted(rows, np.arange(len(hands)))) & _CARD_MASK


def _least_after_receiving(hands: UInt64Array, taken: UInt64Array, rows: Rows, cards: Cards) -> Points:
    """Return, for K trials of a hand's row and a card that it receives, the least deadwood after a discard."""
    bits = CARD_BITS[cards]

    # A card that makes no meld is discarded again (unless it was just taken from the pile), or kept at its value.
    discarded_again = deadwood(hands).astype(np.int64)[rows]
    discarded_again[bits == taken[rows]] = np.iinfo(np.int64).max
    points = np.minimum(discarded_again, least_after_discard(hands, taken)[rows] + CARD_POINTS[cards])

    # A card that makes a meld is kept: search the hand with it. Discarding it again is counted above.
    melding = np.flatnonzero(completing_cards(hands)[rows] & bits)
    if len(melding):
        whole = hands[rows[melding]] | bits[melding]
        barred = taken[rows[melding]] | bits[melding]
        points[melding] = np.minimum(points[melding], least_after_discard(whole, barred))
    return points
