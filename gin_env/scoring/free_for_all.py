"""The showdown where every seat plays for itself: each pair of knocker and defender is settled by itself.

The defenders lay off one after another, clockwise from the knocker, each for himself, onto the melds as
they then lie (docs/rules.md, fine print).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NUM_RANKS, UInt64Array
from gin_env.cards.melds import best_of_each, fourth_cards, neighbours
from gin_env.rules import Rules
from gin_env.scoring.layoffs import Defence, best_layoffs
from gin_env.scoring.results import Kind, Showdown
from gin_env.scoring.spreads import Spreads, open_melds

_SPADES = np.uint64(2**NUM_RANKS - 1)
_ONE = np.uint64(1)


def settle_free_for_all(
    rules: Rules,
    hands: UInt64Array,
    knocker: NDArray[np.intp],
    spreads: Spreads,
    doubled: NDArray[np.bool_],
) -> Showdown:
    """Settle R deals of hands (R, P) for the spread that pays the knocker most in all pairs together.

    ``doubled`` (R,) says where a spade as the first upcard doubles the points.
    """
    players = rules.num_players
    clockwise = (knocker[:, None] + np.arange(players)) % players  # (R, P) the seats, the knocker first
    defence = _one_after_another(rules, spreads, np.take_along_axis(hands, clockwise[:, 1:], axis=1)[spreads.rows])
    pairs = _pair_points(rules, spreads.deadwood[:, 0], defence.deadwood) * (1 + doubled[spreads.rows])[:, None, None]
    points, net_points, winner = _add_up(rules, pairs)
    if len(spreads.rows) > len(hands):
        best = best_of_each(spreads.rows, len(hands), -net_points[:, 0])
        spreads, defence = spreads.choose(best), defence.choose(best)
        points, net_points, winner = points[best], net_points[best], winner[best]
    places = np.argsort(clockwise, axis=1)  # back from places to seats
    none = np.zeros((len(hands), 1), dtype=np.uint64)

    def by_seat(first: NDArray, others: NDArray) -> NDArray:
        return np.take_along_axis(np.concatenate([first, others], axis=1), places, axis=1)

    return Showdown(
        kind=np.where(spreads.deadwood[:, 0] == 0, Kind.GIN, Kind.KNOCK).astype(np.uint8),
        winner=np.where(winner < 0, -1, (knocker + winner) % players).astype(np.int8),
        knocker=knocker.astype(np.uint8),
        boasted=np.zeros(hands.shape, dtype=np.uint8),
        points=np.take_along_axis(points, places, axis=1).astype(np.int32),
        net_points=np.take_along_axis(net_points, places, axis=1).astype(np.int32),
        deadwood=by_seat(spreads.deadwood, defence.deadwood),
        set_bits=by_seat(spreads.set_bits, defence.set_bits),
        run_bits=by_seat(spreads.run_bits, defence.run_bits),
        laid_bits=by_seat(none, defence.laid_bits),
    )


def _one_after_another(rules: Rules, spreads: Spreads, hands: UInt64Array) -> Defence:
    """Return what the defenders (hands (M, D), clockwise) lay off, each for himself."""
    set_bits, run_bits = open_melds(rules, spreads)
    replies = []
    for place in range(hands.shape[1]):
        found = best_layoffs(set_bits, run_bits, hands[:, [place]])
        replies.append(found)
        if rules.cross_chain:
            set_bits, run_bits = _place(set_bits, run_bits, found.laid_bits[:, 0])
    return Defence._make(np.concatenate(parts, axis=1) for parts in zip(*replies, strict=True))


def _place(set_bits: UInt64Array, run_bits: UInt64Array, laid: UInt64Array) -> tuple[UInt64Array, UInt64Array]:
    """Return the sets and runs (M,) with one seat's laid cards on them.

    A card that fits a set and a run goes to the meld with the lowest card, as long as the seat's other
    cards can still be laid. The run is lower for spades alone: any set of three that lacks another suit holds a spade.
    """
    on_sets_only = fourth_cards(set_bits) & laid
    for_runs = laid
    question = on_sets_only & ~_SPADES
    while question.any():
        card = question & (~question + _ONE)
        question ^= card
        without = for_runs & ~card
        fits = (laid & ~on_sets_only & ~_grown(run_bits, without)) == 0
        for_runs = np.where(fits, without, for_runs)
    runs = _grown(run_bits, for_runs)
    return set_bits | (laid & ~runs), runs


def _grown(runs: UInt64Array, cards: UInt64Array) -> UInt64Array:
    """Return runs (M,) with all cards on them that can be laid there, one after another."""
    while True:
        more = neighbours(runs) & cards & ~runs
        if not more.any():
            return runs
        runs = runs | more


def _add_up(rules: Rules, pairs: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return points and net points (M, P) and the winner (M,), -1 for none, of what each place gets from each other."""
    points = pairs.sum(axis=2)
    net_points = points - pairs.sum(axis=1)
    most = points.max(axis=1, keepdims=True)
    winner = np.where((points == most).sum(axis=1) == 1, points.argmax(axis=1), -1)
    if rules.box_timing == "now":  # a box counts against every other seat
        box = (np.arange(points.shape[1]) == winner[:, None]) * rules.box_bonus
        points = points + box
        net_points = net_points + box * points.shape[1] - box.sum(axis=1, keepdims=True)
    return points, net_points, winner


def _pair_points(
    rules: Rules, knock_deadwood: NDArray[np.uint8], defence_deadwood: NDArray[np.uint8]
) -> NDArray[np.int64]:
    """Return what each place gets from each other, (M, P, P), the knocker's place first (docs/rules.md, section 2)."""
    counts = np.concatenate([knock_deadwood[:, None], defence_deadwood], axis=1).astype(np.int64)
    paid = np.zeros((*counts.shape, counts.shape[1]), dtype=np.int64)
    gin = counts[:, :1] == 0
    lead = counts[:, 1:] - counts[:, :1]
    wins = gin | (lead > 0) | ((lead == 0) & (not rules.undercut_on_tie))
    if rules.ffa_scoring == "pairwise":
        paid[:, 0, 1:] = np.where(wins, lead + gin * rules.gin_bonus, 0)
        paid[:, 1:, 0] = np.where(wins, 0, rules.undercut_bonus - lead)
        return paid
    all_won = wins.all(axis=1, keepdims=True)
    paid[:, 0, 1:] = np.where(all_won, lead + gin * rules.gin_bonus, 0)
    lowest = (counts[:, 1:] == counts[:, 1:].min(axis=1, keepdims=True)) & ~all_won
    leads = counts[:, None, :] - counts[:, 1:, None]  # (M, D, P) over the others' counts
    paid[:, 1:] = leads * lowest[:, :, None]
    paid[:, 1:, 0] += lowest * rules.undercut_bonus
    return paid
