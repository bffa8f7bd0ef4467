"""The showdown where all play for themselves: the knocker against each of the others, pair by pair or pooled.

The defenders lay off one after another, clockwise from the knocker, each onto the melds as they are by then.

Arrays over *places* list the seats in that order: the knocker first, then the others clockwise.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NUM_RANKS, UInt64Array
from gin_env.cards.melds import best_of_each, fourth_cards
from gin_env.rules import Rules
from gin_env.scoring.layoffs import Defence, best_layoffs, extended_runs
from gin_env.scoring.results import Kind, Showdown, box_bonus_now, kind_bonuses, knocker_wins
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
    num_players = rules.num_players
    seats = (knocker[:, None] + np.arange(num_players)) % num_players  # (R, P) the seat of each place
    defence = _lay_off_in_turn(rules, spreads, np.take_along_axis(hands, seats[:, 1:], axis=1)[spreads.rows])

    payments = pair_payments(rules, np.concatenate([spreads.deadwood, defence.deadwood], axis=1))
    payments = payments * (1 + doubled[spreads.rows])[:, None, None]
    points, net_points, winner = _add_up(rules, payments)

    if len(spreads.rows) > len(hands):
        best = best_of_each(spreads.rows, len(hands), -net_points[:, 0])
        spreads, defence = spreads.choose(best), defence.choose(best)
        points, net_points, winner = points[best], net_points[best], winner[best]

    # Results so far are by place: put them back by seat.
    place_of_seat = np.argsort(seats, axis=1)

    def by_seat(of_knocker: NDArray, of_others: NDArray) -> NDArray:
        return np.take_along_axis(np.concatenate([of_knocker, of_others], axis=1), place_of_seat, axis=1)

    no_cards = np.zeros((len(hands), 1), dtype=np.uint64)
    return Showdown(
        kind=np.where(spreads.deadwood[:, 0] == 0, Kind.GIN, Kind.KNOCK).astype(np.uint8),
        winner=np.where(winner < 0, -1, (knocker + winner) % num_players).astype(np.int8),
        knocker=knocker.astype(np.uint8),
        boasted=np.zeros(hands.shape, dtype=np.uint8),
        points=np.take_along_axis(points, place_of_seat, axis=1).astype(np.int32),
        net_points=np.take_along_axis(net_points, place_of_seat, axis=1).astype(np.int32),
        deadwood=by_seat(spreads.deadwood, defence.deadwood),
        set_bits=by_seat(spreads.set_bits, defence.set_bits),
        run_bits=by_seat(spreads.run_bits, defence.run_bits),
        laid_bits=by_seat(no_cards, defence.laid_bits),
    )


def undercutters(rules: Rules, deadwood: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return which of the others score against the knocker, (M, P - 1), from the deadwood of all places (M, P).

    Pair by pair these are all players that the knocker does not beat. Pooled, the knocker must beat everybody;
    otherwise those with the lowest deadwood score.
    """
    knocker, others = deadwood[:, :1].astype(np.int64), deadwood[:, 1:].astype(np.int64)
    is_beaten = knocker_wins(rules, others - knocker, knocker == 0)
    if rules.ffa_scoring == "pairwise":
        return ~is_beaten
    return (others == others.min(axis=1, keepdims=True)) & ~is_beaten.all(axis=1, keepdims=True)


def pair_payments(rules: Rules, deadwood: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return what each place gets from each other, (M, P, P), from the deadwood of all places (M, P)."""
    counts = deadwood.astype(np.int64)
    lead = counts[:, 1:] - counts[:, :1]
    undercuts = undercutters(rules, deadwood)
    gin_bonus = (counts[:, :1] == 0) * kind_bonuses(rules)[Kind.GIN]
    undercut_bonus = kind_bonuses(rules)[Kind.UNDERCUT]

    payments = np.zeros((*counts.shape, counts.shape[1]), dtype=np.int64)
    if rules.ffa_scoring == "pairwise":
        payments[:, 0, 1:] = np.where(undercuts, 0, lead + gin_bonus)
        payments[:, 1:, 0] = np.where(undercuts, undercut_bonus - lead, 0)
        return payments

    # Pooled: the knocker scores from everybody, or each undercutter does.
    payments[:, 0, 1:] = np.where(undercuts.any(axis=1, keepdims=True), 0, lead + gin_bonus)
    leads = counts[:, None, :] - counts[:, 1:, None]  # (M, P - 1, P) how many fewer points than each place
    payments[:, 1:] = leads * undercuts[:, :, None]
    payments[:, 1:, 0] += undercuts * undercut_bonus
    return payments


def _add_up(
    rules: Rules, payments: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return points and net points (M, P) and the winner's place (M,), -1 for none."""
    points = payments.sum(axis=2)
    net_points = points - payments.sum(axis=1)
    most = points.max(axis=1, keepdims=True)
    winner = np.where((points == most).sum(axis=1) == 1, points.argmax(axis=1), -1)

    if box_bonus := box_bonus_now(rules):  # a box counts against every other seat
        box = (np.arange(points.shape[1]) == winner[:, None]) * box_bonus
        points = points + box
        net_points = net_points + box * points.shape[1] - box.sum(axis=1, keepdims=True)
    return points, net_points, winner


def _lay_off_in_turn(rules: Rules, spreads: Spreads, hands: UInt64Array) -> Defence:
    """Return what the defenders lay off, each in turn; hands (M, D) are in clockwise order."""
    set_bits, run_bits = open_melds(rules, spreads)
    replies = []
    for defender in range(hands.shape[1]):
        reply = best_layoffs(set_bits, run_bits, hands[:, [defender]])
        replies.append(reply)
        if rules.cross_chain:
            set_bits, run_bits = _melds_with(set_bits, run_bits, reply.laid_bits[:, 0])
    return Defence._make(np.concatenate(arrays, axis=1) for arrays in zip(*replies, strict=True))


def _melds_with(set_bits: UInt64Array, run_bits: UInt64Array, laid: UInt64Array) -> tuple[UInt64Array, UInt64Array]:
    """Return the sets and runs (M,) with one seat's laid-off cards on them.

    A card that fits a set and a run goes on the meld with the lowest card, as long as the seat's other cards can
    still be laid off. Only for spades is that the run: any set of three that lacks another suit holds a spade.
    """
    fits_set = fourth_cards(set_bits) & laid
    on_runs = laid
    undecided = fits_set & ~_SPADES
    while undecided.any():
        card = undecided & (~undecided + _ONE)
        undecided ^= card
        without = on_runs & ~card
        others_fit = (laid & ~fits_set & ~extended_runs(run_bits, without)) == 0
        on_runs = np.where(others_fit, without, on_runs)

    runs = extended_runs(run_bits, on_runs)
    return set_bits | (laid & ~runs), runs
