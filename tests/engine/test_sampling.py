"""Random legal actions, chosen from action bitmasks."""

from __future__ import annotations

import numpy as np

from gin_env.engine import Engine, random_actions
from gin_env.engine.sampling import nth_bit


def test_nth_bit_counts_from_the_lowest() -> None:
    generator = np.random.default_rng(2)
    words = generator.integers(1, 2**62, 2000, dtype=np.uint64)
    ranks = (generator.random(2000) * np.bitwise_count(words)).astype(np.intp)
    found = nth_bit(words, ranks)
    for word, rank, position in zip(words.tolist(), ranks, found, strict=True):
        assert [bit for bit in range(64) if word >> bit & 1][rank] == position


def test_random_actions_are_uniform_over_the_legal_ones() -> None:
    engine = Engine("palace_4p", 1, seed=0)
    engine.reset()
    engine.step([engine.layout.index("take")])
    legal = np.repeat(engine.state.legal, 30_000, axis=0)
    actions = random_actions(legal, engine.layout, np.random.default_rng(0))
    counts = np.bincount(actions, minlength=engine.layout.size)
    allowed = engine.legal_mask()[0]
    assert counts[~allowed].sum() == 0
    expected = 30_000 / allowed.sum()
    assert np.abs(counts[allowed] - expected).max() < 5 * np.sqrt(expected)
    assert random_actions(np.zeros((2, 4), np.uint64), engine.layout, np.random.default_rng(0)).tolist() == [-1, -1]
