"""Cards, melds and the exhaustive search for arrangements of one hand.

Inside this package a group of cards is an int with bit ``suit * 13 + rank`` set for each card (suits in the order
S H D C). Groups are therefore hashable and compare by value.
"""

from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import combinations
from typing import NamedTuple

RANKS = "A23456789TJQK"
SUITS = "SHDC"
CARDS = tuple(rank + suit for suit in SUITS for rank in RANKS)
CARD_ID = {text: card for card, text in enumerate(CARDS)}
# Ace is worth 1; ten, jack, queen and king are worth 10.
VALUE = tuple(min(card % 13 + 1, 10) for card in range(52))


def to_bits(cards: Iterable[str]) -> int:
    """Return the group of the cards given as texts; ValueError for an unknown or repeated card."""
    bits = 0
    for text in cards:
        if text not in CARD_ID:
            raise ValueError(f"{text!r} is not a card: expected a rank of {RANKS} and a suit of {SUITS}, as in '5H'")
        bit = 1 << CARD_ID[text]
        if bits & bit:
            raise ValueError(f"{text} is listed twice in the same group: every card exists once")
        bits |= bit
    return bits


def to_ids(bits: int) -> list[int]:
    """Return the ids of a group, ascending."""
    ids = []
    while bits:
        lowest = bits & -bits
        ids.append(lowest.bit_length() - 1)
        bits ^= lowest
    return ids


def to_texts(bits: int) -> list[str]:
    """Return the texts of a group, in the order of their ids."""
    return [CARDS[card] for card in to_ids(bits)]


def points(bits: int) -> int:
    """Return the points of a group."""
    return sum(VALUE[card] for card in to_ids(bits))


def _group(ids: Iterable[int]) -> int:
    return sum(1 << card for card in ids)


# Three or four of a rank; three or more of a suit in sequence, ace low.
SET_MELDS = tuple(
    _group(suit * 13 + rank for suit in suits)
    for rank in range(13)
    for size in (3, 4)
    for suits in combinations(range(4), size)
)
RUNS = tuple(
    _group(range(suit * 13 + low, suit * 13 + high + 1))
    for suit in range(4)
    for low in range(13)
    for high in range(low + 2, 13)
)
ALL_MELDS = frozenset(SET_MELDS) | frozenset(RUNS)

# A search needs only runs of three to five cards: every longer run consists of such runs.
_RUNS_FROM: list[list[int]] = [[] for _ in range(52)]
_SETS_FROM: list[list[int]] = [[] for _ in range(52)]
for _meld in RUNS:
    if _meld.bit_count() <= 5:
        _RUNS_FROM[to_ids(_meld)[0]].append(_meld)
for _meld in SET_MELDS:
    _SETS_FROM[to_ids(_meld)[0]].append(_meld)
_MELDS_FROM = tuple(tuple(runs + sets) for runs, sets in zip(_RUNS_FROM, _SETS_FROM, strict=True))


@lru_cache(maxsize=1 << 18)
def least_deadwood(hand: int) -> int:
    """Return the least deadwood of a hand: its lowest card stays unmelded, or is the lowest card of a meld."""
    if not hand:
        return 0

    lowest = hand & -hand
    card = lowest.bit_length() - 1
    best = VALUE[card] + least_deadwood(hand ^ lowest)
    for meld in _MELDS_FROM[card]:
        if meld & hand == meld:
            best = min(best, least_deadwood(hand ^ meld))
    return best


class Arrangement(NamedTuple):
    """A hand divided into runs, sets and deadwood cards.

    Adjacent runs of one suit count as one run, and a rank has room for one set only, so two groups determine all melds.
    """

    run_bits: int
    set_bits: int

    @property
    def melded_bits(self) -> int:
        """All cards in melds."""
        return self.run_bits | self.set_bits

    def melds(self) -> list[int]:
        """Return the melds in the order of their lowest card ids, adjacent runs merged."""
        melds = [_group(card for card in to_ids(self.set_bits) if card % 13 == rank) for rank in range(13)]

        run: list[int] = []
        for card in to_ids(self.run_bits):
            if run and (card != run[-1] + 1 or card % 13 == 0):
                melds.append(_group(run))
                run = []
            run.append(card)
        melds.append(_group(run))

        return sorted((meld for meld in melds if meld), key=lambda meld: meld & -meld)


def _every_arrangement(hand: int) -> Iterator[Arrangement]:
    """Yield every choice of disjoint melds of a hand, including none; an arrangement may be yielded repeatedly."""
    if not hand:
        yield Arrangement(0, 0)
        return

    # The lowest card is unmelded, or the lowest card of a run or a set.
    lowest = hand & -hand
    card = lowest.bit_length() - 1
    yield from _every_arrangement(hand ^ lowest)
    for run in _RUNS_FROM[card]:
        if run & hand == run:
            for rest in _every_arrangement(hand ^ run):
                yield Arrangement(rest.run_bits | run, rest.set_bits)
    for set_meld in _SETS_FROM[card]:
        if set_meld & hand == set_meld:
            for rest in _every_arrangement(hand ^ set_meld):
                yield Arrangement(rest.run_bits, rest.set_bits | set_meld)


@lru_cache(maxsize=1 << 12)
def best_arrangements(hand: int) -> tuple[Arrangement, ...]:
    """Return all arrangements with the least deadwood, in the order of the fine print.

    Two arrangements compare by the lowest card in which they differ: the one that melds that card comes first; where
    both meld the same cards, the one that has it in a run.
    """
    least = least_deadwood(hand)
    ids = to_ids(hand)

    def order(arrangement: Arrangement) -> tuple[list[bool], list[bool]]:
        unmelded, out_of_runs = ~arrangement.melded_bits, ~arrangement.run_bits
        return [bool(unmelded >> card & 1) for card in ids], [bool(out_of_runs >> card & 1) for card in ids]

    best = {arrangement for arrangement in _every_arrangement(hand) if points(hand & ~arrangement.melded_bits) == least}
    return tuple(sorted(best, key=order))


def deadwood(cards: Iterable[str]) -> int:
    """Return the least deadwood points of cards given as texts."""
    return least_deadwood(to_bits(cards))


def arrangements(cards: Iterable[str]) -> list[list[list[str]]]:
    """Return all least-deadwood arrangements of the cards, each a list of melds, in the order of the fine print."""
    best = best_arrangements(to_bits(cards))
    return [[to_texts(meld) for meld in arrangement.melds()] for arrangement in best]
