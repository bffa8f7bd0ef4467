"""Lay-offs as the 2021 gin rummy challenge plays them (``layoff="greedy"``, preset ``eaai_2p``).

The defender lays down a least-deadwood arrangement as if nothing could be laid off. Then the loose cards, in the
order of the challenge's card ids (suits C H S D), go one after another on the first meld that takes them.

The procedure exists twice: in closed form for batches, and card by card for melds in any order and for the
sequence of the lay-offs. The tests compare the two.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

import numpy as np

from gin_env.cards import NUM_CARDS, NUM_RANKS, SUITS, UInt64Array, bits_of, card_ids
from gin_env.cards.melds import (
    Melds,
    best_of_each,
    fits,
    fourth_cards,
    least_arrangements,
    next_above,
    next_below,
    points_of,
)
from gin_env.scoring.layoffs import Defence, extended_runs

#: The suits in the order of the challenge's card ids; :func:`greedy_layoffs` relies on clubs coming first.
CHALLENGE_SUITS = "CHSD"
#: Our card ids in the order of the challenge's.
CHALLENGE_ORDER = sorted(range(NUM_CARDS), key=lambda card: (CHALLENGE_SUITS.index(SUITS[card // NUM_RANKS]), card))
_CLUBS = np.uint64((2**NUM_RANKS - 1) << (SUITS.index("C") * NUM_RANKS))


def challenge_layoffs(set_bits: UInt64Array, run_bits: UInt64Array, hands: UInt64Array) -> Defence:
    """Return what one defender (hands (M,)) lays off on open sets and runs (M,).

    Of equal arrangements of the hand, the defender lays down the one that leaves the least after lay-offs.
    """
    own = least_arrangements(hands)
    loose = hands[own.rows] & ~own.set_bits & ~own.run_bits
    laid = greedy_layoffs(set_bits[own.rows], run_bits[own.rows], loose)
    points = points_of(loose & ~laid)

    best = best_of_each(own.rows, len(hands), points)
    return Defence._make(array[best][:, None] for array in (laid, points, own.set_bits, own.run_bits))


def greedy_layoffs(set_bits: UInt64Array, run_bits: UInt64Array, loose: UInt64Array) -> UInt64Array:
    """Return the cards laid off by the challenge's procedure, in closed form; all arguments and the result (M,).

    Melds are tried in the order of their lowest card. Without stepping through the procedure: a card that fits a
    set is laid off the first time it is looked at. It goes on a run only if that run comes before the set and
    the run has reached it by then. The first holds for clubs alone: every set of three without a club comes after
    any run of clubs, and a set with one comes before any other run. The second holds for all cards above the run,
    since lower cards are laid off before, but below it only for the card next to the run itself.
    """
    on_sets = fourth_cards(set_bits) & loose
    on_runs = loose & ~(on_sets & ~_CLUBS)
    runs = run_bits | (next_below(run_bits) & on_runs)
    runs = extended_runs(runs, on_runs, next_above)
    runs = extended_runs(runs, loose & ~on_sets, next_below)
    return (runs & ~run_bits) | on_sets


class ChallengeLayoff(NamedTuple):
    """One card laid off, card by card."""

    card: int
    meld_index: int  #: index of the open meld that it is laid off on
    meld: tuple[int, ...]  #: that meld's cards just before, ascending ids


def lay_off_in_order(melds: Melds, loose: Iterable[int]) -> list[ChallengeLayoff]:
    """Lay off card by card: always the first loose card that fits, on the first meld that takes it."""
    open_melds = [sorted(meld) for meld in melds]
    waiting = sorted(loose, key=CHALLENGE_ORDER.index)
    laid: list[ChallengeLayoff] = []
    while True:
        possible = ((card, index) for card in waiting for index, meld in enumerate(open_melds) if fits(meld, card))
        step = next(possible, None)
        if step is None:
            return laid

        card, index = step
        laid.append(ChallengeLayoff(card, index, tuple(open_melds[index])))
        open_melds[index] = sorted([*open_melds[index], card])
        waiting.remove(card)


def in_challenge_order(melds: Melds) -> Melds:
    """Return melds in the order in which the challenge lists them: by their lowest card in its order."""
    return sorted(melds, key=lambda meld: min(map(CHALLENGE_ORDER.index, meld)))


def reply_card_by_card(melds: Melds, hand: np.uint64, arrangements: Sequence[tuple[np.uint64, np.uint64]]) -> Defence:
    """Return one defender's lay-offs onto melds in the order given, after the best of some arrangements of the hand.

    An arrangement is a pair of bitboards: the cards in sets and the cards in runs.
    """
    replies = []
    for set_bits, run_bits in arrangements:
        loose = hand & ~set_bits & ~run_bits
        laid_bits = bits_of(step.card for step in lay_off_in_order(melds, card_ids(loose)))
        points = points_of(np.array([loose & ~laid_bits]))
        replies.append((laid_bits, points, set_bits, run_bits))

    laid_bits, points, set_bits, run_bits = min(replies, key=lambda reply: int(reply[1][0]))
    laid, sets, runs = (np.array([[bits]], dtype=np.uint64) for bits in (laid_bits, set_bits, run_bits))
    return Defence(laid, points[:, None], sets, runs)
