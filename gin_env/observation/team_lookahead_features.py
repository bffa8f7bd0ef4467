"""Lookahead features of partners who see each other's cards (``partner_hand_visible``).

A trade is judged by **turn plans** (turn_plans.py): an exchange with the partner or none, then a discard. A plan's
value is the deadwood that it leaves the team and, with weights, the potential of both hands, which counts less from
turn to turn, and the danger of the discard. Plans far from the best are left out, and only the seat to move has any.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NO_CARD, NUM_CARDS, Rows, rows_and_cards
from gin_env.cards.hand_potential import potential
from gin_env.cards.melds import deadwood
from gin_env.engine import Phase
from gin_env.observation.sections import SectionWriter
from gin_env.observation.turn_plans import (
    NUM_BEST,
    POTENTIAL_DECAY,
    TEAM_DANGER_WEIGHT,
    TEAM_POTENTIAL_WEIGHT,
    Cards,
    Points,
    TurnPlans,
    cards_to_trade,
    exchanges,
    gin_bonus,
    least_of_each,
    left_by_drawing,
    left_by_taking,
    plans_from_exchanges,
    trading_hands,
    values_of_plans,
)
from gin_env.observation.view import PlayerView
from gin_env.rules import Rules

#: Deadwood that is written as 0.
CENTRE = 20.0
#: Deadwood up to which a feature each says whether a team has no more: when it should knock depends on the turn.
_LIMITS = np.arange(0, 80, 5)
_KNOCK_VALUE = "both hands' deadwood less the gin bonus"
#: How the values of discards and plans are written: steeply, so that a network can distinguish the best two.
PREFERENCE = "4 / 2 ** (value - the least value)"


def in_tens(points: NDArray) -> NDArray[np.float64]:
    """Return deadwood as features."""
    return (CENTRE - points) / 10.0


def at_most(points: NDArray, limits: NDArray) -> NDArray[np.bool_]:
    """Return whether each of ``points`` (M,) is at most each of ``limits`` (L,): shape (M, L)."""
    return points[:, None] <= limits


def preferences(rows: Rows, values: NDArray[np.float64], num_rows: int) -> NDArray[np.float64]:
    """Return 4 for the least value (K,) of each row, and half of it for each point more."""
    least = np.full(num_rows, np.inf)
    np.minimum.at(least, rows, values)
    return 4.0 * np.exp2(least[rows] - values)


def team_sections(rules: Rules) -> list[tuple[str, int, str]]:
    """Return name, width and meaning of the features, in order."""
    scale = f"({CENTRE:g} - deadwood) / 10"
    sections = [
        ("partner_prospects", 1, "as prospects, of the partner's hand"),
        ("partner_left", 1, f"{scale} of the partner's hand"),
        ("team_left_by_throw", NUM_CARDS, f"{scale} of both hands after discarding that card, as left_by_throw"),
        ("clean", 1, "whether some discard leaves the viewer's hand (before a draw, with the upcard) without deadwood"),
        ("team_left", len(_LIMITS), "whether the best discard leaves both hands at most 0, 5, 10, ... points"),
    ]
    if rules.trades:
        sections += [
            (
                "left_by_gift",
                NUM_CARDS,
                f"{scale} of the team after giving that card, with the best answer, discard",
            ),
            ("plan_of_gift", NUM_CARDS, f"{PREFERENCE} of the best plan that gives it; 0 if far from the best"),
            ("plan_of_throw", NUM_CARDS, f"{PREFERENCE} of the plan that discards it and trades nothing"),
            ("knock_of_gift", NUM_CARDS, f"as plan_of_gift, of plans to knock: a value is {_KNOCK_VALUE}"),
            ("team_left_by_knock", len(_LIMITS), "as team_left, of the plans to knock that are near the best"),
            ("clean_knock", 1, "whether one of them leaves the knocker without deadwood"),
            ("left_by_take", 1, f"{scale} of the team after taking the upcard, with the best exchange and discard"),
            (
                "left_by_draw",
                1,
                f"{scale} of the team after drawing from the stock, the mean without an exchange",
            ),
            ("gain_of_take", 1, "points by which taking leaves less than drawing, between -4 and 4"),
        ]
    return sections


def write_team(view: PlayerView, discards: tuple[Rows, Cards, NDArray[np.uint8]], features: SectionWriter) -> None:
    """Write the features of a view of M rows into the sections of :func:`team_sections`, which hold zeros.

    ``discards`` are the viewers' discards and the deadwood that each leaves, as ``deadwood_after_each`` returns them.
    """
    _write_hands(view, discards, features)
    if not view.rules.trades:
        return

    to_move = view.mover == 0
    playing = np.flatnonzero(to_move & (view.phase == Phase.PLAY))
    if len(playing):
        _write_offers(view.choose(playing), playing, features)
    answering = np.flatnonzero(to_move & (view.phase == Phase.TRADE_ANSWER))
    if len(answering):
        _write_answers(view.choose(answering), answering, features)
    drawing = np.flatnonzero(to_move & ((view.phase == Phase.UPCARD_OFFER) | (view.phase == Phase.DRAW)))
    if len(drawing):
        _write_draws(view.choose(drawing), drawing, features)


def _write_hands(view: PlayerView, discards: tuple[Rows, Cards, NDArray[np.uint8]], features: SectionWriter) -> None:
    """Write the partner's hand as it is, and both hands after each discard."""
    partner_points = deadwood(view.partner_bits)
    features["partner_prospects"] = in_tens(potential(view.partner_bits, view.unseen_bits, NUM_BEST))
    features["partner_left"] = in_tens(partner_points)

    rows, cards, points = discards
    team_points = points.astype(np.int64) + partner_points[rows]
    features["team_left_by_throw"][rows, cards] = in_tens(team_points)
    features["clean"][rows[points == 0]] = 1.0
    features["team_left"] = at_most(least_of_each(rows, team_points, len(view)), _LIMITS)


# The functions below get the view of some rows, and in ``targets`` (M,) the rows of the features that belong to them.


def _write_offers(view: PlayerView, targets: Rows, features: SectionWriter) -> None:
    """Write the plans that begin with each card that may be offered, and those with each discard and no exchange."""
    rows, given, answered = exchanges(view.legal_give_bits, view.partner_bits)
    points, plans = plans_from_exchanges(view, view.hand_bits, view.partner_bits, rows, given, answered)
    offered = given != NO_CARD
    _write_least(features["left_by_gift"], targets, rows[offered], given[offered], points[offered])

    values, trading = _preferences_of(view, plans), plans.given != NO_CARD
    gifts, discards = (plans.rows[trading], plans.given[trading]), (plans.rows[~trading], plans.discarded[~trading])
    _write_best(features["plan_of_gift"], targets, *gifts, values[trading])
    _write_best(features["plan_of_throw"], targets, *discards, values[~trading])
    _write_knocks(view, targets, plans, plans.given, features)


def _write_answers(view: PlayerView, targets: Rows, features: SectionWriter) -> None:
    """Write the plans that begin with each answer to an offer."""
    movers, partners = trading_hands(view)
    rows, answers = rows_and_cards(partners)
    points, plans = plans_from_exchanges(view, movers, partners, rows, np.full(len(rows), NO_CARD), answers)
    _write_least(features["left_by_gift"], targets, rows, answers, points)
    _write_best(features["plan_of_gift"], targets, plans.rows, plans.answered, _preferences_of(view, plans))
    _write_knocks(view, targets, plans, plans.answered, features)


def _write_knocks(view: PlayerView, targets: Rows, plans: TurnPlans, cards: Cards, features: SectionWriter) -> None:
    """Write the plans with which the mover may knock; ``cards`` (K,) are the cards that the plans move first."""
    knocking = np.flatnonzero(plans.mover_deadwood <= view.knock_limit[plans.rows])
    rows, cards = plans.rows[knocking], cards[knocking]
    own, team = plans.mover_deadwood[knocking], plans.team_deadwood[knocking]
    values = preferences(rows, (team - gin_bonus(view.rules, own, team)).astype(float), len(view))
    moved = cards != NO_CARD
    _write_best(features["knock_of_gift"], targets, rows[moved], cards[moved], values[moved])

    features["team_left_by_knock"][targets] = at_most(least_of_each(rows, team, len(view)), _LIMITS)
    features["clean_knock"][targets[rows[own == 0]]] = 1.0


def _write_draws(view: PlayerView, targets: Rows, features: SectionWriter) -> None:
    """Write what taking the upcard and drawing from the stock would leave."""
    taking, drawing = left_by_taking(view, cards_to_trade(view)), left_by_drawing(view)
    features["left_by_take"][targets] = in_tens(taking)
    features["left_by_draw"][targets] = in_tens(drawing)
    features["gain_of_take"][targets] = np.clip(drawing - taking, -4.0, 4.0)


def _preferences_of(view: PlayerView, plans: TurnPlans) -> NDArray[np.float64]:
    """Return how each plan (K,) compares with its row's best."""
    values = values_of_plans(view, plans, TEAM_POTENTIAL_WEIGHT, POTENTIAL_DECAY, TEAM_DANGER_WEIGHT)
    return preferences(plans.rows, values, len(view))


def _write_least(section: NDArray[Any], targets: Rows, rows: Rows, cards: Cards, points: Points) -> None:
    """Write for each row and card the least of its points (K,)."""
    least = np.full((len(targets), NUM_CARDS), np.iinfo(np.int64).max)
    np.minimum.at(least, (rows, cards), points)
    section[targets[rows], cards] = in_tens(least[rows, cards])


def _write_best(section: NDArray[Any], targets: Rows, rows: Rows, cards: Cards, values: NDArray[np.float64]) -> None:
    """Write for each row and card the highest of its values (K,)."""
    best = np.full((len(targets), NUM_CARDS), -np.inf)
    np.maximum.at(best, (rows, cards), values)
    section[targets[rows], cards] = best[rows, cards]
