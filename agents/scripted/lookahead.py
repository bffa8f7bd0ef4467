"""``lookahead``, modelled on the winners of the EAAI-2021 challenge (docs/agents.md).

It follows Ahmed et al., "A Heuristic Evaluation Function for Hand Strength Estimation in Gin Rummy": a discard is
judged by the deadwood it leaves, by how much the best cards still to come would improve the hand, and by how useful
the card would be to the next player.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.scripted.base import Bools, Cards, Points, ScriptedAgent
from gin_env.cards import CARD_BITS, CARD_POINTS, UInt64Array
from gin_env.cards.hand_potential import least_after_discard, potential
from gin_env.cards.melds import best_of_each
from gin_env.observation import PlayerView
from gin_env.observation.turn_plans import (
    DANGER_WEIGHT,
    NUM_BEST,
    POTENTIAL_DECAY,
    POTENTIAL_WEIGHT,
    SOLO_NUM_BEST,
    danger,
    gains_of_taking,
    own_turns,
    worthwhile_discards,
)

Numbers = NDArray[np.float64]


class LookaheadAgent(ScriptedAgent):
    """Discards for the best hand after the next draw, keeps dangerous cards, and after three turns waits for gin.

    All numbers are those of the winners' program; ``team_knock_at`` is that of ``gold`` and ``gin-only``.
    """

    name = "lookahead"
    team_knock_at = 40
    early_turns = 3  #: number of its own turns in which it knocks; later it waits for gin
    future_weight = POTENTIAL_WEIGHT  #: weight of the hand potential in its first turn, relative to the deadwood
    future_decay = POTENTIAL_DECAY  #: factor by which that weight falls from turn to turn
    num_best = NUM_BEST  #: how many of the cards that may come count, the best ones
    danger_share = 1.0  #: weight of the danger of a discard, relative to the deadwood

    def takes(self, view: PlayerView) -> Bools:
        """Take the upcard if it is then melded and lowers the deadwood left by the best discard."""
        return gains_of_taking(view.hand_bits, CARD_BITS[view.upcard])[1]

    def discards(self, view: PlayerView, candidates: UInt64Array) -> tuple[Cards, Points]:
        """Discard the card with the lowest score; with a knock, the one that leaves the least deadwood.

        Ties go to the highest-value card.
        """
        hands = view.hand_bits
        least = _least(hands, candidates)
        rows, cards, points = worthwhile_discards(hands, candidates)
        knocks = (self._wants_to_knock(view, least) & (least <= view.knock_limit))[rows]
        scores = points - CARD_POINTS[cards] / 1000

        # Look ahead only where there is a choice and the deal does not end.
        has_choice = (np.bincount(rows, minlength=len(view)) > 1)[rows]
        compared = np.flatnonzero(has_choice & ~knocks)
        if len(compared):
            hand_rows, discarded = rows[compared], cards[compared]
            future = potential(hands[hand_rows] ^ CARD_BITS[discarded], view.unseen_bits[hand_rows], self.num_best)
            weights = self.future_weight * self.future_decay ** own_turns(view)
            scores[compared] += weights[hand_rows] * future + self.danger_share * danger(view, hand_rows, discarded)

        best = best_of_each(rows, len(view), scores)
        return cards[best], points[best]

    def _wants_to_knock(self, view: PlayerView, points: NDArray[np.integer]) -> Bools:
        early = own_turns(view) < self.early_turns
        return super()._wants_to_knock(view, points) & (early | (points == 0))


class SharpAgent(LookaheadAgent):
    """``lookahead`` with its own numbers: it knocks for five turns, except close to gin, and weighs danger less.

    The knocks were measured by playing on from 50,000 positions with and without a knock. In the first five turns a
    knock with 5 to 10 points is worth 2 to 10 points more than waiting, and a knock with 1 to 4 points costs as much;
    later every knock costs points. The other two numbers were tuned against ``lookahead``, ``simple``, ``gin-only``
    and ``gold-k4`` (docs/agents.md).
    """

    name = "sharp"
    early_turns = 5
    least_knock = 5  #: the fewest points with which it knocks, except for gin
    num_best = SOLO_NUM_BEST
    danger_share = DANGER_WEIGHT

    def _wants_to_knock(self, view: PlayerView, points: NDArray[np.integer]) -> Bools:
        return super()._wants_to_knock(view, points) & ((points == 0) | (points >= self.least_knock))


def _least(hands: UInt64Array, candidates: UInt64Array) -> Points:
    return least_after_discard(hands, hands & ~candidates).astype(np.int64)
