"""Card ids, bitboards and texts: parsing and formatting are exact inverses, and bad texts are refused by name."""

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
    rows_and_cards,
    suit_slices,
    unpack_cards,
)


def test_card_texts_are_inverse_to_ids() -> None:
    texts = [format_card(card) for card in range(52)]
    assert len(set(texts)) == 52
    assert [parse_card(text) for text in texts] == list(range(52))
    assert (texts[0], texts[12], texts[13], texts[51]) == ("AS", "KS", "AH", "KC")


def test_card_points_are_those_of_the_rules() -> None:
    points = [int(CARD_POINTS[parse_card(f"{rank}H")]) for rank in "A23456789TJQK"]
    assert points == [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10, 10]
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


@pytest.mark.parametrize("card", [-1, 53])
def test_unknown_card_ids_are_named(card: int) -> None:
    with pytest.raises(ValueError, match=f"card id.*{card}"):
        format_card(card)


def test_rows_and_cards_lists_every_card_of_every_row() -> None:
    hands = [[3, 51], [], [0, 13, 26, 39]]
    rows, cards = rows_and_cards(np.array([bits_of(hand) for hand in hands]))
    assert list(zip(rows.tolist(), cards.tolist(), strict=True)) == [(0, 3), (0, 51), (2, 0), (2, 13), (2, 26), (2, 39)]


def test_suit_slices_hold_the_ranks_of_each_suit() -> None:
    slices = suit_slices(np.array([bits_of(parse_cards("AS KS 2H 2C"))]))
    assert slices[:, 0].tolist() == [1 | 1 << 12, 1 << 1, 0, 1 << 1]
