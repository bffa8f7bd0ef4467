"""The showdown: from a knock to the points of the deal, for R deals at once.

``settle`` reads from top to bottom: the two sides, the spreads that the knocking side may lay down (``spreads.py``),
what the defenders lay off on each (``layoffs.py``), and who wins and how many points (``settle_spreads``). Rules that
few games use have modules of their own: ``free_for_all.py``, ``challenge_2021.py``, ``boasts.py``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NUM_RANKS, UInt64Array
from gin_env.cards.melds import best_of_each
from gin_env.rules import Rules
from gin_env.scoring.boasts import boast_payments
from gin_env.scoring.challenge_2021 import challenge_layoffs
from gin_env.scoring.free_for_all import settle_free_for_all
from gin_env.scoring.layoffs import Defence, best_layoffs
from gin_env.scoring.results import Kind, Showdown, box_bonus_now, kind_bonuses, knocker_wins, two_team_points
from gin_env.scoring.spreads import Spreads, all_spreads, open_melds


def settle(
    rules: Rules,
    hands: UInt64Array,
    knocker: NDArray[np.intp],
    first_upcard: NDArray[np.uint8] | None = None,
    boasted: NDArray[np.uint8] | None = None,
) -> Showdown:
    """Settle R deals that ended with a knock.

    Parameters
    ----------
    rules : Rules
    hands : uint64, shape (R, P)
        The hands after the knocker's discard; a knocker who still holds all cards has big gin.
        Where three rotate, the seat that sits out holds none.
    knocker : int, shape (R,)
        The seat that knocked.
    first_upcard : uint8, shape (R,), optional
        Card ids; required with ``spade_upcard_doubles``.
    boasted : uint8, shape (R, P), optional
        1 for seats that have boasted; by default nobody has.

    Raises
    ------
    ValueError
        ``first_upcard`` is missing although it matters.
    """
    knock_seats, defence_seats = sides(rules, hands, knocker)
    spreads = all_spreads(rules, np.take_along_axis(hands, knock_seats, axis=1))
    if rules.mode == "free_for_all":
        return settle_free_for_all(rules, hands, knocker, spreads, doubled(rules, first_upcard, len(hands)))

    defenders = np.take_along_axis(hands, defence_seats, axis=1)
    replies = lay_off(rules, spreads, defenders[spreads.rows])
    return settle_spreads(rules, hands, knocker, spreads, replies, first_upcard, boasted)


def sides(rules: Rules, hands: UInt64Array, knocker: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the seats of the knocking side (R, K), the knocker first, and of the defenders (R, D), clockwise."""
    num_seats = rules.num_seats
    if rules.mode == "rotation":
        next_seat = (knocker + 1) % num_seats
        sits_out = hands[np.arange(len(hands)), next_seat] == 0
        return knocker[:, None], np.where(sits_out, (knocker + 2) % num_seats, next_seat)[:, None]
    if rules.mode == "free_for_all":
        return knocker[:, None], (knocker[:, None] + np.arange(1, num_seats)) % num_seats

    # Every other seat belongs to the knocking side.
    knock_seats = (knocker[:, None] + np.arange(0, num_seats, 2)) % num_seats
    return knock_seats, (knock_seats + 1) % num_seats


def lay_off(rules: Rules, spreads: Spreads, hands: UInt64Array) -> Defence:
    """Return what the defenders (hands (M, D)) lay off on each of M spreads."""
    set_bits, run_bits = open_melds(rules, spreads)
    if rules.layoff == "greedy":
        return challenge_layoffs(set_bits, run_bits, hands[:, 0])
    return best_layoffs(set_bits, run_bits, hands, rules.cross_chain)


def settle_spreads(
    rules: Rules,
    hands: UInt64Array,
    knocker: NDArray[np.intp],
    spreads: Spreads,
    replies: Defence,
    first_upcard: NDArray[np.uint8] | None = None,
    boasted: NDArray[np.uint8] | None = None,
) -> Showdown:
    """Choose for each deal the spread that pays the knocking side most, and count the points."""
    num_deals = len(hands)
    knock_seats, defence_seats = sides(rules, hands, knocker)

    # Who wins and by what, for every spread; then only the best spread of each deal.
    has_big_gin = np.bitwise_count(hands[np.arange(num_deals), knocker]) > rules.hand_size
    kind, pays = outcome(rules, spreads.deadwood, replies.deadwood, has_big_gin[spreads.rows])
    if len(spreads.rows) > num_deals:
        best = best_of_each(spreads.rows, num_deals, -pays)
        spreads, replies, kind, pays = spreads.choose(best), replies.choose(best), kind[best], pays[best]

    # The points: of the knock, twice after a spade; then the box, and boasts.
    won = kind != Kind.UNDERCUT
    box_bonus = box_bonus_now(rules)
    pays = pays * (1 + doubled(rules, first_upcard, num_deals))
    if box_bonus:
        pays = pays + np.where(won, box_bonus, -box_bonus)
    to_knockers, to_defenders = np.maximum(pays, 0), np.maximum(-pays, 0)
    if boasted is None:
        boasted = np.zeros(hands.shape, dtype=np.uint8)
    if rules.boast:
        boasts_to_knockers, boasts_to_defenders = boast_payments(rules, boasted, knock_seats, won)
        to_knockers, to_defenders = to_knockers + boasts_to_knockers, to_defenders + boasts_to_defenders
    teams = knocker % rules.num_teams, defence_seats[:, 0] % rules.num_teams
    points, net_points = two_team_points(rules, teams, to_knockers, to_defenders)

    # Back from sides to seats.
    deadwood = np.zeros(hands.shape, dtype=np.uint8)
    set_bits, run_bits, laid_bits = np.zeros((3, *hands.shape), dtype=np.uint64)
    for seats, side in ((knock_seats, spreads), (defence_seats, replies)):
        np.put_along_axis(deadwood, seats, side.deadwood, axis=1)
        np.put_along_axis(set_bits, seats, side.set_bits, axis=1)
        np.put_along_axis(run_bits, seats, side.run_bits, axis=1)
    np.put_along_axis(laid_bits, defence_seats, replies.laid_bits, axis=1)

    return Showdown(
        kind=kind,
        winner=np.where(won, *teams).astype(np.int8),
        knocker=knocker.astype(np.uint8),
        boasted=boasted,
        points=points,
        net_points=net_points,
        deadwood=deadwood,
        set_bits=set_bits,
        run_bits=run_bits,
        laid_bits=laid_bits,
    )


def outcome(
    rules: Rules,
    knock_deadwood: NDArray[np.uint8],
    defence_deadwood: NDArray[np.uint8],
    has_big_gin: NDArray[np.bool_],
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the kind of result (M,) and what it pays the knocking side (M,), negative for an undercut.

    The payment is the difference of both sides' deadwood (M, K), (M, D) and the bonus for gin or the undercut.
    Boxes, doubling and boasts do not change which spread is best; they come on top.
    """
    lead = defence_deadwood.sum(axis=1, dtype=np.int64) - knock_deadwood.sum(axis=1, dtype=np.int64)
    won = knocker_wins(rules, lead, is_protected(rules, knock_deadwood))
    kind = np.where(won, _kind_when_won(rules, knock_deadwood, has_big_gin), Kind.UNDERCUT).astype(np.uint8)
    bonus = kind_bonuses(rules)[kind]
    return kind, np.where(won, np.maximum(lead, 0) + bonus, lead - bonus)


def is_protected(rules: Rules, knock_deadwood: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which knocks cannot be undercut (M,), from the knocking side's deadwood (M, K) (``gin_protects``)."""
    if rules.has_partners and rules.gin_protects == "team_zero":
        return knock_deadwood.sum(axis=1, dtype=np.int64) == 0
    return knock_deadwood[:, 0] == 0


def _kind_when_won(
    rules: Rules, knock_deadwood: NDArray[np.uint8], has_big_gin: NDArray[np.bool_]
) -> NDArray[np.integer]:
    """Return the kind (M,) of knocks that win, from the knocking side's deadwood (M, K)."""
    has_no_deadwood = knock_deadwood == 0
    if rules.has_partners:
        small = has_no_deadwood.any(axis=1) if rules.small_gin_for == "any_member" else has_no_deadwood[:, 0]
        kind = np.where(small, Kind.SMALL_GIN, Kind.KNOCK)
        return np.where(has_no_deadwood.all(axis=1), Kind.TEAM_GIN, kind)

    kind = np.where(has_no_deadwood[:, 0], Kind.GIN, Kind.KNOCK)
    return np.where(has_big_gin, Kind.BIG_GIN, kind) if rules.has_big_gin else kind


def doubled(rules: Rules, first_upcard: NDArray[np.uint8] | None, num_deals: int) -> NDArray[np.bool_]:
    """Return in which deals (R,) a spade as the first upcard doubles the points (``spade_upcard_doubles``)."""
    if not rules.spade_upcard_doubles:
        return np.zeros(num_deals, dtype=bool)
    if first_upcard is None:
        raise ValueError("first_upcard=None: spade_upcard_doubles=True depends on the first upcard, give it")
    return first_upcard < NUM_RANKS
