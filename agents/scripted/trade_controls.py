"""``never-trade``, ``trade-greedy`` and ``random-trade``: controls that measure what a partnership's trades are worth.

They draw, discard and knock as ``gold-k4``, so that only the trades differ (docs/agents.md). Without partners to trade
with, they are ``gold-k4``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.scripted.base import Cards
from agents.scripted.gold import GoldK4Agent
from agents.scripted.trading import best_selfish_offers, own_answers
from gin_env.cards import NO_CARD, UInt64Array, unpack_cards
from gin_env.observation import PlayerView


class NeverTradeAgent(GoldK4Agent):
    """``gold-k4`` that never offers a card; it answers as ``gold-k4`` does."""

    name = "never-trade"

    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return a legal action for each row (M,)."""
        return super().act(view.without_offers())


class TradeGreedyAgent(GoldK4Agent):
    """``gold-k4`` that trades for its own hand alone.

    It offers if some answer could lower its own deadwood, and answers so as to keep the least itself.
    """

    name = "trade-greedy"
    choose_offers = staticmethod(best_selfish_offers)

    def _answer(self, view: PlayerView) -> NDArray[np.intp]:
        return view.layout.give + own_answers(view.legal_give_bits)  # all cards of the hand that answers


class RandomTradeAgent(GoldK4Agent):
    """``gold-k4`` that offers a random card half of the times it may offer, and answers with a random card."""

    name = "random-trade"

    def _offers(self, view: PlayerView) -> Cards:
        givable = view.legal_give_bits
        rows = np.flatnonzero((givable != 0) & (self.generator.random(len(view)) < 1 / 2))
        offers = np.full(len(view), NO_CARD, dtype=np.intp)
        offers[rows] = self._any_of(givable[rows])
        return offers

    def _answer(self, view: PlayerView) -> NDArray[np.intp]:
        return view.layout.give + self._any_of(view.legal_give_bits)

    def _any_of(self, bits: UInt64Array) -> Cards:
        """Return a random card of each set (M,), uniformly."""
        rows, cards = np.nonzero(unpack_cards(bits))
        counts = np.bitwise_count(bits).astype(np.intp)
        starts = np.searchsorted(rows, np.arange(len(bits)))
        picked = (self.generator.random(len(bits)) * counts).astype(np.intp)
        return cards[starts + picked]
