"""What a view promises a partnership whose partners see each other's cards: its part of the features of outlook.py.

A trade is judged by **plans** (plans.py): an exchange or none, then a throw. A plan's value is the deadwood that it
leaves the team and, with a weight that falls from turn to turn, the prospects of both hands, and the danger of the
throw; weights and slacks are those that were measured for ``team-lookahead`` (docs/agents.md). Plans far from the best
are not looked at, and only the seat that is asked has any.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NO_CARD, NUM_CARDS, Rows, rows_and_cards
from gin_env.cards.hand_potential import potential
from gin_env.cards.melds import deadwood
from gin_env.engine import Phase
from gin_env.observation.turn_plans import (
    FUTURE_DECAY,
    NUM_BEST,
    TEAM_DANGER_WEIGHT,
    TEAM_FUTURE_WEIGHT,
    Cards,
    Plans,
    Points,
    cards_to_trade,
    exchanges,
    gin_bonus,
    least_of_each,
    left_by_drawing,
    left_by_taking,
    plans_of,
    trading_hands,
    values_of_plans,
)
from gin_env.observation.view import PlayerView
from gin_env.rules import Rules

Float32Array = NDArray[np.float32]

#: Deadwood that is written as 0.
CENTRE = 20.0
#: Points of a team's deadwood that are told apart: with how many it knocks depends on the turn.
_LIMITS = np.arange(0, 80, 5)
_KNOCK_VALUE = "both hands' deadwood less the gin bonus"
#: How the values of throws and plans are written; it falls steeply, or a network could not tell the best from the next.
PREFERENCE = "4 / 2 ** (value - the least value)"


def in_tens(points: NDArray) -> NDArray[np.float64]:
    """Return deadwood as features."""
    return (CENTRE - points) / 10.0


def at_most(points: NDArray, limits: NDArray) -> NDArray[np.bool_]:
    """Return whether points (M,) are at most each of some limits (L,): shape (M, L)."""
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
        ("team_left_by_throw", NUM_CARDS, f"{scale} of both hands after throwing that card, as left_by_throw"),
        ("clean", 1, "whether some throw leaves the own hand, before a draw with the upcard, without deadwood"),
        ("team_left", len(_LIMITS), "whether the best throw leaves both hands at most 0, 5, 10, ... points"),
    ]
    if rules.trades:
        sections += [
            ("left_by_gift", NUM_CARDS, f"{scale} of the team after giving that card, with the best answer and throw"),
            (
                "plan_of_gift",
                NUM_CARDS,
                f"{PREFERENCE} of the best plan that gives it; 0 if far from the best",
            ),
            ("plan_of_throw", NUM_CARDS, f"{PREFERENCE} of the plan that throws it and trades nothing"),
            ("knock_of_gift", NUM_CARDS, f"as plan_of_gift, of plans to knock: a value is {_KNOCK_VALUE}"),
            ("team_left_by_knock", len(_LIMITS), "as team_left, of the plans to knock that lie near the best"),
            ("clean_knock", 1, "whether one of them leaves the knocker without deadwood"),
            ("left_by_take", 1, f"{scale} of the team after taking the upcard, with the best exchange and throw"),
            ("left_by_draw", 1, f"{scale} of the team after drawing a card of the stock, the mean without an exchange"),
            ("gain_of_take", 1, "points by which left_by_take lies below left_by_draw, between -4 and 4"),
        ]
    return sections


def write_team(view: PlayerView, discards: tuple[Rows, Cards, NDArray[np.uint8]], out: Float32Array) -> None:
    """Write the features of a view of M rows into ``out`` (M, W), which holds zeros.

    ``discards`` are the viewers' throws and the deadwood that each leaves, as ``deadwood_after_each`` gives them.
    """
    rules, partners = view.rules, view.partner_bits
    partner_points = deadwood(partners)
    out[:, 0] = in_tens(potential(partners, view.unseen_bits, NUM_BEST))
    out[:, 1] = in_tens(partner_points)
    rows, cards, points = discards
    team_points = points.astype(np.int64) + partner_points[rows]
    out[rows, 2 + cards] = in_tens(team_points)
    start = 2 + NUM_CARDS
    out[rows[points == 0], start] = 1.0
    least = least_of_each(rows, team_points, len(view))
    out[:, start + 1 : start + 1 + len(_LIMITS)] = at_most(least, _LIMITS)
    if not rules.trades:
        return
    start += 1 + len(_LIMITS)
    gifts, plans, plain, knocks = (out[:, start + part * NUM_CARDS :][:, :NUM_CARDS] for part in range(4))
    start += 4 * NUM_CARDS
    limits = out[:, start : start + len(_LIMITS) + 1]
    asked = view.mover == 0
    playing = np.flatnonzero(asked & (view.phase == Phase.PLAY))
    if len(playing):
        some = view.choose(playing)
        found = _write_offers(some, playing, gifts, plans, plain)
        _write_knocks(some, playing, found, found.given, knocks, limits)
    answering = np.flatnonzero(asked & (view.phase == Phase.TRADE_ANSWER))
    if len(answering):
        some = view.choose(answering)
        found = _write_answers(some, answering, gifts, plans)
        _write_knocks(some, answering, found, found.answered, knocks, limits)
    drawing = np.flatnonzero(asked & ((view.phase == Phase.UPCARD_OFFER) | (view.phase == Phase.DRAW)))
    if len(drawing):
        _write_draws(view.choose(drawing), drawing, out[:, start + len(_LIMITS) + 1 :])


def _write_offers(
    view: PlayerView, where: Rows, gifts: Float32Array, plans: Float32Array, discards: Float32Array
) -> Plans:
    """Write what each card that may be offered promises, and each throw without an exchange; return the plans."""
    rows, given, answered = exchanges(view.legal_give_bits, view.partner_bits)
    points, found = plans_of(view, view.hand_bits, view.partner_bits, rows, given, answered)
    offered = given != NO_CARD
    _write_least(gifts, where, rows[offered], given[offered], points[offered])
    worth, trading = _worth(view, found), found.given != NO_CARD
    _write_best(plans, where, found.rows[trading], found.given[trading], worth[trading])
    _write_best(discards, where, found.rows[~trading], found.discarded[~trading], worth[~trading])
    return found


def _write_answers(view: PlayerView, where: Rows, gifts: Float32Array, plans: Float32Array) -> Plans:
    """Write what each answer to an offer promises; return the plans."""
    movers, partners = trading_hands(view)
    rows, answers = rows_and_cards(partners)
    points, found = plans_of(view, movers, partners, rows, np.full(len(rows), NO_CARD), answers)
    _write_least(gifts, where, rows, answers, points)
    _write_best(plans, where, found.rows, found.answered, _worth(view, found))
    return found


def _write_knocks(
    view: PlayerView, where: Rows, plans: Plans, cards: Cards, knocks: Float32Array, limits: Float32Array
) -> None:
    """Write which exchange lets the mover knock with least, ``cards`` (K,) being those that a plan moves first."""
    some = np.flatnonzero(plans.own <= view.knock_limit[plans.rows])
    rows, own, team = plans.rows[some], plans.own[some], plans.team[some]
    worth = preferences(rows, (team - gin_bonus(view.rules, own, team)).astype(float), len(view))
    moved = cards[some] != NO_CARD
    _write_best(knocks, where, rows[moved], cards[some][moved], worth[moved])
    limits[where, :-1] = at_most(least_of_each(rows, team, len(view)), _LIMITS)
    limits[where[rows[own == 0]], -1] = 1.0


def _write_draws(view: PlayerView, where: Rows, out: Float32Array) -> None:
    """Write what taking the upcard and drawing from the stock promise."""
    taking, drawing = left_by_taking(view, cards_to_trade(view)), left_by_drawing(view)
    out[where, 0], out[where, 1] = in_tens(taking), in_tens(drawing)
    out[where, 2] = np.clip(drawing - taking, -4.0, 4.0)


def _worth(view: PlayerView, plans: Plans) -> NDArray[np.float64]:
    """Return how each plan (K,) compares with its row's best."""
    values = values_of_plans(view, plans, TEAM_FUTURE_WEIGHT, FUTURE_DECAY, TEAM_DANGER_WEIGHT)
    return preferences(plans.rows, values, len(view))


def _write_least(out: Float32Array, where: Rows, rows: Rows, cards: Cards, points: Points) -> None:
    """Write for each row and card the least of some points."""
    least = np.full((len(where), NUM_CARDS), np.iinfo(np.int64).max)
    np.minimum.at(least, (rows, cards), points)
    out[where[rows], cards] = in_tens(least[rows, cards])


def _write_best(out: Float32Array, where: Rows, rows: Rows, cards: Cards, values: NDArray[np.float64]) -> None:
    """Write for each row and card the highest of some values."""
    best = np.full((len(where), NUM_CARDS), -np.inf)
    np.maximum.at(best, (rows, cards), values)
    out[where[rows], cards] = best[rows, cards]
