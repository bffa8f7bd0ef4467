"""What a view promises a partnership whose partners see each other's cards: its part of the features of outlook.py.

A trade is judged by **plans** (plans.py): an exchange or none, then a throw. A plan's value is the deadwood that it
leaves the team and, with a weight that falls from turn to turn, the prospects of both hands; weights and slacks are
those that were measured for ``team-lookahead`` (docs/agents.md).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_BITS, NO_CARD, NUM_CARDS, UInt64Array, rows_and_cards
from gin_env.melds import deadwood, deadwood_after_each
from gin_env.plans import Cards, Points, Rows, exchanges, nearest_exchanges, worthwhile_throws
from gin_env.prospects import least_after_throw, prospects
from gin_env.rules import Rules
from gin_env.state import Phase
from gin_env.view import PlayerView

Float32Array = NDArray[np.float32]

#: Deadwood that is written as 0.
CENTRE = 20.0
#: Unseen cards that count for a hand's prospects: those that leave least (agents/lookahead.py has it from its source).
NUM_BEST = 7
#: Weight of the prospects beside the deadwood in a deal's first turn, and by what it falls from turn to turn.
_FUTURE_WEIGHT, _FUTURE_DECAY = 4.0, 0.9


def in_tens(points: NDArray) -> NDArray[np.float64]:
    """Return deadwood as features."""
    return (CENTRE - points) / 10.0


def team_sections(rules: Rules) -> list[tuple[str, int, str]]:
    """Return name, width and meaning of the features, in order."""
    scale = f"({CENTRE:g} - deadwood) / 10"
    sections = [
        ("partner_prospects", 1, "as prospects, of the partner's hand"),
        ("partner_left", 1, f"{scale} of the partner's hand"),
        ("team_left_by_throw", NUM_CARDS, f"{scale} of both hands after throwing that card, as left_by_throw"),
    ]
    if rules.trades:
        best = "1 + (value of the best plan - value) / 10"
        sections += [
            ("left_by_gift", NUM_CARDS, f"{scale} of the team after giving that card, with the best answer and throw"),
            ("plan_of_gift", NUM_CARDS, f"{best} of the best plan that gives that card; 0 for those far from the best"),
            ("plan_of_throw", NUM_CARDS, f"{best} of the plan that throws it and trades nothing"),
            ("left_by_take", 1, f"{scale} of the team after taking the upcard, with the best exchange and throw"),
            ("left_by_draw", 1, f"{scale} of the team after drawing a card of the stock, the mean without an exchange"),
        ]
    return sections


def write_team(view: PlayerView, out: Float32Array) -> None:
    """Write the features of a view of M rows into ``out`` (M, W), which holds zeros."""
    rules, partners = view.rules, view.partner_bits
    hands, upcards = view.hand_bits, CARD_BITS[view.upcard]
    full = np.where(np.bitwise_count(hands) <= rules.hand_size, hands | upcards, hands)
    partner_points = deadwood(partners)
    out[:, 0] = in_tens(prospects(partners, view.unseen_bits, NUM_BEST))
    out[:, 1] = in_tens(partner_points)
    rows, cards, points = deadwood_after_each(full, full & ~CARD_BITS[view.taken_card])
    out[rows, 2 + cards] = in_tens(points + partner_points[rows].astype(np.int64))
    if not rules.trades:
        return
    start = 2 + NUM_CARDS
    gifts, plans, throws = (out[:, start + part * NUM_CARDS :][:, :NUM_CARDS] for part in range(3))
    takes = out[:, start + 3 * NUM_CARDS :]
    playing = np.flatnonzero((view.phase == Phase.PLAY) & (view.legal_give_bits != 0))
    if len(playing):
        _write_offers(view.choose(playing), playing, gifts, plans, throws)
    answering = np.flatnonzero(view.phase == Phase.TRADE_ANSWER)
    if len(answering):
        _write_answers(view.choose(answering), answering, gifts, plans)
    drawing = np.flatnonzero(view.phase <= Phase.DRAW)
    if len(drawing):
        _write_draws(view.choose(drawing), drawing, takes)


def _write_offers(
    view: PlayerView, where: Rows, gifts: Float32Array, plans: Float32Array, throws: Float32Array
) -> None:
    """Write what each card that may be offered promises, and each throw without an exchange."""
    judged = _judge(view, view.hand_bits, view.partner_bits, *exchanges(view.legal_give_bits, view.partner_bits))
    given = judged.given != NO_CARD
    _write_least(gifts, where, judged.rows[given], judged.given[given], judged.points[given])
    found = judged.plans
    trading = found.given != NO_CARD
    _write_best(plans, where, found.rows[trading], found.given[trading], found.relative[trading])
    _write_best(throws, where, found.rows[~trading], found.thrown[~trading], found.relative[~trading])


def _write_answers(view: PlayerView, where: Rows, gifts: Float32Array, plans: Float32Array) -> None:
    """Write what each answer to an offer promises."""
    # By rule the mover may answer for his partner: then the viewer's own hand is the mover's.
    own_turn = view.turn_seat == 0
    movers = np.where(own_turn, view.hand_bits, view.partner_bits)
    mates = np.where(own_turn, view.partner_bits, view.hand_bits)
    rows, answers = rows_and_cards(mates)
    judged = _judge(view, movers, mates, rows, np.full(len(rows), NO_CARD), answers)
    _write_least(gifts, where, judged.rows, judged.answered, judged.points)
    _write_best(plans, where, judged.plans.rows, judged.plans.answered, judged.plans.relative)


def _write_draws(view: PlayerView, where: Rows, out: Float32Array) -> None:
    """Write what taking the upcard and drawing from the stock promise."""
    hands, mates, upcards = view.hand_bits, view.partner_bits, CARD_BITS[view.upcard]
    rows, given, answered = exchanges(hands | upcards if view.rules.trade_taken_card else hands, mates)
    swapped = CARD_BITS[given] ^ CARD_BITS[answered]
    points = least_after_throw((hands | upcards)[rows] ^ swapped, upcards[rows]).astype(np.int64)
    points += deadwood(mates[rows] ^ swapped)
    taking = np.full(len(view), np.iinfo(np.int64).max)
    np.minimum.at(taking, rows, points)
    out[where, 0] = in_tens(taking)
    out[where, 1] = in_tens(prospects(hands, view.unseen_bits, NUM_CARDS - 1) + deadwood(mates))


class _Plans(NamedTuple):
    """K plans: the row of each, its cards, and 1 + how far it lies below the row's best, in tens of points."""

    rows: Rows
    given: Cards
    answered: Cards
    thrown: Cards
    relative: NDArray[np.float64]


class _Judged(NamedTuple):
    """K exchanges with the deadwood that each leaves the team, and the plans that the nearest of them begin."""

    rows: Rows
    given: Cards
    answered: Cards
    points: Points
    plans: _Plans


def _judge(
    view: PlayerView, movers: UInt64Array, mates: UInt64Array, rows: Rows, given: Cards, answered: Cards
) -> _Judged:
    barred, unseen = CARD_BITS[view.taken_card], view.unseen_bits
    swapped = CARD_BITS[given] ^ CARD_BITS[answered]
    mover_hands, mate_hands = movers[rows] ^ swapped, mates[rows] ^ swapped
    mate_points = deadwood(mate_hands).astype(np.int64)
    points = least_after_throw(mover_hands, barred[rows]) + mate_points
    near = nearest_exchanges(rows, points, len(view))
    of_rows, mover_hands, mate_hands = rows[near], mover_hands[near], mate_hands[near]
    mate_future = prospects(mate_hands, unseen[of_rows], NUM_BEST)
    of, thrown, own = worthwhile_throws(mover_hands, mover_hands & ~barred[of_rows])
    plan_rows = of_rows[of]
    future = prospects(mover_hands[of] ^ CARD_BITS[thrown], unseen[plan_rows], NUM_BEST) + mate_future[of]
    weights = _FUTURE_WEIGHT * _FUTURE_DECAY ** (view.turn // view.rules.num_hands)
    values = own + mate_points[near][of] + weights[plan_rows] * future
    best = np.full(len(view), np.inf)
    np.minimum.at(best, plan_rows, values)
    relative = 1.0 + (best[plan_rows] - values) / 10.0
    plans = _Plans(plan_rows, given[near][of], answered[near][of], thrown, relative)
    return _Judged(rows, given, answered, points, plans)


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
