"""What all scripted agents share: one decision per phase, when to knock, and how partners trade.

A scripted agent decides how it draws (``takes``) and what it discards (``discards``). This module adds the rest,
so that every scripted agent plays every mode and every optional rule in the same way, on whole batches.

None of them discards the card it has just taken, whatever the rules say. Where the partner's hand is hidden, they
offer nothing, answer by their own hand alone and knock by their own hand alone (agents/scripted/trading.py). They
declare big gin whenever they may, take the last discard exactly when they would knock with it, and never boast or
catch the glass.
"""

from __future__ import annotations

import abc

import numpy as np
from numpy.typing import NDArray

from agents.scripted.trading import best_answers, best_offers, own_answers
from gin_env.cards import CARD_BITS, NO_CARD, UInt64Array
from gin_env.cards.hand_potential import least_after_discard
from gin_env.cards.melds import deadwood, deadwood_after_each
from gin_env.engine import Phase
from gin_env.engine.actions import DRAW, PASS, TAKE
from gin_env.episodes import Agent
from gin_env.observation import PlayerView
from gin_env.observation.turn_plans import trading_hands

Bools = NDArray[np.bool_]
Cards = NDArray[np.intp]
Points = NDArray[np.int64]


class ScriptedAgent(Agent):
    """A strategy written as rules; subclasses say how it draws, what it discards and when it knocks.

    Attributes
    ----------
    knock_at : int
        The most deadwood in its own hand with which it knocks (the rules may ask for less).
    team_knock_at : int
        The most deadwood of both partners together with which it knocks (measured, docs/agents.md).
    """

    choose_offers = staticmethod(best_offers)  #: same arguments and result as ``trading.best_offers``
    knock_at: int = 10
    team_knock_at: int

    @abc.abstractmethod
    def takes(self, view: PlayerView) -> Bools:
        """Return which of the M viewers take the upcard (M,)."""

    @abc.abstractmethod
    def discards(self, view: PlayerView, candidates: UInt64Array) -> tuple[Cards, Points]:
        """Return the card that each of the M viewers discards (M,) and the deadwood that is left (M,).

        ``candidates`` (M,) are the cards that may be discarded.
        """

    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return a legal action for each row (M,)."""
        actions = np.full(len(view), -1, dtype=np.intp)
        for chosen, decide in (
            (view.phase <= Phase.DRAW, self._draw),
            (view.phase == Phase.PLAY, self._play),
            (view.phase == Phase.TRADE_ANSWER, self._answer),
            (view.phase == Phase.LAST_DISCARD, self._take_last),
            (view.phase == Phase.CATCH, _name_first_card),
        ):
            rows = np.flatnonzero(chosen)
            if len(rows):
                actions[rows] = decide(view if len(rows) == len(view) else view.choose(rows))
        return actions

    # One decision for each phase

    def _draw(self, view: PlayerView) -> NDArray[np.intp]:
        takes = np.zeros(len(view), dtype=bool)
        has_choice = np.flatnonzero(view.phase != Phase.FORCED_DRAW)
        if len(has_choice):
            takes[has_choice] = self.takes(view.choose(has_choice))

        declines = np.where(view.phase == Phase.UPCARD_OFFER, PASS, DRAW)
        return np.where(takes, TAKE, declines)

    def _play(self, view: PlayerView) -> NDArray[np.intp]:
        offers = self._offers(view)
        actions = view.layout.give + offers
        ends_turn = offers == NO_CARD

        if view.rules.has_big_gin:
            big_gin = _may(view, view.layout.big_gin)
            actions[big_gin] = view.layout.big_gin
            ends_turn &= ~big_gin

        rows = np.flatnonzero(ends_turn)
        if len(rows):
            actions[rows] = self._end_turn(view if len(rows) == len(view) else view.choose(rows))
        return actions

    def _offers(self, view: PlayerView) -> Cards:
        """Return the card that each viewer offers to their partner (M,), ``NO_CARD`` for none."""
        offers = np.full(len(view), NO_CARD, dtype=np.intp)
        if view.rules.sees_partner:
            rows = np.flatnonzero(view.legal_give_bits)
            if len(rows):
                offers[rows] = self.choose_offers(
                    view.hand_bits[rows],
                    view.partner_bits[rows],
                    view.legal_give_bits[rows],
                    CARD_BITS[view.taken_card[rows]],
                )
        return offers

    def _end_turn(self, view: PlayerView) -> NDArray[np.intp]:
        candidates = view.hand_bits & ~CARD_BITS[view.taken_card]
        must_knock = np.zeros(len(view), dtype=bool)

        # last_discard_knock: whoever took the last discard has to knock, if need be by discarding that card again.
        if view.rules.last_discard_knock:
            must_knock = view.legal_discard_bits == 0
            knockable = view.legal_knock_bits & candidates
            candidates = np.where(must_knock, np.where(knockable, knockable, view.legal_knock_bits), candidates)

        cards, points = self.discards(view, candidates)
        may_knock = (view.legal_knock_bits & CARD_BITS[cards]) != 0
        knocks = (must_knock | self._wants_to_knock(view, points)) & may_knock
        return np.where(knocks, view.layout.knock, view.layout.discard) + cards

    def _wants_to_knock(self, view: PlayerView, points: NDArray[np.integer]) -> Bools:
        """Return who would knock with this deadwood (M,), if the rules allow it (M,)."""
        wants = points <= self.knock_at
        if view.rules.sees_partner:
            rows = np.flatnonzero(wants)
            team_points = points[rows] + deadwood(view.partner_bits[rows])
            wants[rows] = team_points <= self.team_knock_at
        return wants

    def _take_last(self, view: PlayerView) -> NDArray[np.intp]:
        hands, upcards = view.hand_bits, CARD_BITS[view.upcard]
        reachable = least_after_discard(hands | upcards, upcards).astype(np.int64)
        wants = self._wants_to_knock(view, reachable) & (reachable <= view.knock_limit)
        if view.rules.has_big_gin:
            wants |= deadwood(hands | upcards) == 0
        return np.where(wants & _may(view, TAKE), TAKE, PASS)

    def _answer(self, view: PlayerView) -> NDArray[np.intp]:
        if not view.rules.sees_partner:
            return view.layout.give + own_answers(view.hand_bits)
        return view.layout.give + best_answers(*trading_hands(view), CARD_BITS[view.taken_card])[0]


def _may(view: PlayerView, verb: int) -> Bools:
    """Return where an action without a card is legal (M,)."""
    return (view.legal[:, 0] & np.uint64(1 << verb)) != 0


def _name_first_card(view: PlayerView) -> NDArray[np.intp]:
    """Continue a catch that another agent began in this seat, with the first card that may be named."""
    return view.legal_mask.argmax(axis=1)


def least_deadwood_discards(hands: UInt64Array, candidates: UInt64Array) -> tuple[Cards, NDArray[np.intp], Points]:
    """Return the discards that leave the least deadwood, those of one hand next to each other.

    Parameters
    ----------
    hands, candidates : uint64, shape (M,)
        Hands, and the cards of each (at least one) that may be discarded.

    Returns
    -------
    cards : intp, shape (K,)
        The best cards of all hands, ascending within a hand.
    starts : intp, shape (M,)
        Where each hand's cards begin.
    least : int64, shape (M,)
        The deadwood they leave.
    """
    rows, cards, points = deadwood_after_each(hands, candidates)
    starts = np.searchsorted(rows, np.arange(len(hands)))
    least = np.minimum.reduceat(points, starts)

    best = np.flatnonzero(points == least[rows])
    best_starts = np.searchsorted(rows[best], np.arange(len(hands)))
    return cards[best], best_starts, least.astype(np.int64)
