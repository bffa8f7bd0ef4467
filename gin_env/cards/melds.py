"""Melds and deadwood, for whole batches of hands at once.

The game's rules: a **set** is three or four cards of one rank, a **run** three or more neighbours of
one suit with the ace low; a card lies in at most one meld; what lies in none is deadwood (docs/rules.md
row 4 and section 5).

How it is computed: once the sets are chosen, the best runs of what is left are forced, because every
unbroken stretch of three or more cards of a suit is itself a run. A table of 8,192 entries therefore
gives the deadwood of any 13-bit suit slice, and only the ranks held in three or four suits ask a
question: no set, one of the triples, or the four. Where no card of the rank lies in a run, laying all of
them is best; just the hands where sets and runs compete for a card are expanded, rank by rank. An
**arrangement** is a pair of bitboards, the cards in sets and the cards in runs; neighbouring runs of one
suit count as one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gin_env.cards.bitboards import (
    ACES,
    CARD_BITS,
    CARD_POINTS,
    EVERY_SUIT,
    KINGS,
    NUM_CARDS,
    NUM_RANKS,
    UInt64Array,
    bits_of,
    card_ids,
    lowest_first_key,
    rows_and_cards,
    suit_slices,
)

#: A run can start at ranks A to J only: no run goes round the corner (docs/rules.md, facts).
_RUN_STARTS = ~(KINGS | KINGS >> np.uint64(1))
#: Melds as ascending card ids.
Melds = list[list[int]]

_ONE, _TWO = np.uint64(1), np.uint64(2)


def run_cards(bits: UInt64Array) -> UInt64Array:
    """Return the cards of each bitboard that lie in some run of three or more."""
    starts = bits & (bits >> _ONE) & (bits >> _TWO) & _RUN_STARTS
    return starts | starts << _ONE | starts << _TWO


def _slice_points(slices: UInt64Array) -> NDArray[np.uint8]:
    """Return the points of all cards of 13-bit suit slices (N,)."""
    held = (slices[:, None] >> np.arange(NUM_RANKS, dtype=np.uint64)) & _ONE
    return (held * CARD_POINTS[:NUM_RANKS]).sum(axis=1).astype(np.uint8)


_ALL_SLICES = np.arange(2**NUM_RANKS, dtype=np.uint64)
#: (8192,) points of a suit slice: of all its cards, and of those outside runs.
SLICE_POINTS = _slice_points(_ALL_SLICES)
_SLICE_DEADWOOD = _slice_points(_ALL_SLICES & ~run_cards(_ALL_SLICES))
#: (8192,) the cards of a suit slice outside runs.
SLICE_LOOSE = (_ALL_SLICES & ~run_cards(_ALL_SLICES)).view(np.int64)


def points_of(bits: UInt64Array) -> NDArray[np.uint8]:
    """Return the points of all cards of each bitboard, melds or not; shape (N,)."""
    return np.add.reduce(SLICE_POINTS.take(suit_slices(bits).view(np.int64)), axis=0, dtype=np.uint8)


def _runs_only_deadwood(slices: UInt64Array) -> NDArray[np.uint8]:
    """Return the deadwood of hands, given as suit slices (4, N), when only runs may be laid."""
    return np.add.reduce(_SLICE_DEADWOOD.take(slices.view(np.int64)), axis=0, dtype=np.uint8)


def _ranks_held_thrice(slices: Any) -> Any:
    """Return the 13-bit set of the ranks held in three or four suits, from four slices: arrays (N,), or ints."""
    spades, hearts, diamonds, clubs = slices
    black, red = spades & hearts, diamonds & clubs
    return (black & (diamonds | clubs)) | (red & (spades | hearts))


def fourth_cards(set_bits: UInt64Array) -> UInt64Array:
    """Return the cards that would complete the sets of three among laid-down set cards."""
    return _ranks_held_thrice(suit_slices(set_bits)) * EVERY_SUIT & ~set_bits


def neighbours(bits: UInt64Array) -> UInt64Array:
    """Return the cards next to some card of the bitboard in its own suit (K and A are not neighbours)."""
    return next_above(bits) | next_below(bits)


def next_above(bits: UInt64Array) -> UInt64Array:
    """Return the cards one rank above some card of the bitboard in its own suit."""
    return (bits & ~KINGS) << _ONE


def next_below(bits: UInt64Array) -> UInt64Array:
    """Return the cards one rank below some card of the bitboard in its own suit."""
    return (bits & ~ACES) >> _ONE


def meldable_cards(hands: UInt64Array) -> UInt64Array:
    """Return the cards of each hand that belong to at least one meld that the hand holds."""
    return run_cards(hands) | (hands & (_ranks_held_thrice(suit_slices(hands)) * EVERY_SUIT))


def _set_choices(hands: UInt64Array, thrice: UInt64Array) -> tuple[NDArray[np.intp], UInt64Array]:
    """Return every way to lay sets from hands: ``(rows, set_bits)``, rows into ``hands``, unordered.

    ``thrice`` holds the ranks of each hand that are held three or four times.
    """
    rows = np.arange(len(hands))
    set_bits = np.zeros(len(hands), dtype=np.uint64)
    finished_rows, finished_sets = [], []
    while True:
        undecided = thrice != 0
        finished_rows.append(rows[~undecided])
        finished_sets.append(set_bits[~undecided])
        rows, set_bits, thrice = rows[undecided], set_bits[undecided], thrice[undecided]
        if not len(rows):
            return np.concatenate(finished_rows), np.concatenate(finished_sets)
        rank = thrice & (~thrice + _ONE)
        thrice = thrice ^ rank
        cards = hands[rows] & (rank * EVERY_SUIT)
        four = (np.bitwise_count(cards) == 4).nonzero()[0]
        triples = [cards[four] & ~(rank[four] << np.uint64(suit * NUM_RANKS)) for suit in range(4)]
        rows = np.concatenate([rows, rows, *[rows[four]] * 4])
        set_bits = np.concatenate([set_bits, set_bits | cards, *[set_bits[four] | triple for triple in triples]])
        thrice = np.concatenate([thrice, thrice, *[thrice[four]] * 4])


def settled_slices(hands: UInt64Array) -> tuple[NDArray[np.int64], NDArray[np.intp], UInt64Array]:
    """Lay the sets of ranks that no run competes for, then all runs, and find what is still open.

    Returns
    -------
    loose : int64, shape (4, N)
        What is then left of each suit's slice.
    rows : intp, shape (M,)
        Further choices of sets, where runs compete for cards: into ``hands``, unordered.
    left : uint64, shape (M,)
        The hand without the sets of that choice; its runs still lie in it.
    """
    slices = suit_slices(hands).view(np.int64)
    loose = SLICE_LOOSE.take(slices)
    thrice = _ranks_held_thrice(slices)
    slices ^= loose
    in_runs = slices[0] | slices[1] | slices[2] | slices[3]
    loose &= ~(thrice & ~in_runs)
    contested = thrice & in_runs
    asking = contested.nonzero()[0]
    if not len(asking):
        return loose, asking, hands[:0]
    left = hands[asking] & ~((thrice[asking] & ~in_runs[asking]).view(np.uint64) * EVERY_SUIT)
    ranks = contested[asking].view(np.uint64)
    cards = left & (ranks * EVERY_SUIT)
    # Of a single rank held three times, all or none are laid, and the latter is what ``loose`` holds.
    is_simple = ((ranks & (ranks - _ONE)) == 0) & (np.bitwise_count(cards) == 3)
    simple, others = is_simple.nonzero()[0], (~is_simple).nonzero()[0]
    other_left = left[others]
    choices, set_bits = _set_choices(other_left, ranks[others])
    return (
        loose,
        asking[np.concatenate([simple, others[choices]])],
        np.concatenate([left[simple] ^ cards[simple], other_left[choices] & ~set_bits]),
    )


def deadwood(hands: UInt64Array) -> NDArray[np.uint8]:
    """Return the least deadwood points of hands of any size, exact over every arrangement.

    Parameters
    ----------
    hands : uint64, shape (N,)

    Returns
    -------
    uint8, shape (N,)
    """
    loose, rows, left = settled_slices(hands)
    best = np.add.reduce(SLICE_POINTS.take(loose), axis=0, dtype=np.uint8)
    if len(rows):
        np.minimum.at(best, rows, _runs_only_deadwood(suit_slices(left)))
    return best


class Arrangements(NamedTuple):
    """Every least-deadwood arrangement of a batch of hands, grouped by ascending row."""

    #: (M,) intp: the hand's row in the batch; rows with equal arrangements to choose from come several times.
    rows: NDArray[np.intp]
    #: (M,) uint64: the cards that lie in sets.
    set_bits: UInt64Array
    #: (M,) uint64: the cards that lie in runs.
    run_bits: UInt64Array
    #: (M,) uint8: deadwood points, the same for all arrangements of a row.
    deadwood: NDArray[np.uint8]


def least_arrangements(hands: UInt64Array) -> Arrangements:
    """Return every arrangement of each hand that leaves the least deadwood.

    Equal arrangements come in the order of docs/rules.md, fine print ("the lowest card ids"): the one that
    melds the lowest card in which they differ comes first; where both meld the same cards, the one
    that has the lowest such card in a run.
    """
    slices = suit_slices(hands)
    rows, set_bits = _set_choices(hands, _ranks_held_thrice(slices))
    left = hands[rows] & ~set_bits
    points = _runs_only_deadwood(suit_slices(left))
    best = np.full(len(hands), np.iinfo(np.uint8).max, dtype=np.uint8)
    np.minimum.at(best, rows, points)
    keep = (points == best[rows]).nonzero()[0]
    rows, set_bits, run_bits = rows[keep], set_bits[keep], run_cards(left[keep])
    order = arrangement_order(rows, set_bits, run_bits)
    return Arrangements(rows[order], set_bits[order], run_bits[order], points[keep][order])


def first_arrangements(hands: UInt64Array) -> Arrangements:
    """Return the first of each hand's least-deadwood arrangements: one row for each hand, in order."""
    found = least_arrangements(hands)
    if len(found.rows) == len(hands):
        return found
    first = np.searchsorted(found.rows, np.arange(len(hands)))
    return Arrangements._make(part[first] for part in found)


def best_of_each(rows: NDArray[np.intp], num_rows: int, *keys: NDArray) -> NDArray[np.intp]:
    """Return the index of the entry with the lowest keys in each row; shape (num_rows,).

    ``rows`` (M,) says which row an entry belongs to, each row has at least one; the first key (M,) counts
    most, and of entries equal in all keys the first is taken.
    """
    order = np.lexsort((*reversed(keys), rows))
    return order[np.searchsorted(rows[order], np.arange(num_rows))]


def arrangement_order(rows: NDArray[np.intp], set_bits: UInt64Array, run_bits: UInt64Array) -> NDArray[np.intp]:
    """Return the order that sorts arrangements by row, then lowest card ids first."""
    return np.lexsort((~lowest_first_key(run_bits), ~lowest_first_key(set_bits | run_bits), rows))


def melds_of(set_bits: int | np.uint64, run_bits: int | np.uint64) -> list[list[int]]:
    """Return one arrangement as a list of melds (ascending card ids), ordered by their lowest card."""
    melds = []
    in_sets = card_ids(set_bits)
    for rank in sorted({card % NUM_RANKS for card in in_sets}):
        melds.append([card for card in in_sets if card % NUM_RANKS == rank])
    run: list[int] = []
    for card in card_ids(run_bits):
        if run and (card != run[-1] + 1 or card % NUM_RANKS == 0):
            melds.append(run)
            run = []
        run.append(card)
    return sorted([*melds, run] if run else melds)


def deadwood_after_each(hands: UInt64Array, cards: UInt64Array) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray]:
    """Return the deadwood of each hand after throwing each of some of its cards.

    Parameters
    ----------
    hands : uint64, shape (N,)
    cards : uint64, shape (N,)
        The cards to try, a part of each hand.

    Returns
    -------
    rows, ids : intp, shape (M,)
        Hand and thrown card of each trial, rows ascending.
    points : uint8, shape (M,)
    """
    rows, ids = rows_and_cards(cards)
    return rows, ids, deadwood(hands[rows] ^ CARD_BITS[ids])


#: (11,) the cards worth at least that many points: dropping a cheaper one cannot lower a hand enough.
_WORTH_AT_LEAST = np.array([bits_of(np.flatnonzero(CARD_POINTS[:NUM_CARDS] >= worth)) for worth in range(11)])
_DEAREST = 10


def _unmeldable_points(hand: int) -> int:
    """Return the points of one hand's cards that lie in no meld, in Python numbers: ten times faster for one hand."""
    slices = [hand >> shift & _SLICE_BITS for shift in _SHIFTS]
    thrice = _ranks_held_thrice(slices)
    return sum(_POINTS_LIST[_LOOSE_LIST[part] & ~thrice] for part in slices)


_SHIFTS = (0, NUM_RANKS, 2 * NUM_RANKS, 3 * NUM_RANKS)
_SLICE_BITS = 2**NUM_RANKS - 1
_LOOSE_LIST: list[int] = SLICE_LOOSE.tolist()
_POINTS_LIST: list[int] = SLICE_POINTS.tolist()


def legal_knocks(hands: UInt64Array, discardable: UInt64Array, limit: int | NDArray[np.intp]) -> UInt64Array:
    """Return the cards by throwing which each hand may knock.

    Parameters
    ----------
    hands : uint64, shape (M,)
        Hands with one card too many.
    throwable : uint64, shape (M,)
        The cards that may be thrown.
    limit : int, or int (M,)
        Most deadwood points after the throw.
    """
    knocks = np.zeros(len(hands), dtype=np.uint64)
    # Throwing one card saves at most ten points, and no arrangement melds more than every meldable card.
    if len(hands) == 1 and _unmeldable_points(hands.item()) > limit + _DEAREST:
        return knocks
    slices = suit_slices(hands)
    unmeldable = SLICE_LOOSE.take(slices.view(np.int64)) & ~_ranks_held_thrice(slices).view(np.int64)
    bound = np.add.reduce(SLICE_POINTS.take(unmeldable), axis=0, dtype=np.uint8)
    near = (bound <= limit + _DEAREST).nonzero()[0]
    if len(near):
        whole = deadwood(hands[near])
        limits = limit if isinstance(limit, int) else limit[near]
        worth_trying = whole <= limits + _DEAREST
        near, whole = near[worth_trying], whole[worth_trying]
        limits = limit if isinstance(limit, int) else limit[near]
        excess = np.maximum(whole.astype(np.intp) - limits, 0)
        trial_rows, cards, points = deadwood_after_each(hands[near], discardable[near] & _WORTH_AT_LEAST[excess])
        enough = points <= (limits if isinstance(limits, int) else limits[trial_rows])
        np.bitwise_or.at(knocks, near[trial_rows[enough]], CARD_BITS[cards[enough]])
    return knocks


def is_run(meld: Sequence[int]) -> bool:
    """Whether card ids, ascending, are a run."""
    return (
        len(meld) >= 3
        and list(meld) == list(range(meld[0], meld[0] + len(meld)))
        and meld[0] // NUM_RANKS == meld[-1] // NUM_RANKS
    )


def is_set(meld: Sequence[int]) -> bool:
    """Whether card ids are a set."""
    return len(meld) in (3, 4) and len({card % NUM_RANKS for card in meld}) == 1


def fits(meld: Sequence[int], card: int) -> bool:
    """Whether a card extends a meld of ascending card ids.

    A set takes its fourth suit; a run takes the next card of its suit at either end, never round the corner.
    """
    if is_set(meld):
        return len(meld) == 3 and card % NUM_RANKS == meld[0] % NUM_RANKS and card not in meld

    in_same_suit = card // NUM_RANKS == meld[0] // NUM_RANKS
    return in_same_suit and card in (meld[0] - 1, meld[-1] + 1)
