"""What the scripted agents share: the split by phase, the knock, and partnership play.

A scripted agent says how it draws (``takes``) and what it throws (``discards``); this module adds the rest,
so that every one of them plays every mode and every optional rule in the same way. All work on whole batches.

None of them throws back the card just taken up, whatever the rules say; where the partner's hand is
hidden they offer nothing, answer by their own hand alone and knock on it alone (agents/scripted/trading.py). They go
big gin whenever they may, take the last discard exactly if they would knock with it, and neither boast nor
begin to catch.
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
    """A strategy written down as rules; subclasses say how it draws, throws and when it knocks.

    Attributes
    ----------
    knock_at : int
        Most deadwood in its own hand with which it knocks (the rules may ask for less).
    team_knock_at : int
        Most deadwood of both partners together with which it knocks (measured, docs/agents.md).
    """

    choose_offers = staticmethod(best_offers)  #: arguments and result as of ``teamplay.best_offers``
    knock_at: int = 10
    team_knock_at: int

    @abc.abstractmethod
    def takes(self, view: PlayerView) -> Bools:
        """Return which of the M viewers want the upcard (M,)."""

    @abc.abstractmethod
    def discards(self, view: PlayerView, candidates: UInt64Array) -> tuple[Cards, Points]:
        """Return the card that each of the M viewers throws (M,) and the deadwood it leaves (M,).

        ``candidates`` (M,) are the cards that may be thrown.
        """

    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return a legal action for each row (M,)."""
        actions = np.full(len(view), -1, dtype=np.intp)
        draws = view.phase <= Phase.DRAW
        for chosen, decide in (
            (draws, self._draw),
            (view.phase == Phase.PLAY, self._play),
            (view.phase == Phase.TRADE_ANSWER, self._answer),
            (view.phase == Phase.LAST_DISCARD, self._take_last),
            (view.phase == Phase.CATCH, _name_any),
        ):
            rows = np.flatnonzero(chosen)
            if len(rows):
                actions[rows] = decide(view if len(rows) == len(view) else view.choose(rows))
        return actions

    def _draw(self, view: PlayerView) -> NDArray[np.intp]:
        wanted = np.zeros(len(view), dtype=bool)
        free = np.flatnonzero(view.phase != Phase.FORCED_DRAW)
        if len(free):
            wanted[free] = self.takes(view.choose(free))
        otherwise = np.where(view.phase == Phase.UPCARD_OFFER, PASS, DRAW)
        return np.where(wanted, TAKE, otherwise)

    def _play(self, view: PlayerView) -> NDArray[np.intp]:
        offers = self._offers(view)
        actions = view.layout.give + offers
        ending = offers == NO_CARD
        if view.rules.has_big_gin:
            big_gin = _may(view, view.layout.big_gin)
            actions[big_gin] = view.layout.big_gin
            ending &= ~big_gin
        rows = np.flatnonzero(ending)
        if len(rows):
            actions[rows] = self._end_turn(view if len(rows) == len(view) else view.choose(rows))
        return actions

    def _offers(self, view: PlayerView) -> Cards:
        """Return the card that each viewer offers to his partner (M,), ``NO_CARD`` for none."""
        offers = np.full(len(view), NO_CARD, dtype=np.intp)
        if view.rules.sees_partner:
            asking = np.flatnonzero(view.legal_give_bits)
            if len(asking):
                offers[asking] = self.choose_offers(
                    view.hand_bits[asking],
                    view.partner_bits[asking],
                    view.legal_give_bits[asking],
                    CARD_BITS[view.taken_card[asking]],
                )
        return offers

    def _end_turn(self, view: PlayerView) -> NDArray[np.intp]:
        candidates = view.hand_bits & ~CARD_BITS[view.taken_card]
        must_knock = np.zeros(len(view), dtype=bool)
        if view.rules.last_discard_knock:  # whoever took that card has to knock, if need be by throwing it back
            must_knock = view.legal_discard_bits == 0
            knockable = view.legal_knock_bits & candidates
            candidates = np.where(must_knock, np.where(knockable, knockable, view.legal_knock_bits), candidates)
        cards, points = self.discards(view, candidates)
        knocks = (must_knock | self._wants_to_knock(view, points)) & ((view.legal_knock_bits & CARD_BITS[cards]) != 0)
        return np.where(knocks, view.layout.knock, view.layout.discard) + cards

    def _wants_to_knock(self, view: PlayerView, points: NDArray[np.integer]) -> Bools:
        """Return who would knock with so much deadwood (M,), if the rules allow it (M,)."""
        wants = points <= self.knock_at
        if view.rules.sees_partner:
            near = np.flatnonzero(wants)
            team_points = points[near] + deadwood(view.partner_bits[near])
            wants[near] = team_points <= self.team_knock_at
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
    """Return where a verb without a card is legal (M,)."""
    return (view.legal[:, 0] & np.uint64(1 << verb)) != 0


def _name_any(view: PlayerView) -> NDArray[np.intp]:
    """Go on with a catch that another agent began in this seat: with the first card that may be named."""
    return view.legal_mask.argmax(axis=1)


def least_deadwood_discards(hands: UInt64Array, candidates: UInt64Array) -> tuple[Cards, NDArray[np.intp], Points]:
    """Return the throws that leave the least deadwood, those of one hand side by side.

    Parameters
    ----------
    hands, candidates : uint64, shape (M,)
        Hands, and the cards of each (at least one) that may be thrown.

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
    return cards[best], np.searchsorted(rows[best], np.arange(len(hands))), least.astype(np.int64)
