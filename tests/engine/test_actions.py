"""Cards, hands and actions: texts and indices are exact inverses, and bad ones are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

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
from gin_env.engine import Engine, action_layout, random_actions
from gin_env.engine.sampling import nth_bit
from gin_env.rules import Rules
from tests.helpers.options import ALL_RULES


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
    with pytest.raises(ValueError, match=r"5H.*twice"):
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


@pytest.mark.parametrize("name", ALL_RULES)
def test_action_texts_are_inverse_to_indices(name: str) -> None:
    """The verbs stand first and the blocks of 52 after them, as many as the rules use."""
    rules = ALL_RULES[name]
    layout = action_layout(rules)
    texts = [layout.text(action) for action in range(layout.size)]
    verbs = ["pass", "take", "draw"] + ["big_gin"] * (rules.big_gin_bonus is not None) + ["boast"] * rules.boast
    blocks = ["give"] * (rules.max_trades_per_turn > 0) + ["discard", "knock"] + ["catch"] * rules.catch_glass
    assert texts == verbs + [f"{verb} {format_card(card)}" for verb in blocks for card in range(52)]
    assert [layout.index(text) for text in texts] == list(range(layout.size))
    assert all(f"`{verb}`" in layout.describe() for verb in verbs)
    assert all(f"`{verb} AS ... {verb} KC`" in layout.describe() for verb in blocks)
    for verb in ("give", "catch", "big_gin", "boast"):
        start = getattr(layout, verb)
        assert (start >= 0) == (verb in verbs + blocks)
        assert start < 0 or texts[start].split()[0] == verb


def test_sizes_of_layouts() -> None:
    sizes = {name: action_layout(rules).size for name, rules in ALL_RULES.items()}
    assert sizes["palace_4p"] == 159
    assert sizes["classic_2p"] == sizes["rotation_3p"] == sizes["free_for_all_5p"] == sizes["two_tables_4p"] == 107
    assert sizes["biggin_2p"] == 108
    assert sizes["team_all"] == 3 + 1 + 4 * 52


@pytest.mark.parametrize("text", ["fold", "discard", "pass 5H", "give 5H", "discard 5X", ""])
def test_unknown_actions_are_named(text: str) -> None:
    with pytest.raises(ValueError, match="unknown"):
        action_layout(Rules.preset("classic_2p")).index(text)


@pytest.mark.parametrize("name", ["palace_4p", "duel_all", "team_all"])
def test_mask_and_words_say_the_same(name: str) -> None:
    engine = Engine(ALL_RULES[name], 40, seed=5)
    engine.reset()
    generator = np.random.default_rng(0)
    layout = engine.layout
    for _ in range(40):
        mask, legal = engine.legal_mask(), engine.state.legal
        assert (mask == (legal[:, layout.word_of] & layout.bit_of != 0)).all()
        assert (layout.mask(legal[:3]) == mask[:3]).all()
        for row in (0, 17, 39):
            assert (layout.single_mask(legal[row].tolist()) == mask[row]).all()
            assert [layout.index(text) for text in layout.texts(legal[row])] == np.flatnonzero(mask[row]).tolist()
        engine.step(random_actions(legal, layout, generator))


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
