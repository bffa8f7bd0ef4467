"""``lookahead``, in the manner of the winners of the EAAI-2021 challenge (docs/agents.md).

The description is that of Ahmed et al., "A Heuristic Evaluation Function for Hand Strength Estimation in Gin
Rummy": a throw is judged by the deadwood it leaves, by what the best of the cards that may still come would make
of the hand, and by whom the card would serve.
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
    """Throws for what the best next cards would make of the hand, keeps safe cards, after three turns waits for gin.

    All numbers are those of the winners' program; ``team_knock_at`` is that of ``gold`` and ``gin-only``.
    """

    name = "lookahead"
    team_knock_at = 40
    early_turns = 3  #: its own turns in which it knocks; later it waits for gin
    future_weight = POTENTIAL_WEIGHT  #: of the prospects in its first turn, beside the deadwood
    future_decay = POTENTIAL_DECAY  #: by which that weight falls from turn to turn
    num_best = NUM_BEST  #: of the cards that may come so many count
    danger_share = 1.0  #: of whom the card would serve, beside the deadwood

    def takes(self, view: PlayerView) -> Bools:
        """Take the upcard if it then lies in a meld and lowers the deadwood that the best throw leaves."""
        return gains_of_taking(view.hand_bits, CARD_BITS[view.upcard])[1]

    def discards(self, view: PlayerView, candidates: UInt64Array) -> tuple[Cards, Points]:
        """Throw the card of the lowest score; where that knocks, one that leaves least (of equals the dearest)."""
        hands = view.hand_bits
        least = _least(hands, candidates)
        rows, cards, points = worthwhile_discards(hands, candidates)
        ending = (self._wants_to_knock(view, least) & (least <= view.knock_limit))[rows]
        scores = points - CARD_POINTS[cards] / 1000
        choosing = (np.bincount(rows, minlength=len(view)) > 1)[rows] & ~ending
        some = np.flatnonzero(choosing)
        if len(some):
            of, discarded = rows[some], cards[some]
            future = potential(hands[of] ^ CARD_BITS[discarded], view.unseen_bits[of], self.num_best)
            weights = self.future_weight * self.future_decay ** own_turns(view)
            scores[some] += weights[of] * future + self.danger_share * danger(view, of, discarded)
        best = best_of_each(rows, len(view), scores)
        return cards[best], points[best]

    def _wants_to_knock(self, view: PlayerView, points: NDArray[np.integer]) -> Bools:
        early = own_turns(view) < self.early_turns
        return super()._wants_to_knock(view, points) & (early | (points == 0))


class SharpAgent(LookaheadAgent):
    """``lookahead`` with numbers of its own: knocks for five turns, but not when gin is near, and fears danger less.

    The knocks were measured by playing on from 50,000 occasions with and without one: in the first five turns a knock
    with 5 to 10 points is worth 2 to 10 points more than waiting, and one with 1 to 4 costs as much; later each costs.
    The other two were tried against ``lookahead``, ``simple``, ``gin-only`` and ``gold-k4`` (docs/agents.md).
    """

    name = "sharp"
    early_turns = 5
    least_knock = 5  #: points with which it knocks at least, if not with none
    num_best = SOLO_NUM_BEST
    danger_share = DANGER_WEIGHT

    def _wants_to_knock(self, view: PlayerView, points: NDArray[np.integer]) -> Bools:
        return super()._wants_to_knock(view, points) & ((points == 0) | (points >= self.least_knock))


def _least(hands: UInt64Array, candidates: UInt64Array) -> Points:
    return least_after_discard(hands, hands & ~candidates).astype(np.int64)
