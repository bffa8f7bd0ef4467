"""``team-lookahead``: both hands of a partnership played as one (docs/agents.md).

A **plan** is what can still happen in a turn: an exchange with the partner or none, then a discard. A plan is judged
by what it leaves the team: the deadwood of both hands, how much the best cards still to come would improve either
hand, and how useful the discarded card would be to the next player. A plan with which the team wants to knock comes
before all others. The mover offers the card of the best plan, and the partner evaluates the remaining choices in the
same way, so both follow one plan. Without a visible partner this agent plays as ``lookahead``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from agents.scripted.base import Bools, Points
from agents.scripted.lookahead import LookaheadAgent, Numbers
from gin_env.cards import CARD_BITS, CARD_POINTS, NO_CARD, Rows, rows_and_cards
from gin_env.cards.melds import best_of_each, deadwood
from gin_env.observation import PlayerView
from gin_env.observation.turn_plans import (
    TEAM_DANGER_WEIGHT,
    TEAM_POTENTIAL_WEIGHT,
    TurnPlans,
    cards_to_trade,
    exchanges,
    gin_bonus,
    left_by_drawing,
    left_by_taking,
    plans_from_exchanges,
    trading_hands,
    values_of_plans,
)

#: Subtracted from the value of a plan that ends the deal, so that it comes before all others.
_FIRST = 10_000.0


class TeamLookaheadAgent(LookaheadAgent):
    """Plans exchange, discard and knock for both hands at once.

    All numbers were measured here, by points against ``simple``, ``gold-k4`` and itself under ``palace_4p`` and,
    for the knocks, by playing on from the same positions with and without a knock (docs/agents.md).
    """

    name = "team-lookahead"
    team_future_weight = TEAM_POTENTIAL_WEIGHT  #: weight of both hands' potential in the first turn
    danger_weight = TEAM_DANGER_WEIGHT  #: weight of the danger of a discard
    take_margin = 1.0  #: how many points better than a card of the stock the upcard must be
    #: The most team deadwood with which it knocks in each of the deal's first turns; later it knocks only with gin.
    knock_limits = (80, 50, 50, 35, 30, 25)
    #: The same for a knocker without deadwood: the limit at the start of the deal, and its fall with each turn.
    gin_limit = 50
    gin_slope = 2
    team_knock_at = 80  # no tighter than these

    def takes(self, view: PlayerView) -> Bools:
        """Take the upcard if, with the best exchange, it leads to less deadwood than a card of the stock."""
        if not view.rules.sees_partner:
            return super().takes(view)
        return left_by_taking(view, cards_to_trade(view)) < left_by_drawing(view) - self.take_margin

    def _play(self, view: PlayerView) -> NDArray[np.intp]:
        if not view.rules.sees_partner:
            return super()._play(view)
        rows, given, answered = exchanges(view.legal_give_bits, view.partner_bits)
        _, plans = plans_from_exchanges(view, view.hand_bits, view.partner_bits, rows, given, answered)
        best = best_of_each(plans.rows, len(view), self._values(view, plans))

        # The first step of the best plan: offer its card, or without an exchange end the turn.
        offers, cards = plans.given[best], plans.discarded[best]
        knocks = self._ends(view, np.arange(len(view)), plans.mover_deadwood[best], plans.team_deadwood[best])
        knocks &= (view.legal_knock_bits & CARD_BITS[cards]) != 0
        ending = np.where(knocks, view.layout.knock, view.layout.discard) + cards
        actions = np.where(offers == NO_CARD, ending, view.layout.give + offers)

        # last_discard_knock: whoever took the last discard has to knock.
        if view.rules.last_discard_knock:
            last = np.flatnonzero(view.legal_discard_bits == 0)
            if len(last):
                actions[last] = self._end_turn(view.choose(last))
        return actions

    def _answer(self, view: PlayerView) -> NDArray[np.intp]:
        if not view.rules.sees_partner:
            return super()._answer(view)
        movers, partners = trading_hands(view)
        rows, answers = rows_and_cards(partners)
        _, plans = plans_from_exchanges(view, movers, partners, rows, np.full(len(rows), NO_CARD), answers)
        return view.layout.give + plans.answered[best_of_each(plans.rows, len(view), self._values(view, plans))]

    def _values(self, view: PlayerView, plans: TurnPlans) -> Numbers:
        """Return the value of each plan (K,), lower is better; of equal values the first plan is chosen."""
        rows, own, team = plans.rows, plans.mover_deadwood, plans.team_deadwood
        values = values_of_plans(view, plans, self.team_future_weight, self.future_decay, self.danger_weight)
        ending = team - gin_bonus(view.rules, own, team) - _FIRST
        values = np.where(self._ends(view, rows, own, team), ending, values)
        return values - CARD_POINTS[plans.discarded] / 1000

    def _ends(self, view: PlayerView, rows: Rows, own: Points, team: Points) -> Bools:
        """Return whether the movers of K rows would knock with this deadwood of their own and of the team (K,)."""
        turns = view.turn.astype(np.intp)[rows]
        limits = np.array((*self.knock_limits, -1))[np.minimum(turns, len(self.knock_limits))]
        limits = np.where(own == 0, self.gin_limit - self.gin_slope * turns, limits)
        own_is_low = own <= np.minimum(self.knock_at, view.knock_limit[rows])
        team_is_low = team <= np.minimum(limits, self.team_knock_at)
        return own_is_low & team_is_low

    def _wants_to_knock(self, view: PlayerView, points: NDArray[np.integer]) -> Bools:
        if not view.rules.sees_partner:
            return super()._wants_to_knock(view, points)
        own = points.astype(np.int64)
        return self._ends(view, np.arange(len(view)), own, own + deadwood(view.partner_bits))


class NoTradeLookaheadAgent(TeamLookaheadAgent):
    """``team-lookahead`` that never offers a card: the teacher of networks that never trade."""

    name = "no-trade-lookahead"

    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return a legal action for each row (M,)."""
        return super().act(view.without_offers())
