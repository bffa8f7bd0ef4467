"""Counter-based random numbers: every row of a batch has its own stream.

A number depends only on its row's key and a counter. A row of a large batch therefore gets the same numbers as a batch
of one with the same key, whatever the other rows do, and no generator objects are needed. The mixing function is
SplitMix64 (Steele, Lea and Flood 2014).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards.bitboards import NUM_CARDS, UInt64Array

_GOLDEN_GAMMA = np.uint64(0x9E3779B97F4A7C15)
_CARD_COUNTERS = np.arange(NUM_CARDS, dtype=np.uint64)
_LOW_SIX_BITS = np.uint64(63)
#: Separates the stream for random dealers from the one for shuffles.
_DEALER_STREAM = np.uint64(0xD1B54A32D192ED03)


def mix(values: UInt64Array) -> UInt64Array:
    """Mix the bits of 64-bit counters so that the results look independent of each other."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))


def stream_keys(seed: int, streams: NDArray[np.integer]) -> UInt64Array:
    """Return the keys of the streams with these numbers (M,) under a seed; shape (M,)."""
    start = mix(np.array([seed % 2**64], dtype=np.uint64) + _GOLDEN_GAMMA)
    return mix(start + (streams.astype(np.uint64) + np.uint64(1)) * _GOLDEN_GAMMA)


def shuffled_decks(keys: UInt64Array, deal_numbers: NDArray[np.uint32]) -> NDArray[np.uint8]:
    """Return one shuffled deck per row, shape (N, 52).

    Each card gets 58 random bits above the 6 bits of its id; sorting these numbers shuffles the ids.
    """
    start = mix(keys + deal_numbers.astype(np.uint64) * _GOLDEN_GAMMA)
    numbers = mix(start[:, None] + (_CARD_COUNTERS + np.uint64(1)) * _GOLDEN_GAMMA)
    return (np.sort((numbers & ~_LOW_SIX_BITS) | _CARD_COUNTERS, axis=1) & _LOW_SIX_BITS).astype(np.uint8)


def random_seats(keys: UInt64Array, deal_numbers: NDArray[np.uint32], num_seats: int) -> NDArray[np.uint8]:
    """Return one uniformly random seat per row and deal, shape (N,)."""
    numbers = mix((keys ^ _DEALER_STREAM) + deal_numbers.astype(np.uint64) * _GOLDEN_GAMMA)
    return ((numbers >> np.uint64(32)) % np.uint64(num_seats)).astype(np.uint8)
