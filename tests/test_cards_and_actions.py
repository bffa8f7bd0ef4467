"""Cards, hands and actions: texts and indices are exact inverses, and bad ones are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.actions import action_layout
from gin_env.cards import (
    CARD_POINTS,
    NO_CARD,
    bits_of,
    card_ids,
    format_card,
    format_cards,
    lowest_first_key,
    parse_card,
    parse_cards,
    unpack_cards,
)
from gin_env.engine import Engine
from gin_env.rules import PRESETS, Rules
from gin_env.sampling import nth_bit, random_actions


def test_card_texts_are_inverse_to_ids() -> None:
    texts = [format_card(card) for card in range(52)]
    assert len(set(texts)) == 52
    assert [parse_card(text) for text in texts] == list(range(52))
    assert (texts[0], texts[12], texts[13], texts[51]) == ("AS", "KS", "AH", "KC")


def test_card_points_are_those_of_the_rules() -> None:
    assert [int(CARD_POINTS[parse_card(f"{rank}H")]) for rank in "A23456789TJQK"] == [1, 2, 3, 4, 5, 6, 7, 8, 9] + [
        10
    ] * 4
    assert CARD_POINTS[NO_CARD] == 0


@pytest.mark.parametrize("text", ["1H", "5h", "H5", "10H", "", "5", "5HH"])
def test_unknown_cards_are_named(text: str) -> None:
    with pytest.raises(ValueError, match=f"unknown card {text!r}"):
        parse_card(text)


def test_doubled_card_is_named() -> None:
    with pytest.raises(ValueError, match="5H stands twice"):
        parse_cards("5H 6H 5H")


def test_bitboards_round_trip() -> None:
    generator = np.random.default_rng(0)
    for _ in range(100):
        ids = sorted(generator.permutation(52)[: generator.integers(0, 12)].tolist())
        bits = bits_of(ids)
        assert card_ids(bits) == ids
        assert parse_cards(format_cards(bits)) == ids
        assert np.flatnonzero(unpack_cards(np.array([bits]))[0]).tolist() == ids


def test_lowest_first_key_orders_equal_sized_sets_like_their_sorted_ids() -> None:
    generator = np.random.default_rng(1)
    sets = [tuple(sorted(generator.permutation(52)[:3].tolist())) for _ in range(300)]
    keys = lowest_first_key(np.array([bits_of(ids) for ids in sets]))
    by_key = [sets[index] for index in np.argsort(~keys, kind="stable")]
    assert by_key == sorted(sets)


@pytest.mark.parametrize("preset", PRESETS)
def test_action_texts_are_inverse_to_indices(preset: str) -> None:
    layout = action_layout(Rules.preset(preset))
    texts = [layout.text(action) for action in range(layout.size)]
    assert len(set(texts)) == layout.size == (159 if preset == "palace_4p" else 107)
    assert [layout.index(text) for text in texts] == list(range(layout.size))


@pytest.mark.parametrize("text", ["fold", "discard", "pass 5H", "give 5H", "discard 5X", ""])
def test_unknown_actions_are_named(text: str) -> None:
    with pytest.raises(ValueError, match="unknown"):
        action_layout(Rules.preset("classic_2p")).index(text)


def test_mask_and_words_say_the_same() -> None:
    engine = Engine("palace_4p", 64, seed=5)
    engine.reset()
    generator = np.random.default_rng(0)
    for _ in range(60):
        mask = engine.legal_mask()
        for row in range(64):
            by_word = [
                action
                for action in range(engine.layout.size)
                if engine.state.legal[row, engine.layout.word_of[action]] & engine.layout.bit_of[action]
            ]
            assert np.flatnonzero(mask[row]).tolist() == by_word
        engine.step(random_actions(engine.state.legal, engine.layout, generator))


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
