"""The showdown: the knockers' spread, the defenders' lay-offs, and the points of the deal.

Works on R deals at once. The steps follow docs/rules.md: which melds the knocking side lays down (row 25),
which of them are open (rows 26, 27), what the defenders lay off (rows 28-29b), who wins and what it
pays (rows 30-34).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import UInt64Array
from gin_env.layoffs import Defence, best_layoffs, greedy_layoffs
from gin_env.melds import best_of_each, first_arrangements, least_arrangements, points_of
from gin_env.rules import Rules
from gin_env.state import Kind

_CLOSED = np.uint64(0)


@dataclass(eq=False)
class Showdown:
    """What the showdowns of R deals come to (arrays named as in ``State``, with R rows)."""

    kind: NDArray[np.uint8]
    winner: NDArray[np.int8]
    points: NDArray[np.int16]
    deadwood: NDArray[np.uint8]
    set_bits: UInt64Array
    run_bits: UInt64Array
    laid_bits: UInt64Array


@dataclass(eq=False)
class Spreads:
    """Ways for the knocking side to lay its melds: M spreads, grouped by ascending row of R deals."""

    rows: NDArray[np.intp]  #: (M,)
    set_bits: UInt64Array  #: (M, K) for each of the K seats of the knocking side, the knocker first
    run_bits: UInt64Array  #: (M, K)
    deadwood: NDArray[np.uint8]  #: (M, K)

    def choose(self, index: NDArray[np.intp]) -> Spreads:
        """Return some of the spreads."""
        return Spreads(self.rows[index], self.set_bits[index], self.run_bits[index], self.deadwood[index])


def settle(rules: Rules, hands: UInt64Array, knocker: NDArray[np.intp]) -> Showdown:
    """Settle R deals in which somebody knocked.

    Parameters
    ----------
    rules : Rules
    hands : uint64, shape (R, P)
        The hands after the knocker has thrown his card.
    knocker : int, shape (R,)
        The seat that knocked.
    """
    knock_seats, defence_seats = sides(rules, knocker)
    defenders = np.take_along_axis(hands, defence_seats, axis=1)
    spreads = all_spreads(np.take_along_axis(hands, knock_seats, axis=1), rules.spread == "first")
    return settle_spreads(rules, hands, knocker, spreads, reply(rules, spreads, defenders[spreads.rows]))


def sides(rules: Rules, knocker: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the seats of the knocking side (R, K), knocker first, and of the defenders (R, D)."""
    steps = np.arange(0, rules.num_players, 2)
    knock_seats = (knocker[:, None] + steps) % rules.num_players
    return knock_seats, (knock_seats + 1) % rules.num_players


def all_spreads(hands: UInt64Array, only_first: bool = False) -> Spreads:
    """Return every least-deadwood spread of the knocking side's hands (R, K), the lowest cards first."""
    rows: NDArray[np.intp] = np.arange(len(hands))
    columns: list[tuple[UInt64Array, UInt64Array, NDArray[np.uint8]]] = []
    for seat in range(hands.shape[1]):
        found = first_arrangements(hands[rows, seat]) if only_first else least_arrangements(hands[rows, seat])
        columns = [(sets[found.rows], runs[found.rows], points[found.rows]) for sets, runs, points in columns]
        columns.append((found.set_bits, found.run_bits, found.deadwood))
        rows = rows[found.rows]
    set_bits, run_bits, points = (np.stack(parts, axis=1) for parts in zip(*columns, strict=True))
    return Spreads(rows, set_bits, run_bits, points)


def open_seats(rules: Rules, deadwood: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return whose melds may be built on: (M, K), from the knocking side's deadwood (M, K)."""
    clean = deadwood == 0
    if rules.team_layoff == "per_member" or not rules.has_partners:
        is_open = ~clean
    elif rules.team_layoff == "all":
        is_open = np.repeat(~clean.all(axis=1, keepdims=True), clean.shape[1], axis=1)
    else:  # knocker_only
        is_open = np.zeros_like(clean)
        is_open[:, 0] = ~clean[:, 0]
    if rules.layoff_on_gin:
        opened = np.ones_like(clean)
        if rules.has_partners and rules.team_layoff == "knocker_only":
            opened[:, 1:] = False
        is_open = is_open | (opened & clean)
    return is_open


def reply(rules: Rules, spreads: Spreads, hands: UInt64Array) -> Defence:
    """Return the defenders' best reply (hands (M, D)) to each of M spreads."""
    is_open = open_seats(rules, spreads.deadwood)
    set_bits = np.bitwise_or.reduce(np.where(is_open, spreads.set_bits, _CLOSED), axis=1)
    run_bits = np.bitwise_or.reduce(np.where(is_open, spreads.run_bits, _CLOSED), axis=1)
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
    rules: Rules, hands: UInt64Array, knocker: NDArray[np.intp], spreads: Spreads, defence: Defence
) -> Showdown:
    """Take, for each deal, the spread that pays the knocking side most, and count the points."""
    knockers = knocker[spreads.rows]
    kind, winner, points = count_points(rules, knockers, spreads.deadwood, defence.deadwood)
    if len(spreads.rows) > len(hands):
        index, own = np.arange(len(knockers)), knockers % rules.num_teams
        pays = points[index, own] - points[index, 1 - own]
        best = best_of_each(spreads.rows, len(hands), -pays)
        spreads, defence = spreads.choose(best), defence.choose(best)
        kind, winner, points = kind[best], winner[best], points[best]
    return _lay_out(rules, hands, knocker, spreads, defence, kind, winner, points)


def count_points(
    rules: Rules,
    knocker: NDArray[np.intp],
    knock_deadwood: NDArray[np.uint8],
    defence_deadwood: NDArray[np.uint8],
) -> tuple[NDArray[np.uint8], NDArray[np.int8], NDArray[np.int16]]:
    """Return kind (R,), winning team (R,) and points (R, T) from both sides' deadwood (R, K), (R, D)."""
    own = knock_deadwood.sum(axis=1, dtype=np.int64)
    lead = defence_deadwood.sum(axis=1, dtype=np.int64) - own
    knocker_clean = knock_deadwood[:, 0] == 0
    protected = knocker_clean if rules.gin_protects == "knocker_zero" or not rules.has_partners else own == 0
    won = protected | (lead > 0) | ((lead == 0) & (not rules.undercut_on_tie))
    kind = np.where(won, Kind.KNOCK, Kind.UNDERCUT)
    bonus = np.where(won, 0, rules.undercut_bonus)
    for case, gin_kind, gin_bonus in _gins(rules, knock_deadwood):
        kind = np.where(won & case, gin_kind, kind)
        bonus = np.where(won & case, gin_bonus, bonus)
    if rules.box_timing == "now":
        bonus = bonus + rules.box_bonus
    knock_team = knocker % rules.num_teams
    winner = np.where(won, knock_team, 1 - knock_team)
    points = np.zeros((len(knocker), rules.num_teams), dtype=np.int16)
    points[np.arange(len(knocker)), winner] = np.where(won, np.maximum(lead, 0), -lead) + bonus
    return kind.astype(np.uint8), winner.astype(np.int8), points


def _gins(rules: Rules, knock_deadwood: NDArray[np.uint8]) -> list[tuple[NDArray[np.bool_], Kind, int]]:
    """Return the gins of a rule system, weakest first: where they hold (R,), their kind and their bonus (row 32)."""
    clean = knock_deadwood == 0
    if not rules.has_partners:
        return [(clean[:, 0], Kind.GIN, rules.gin_bonus)]
    small = clean.any(axis=1) if rules.small_gin_for == "any_member" else clean[:, 0]
    return [
        (small, Kind.SMALL_GIN, rules.small_gin_bonus),
        (clean.all(axis=1), Kind.TEAM_GIN, rules.team_gin_bonus),
    ]


def _lay_out(
    rules: Rules,
    hands: UInt64Array,
    knocker: NDArray[np.intp],
    spreads: Spreads,
    defence: Defence,
    kind: NDArray[np.uint8],
    winner: NDArray[np.int8],
    points: NDArray[np.int16],
) -> Showdown:
    """Write both sides' cards into arrays by seat."""
    knock_seats, defence_seats = sides(rules, knocker)
    result = Showdown(
        kind=kind,
        winner=winner,
        points=points,
        deadwood=np.zeros(hands.shape, dtype=np.uint8),
        set_bits=np.zeros_like(hands),
        run_bits=np.zeros_like(hands),
        laid_bits=np.zeros_like(hands),
    )
    np.put_along_axis(result.deadwood, knock_seats, spreads.deadwood, axis=1)
    np.put_along_axis(result.set_bits, knock_seats, spreads.set_bits, axis=1)
    np.put_along_axis(result.run_bits, knock_seats, spreads.run_bits, axis=1)
    np.put_along_axis(result.deadwood, defence_seats, defence.deadwood, axis=1)
    np.put_along_axis(result.laid_bits, defence_seats, defence.laid_bits, axis=1)
    np.put_along_axis(result.set_bits, defence_seats, defence.set_bits, axis=1)
    np.put_along_axis(result.run_bits, defence_seats, defence.run_bits, axis=1)
    return result
