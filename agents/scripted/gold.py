"""``gold`` and ``gold-k4``: greedy for the least deadwood, deterministic (docs/agents.md)."""

from __future__ import annotations

import numpy as np

from agents.scripted.base import Bools, Cards, Points, ScriptedAgent, least_deadwood_discards
from gin_env.cards import CARD_BITS, CARD_POINTS, UInt64Array
from gin_env.cards.hand_potential import least_after_discard
from gin_env.cards.melds import deadwood
from gin_env.observation import PlayerView


class GoldAgent(ScriptedAgent):
    """Takes what lowers its deadwood, discards to keep the least, and knocks as soon as it may.

    Of discards that leave equally little it chooses the highest-value card, then the lowest id.
    """

    name = "gold"
    team_knock_at = 40

    def takes(self, view: PlayerView) -> Bools:
        """Take the upcard if that lowers the deadwood left by the best discard."""
        hands, upcards = view.hand_bits, CARD_BITS[view.upcard]
        return least_after_discard(hands | upcards, upcards) < deadwood(hands)

    def discards(self, view: PlayerView, candidates: UInt64Array) -> tuple[Cards, Points]:
        """Discard the highest-value card of those that leave the least deadwood."""
        cards, starts, points = least_deadwood_discards(view.hand_bits, candidates)
        keys = -CARD_POINTS[cards].astype(np.intp) * 64 + cards
        return np.minimum.reduceat(keys, starts) % 64, points


class GoldK4Agent(GoldAgent):
    """``gold`` that knocks only with 4 points or less."""

    name = "gold-k4"
    knock_at = 4
    team_knock_at = 40
