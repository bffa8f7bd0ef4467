"""Plans of a turn: which exchanges with the mate and which throws are worth a closer look, and what a throw risks.

Scripted agents judge them, and computed features show what they would leave (outlook.py).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import (
    CARD_BITS,
    CARD_POINTS,
    EVERY_SUIT,
    NO_CARD,
    NUM_CARDS,
    NUM_RANKS,
    Rows,
    UInt64Array,
    rows_and_cards,
)
from gin_env.cards.hand_potential import least_after_discard, potential
from gin_env.cards.melds import deadwood, deadwood_after_each, first_arrangements, next_above, next_below
from gin_env.observation.view import PlayerView
from gin_env.rules import Rules

Cards = NDArray[np.intp]
Points = NDArray[np.int64]

#: Of the cards that may come so many count for a hand's prospects: those that leave the least deadwood.
NUM_BEST = 7
#: Throws are looked at closely if they leave at most so many points more than the best, and lie so near the dearest.
SLACK = 5
#: Exchanges are looked at closely if they leave at most so many points more than the best, and so many of them.
_EXCHANGE_SLACK = 5
_MAX_EXCHANGES = 8
#: What none to three such cards are worth: neighbours in suit, others of the rank, cards two steps away. Of the
#: source's "one +4..5" the neighbour has the 5 and the rank the 4, as with the cards that are dead.
_THREAT = (np.array([0.0, 5.0, 20.0]), np.array([0.0, 4.0, 20.0, 20.0]), np.array([0.0, 3.0, 6.0]))
_SAFETY = (np.array([0.0, 5.0, 10.0]), np.array([0.0, 4.0, 10.0, 10.0]), np.array([0.0, 3.0, 6.0]))


def worthwhile_discards(hands: UInt64Array, candidates: UInt64Array) -> tuple[Rows, Cards, Points]:
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


#: How the features value a discard or a plan: the weight of the prospects beside the deadwood in a deal's first turn,
#: by what it falls from turn to turn, and the weight of the danger. A seat that plays alone counts fewer cards of those
#: that may come (``SOLO_NUM_BEST``); partners who see each other's cards have weights of their own.
FUTURE_DECAY = 0.9
FUTURE_WEIGHT, DANGER_WEIGHT, SOLO_NUM_BEST = 18.0, 0.5, 5
TEAM_FUTURE_WEIGHT, TEAM_DANGER_WEIGHT = 4.0, 0.3


class Plans(NamedTuple):
    """K plans, an exchange with the mate or none and then a throw each; rows ascending, every row with at least one."""

    rows: Rows
    given: Cards  #: to the mate; ``NO_CARD`` without an exchange, or where it lies with him already
    answered: Cards  #: by the mate
    discarded: Cards
    own: Points  #: the mover's deadwood afterwards
    team: Points  #: both hands' deadwood afterwards
    future: NDArray[np.float64]  #: the prospects of both hands afterwards, their sum


def plans_of(
    view: PlayerView, movers: UInt64Array, partners: UInt64Array, rows: Rows, given: Cards, answered: Cards
) -> tuple[Points, Plans]:
    """Return what some exchanges (K,) leave the team (K,), and the plans that the nearest of them begin.

    ``movers`` and ``partners`` are the hands (M,) of the view's rows; exchanges stand as :func:`exchanges` gives them.
    """
    barred, unseen = CARD_BITS[view.taken_card], view.unseen_bits
    swapped = CARD_BITS[given] ^ CARD_BITS[answered]
    mover_hands, partner_hands = movers[rows] ^ swapped, partners[rows] ^ swapped
    partner_points = deadwood(partner_hands).astype(np.int64)
    points = least_after_discard(mover_hands, barred[rows]) + partner_points
    near = nearest_exchanges(rows, points, len(view))
    rows, given, answered, partner_points = rows[near], given[near], answered[near], partner_points[near]
    mover_hands, partner_hands = mover_hands[near], partner_hands[near]
    partner_future = potential(partner_hands, unseen[rows], NUM_BEST)
    of, discarded, own = worthwhile_discards(mover_hands, mover_hands & ~barred[rows])
    rows = rows[of]
    future = potential(mover_hands[of] ^ CARD_BITS[discarded], unseen[rows], NUM_BEST) + partner_future[of]
    return points, Plans(rows, given[of], answered[of], discarded, own, own + partner_points[of], future)


def values_of_plans(
    view: PlayerView, plans: Plans, future_weight: float, future_decay: float, danger_weight: float
) -> NDArray[np.float64]:
    """Return what each plan (K,) leaves: the team's deadwood, with some weights the prospects and the danger."""
    weights = future_weight * future_decay ** own_turns(view)
    return plans.team + weights[plans.rows] * plans.future + danger_weight * danger(view, plans.rows, plans.discarded)


def gin_bonus(rules: Rules, own: Points, team: Points) -> Points:
    """Return the bonus (K,) of a won knock by a partnership, by the knocker's and the team's deadwood (K,)."""
    return np.where(team == 0, rules.team_gin_bonus, np.where(own == 0, rules.small_gin_bonus, 0))


def cards_to_trade(view: PlayerView) -> UInt64Array:
    """Return the cards (M,) that a viewer who takes the upcard could offer."""
    if not (view.rules.trades and view.may_offer):
        return np.zeros_like(view.hand_bits)
    return view.hand_bits | CARD_BITS[view.upcard] if view.rules.trade_taken_card else view.hand_bits


def left_by_taking(view: PlayerView, givable: UInt64Array) -> Points:
    """Return the team's deadwood (M,) after taking the upcard, the best exchange of a ``givable`` card and a throw."""
    hands, partners, upcards = view.hand_bits, view.partner_bits, CARD_BITS[view.upcard]
    rows, given, answered = exchanges(givable, partners)
    swapped = CARD_BITS[given] ^ CARD_BITS[answered]
    points = least_after_discard((hands | upcards)[rows] ^ swapped, upcards[rows]).astype(np.int64)
    return least_of_each(rows, points + deadwood(partners[rows] ^ swapped), len(view))


def left_by_drawing(view: PlayerView) -> NDArray[np.float64]:
    """Return the team's deadwood (M,) after drawing from the stock and a throw: the mean over the unseen cards."""
    return potential(view.hand_bits, view.unseen_bits, NUM_CARDS) + deadwood(view.partner_bits)


def gains_of_taking(hands: UInt64Array, upcards: UInt64Array) -> tuple[Points, NDArray[np.bool_]]:
    """Return by how much taking the upcard and the best throw lower each deadwood (M,), and whether it then melds (M,).

    An upcard melds if it lies in a meld of hand and upcard; where nothing is gained this is False.
    """
    gains = deadwood(hands).astype(np.int64) - least_after_discard(hands | upcards, upcards)
    melding = gains > 0
    lower = np.flatnonzero(melding)
    laid = first_arrangements(hands[lower] | upcards[lower])
    melding[lower] = ((laid.set_bits | laid.run_bits) & upcards[lower]) != 0
    return gains, melding


def least_of_each(rows: Rows, points: Points, num_rows: int) -> Points:
    """Return the least points (K,) of each row (num_rows,), the largest number for a row without any."""
    least = np.full(num_rows, np.iinfo(np.int64).max)
    np.minimum.at(least, rows, points)
    return least


def trading_hands(view: PlayerView) -> tuple[UInt64Array, UInt64Array]:
    """Return the mover's hand and his mate's (M,), where the viewer answers an offer.

    By rule the mover may answer for his partner: then the viewer's own hand is the mover's.
    """
    own_turn = view.turn_seat == 0
    return (
        np.where(own_turn, view.hand_bits, view.partner_bits),
        np.where(own_turn, view.partner_bits, view.hand_bits),
    )


def own_turns(view: PlayerView) -> NDArray[np.intp]:
    """Return how many turns each viewer has had before this one (M,), an upcard's taker counted as all others."""
    return view.turn.astype(np.intp) // view.rules.num_hands


def exchanges(givable: UInt64Array, partners: UInt64Array) -> tuple[Rows, Cards, Cards]:
    """Return every way to exchange a card in each row, none first: rows (K,), given (K,) and answered cards (K,)."""
    rows, given = rows_and_cards(givable)
    offers, answered = rows_and_cards(partners[rows])
    none = np.full(len(partners), NO_CARD)
    return (
        np.concatenate([np.arange(len(partners)), rows[offers]]),
        np.concatenate([none, given[offers]]),
        np.concatenate([none, answered]),
    )


def nearest_exchanges(rows: Rows, points: Points, num_rows: int) -> Rows:
    """Return the exchanges of each row, given in any order, that leave least: few of them, rows ascending."""
    least = least_of_each(rows, points, num_rows)
    near = np.flatnonzero(points <= least[rows] + _EXCHANGE_SLACK)
    near = near[np.lexsort((points[near], rows[near]))]
    place = np.arange(len(near)) - np.searchsorted(rows[near], np.arange(num_rows))[rows[near]]
    return near[place < _MAX_EXCHANGES]


def held_and_gone(view: PlayerView) -> tuple[UInt64Array, UInt64Array]:
    """Return the cards (M,) known to lie with opponents, and those (M,) that none of them can or would get."""
    opponents = np.arange(view.known_bits.shape[1]) % view.rules.num_teams != 0
    held = np.bitwise_or.reduce(view.known_bits[:, opponents], axis=1)
    held = held | np.bitwise_or.reduce(view.team_known_bits[:, 1:], axis=1)
    declined = np.bitwise_or.reduce(view.declined_bits[:, opponents], axis=1)
    return held, (view.hand_bits | view.partner_bits | view.pile_bits | declined) & ~held


def danger(view: PlayerView, rows: Rows, cards: Cards) -> NDArray[np.float64]:
    """Return how much each card (K,), thrown in a row (K,), would serve the opponents: negative for safe ones.

    It looks at the card's neighbours in suit, the cards two steps away and the others of its rank: cards that an
    opponent is known to hold speak for danger, cards that none of them can get (own, seen, declined) against it.
    """
    held, gone = held_and_gone(view)
    own, rank = CARD_BITS[cards], (cards % NUM_RANKS).astype(np.uint64)
    above, below = next_above(own), next_below(own)
    steps = next_above(above) | next_below(below)
    others = (EVERY_SUIT << rank) & ~own
    total = np.zeros(len(rows))
    for near, threat, safety in zip((above | below, others, steps), _THREAT, _SAFETY, strict=True):
        total += threat[np.bitwise_count(held[rows] & near)] - safety[np.bitwise_count(gone[rows] & near)]
    return total
