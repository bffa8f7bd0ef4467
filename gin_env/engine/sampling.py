"""Uniformly random legal actions for whole batches, straight from the action bitmasks."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NUM_CARDS, UInt64Array, unpack_cards
from gin_env.engine.actions import ActionLayout


def random_actions(legal: UInt64Array, layout: ActionLayout, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return a uniformly random legal action for each row of bitmasks (M, W); -1 where nothing is legal."""
    # Choose by rank among all legal actions of the row, counted from 0.
    counts = np.bitwise_count(legal.T).astype(np.intp)
    ends = counts.cumsum(axis=0)
    rank = (generator.random(len(legal)) * ends[-1]).astype(np.intp)

    # Find the bitmask that has this action, and the action's rank in it.
    word = (rank >= ends[:-1]).sum(axis=0)
    rows = np.arange(len(legal))
    rank -= ends[word, rows] - counts[word, rows]

    actions = layout.word_starts[word] + nth_bit(legal[rows, word], rank)
    return np.where(ends[-1] > 0, actions, -1)


def random_cards(bits: UInt64Array, generator: np.random.Generator) -> NDArray[np.intp]:
    """Return a uniformly random card of each set (M,); 0 for an empty set."""
    return (unpack_cards(bits) * (1.0 - generator.random((len(bits), NUM_CARDS)))).argmax(axis=1)


def nth_bit(bits: UInt64Array, rank: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the position of the set bit number ``rank`` (from 0, lowest first) of each bitmask (M,)."""
    position = np.zeros(len(bits), dtype=np.intp)

    # Halve the range in each step: go to the upper half where the lower one has too few bits.
    for width in (32, 16, 8, 4, 2, 1):
        below = np.bitwise_count(bits & np.uint64((1 << width) - 1))
        upper = rank >= below
        rank = rank - below * upper
        step = upper * width
        bits = bits >> step.view(np.uint64)
        position += step
    return position
