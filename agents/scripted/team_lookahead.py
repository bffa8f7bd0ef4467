"""``team-lookahead``: both hands of a partnership played as one (docs/agents.md).

A **plan** is what may still happen in a turn: an exchange with the mate or none, then a throw. Each is judged by what
it leaves the team: the deadwood of both hands, what the best of the cards that may still come would make of either,
and whom the thrown card would serve. A plan with which the team wants to knock goes before all others. The mover
offers the card of his best plan, the mate answers by the same judgment of what is left to choose, and so both act as
one mind. Without a visible mate this is ``lookahead``.
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

#: Brings a plan that ends the deal before all others.
_FIRST = 10_000.0


class TeamLookaheadAgent(LookaheadAgent):
    """Plans exchange, throw and knock for both hands at once.

    All numbers were measured here, by points against ``simple``, ``gold-k4`` and itself under ``palace_4p`` and,
    for the knocks, by playing on from them with and without a knock (docs/agents.md).
    """

    name = "team-lookahead"
    team_future_weight = TEAM_POTENTIAL_WEIGHT  #: of both hands' prospects in the first turn, beside the deadwood
    danger_weight = TEAM_DANGER_WEIGHT  #: of the danger, beside the deadwood
    take_margin = 1.0  #: points by which the upcard must promise more than a card of the stock
    #: The team's deadwood up to which it knocks in each of the deal's first turns; later only a clean hand does.
    knock_limits = (80, 50, 50, 35, 30, 25)
    #: The same for the knocker with a clean hand: so many at the deal's beginning, and less with every turn.
    clean_limit = 50
    clean_slope = 2
    team_knock_at = 80  # no tighter than these

    def takes(self, view: PlayerView) -> Bools:
        """Take the upcard if, with the best exchange, it promises less deadwood than a card of the stock."""
        if not view.rules.sees_partner:
            return super().takes(view)
        return left_by_taking(view, cards_to_trade(view)) < left_by_drawing(view) - self.take_margin

    def _play(self, view: PlayerView) -> NDArray[np.intp]:
        if not view.rules.sees_partner:
            return super()._play(view)
        rows, given, answered = exchanges(view.legal_give_bits, view.partner_bits)
        _, plans = plans_from_exchanges(view, view.hand_bits, view.partner_bits, rows, given, answered)
        best = best_of_each(plans.rows, len(view), self._values(view, plans))
        offers, cards = plans.given[best], plans.discarded[best]
        knocks = self._ends(view, np.arange(len(view)), plans.mover_deadwood[best], plans.team_deadwood[best])
        knocks &= (view.legal_knock_bits & CARD_BITS[cards]) != 0
        ending = np.where(knocks, view.layout.knock, view.layout.discard) + cards
        actions = np.where(offers == NO_CARD, ending, view.layout.give + offers)
        if view.rules.last_discard_knock:  # whoever took that card has to knock
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
        """Return how little each plan (K,) promises; of equal values the first plan counts."""
        rows, own, team = plans.rows, plans.mover_deadwood, plans.team_deadwood
        values = values_of_plans(view, plans, self.team_future_weight, self.future_decay, self.danger_weight)
        ending = team - gin_bonus(view.rules, own, team) - _FIRST
        values = np.where(self._ends(view, rows, own, team), ending, values)
        return values - CARD_POINTS[plans.discarded] / 1000

    def _ends(self, view: PlayerView, rows: Rows, own: Points, team: Points) -> Bools:
        """Return whether the movers of some rows (K,) would knock with so much deadwood (K,), if they may."""
        turns = view.turn.astype(np.intp)[rows]
        limits = np.array((*self.knock_limits, -1))[np.minimum(turns, len(self.knock_limits))]
        limits = np.where(own == 0, self.clean_limit - self.clean_slope * turns, limits)
        return (own <= np.minimum(self.knock_at, view.knock_limit[rows])) & (
            team <= np.minimum(limits, self.team_knock_at)
        )

    def _wants_to_knock(self, view: PlayerView, points: NDArray[np.integer]) -> Bools:
        if not view.rules.sees_partner:
            return super()._wants_to_knock(view, points)
        own = points.astype(np.int64)
        return self._ends(view, np.arange(len(view)), own, own + deadwood(view.partner_bits))


class NoTradeLookaheadAgent(TeamLookaheadAgent):
    """``team-lookahead`` that never offers a card: the teacher of networks that do without trading."""

    name = "no-trade-lookahead"

    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return a legal action for each row (M,)."""
        return super().act(view.without_offers())
