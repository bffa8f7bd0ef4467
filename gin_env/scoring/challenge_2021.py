"""Lay-offs as the 2021 gin rummy challenge plays them: its order of cards, in closed form and card by card."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from gin_env.cards import CARD_BITS, NUM_CARDS, NUM_RANKS, SUITS, UInt64Array, bits_of
from gin_env.cards.melds import Melds, fourth_cards, is_run, neighbours, next_above, next_below

#: The suits in the order of the 2021 challenge's card ids (docs/rules.md, preset ``eaai_2p``).
CHALLENGE_SUITS = "CHSD"
#: Cards in the order in which the 2021 challenge lays them off: suits C H S D (docs/rules.md, eaai_2p).
CHALLENGE_ORDER = sorted(range(NUM_CARDS), key=lambda card: (CHALLENGE_SUITS.index(SUITS[card // NUM_RANKS]), card))
_CLUBS = np.uint64((2**13 - 1) << 39)


def greedy_layoffs(set_bits: UInt64Array, run_bits: UInt64Array, loose: UInt64Array) -> UInt64Array:
    """Return the cards laid off by the challenge's procedure; all arguments and the result (M,).

    Deadwood cards in the order of their ids, suits C H S D, go one after another onto the first meld
    that takes them, melds in the order of their lowest such id. Without stepping through it: a card
    that fits a set is placed the first time it is looked at. It goes on a run only if that run comes
    before the set, which holds for clubs alone (every set of three without a club starts after any run
    of clubs, and a set with one before any other run), and only if the run has reached it by then:
    upward always, since lower cards were placed before, downward only the card next to the run itself.
    """
    on_sets = fourth_cards(set_bits) & loose
    for_runs = loose & ~(on_sets & ~_CLUBS)
    runs = run_bits | (next_below(run_bits) & for_runs)
    runs = _closure(runs, for_runs, next_above)
    runs = _closure(runs, loose & ~on_sets, next_below)
    return (runs & ~run_bits) | on_sets


def _closure(runs: UInt64Array, cards: UInt64Array, step: Callable[[UInt64Array], UInt64Array]) -> UInt64Array:
    """Let runs take cards, one ``step`` after another, until none fits."""
    while True:
        more = step(runs) & cards & ~runs
        if not more.any():
            return runs
        runs = runs | more


def lay_off_in_order(melds: Melds, loose: Sequence[int], card_order: Sequence[int]) -> list[int]:
    """Lay each loose card, in an order of cards, onto the first meld that takes it, until none fits.

    Returns the laid cards in the order of laying.
    """
    open_melds = [sorted(meld) for meld in melds]
    laid: list[int] = []
    waiting = sorted(loose, key=card_order.index)
    while True:
        placed = next(((card, meld) for card in waiting for meld in open_melds if _takes(meld, card)), None)
        if placed is None:
            return laid
        card, meld = placed
        meld.append(card)
        meld.sort()
        waiting.remove(card)
        laid.append(card)


def _takes(meld: list[int], card: int) -> bool:
    """Whether a meld (ascending ids) with one more card is still a meld."""
    joined = np.array([bits_of(meld)])
    fitting = neighbours(joined) if is_run(meld) else fourth_cards(joined)
    return bool(fitting[0] & CARD_BITS[card])
