"""Turn plans: which exchanges with the partner and which discards are worth a closer look, and the risk of a discard.

Scripted agents choose by them, and lookahead features show what they would leave.
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

#: A hand's potential is the mean over this number of unseen cards: those that leave the least deadwood.
NUM_BEST = 7
#: A discard is worth a closer look if it leaves at most this much more deadwood than the best, and if its own value
#: is at most this much below that of the highest-value card outside the melds.
SLACK = 5
#: An exchange is worth a closer look if it leaves at most this much more deadwood than the best; at most this many are.
_EXCHANGE_SLACK = 5
_MAX_EXCHANGES = 8
#: What none to three such cards add to the danger: neighbours in suit, others of the rank, cards two steps away. After
#: Ahmed et al., "A Heuristic Evaluation Function for Hand Strength Estimation in Gin Rummy": where they say "4..5" for
#: one card, a neighbour counts 5 and a card of the rank 4, as they do for cards that nobody can get.
_THREAT = (np.array([0.0, 5.0, 20.0]), np.array([0.0, 4.0, 20.0, 20.0]), np.array([0.0, 3.0, 6.0]))
_SAFETY = (np.array([0.0, 5.0, 10.0]), np.array([0.0, 4.0, 10.0, 10.0]), np.array([0.0, 3.0, 6.0]))


def worthwhile_discards(hands: UInt64Array, candidates: UInt64Array) -> tuple[Rows, Cards, Points]:
    """Return the discards worth a closer look: rows (K,), ascending, cards (K,) and the deadwood they leave (K,).

    These are cards outside the hand's melds (in the first of equal arrangements) that are within ``SLACK`` of the best,
    and whatever leaves the least.
    """
    rows, cards, left = deadwood_after_each(hands, candidates)
    points = left.astype(np.int64)
    rows_with_cards = np.flatnonzero(candidates)  # a seat that sits out holds nothing
    if not len(rows_with_cards):
        return rows, cards, points

    melds = first_arrangements(hands)
    unmelded = ((melds.set_bits | melds.run_bits)[rows] & CARD_BITS[cards]) == 0
    card_points = np.where(unmelded, CARD_POINTS[cards], 0).astype(np.int64)

    # The least deadwood and the highest-value unmelded card of each row, repeated for all its discards.
    starts, groups = np.searchsorted(rows, rows_with_cards), np.searchsorted(rows_with_cards, rows)
    least = np.minimum.reduceat(points, starts)[groups]
    highest = np.maximum.reduceat(card_points, starts)[groups]

    close = unmelded & (card_points >= highest - SLACK) & (points <= least + SLACK)
    chosen = np.flatnonzero(close | (points == least))
    return rows[chosen], cards[chosen], points[chosen]


#: How the lookahead features value a discard or a plan, in points of deadwood: the potential has this weight in the
#: deal's first turn and a smaller one in each turn after it; then the danger's weight. A seat that plays alone counts
#: fewer unseen cards in the potential (``SOLO_NUM_BEST``). Partners who see each other's cards have other weights.
POTENTIAL_DECAY = 0.9
POTENTIAL_WEIGHT, DANGER_WEIGHT, SOLO_NUM_BEST = 18.0, 0.5, 5
TEAM_POTENTIAL_WEIGHT, TEAM_DANGER_WEIGHT = 4.0, 0.3


class TurnPlans(NamedTuple):
    """K plans: an exchange with the partner or none, then a discard. Rows are ascending; every row has at least one."""

    rows: Rows
    given: Cards  #: by the mover; ``NO_CARD`` without an exchange, or if the partner holds the card already
    answered: Cards  #: by the partner
    discarded: Cards
    mover_deadwood: Points  #: of the mover's hand afterwards
    team_deadwood: Points  #: of both hands afterwards
    potential: NDArray[np.float64]  #: of both hands afterwards, their sum


def plans_from_exchanges(
    view: PlayerView, movers: UInt64Array, partners: UInt64Array, rows: Rows, given: Cards, answered: Cards
) -> tuple[Points, TurnPlans]:
    """Return the least deadwood of the team after each exchange (K,), and the plans that begin with the best of these.

    ``movers`` and ``partners`` are the hands (M,) of the view's rows. The exchanges, ``rows``, ``given`` and
    ``answered`` (K,), are as :func:`exchanges` returns them.
    """
    barred, unseen = CARD_BITS[view.taken_card], view.unseen_bits
    swapped = CARD_BITS[given] ^ CARD_BITS[answered]
    mover_hands, partner_hands = movers[rows] ^ swapped, partners[rows] ^ swapped
    partner_points = deadwood(partner_hands).astype(np.int64)
    points = least_after_discard(mover_hands, barred[rows]) + partner_points

    # Only the best exchanges are combined with discards.
    near = nearest_exchanges(rows, points, len(view))
    rows, given, answered, partner_points = rows[near], given[near], answered[near], partner_points[near]
    mover_hands, partner_hands = mover_hands[near], partner_hands[near]
    partner_potential = potential(partner_hands, unseen[rows], NUM_BEST)

    exchange, discarded, own = worthwhile_discards(mover_hands, mover_hands & ~barred[rows])
    rows = rows[exchange]
    mover_potential = potential(mover_hands[exchange] ^ CARD_BITS[discarded], unseen[rows], NUM_BEST)
    return points, TurnPlans(
        rows,
        given[exchange],
        answered[exchange],
        discarded,
        mover_deadwood=own,
        team_deadwood=own + partner_points[exchange],
        potential=mover_potential + partner_potential[exchange],
    )


def values_of_plans(
    view: PlayerView, plans: TurnPlans, potential_weight: float, potential_decay: float, danger_weight: float
) -> NDArray[np.float64]:
    """Return the value of each plan (K,), lower being better: deadwood plus weighted potential and danger."""
    weights = potential_weight * potential_decay ** own_turns(view)
    risks = danger(view, plans.rows, plans.discarded)
    return plans.team_deadwood + weights[plans.rows] * plans.potential + danger_weight * risks


def gin_bonus(rules: Rules, own: Points, team: Points) -> Points:
    """Return the bonus (K,) of a won knock by a partnership, by the knocker's and the team's deadwood (K,)."""
    return np.where(team == 0, rules.team_gin_bonus, np.where(own == 0, rules.small_gin_bonus, 0))


def cards_to_trade(view: PlayerView) -> UInt64Array:
    """Return the cards (M,) that a viewer who takes the upcard could offer."""
    if not (view.rules.trades and view.may_offer):
        return np.zeros_like(view.hand_bits)
    return view.hand_bits | CARD_BITS[view.upcard] if view.rules.trade_taken_card else view.hand_bits


def left_by_taking(view: PlayerView, givable: UInt64Array) -> Points:
    """Return the team's deadwood (M,) after the upcard, the best exchange of a ``givable`` card, and a discard."""
    hands, partners, upcards = view.hand_bits, view.partner_bits, CARD_BITS[view.upcard]
    rows, given, answered = exchanges(givable, partners)
    swapped = CARD_BITS[given] ^ CARD_BITS[answered]
    points = least_after_discard((hands | upcards)[rows] ^ swapped, upcards[rows]).astype(np.int64)
    return least_of_each(rows, points + deadwood(partners[rows] ^ swapped), len(view))


def left_by_drawing(view: PlayerView) -> NDArray[np.float64]:
    """Return the team's deadwood (M,) after drawing from the stock and a discard: the mean over the unseen cards."""
    return potential(view.hand_bits, view.unseen_bits, NUM_CARDS) + deadwood(view.partner_bits)


def gains_of_taking(hands: UInt64Array, upcards: UInt64Array) -> tuple[Points, NDArray[np.bool_]]:
    """Return by how much the upcard and the best discard lower the deadwood (M,), and whether the upcard melds (M,).

    An upcard melds if it is in a meld of hand and upcard, and the deadwood becomes lower.
    """
    gains = deadwood(hands).astype(np.int64) - least_after_discard(hands | upcards, upcards)
    melding = gains > 0
    lower = np.flatnonzero(melding)
    melds = first_arrangements(hands[lower] | upcards[lower])
    melding[lower] = ((melds.set_bits | melds.run_bits) & upcards[lower]) != 0
    return gains, melding


def least_of_each(rows: Rows, points: Points, num_rows: int) -> Points:
    """Return the least of the points (K,) of each row (num_rows,); the largest int64 for a row without any."""
    least = np.full(num_rows, np.iinfo(np.int64).max)
    np.minimum.at(least, rows, points)
    return least


def trading_hands(view: PlayerView) -> tuple[UInt64Array, UInt64Array]:
    """Return the hands (M,) of the mover and of the partner, where the viewer answers an offer.

    With ``trade_reply="mover"`` the viewer is the mover, who answers for the partner.
    """
    own_turn = view.turn_seat == 0
    return (
        np.where(own_turn, view.hand_bits, view.partner_bits),
        np.where(own_turn, view.partner_bits, view.hand_bits),
    )


def own_turns(view: PlayerView) -> NDArray[np.intp]:
    """Return how many turns each viewer has had before this one (M,), as if each seat had had its turn in order."""
    return view.turn.astype(np.intp) // view.rules.num_hands


def exchanges(givable: UInt64Array, partners: UInt64Array) -> tuple[Rows, Cards, Cards]:
    """Return every exchange in each row, no exchange first: rows (K,), given (K,) and answered cards (K,)."""
    rows, given = rows_and_cards(givable)
    offers, answered = rows_and_cards(partners[rows])
    none = np.full(len(partners), NO_CARD)
    return (
        np.concatenate([np.arange(len(partners)), rows[offers]]),
        np.concatenate([none, given[offers]]),
        np.concatenate([none, answered]),
    )


def nearest_exchanges(rows: Rows, points: Points, num_rows: int) -> Rows:
    """Return the indices of each row's exchanges that leave the least, rows ascending; they may come in any order."""
    least = least_of_each(rows, points, num_rows)
    near = np.flatnonzero(points <= least[rows] + _EXCHANGE_SLACK)
    near = near[np.lexsort((points[near], rows[near]))]
    place = np.arange(len(near)) - np.searchsorted(rows[near], np.arange(num_rows))[rows[near]]
    return near[place < _MAX_EXCHANGES]


def held_and_gone(view: PlayerView) -> tuple[UInt64Array, UInt64Array]:
    """Return the cards (M,) that opponents are known to hold, and those (M,) that none of them can or would take."""
    opponents = np.arange(view.known_bits.shape[1]) % view.rules.num_teams != 0
    held = np.bitwise_or.reduce(view.known_bits[:, opponents], axis=1)
    held = held | np.bitwise_or.reduce(view.team_known_bits[:, 1:], axis=1)
    declined = np.bitwise_or.reduce(view.declined_bits[:, opponents], axis=1)
    return held, (view.hand_bits | view.partner_bits | view.pile_bits | declined) & ~held


def danger(view: PlayerView, rows: Rows, cards: Cards) -> NDArray[np.float64]:
    """Return how much discarding each card (K,) in its row (K,) would serve the opponents; negative for safe cards.

    Counted are the card's neighbours in suit, the cards two steps away and the others of its rank. Those that an
    opponent is known to hold add to the danger; those that no opponent can get (own, seen, declined) reduce it.
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
