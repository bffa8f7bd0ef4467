"""The showdown: the knockers' spread, the defenders' lay-offs, and the points of the deal.

Works on R deals at once. The steps follow docs/rules.md: which melds the knocking side lays down (row 25),
which of them are open (rows 26, 27), what the defenders lay off (rows 28-29b), who wins and what it
pays (rows 30-34, 37). Where every seat plays for itself, ``free_for_all.py`` settles the pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NUM_RANKS, UInt64Array
from gin_env.cards.melds import best_of_each, least_arrangements, points_of
from gin_env.rules import Rules
from gin_env.scoring.challenge_2021 import greedy_layoffs
from gin_env.scoring.free_for_all import settle_free_for_all
from gin_env.scoring.layoffs import Defence, best_layoffs
from gin_env.scoring.results import Kind, Showdown
from gin_env.scoring.spreads import Spreads, all_spreads, open_melds

Points = NDArray[np.int32]


def settle(
    rules: Rules,
    hands: UInt64Array,
    knocker: NDArray[np.intp],
    first_upcard: NDArray[np.uint8] | None = None,
    boasted: NDArray[np.uint8] | None = None,
) -> Showdown:
    """Settle R deals in which somebody knocked.

    Parameters
    ----------
    rules : Rules
    hands : uint64, shape (R, P)
        The hands after the knocker has thrown his card; with all his cards still there it is big gin.
        Where three rotate, the seat that sits out has none.
    knocker : int, shape (R,)
        The seat that knocked.
    first_upcard : uint8, shape (R,), optional
        Card ids; needed where a spade doubles.
    boasted : uint8, shape (R, P), optional
        1 for seats that have boasted; needed where one may.
    """
    only_first = rules.spread == "first"
    if rules.mode == "free_for_all":
        spreads = all_spreads(hands[np.arange(len(hands)), knocker][:, None], only_first)
        return settle_free_for_all(rules, hands, knocker, spreads, doubled(rules, first_upcard, len(hands)))
    knock_seats, defence_seats = sides(rules, hands, knocker)
    defenders = np.take_along_axis(hands, defence_seats, axis=1)
    spreads = all_spreads(np.take_along_axis(hands, knock_seats, axis=1), only_first)
    replies = reply(rules, spreads, defenders[spreads.rows])
    return settle_spreads(rules, hands, knocker, spreads, replies, first_upcard, boasted)


def doubled(rules: Rules, first_upcard: NDArray[np.uint8] | None, count: int) -> NDArray[np.bool_]:
    """Return in which of some deals (R,) a spade as the first upcard doubles the points (row 20)."""
    if not rules.spade_upcard_doubles:
        return np.zeros(count, dtype=bool)
    if first_upcard is None:
        raise ValueError("spade_upcard_doubles=True: the first upcard is needed")
    return first_upcard < NUM_RANKS


def sides(rules: Rules, hands: UInt64Array, knocker: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the seats of the knocking side (R, K), knocker first, and of the defenders (R, D)."""
    if rules.mode == "rotation":
        left = (knocker + 1) % rules.num_seats
        sits_out = hands[np.arange(len(hands)), left] == 0
        return knocker[:, None], np.where(sits_out, (knocker + 2) % rules.num_seats, left)[:, None]
    steps = np.arange(0, rules.num_seats, 2)
    knock_seats = (knocker[:, None] + steps) % rules.num_seats
    return knock_seats, (knock_seats + 1) % rules.num_seats


def reply(rules: Rules, spreads: Spreads, hands: UInt64Array) -> Defence:
    """Return the defenders' best reply (hands (M, D)) to each of M spreads."""
    set_bits, run_bits = open_melds(rules, spreads)
    if rules.layoff == "optimal":
        return best_layoffs(set_bits, run_bits, hands, rules.cross_chain)
    return _challenge_reply(set_bits, run_bits, hands[:, 0])


def _challenge_reply(set_bits: UInt64Array, run_bits: UInt64Array, hands: UInt64Array) -> Defence:
    """Return the challenge's lay-offs after the best of each defender's equal arrangements (docs/rules.md)."""
    own = least_arrangements(hands)
    loose = hands[own.rows] & ~own.set_bits & ~own.run_bits
    laid = greedy_layoffs(set_bits[own.rows], run_bits[own.rows], loose)
    points = points_of(loose & ~laid)
    chosen = best_of_each(own.rows, len(hands), points)
    return Defence._make(part[chosen][:, None] for part in (laid, points, own.set_bits, own.run_bits))


def settle_spreads(
    rules: Rules,
    hands: UInt64Array,
    knocker: NDArray[np.intp],
    spreads: Spreads,
    defence: Defence,
    first_upcard: NDArray[np.uint8] | None = None,
    boasted: NDArray[np.uint8] | None = None,
) -> Showdown:
    """Take, for each deal, the spread that pays the knocking side most, and count the points."""
    knock_seats, defence_seats = sides(rules, hands, knocker)
    big_gin = np.bitwise_count(hands[np.arange(len(hands)), knocker]) > rules.hand_size
    kind, pays = outcome(rules, spreads.deadwood, defence.deadwood, big_gin[spreads.rows])
    if len(spreads.rows) > len(hands):
        best = best_of_each(spreads.rows, len(hands), -pays)
        spreads, defence, kind, pays = spreads.choose(best), defence.choose(best), kind[best], pays[best]
    won = kind != Kind.UNDERCUT
    teams = knocker % rules.num_teams, defence_seats[:, 0] % rules.num_teams
    pays = pays * (1 + doubled(rules, first_upcard, len(hands)))
    if rules.box_timing == "now" and rules.num_tables == 1:  # two tables share one box
        pays = pays + np.where(won, rules.box_bonus, -rules.box_bonus)
    points, net_points = _book(rules, teams, np.maximum(pays, 0), np.maximum(-pays, 0))
    if boasted is None:
        boasted = np.zeros(hands.shape, dtype=np.uint8)
    if rules.boast:
        own, others = boast_payments(rules, boasted, knock_seats, won)
        extra_points, extra_net = _book(rules, teams, own, others)
        points, net_points = points + extra_points, net_points + extra_net
    deadwood = np.zeros(hands.shape, dtype=np.uint8)
    set_bits, run_bits, laid_bits = np.zeros((3, *hands.shape), dtype=np.uint64)
    for seats, side in ((knock_seats, spreads), (defence_seats, defence)):
        np.put_along_axis(deadwood, seats, side.deadwood, axis=1)
        np.put_along_axis(set_bits, seats, side.set_bits, axis=1)
        np.put_along_axis(run_bits, seats, side.run_bits, axis=1)
    np.put_along_axis(laid_bits, defence_seats, defence.laid_bits, axis=1)
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
    big_gin: NDArray[np.bool_],
) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
    """Return the kind (M,) and what the deal pays the knocking side (M,), negative for an undercut.

    From both sides' deadwood (M, K), (M, D), with the bonuses for gin and undercut; boxes, doubling and
    boasts, which change nothing about which spread is best, come on top.
    """
    own = knock_deadwood.sum(axis=1, dtype=np.int64)
    lead = defence_deadwood.sum(axis=1, dtype=np.int64) - own
    knocker_clean = knock_deadwood[:, 0] == 0
    protected = knocker_clean if rules.gin_protects == "knocker_zero" or not rules.has_partners else own == 0
    won = protected | (lead > 0) | ((lead == 0) & (not rules.undercut_on_tie))
    kind = np.where(won, Kind.KNOCK, Kind.UNDERCUT)
    bonus = np.where(won, 0, -rules.undercut_bonus)
    for case, gin_kind, gin_bonus in _gins(rules, knock_deadwood, big_gin):
        kind = np.where(won & case, gin_kind, kind)
        bonus = np.where(won & case, gin_bonus, bonus)
    return kind.astype(np.uint8), np.where(won, np.maximum(lead, 0), lead) + bonus


def _gins(
    rules: Rules, knock_deadwood: NDArray[np.uint8], big_gin: NDArray[np.bool_]
) -> list[tuple[NDArray[np.bool_], Kind, int]]:
    """Return the gins of a rule system, weakest first: where they hold (M,), their kind and their bonus (row 32)."""
    clean = knock_deadwood == 0
    if not rules.has_partners:
        gins = [(clean[:, 0], Kind.GIN, rules.gin_bonus)]
        return gins if rules.big_gin_bonus is None else [*gins, (big_gin, Kind.BIG_GIN, rules.big_gin_bonus)]
    small = clean.any(axis=1) if rules.small_gin_for == "any_member" else clean[:, 0]
    return [
        (small, Kind.SMALL_GIN, rules.small_gin_bonus),
        (clean.all(axis=1), Kind.TEAM_GIN, rules.team_gin_bonus),
    ]


def _book(
    rules: Rules,
    teams: tuple[NDArray[np.integer], NDArray[np.integer]],
    first: NDArray[np.integer],
    second: NDArray[np.integer],
) -> tuple[Points, Points]:
    """Return points and net points (R, T) of two teams (R,) that get some points (R,) each."""
    points, net_points = np.zeros((2, len(first), rules.num_teams), dtype=np.int32)
    index = np.arange(len(first))
    points[index, teams[0]], points[index, teams[1]] = first, second
    net_points[index, teams[0]], net_points[index, teams[1]] = first - second, second - first
    return points, net_points


def boast_payments(
    rules: Rules, boasted: NDArray[np.uint8], knock_seats: NDArray[np.intp], won: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what boasts pay the knocking side and the other one, both (R,) (row 37)."""
    wins, undercut, others_win, others_undercut, _ = rules.boast_points
    own = np.take_along_axis(boasted, knock_seats, axis=1).sum(axis=1, dtype=np.int64)
    others = boasted.sum(axis=1, dtype=np.int64) - own
    return (
        np.where(won, own * wins + others * others_win, 0),
        np.where(won, 0, own * undercut + others * others_undercut),
    )


def boasts_unanswered(rules: Rules, boasted: NDArray[np.uint8], dealer: NDArray[np.uint8]) -> tuple[Points, Points]:
    """Return points and net points (R, T) of dead deals: each boast (R, P) pays the other side (row 37)."""
    amount = rules.boast_points[-1]
    count = len(boasted)
    seats = (dealer[:, None] + 1 + np.arange(rules.num_hands)).astype(np.intp) % rules.num_seats
    teams = seats[:, 0] % rules.num_teams, seats[:, 1] % rules.num_teams
    by_team = np.zeros((count, rules.num_teams), dtype=np.int64)
    for seat in range(rules.num_seats):
        by_team[:, rules.team_of(seat)] += boasted[:, seat]
    index = np.arange(count)
    return _book(rules, teams, by_team[index, teams[1]] * amount, by_team[index, teams[0]] * amount)
