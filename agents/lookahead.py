"""``lookahead``, in the manner of the winners of the EAAI-2021 challenge (docs/agents.md).

The description is that of Ahmed et al., "A Heuristic Evaluation Function for Hand Strength Estimation in Gin
Rummy": a throw is judged by the deadwood it leaves, by what the best of the cards that may still come would make
of the hand, and by whom the card would serve.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.scripted import Bools, Cards, Points, ScriptedAgent
from gin_env.cards import CARD_BITS, CARD_POINTS, EVERY_SUIT, NUM_RANKS, UInt64Array
from gin_env.melds import best_of_each, deadwood, deadwood_after_each, first_arrangements, next_above, next_below
from gin_env.prospects import least_after_throw, prospects
from gin_env.view import PlayerView

Rows = NDArray[np.intp]
Numbers = NDArray[np.float64]

#: A throw worth a closer look is at most so many points cheaper than the dearest, and leaves at most so many more
#: than the best.
SLACK = 5
#: Of the cards that may come so many count: those that leave the least deadwood.
NUM_BEST = 7


class LookaheadAgent(ScriptedAgent):
    """Throws for what the best next cards would make of the hand, keeps safe cards, after three turns waits for gin.

    All numbers are those of the winners' program; ``team_knock_at`` is that of ``gold`` and ``gin-only``.
    """

    name = "lookahead"
    team_knock_at = 40
    early_turns = 3  #: its own turns in which it knocks; later it waits for gin
    future_weight = 18.0  #: of the prospects in its first turn, beside the deadwood
    future_decay = 0.9  #: by which that weight falls from turn to turn

    def takes(self, view: PlayerView) -> Bools:
        """Take the upcard if it then lies in a meld and lowers the deadwood that the best throw leaves."""
        hands, upcards = view.hand_bits, CARD_BITS[view.upcard]
        wanted = least_after_throw(hands | upcards, upcards) < deadwood(hands)
        lower = np.flatnonzero(wanted)
        laid = first_arrangements(hands[lower] | upcards[lower])
        wanted[lower] = ((laid.set_bits | laid.run_bits) & upcards[lower]) != 0
        return wanted

    def throws(self, view: PlayerView, candidates: UInt64Array) -> tuple[Cards, Points]:
        """Throw the card of the lowest score; where that knocks, one that leaves least (of equals the dearest)."""
        hands = view.hand_bits
        least = _least(hands, candidates)
        rows, cards, points = worthwhile_throws(hands, candidates)
        ending = (self._wants_to_knock(view, least) & (least <= view.knock_limit))[rows]
        scores = points - CARD_POINTS[cards] / 1000
        choosing = (np.bincount(rows, minlength=len(view)) > 1)[rows] & ~ending
        some = np.flatnonzero(choosing)
        if len(some):
            of, thrown = rows[some], cards[some]
            future = prospects(hands[of] ^ CARD_BITS[thrown], view.unseen_bits[of], NUM_BEST)
            weights = self.future_weight * self.future_decay ** own_turns(view)
            scores[some] += weights[of] * future + danger(view, of, thrown)
        best = best_of_each(rows, len(view), scores)
        return cards[best], points[best]

    def _wants_to_knock(self, view: PlayerView, points: NDArray[np.integer]) -> Bools:
        early = own_turns(view) < self.early_turns
        return super()._wants_to_knock(view, points) & (early | (points == 0))


def own_turns(view: PlayerView) -> NDArray[np.intp]:
    """Return how many turns each viewer has had before this one (M,), an upcard's taker counted as all others."""
    return view.turn.astype(np.intp) // view.rules.num_hands


def _least(hands: UInt64Array, candidates: UInt64Array) -> Points:
    return least_after_throw(hands, hands & ~candidates).astype(np.int64)


def worthwhile_throws(hands: UInt64Array, candidates: UInt64Array) -> tuple[Rows, Cards, Points]:
    """Return the throws that are worth a closer look: rows (K,), ascending, cards (K,) and the points they leave (K,).

    They lie outside the hand's melds (of equal arrangements the first) and within ``SLACK``, or leave the least.
    """
    rows, cards, left = deadwood_after_each(hands, candidates)
    points = left.astype(np.int64)
    starts = np.searchsorted(rows, np.arange(len(hands)))
    laid = first_arrangements(hands)
    loose = ((laid.set_bits | laid.run_bits)[rows] & CARD_BITS[cards]) == 0
    worth = np.where(loose, CARD_POINTS[cards], 0).astype(np.int64)
    least, dearest = np.minimum.reduceat(points, starts)[rows], np.maximum.reduceat(worth, starts)[rows]
    close = loose & (worth >= dearest - SLACK) & (points <= least + SLACK)
    chosen = np.flatnonzero(close | (points == least))
    return rows[chosen], cards[chosen], points[chosen]


def danger(view: PlayerView, rows: Rows, cards: Cards) -> Numbers:
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


#: What none to three such cards are worth: neighbours in suit, others of the rank, cards two steps away. Of the
#: source's "one +4..5" the neighbour has the 5 and the rank the 4, as with the cards that are dead.
_THREAT = (np.array([0.0, 5.0, 20.0]), np.array([0.0, 4.0, 20.0, 20.0]), np.array([0.0, 3.0, 6.0]))
_SAFETY = (np.array([0.0, 5.0, 10.0]), np.array([0.0, 4.0, 10.0, 10.0]), np.array([0.0, 3.0, 6.0]))
