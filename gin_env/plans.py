"""Plans of a turn: which exchanges with the mate and which throws are worth a closer look, and what a throw risks.

Scripted agents judge them, and computed features show what they would leave (outlook.py).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_BITS, CARD_POINTS, EVERY_SUIT, NO_CARD, NUM_RANKS, UInt64Array, rows_and_cards
from gin_env.melds import deadwood_after_each, first_arrangements, next_above, next_below
from gin_env.view import PlayerView

Rows = NDArray[np.intp]
Cards = NDArray[np.intp]
Points = NDArray[np.int64]

#: Throws are looked at closely if they leave at most so many points more than the best, and lie so near the dearest.
SLACK = 5
#: Exchanges are looked at closely if they leave at most so many points more than the best, and so many of them.
_EXCHANGE_SLACK = 5
_MAX_EXCHANGES = 8
#: What none to three such cards are worth: neighbours in suit, others of the rank, cards two steps away. Of the
#: source's "one +4..5" the neighbour has the 5 and the rank the 4, as with the cards that are dead.
_THREAT = (np.array([0.0, 5.0, 20.0]), np.array([0.0, 4.0, 20.0, 20.0]), np.array([0.0, 3.0, 6.0]))
_SAFETY = (np.array([0.0, 5.0, 10.0]), np.array([0.0, 4.0, 10.0, 10.0]), np.array([0.0, 3.0, 6.0]))


def worthwhile_throws(hands: UInt64Array, candidates: UInt64Array) -> tuple[Rows, Cards, Points]:
    """Return the throws that are worth a closer look: rows (K,), ascending, cards (K,) and the points they leave (K,).

    They lie outside the hand's melds (of equal arrangements the first) and within ``SLACK``, or leave the least.
    """
    rows, cards, left = deadwood_after_each(hands, candidates)
    points = left.astype(np.int64)
    throwing = np.flatnonzero(candidates)  # a seat that sits out holds nothing
    if not len(throwing):
        return rows, cards, points
    starts, of = np.searchsorted(rows, throwing), np.searchsorted(throwing, rows)
    laid = first_arrangements(hands)
    loose = ((laid.set_bits | laid.run_bits)[rows] & CARD_BITS[cards]) == 0
    worth = np.where(loose, CARD_POINTS[cards], 0).astype(np.int64)
    least, dearest = np.minimum.reduceat(points, starts)[of], np.maximum.reduceat(worth, starts)[of]
    close = loose & (worth >= dearest - SLACK) & (points <= least + SLACK)
    chosen = np.flatnonzero(close | (points == least))
    return rows[chosen], cards[chosen], points[chosen]


def exchanges(givable: UInt64Array, mates: UInt64Array) -> tuple[Rows, Cards, Cards]:
    """Return every way to exchange a card in each row, none first: rows (K,), given (K,) and answered cards (K,)."""
    rows, given = rows_and_cards(givable)
    offers, answered = rows_and_cards(mates[rows])
    none = np.full(len(mates), NO_CARD)
    return (
        np.concatenate([np.arange(len(mates)), rows[offers]]),
        np.concatenate([none, given[offers]]),
        np.concatenate([none, answered]),
    )


def nearest_exchanges(rows: Rows, points: Points, num_rows: int) -> Rows:
    """Return the exchanges of each row, given in any order, that leave least: few of them, rows ascending."""
    least = np.full(num_rows, np.iinfo(np.int64).max)
    np.minimum.at(least, rows, points)
    near = np.flatnonzero(points <= least[rows] + _EXCHANGE_SLACK)
    near = near[np.lexsort((points[near], rows[near]))]
    place = np.arange(len(near)) - np.searchsorted(rows[near], np.arange(num_rows))[rows[near]]
    return near[place < _MAX_EXCHANGES]


def danger(view: PlayerView, rows: Rows, cards: Cards) -> NDArray[np.float64]:
    """Return how much each card (K,), thrown in a row (K,), would serve the opponents: negative for safe ones.

    It looks at the card's neighbours in suit, the cards two steps away and the others of its rank: cards that an
    opponent is known to hold speak for danger, cards that none of them can get (own, seen, declined) against it.
    """
    opponents = np.arange(view.known_bits.shape[1]) % view.rules.num_teams != 0
    held = np.bitwise_or.reduce(view.known_bits[:, opponents], axis=1)
    held = held | np.bitwise_or.reduce(view.team_known_bits[:, 1:], axis=1)
    declined = np.bitwise_or.reduce(view.declined_bits[:, opponents], axis=1)
    gone = (view.hand_bits | view.partner_bits | view.pile_bits | declined) & ~held
    own, rank = CARD_BITS[cards], (cards % NUM_RANKS).astype(np.uint64)
    above, below = next_above(own), next_below(own)
    steps = next_above(above) | next_below(below)
    others = (EVERY_SUIT << rank) & ~own
    total = np.zeros(len(rows))
    for near, threat, safety in zip((above | below, others, steps), _THREAT, _SAFETY, strict=True):
        total += threat[np.bitwise_count(held[rows] & near)] - safety[np.bitwise_count(gone[rows] & near)]
    return total
