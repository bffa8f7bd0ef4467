"""Melds and deadwood, for whole batches of hands at once.

The rules of the game: a **set** is three or four cards of one rank; a **run** is three or more cards of one suit in
sequence, with the ace low. A card belongs to at most one meld, and the cards in no meld are **deadwood**.

How it is computed: once the sets are chosen, the best runs among the remaining cards are forced, because every unbroken
sequence of three or more cards of a suit is itself a run. A table of 8,192 entries therefore gives the deadwood of any
13-bit suit slice, and only the ranks held in three or four suits leave a choice: no set, one of the sets of three, or
the set of four. If no card of the rank belongs to a run, melding all of them is best; only hands in which sets and runs
compete for a card are expanded, rank by rank.

An **arrangement** is a pair of bitboards, the cards in sets and the cards in runs. Adjacent runs of one suit count as
one run.
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
    Rows,
    UInt64Array,
    bits_of,
    card_ids,
    lowest_first_key,
    rows_and_cards,
    suit_slices,
)

#: The cards on which a run can start, A to J: a run never continues from the king to the ace.
_RUN_STARTS = ~(KINGS | KINGS >> np.uint64(1))
#: Melds as ascending card ids.
Melds = list[list[int]]

_ONE, _TWO = np.uint64(1), np.uint64(2)


def run_cards(bits: UInt64Array) -> UInt64Array:
    """Return the cards of each bitboard that belong to a run of three or more."""
    starts = bits & (bits >> _ONE) & (bits >> _TWO) & _RUN_STARTS
    return starts | starts << _ONE | starts << _TWO


def _slice_points(slices: UInt64Array) -> NDArray[np.uint8]:
    """Return the points of all cards of 13-bit suit slices (N,)."""
    held = (slices[:, None] >> np.arange(NUM_RANKS, dtype=np.uint64)) & _ONE
    return (held * CARD_POINTS[:NUM_RANKS]).sum(axis=1).astype(np.uint8)


_ALL_SLICES = np.arange(2**NUM_RANKS, dtype=np.uint64)
#: (8192,) points of all cards of a suit slice, and of its cards outside runs.
SLICE_POINTS = _slice_points(_ALL_SLICES)
_SLICE_DEADWOOD = _slice_points(_ALL_SLICES & ~run_cards(_ALL_SLICES))
#: (8192,) the cards of a suit slice outside runs.
SLICE_LOOSE = (_ALL_SLICES & ~run_cards(_ALL_SLICES)).view(np.int64)


def points_of(bits: UInt64Array) -> NDArray[np.uint8]:
    """Return the points of all cards of each bitboard, melded or not; shape (N,)."""
    return np.add.reduce(SLICE_POINTS.take(suit_slices(bits).view(np.int64)), axis=0, dtype=np.uint8)


def _runs_only_deadwood(slices: UInt64Array) -> NDArray[np.uint8]:
    """Return the deadwood of hands, given as suit slices (4, N), if only runs may be melded."""
    return np.add.reduce(_SLICE_DEADWOOD.take(slices.view(np.int64)), axis=0, dtype=np.uint8)


def _ranks_held_thrice(slices: Any) -> Any:
    """Return the ranks held in three or four suits, as 13-bit sets; the four slices are arrays (N,) or ints."""
    spades, hearts, diamonds, clubs = slices
    black, red = spades & hearts, diamonds & clubs
    return (black & (diamonds | clubs)) | (red & (spades | hearts))


def fourth_cards(set_bits: UInt64Array) -> UInt64Array:
    """Return the fourth card of each set of three, given the cards in sets."""
    return _ranks_held_thrice(suit_slices(set_bits)) * EVERY_SUIT & ~set_bits


def neighbours(bits: UInt64Array) -> UInt64Array:
    """Return the cards next in rank to a card of the bitboard, in the same suit (K and A are not neighbours)."""
    return next_above(bits) | next_below(bits)


def next_above(bits: UInt64Array) -> UInt64Array:
    """Return the cards one rank above a card of the bitboard, in the same suit."""
    return (bits & ~KINGS) << _ONE


def next_below(bits: UInt64Array) -> UInt64Array:
    """Return the cards one rank below a card of the bitboard, in the same suit."""
    return (bits & ~ACES) >> _ONE


def meldable_cards(hands: UInt64Array) -> UInt64Array:
    """Return the cards of each hand that belong to at least one meld in the hand."""
    return run_cards(hands) | (hands & (_ranks_held_thrice(suit_slices(hands)) * EVERY_SUIT))


def _set_choices(hands: UInt64Array, thrice: UInt64Array) -> tuple[Rows, UInt64Array]:
    """Return every way to meld sets from hands: ``(rows, set_bits)``, rows into ``hands``, in no order.

    ``thrice`` (N,) has the ranks that each hand holds three or four times.
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

        # Decide each entry's lowest undecided rank.
        rank = thrice & (~thrice + _ONE)
        thrice = thrice ^ rank
        cards = hands[rows] & (rank * EVERY_SUIT)
        four = (np.bitwise_count(cards) == 4).nonzero()[0]
        triples = [cards[four] & ~(rank[four] << np.uint64(suit * NUM_RANKS)) for suit in range(4)]

        # No set, all the cards of the rank and, of four cards, each set of three.
        rows = np.concatenate([rows, rows, *[rows[four]] * 4])
        set_bits = np.concatenate([set_bits, set_bits | cards, *[set_bits[four] | triple for triple in triples]])
        thrice = np.concatenate([thrice, thrice, *[thrice[four]] * 4])


def settled_slices(hands: UInt64Array) -> tuple[NDArray[np.int64], Rows, UInt64Array]:
    """Meld the sets of ranks for which no run competes, then all runs, and list the choices that remain.

    Returns
    -------
    loose : int64, shape (4, N)
        The unmelded cards of each suit slice.
    rows : intp, shape (M,)
        Rows into ``hands``, in no order: one for each other choice of sets where runs compete for cards.
    left : uint64, shape (M,)
        The hand without the sets of that choice, but with the cards of its runs.
    """
    slices = suit_slices(hands).view(np.int64)
    loose = SLICE_LOOSE.take(slices)
    thrice = _ranks_held_thrice(slices)

    # Sets without a card in a run are always melded.
    slices ^= loose
    in_runs = slices[0] | slices[1] | slices[2] | slices[3]
    loose &= ~(thrice & ~in_runs)

    contested = thrice & in_runs
    contested_rows = contested.nonzero()[0]
    if not len(contested_rows):
        return loose, contested_rows, hands[:0]

    uncontested = (thrice[contested_rows] & ~in_runs[contested_rows]).view(np.uint64)
    left = hands[contested_rows] & ~(uncontested * EVERY_SUIT)
    ranks = contested[contested_rows].view(np.uint64)
    cards = left & (ranks * EVERY_SUIT)

    # A single rank held three times is melded or not, and ``loose`` already has the second choice.
    is_simple = ((ranks & (ranks - _ONE)) == 0) & (np.bitwise_count(cards) == 3)
    simple, others = is_simple.nonzero()[0], (~is_simple).nonzero()[0]
    other_left = left[others]
    choices, set_bits = _set_choices(other_left, ranks[others])
    return (
        loose,
        contested_rows[np.concatenate([simple, others[choices]])],
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

    #: (M,) intp: the hand's row in the batch, once for each of its arrangements.
    rows: Rows
    #: (M,) uint64: the cards in sets.
    set_bits: UInt64Array
    #: (M,) uint64: the cards in runs.
    run_bits: UInt64Array
    #: (M,) uint8: deadwood points, the same for all arrangements of a row.
    deadwood: NDArray[np.uint8]


def least_arrangements(hands: UInt64Array) -> Arrangements:
    """Return every arrangement of each hand that leaves the least deadwood.

    Arrangements of a hand are ordered by the lowest card in which two differ, as the fine print of docs/rules.md says:
    first comes the one that melds that card or, if both meld the same cards, the one that has it in a run.
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
    arrangements = least_arrangements(hands)
    if len(arrangements.rows) == len(hands):
        return arrangements
    first = np.searchsorted(arrangements.rows, np.arange(len(hands)))
    return Arrangements._make(array[first] for array in arrangements)


def best_of_each(rows: Rows, num_rows: int, *keys: NDArray) -> NDArray[np.intp]:
    """Return the index of the entry with the lowest keys in each row, and of equal entries the first.

    Parameters
    ----------
    rows : intp, shape (M,)
        The row of each entry, in any order; each row has at least one entry.
    num_rows : int
    *keys : arrays of shape (M,)
        The first key counts most.

    Returns
    -------
    intp, shape (num_rows,)
    """
    order = np.lexsort((*reversed(keys), rows))
    return order[np.searchsorted(rows[order], np.arange(num_rows))]


def arrangement_order(rows: Rows, set_bits: UInt64Array, run_bits: UInt64Array) -> NDArray[np.intp]:
    """Return the order that sorts arrangements by row, then by the lowest card in which they differ."""
    return np.lexsort((~lowest_first_key(run_bits), ~lowest_first_key(set_bits | run_bits), rows))


def melds_of(set_bits: int | np.uint64, run_bits: int | np.uint64) -> list[list[int]]:
    """Return one arrangement as a list of melds, each as ascending card ids, ordered by their lowest card."""
    melds = []
    set_ids = card_ids(set_bits)
    for rank in {card % NUM_RANKS for card in set_ids}:
        melds.append([card for card in set_ids if card % NUM_RANKS == rank])

    run: list[int] = []
    for card in card_ids(run_bits):
        if run and (card != run[-1] + 1 or card % NUM_RANKS == 0):
            melds.append(run)
            run = []
        run.append(card)
    if run:
        melds.append(run)

    return sorted(melds)


def deadwood_after_each(hands: UInt64Array, cards: UInt64Array) -> tuple[Rows, NDArray[np.intp], NDArray]:
    """Return the deadwood of each hand after each of several discards.

    Parameters
    ----------
    hands : uint64, shape (N,)
    cards : uint64, shape (N,)
        The cards of each hand to try as discards.

    Returns
    -------
    rows, ids : intp, shape (M,)
        Hand and discarded card of each trial, rows ascending.
    points : uint8, shape (M,)
    """
    rows, ids = rows_and_cards(cards)
    return rows, ids, deadwood(hands[rows] ^ CARD_BITS[ids])


#: (11,) the cards worth at least that many points: discarding a cheaper card cannot lower the deadwood enough.
_WORTH_AT_LEAST = np.array([bits_of(np.flatnonzero(CARD_POINTS[:NUM_CARDS] >= worth)) for worth in range(11)])
_HIGHEST_VALUE = 10

# The tables and masks of a suit slice in Python numbers, for a single hand.
_SHIFTS = (0, NUM_RANKS, 2 * NUM_RANKS, 3 * NUM_RANKS)
_SLICE_BITS = 2**NUM_RANKS - 1
_LOOSE_LIST: list[int] = SLICE_LOOSE.tolist()
_POINTS_LIST: list[int] = SLICE_POINTS.tolist()


def _unmeldable_points(hand: int) -> int:
    """Return the points of a hand's cards that belong to no meld; in Python numbers, ten times as fast for one hand."""
    slices = [hand >> shift & _SLICE_BITS for shift in _SHIFTS]
    thrice = _ranks_held_thrice(slices)
    return sum(_POINTS_LIST[_LOOSE_LIST[suit_slice] & ~thrice] for suit_slice in slices)


def legal_knocks(hands: UInt64Array, discardable: UInt64Array, limit: int | NDArray[np.intp]) -> UInt64Array:
    """Return the discards with which each hand may knock.

    Parameters
    ----------
    hands : uint64, shape (M,)
        Hands that hold one card more than after the discard.
    discardable : uint64, shape (M,)
        The cards that may be discarded.
    limit : int, or int (M,)
        Most deadwood points after the discard.

    Returns
    -------
    uint64, shape (M,)
    """
    knocks = np.zeros(len(hands), dtype=np.uint64)

    # One discard saves at most ten points, and no arrangement melds more than every meldable card.
    if len(hands) == 1 and _unmeldable_points(hands.item()) > limit + _HIGHEST_VALUE:
        return knocks
    slices = suit_slices(hands)
    unmeldable = SLICE_LOOSE.take(slices.view(np.int64)) & ~_ranks_held_thrice(slices).view(np.int64)
    least_possible = np.add.reduce(SLICE_POINTS.take(unmeldable), axis=0, dtype=np.uint8)
    near = (least_possible <= limit + _HIGHEST_VALUE).nonzero()[0]
    if not len(near):
        return knocks

    # The exact deadwood before the discard excludes more hands.
    before = deadwood(hands[near])
    limits = limit if isinstance(limit, int) else limit[near]
    is_near = before <= limits + _HIGHEST_VALUE
    near, before = near[is_near], before[is_near]
    limits = limit if isinstance(limit, int) else limit[near]

    # Try the discards that are worth enough. All arrangements count: the best one before the discard may not be the
    # best one after it.
    excess = np.maximum(before.astype(np.intp) - limits, 0)
    trial_rows, cards, points = deadwood_after_each(hands[near], discardable[near] & _WORTH_AT_LEAST[excess])
    may_knock = points <= (limits if isinstance(limits, int) else limits[trial_rows])
    np.bitwise_or.at(knocks, near[trial_rows[may_knock]], CARD_BITS[cards[may_knock]])
    return knocks


def is_run(meld: Sequence[int]) -> bool:
    """Whether ascending card ids form a run."""
    return (
        len(meld) >= 3
        and list(meld) == list(range(meld[0], meld[0] + len(meld)))
        and meld[0] // NUM_RANKS == meld[-1] // NUM_RANKS
    )


def is_set(meld: Sequence[int]) -> bool:
    """Whether card ids form a set."""
    return len(meld) in (3, 4) and len({card % NUM_RANKS for card in meld}) == 1


def fits(meld: Sequence[int], card: int) -> bool:
    """Whether a card extends a meld of ascending card ids.

    A set of three takes the card of the fourth suit. A run takes the next card of its suit at either end, but neither
    an ace above the king nor a king below the ace.
    """
    if is_set(meld):
        return len(meld) == 3 and card % NUM_RANKS == meld[0] % NUM_RANKS and card not in meld

    in_same_suit = card // NUM_RANKS == meld[0] // NUM_RANKS
    return in_same_suit and card in (meld[0] - 1, meld[-1] + 1)
