"""What partnership play adds to a scripted agent: which card to offer, and which to give back.

Both questions look at the **team's deadwood**: the mate's hand after the trade, and the mover's after the
trade and his best discard. An offer is a card outside the mover's best melds (of equal arrangements the
one with the lowest cards) that lowers it, counting the mate's best answer; the answer is the card that
leaves least. Ties go to the lowest card id.

The exact search is wide: about 5 offers x 7 answers x 8 discards a turn. Two facts spare most of it: a
received card that makes no meld is either thrown again or kept as so many points, and a given card that
makes none lies with the mate as so many points.
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
    hands, mates : uint64, shape (M,)
        The movers' hands, one card too many, and their mates'.
    givable : uint64, shape (M,)
        The cards that the rules let each mover offer.
    taken : uint64, shape (M,)
        The card that each mover may not throw in this turn, or none.
    """
    laid = first_arrangements(hands)
    rows, cards = np.nonzero(unpack_cards(givable & ~(laid.set_bits | laid.run_bits)))
    if not len(rows):
        return np.full(len(hands), NO_CARD, dtype=np.intp)
    bits = CARD_BITS[cards]
    _, after = best_answers(hands[rows] ^ bits, partners[rows] | bits, taken[rows])
    without = least_after_discard(hands, taken).astype(np.int64) + deadwood(partners)
    return _lowest(rows, cards, after, without)


def best_selfish_offers(hands: UInt64Array, partners: UInt64Array, givable: UInt64Array, taken: UInt64Array) -> Cards:
    """Return the card outside its melds that each mover offers for its own hand alone (M,); arguments as above.

    It is the one for which some answer would lower the mover's own deadwood most; ``NO_CARD`` where none would.
    """
    laid = first_arrangements(hands)
    rows, cards = np.nonzero(unpack_cards(givable & ~(laid.set_bits | laid.run_bits)))
    if not len(rows):
        return np.full(len(hands), NO_CARD, dtype=np.intp)
    trials, answers = np.nonzero(unpack_cards(partners[rows]))
    received = _least_after_receiving(hands[rows] ^ CARD_BITS[cards], taken[rows], trials, answers)
    after = np.minimum.reduceat(received, np.searchsorted(trials, np.arange(len(rows))))
    return _lowest(rows, cards, after, least_after_discard(hands, taken).astype(np.int64))


def _lowest(rows: Rows, cards: Cards, after: Points, without: Points) -> Cards:
    """Return of some trials (K,) the card that leaves each hand least (M,), ``NO_CARD`` where none beats no trade."""
    offers = np.full(len(without), NO_CARD, dtype=np.intp)
    better = np.flatnonzero(after < without[rows])
    best = np.full(len(without), np.iinfo(np.int64).max)
    np.minimum.at(best, rows[better], after[better] << _CARD_FIELD | cards[better])
    trading = np.unique(rows[better])
    offers[trading] = best[trading] & _CARD_MASK
    return offers


def best_answers(movers: UInt64Array, partners: UInt64Array, taken: UInt64Array) -> tuple[Cards, Points]:
    """Return the card that each mate gives back (M,) and the team's deadwood after it (M,).

    Parameters
    ----------
    movers, mates : uint64, shape (M,)
        The movers' hands without the card on offer, and their mates' with it.
    taken : uint64, shape (M,)
        The card that each mover may not throw in this turn, or none.
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
    """Return, for trials (K,) of a hand's row and a card it receives, its least deadwood after a throw."""
    bits = CARD_BITS[cards]
    discarded_again = deadwood(hands).astype(np.int64)[rows]
    discarded_again[bits == taken[rows]] = np.iinfo(np.int64).max  # what was taken may not be thrown
    points = np.minimum(discarded_again, least_after_discard(hands, taken)[rows] + CARD_POINTS[cards])
    melding = np.flatnonzero(completing_cards(hands)[rows] & bits)
    if len(melding):
        whole = hands[rows[melding]] | bits[melding]
        barred = taken[rows[melding]] | bits[melding]  # to throw what was received is counted above
        points[melding] = np.minimum(points[melding], least_after_discard(whole, barred))
    return points
