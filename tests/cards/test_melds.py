"""Deadwood and arrangements equal brute force, on random and on meld-rich hands."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.cards import bits_of, format_card, format_cards, parse_card, parse_cards
from gin_env.cards.melds import (
    deadwood,
    deadwood_after_each,
    fits,
    fourth_cards,
    is_run,
    is_set,
    least_arrangements,
    legal_knocks,
    meldable_cards,
    melds_of,
    neighbours,
    points_of,
)
from tests.helpers.decks import all_melds, meld_rich_hand
from tests.reference import arrangements as reference_arrangements
from tests.reference import deadwood as reference_deadwood

#: docs/rules.md, facts: discarding the 6S leaves 9, though the best arrangement of the eleven cards suggests 11.
TIED_HAND = "2S 5S 6S 3C 4C 5C 6C 2H 4H 5H 6H"


def sample_hands(count: int, seed: int) -> np.ndarray:
    """Return hands of 7 to 11 cards: half of them rich in melds, half from few ranks, where sets and runs compete."""
    generator = np.random.default_rng(seed)
    hands = []
    for index in range(count):
        size = int(generator.integers(7, 12))
        if index % 2:
            hands.append(bits_of(meld_rich_hand(generator, size, set(range(52)))))
        else:
            low = int(generator.integers(0, 9))
            pool = [13 * suit + rank for suit in range(4) for rank in range(low, low + 4 + index % 3 * 4) if rank < 13]
            hands.append(bits_of(generator.permutation(pool)[:size]))
    return np.array(hands)


def check_deadwood(hands: np.ndarray) -> None:
    found = deadwood(hands)
    expected = [reference_deadwood(format_cards(hand).split()) for hand in hands]
    assert found.tolist() == expected
    assert (found < points_of(hands)).mean() > 0.5, "most of these hands should hold melds"


def test_melds_on_52_cards() -> None:
    melds = all_melds()
    assert len(melds) == 329
    assert sum(len(meld) <= 5 for meld in melds) == 185
    assert not deadwood(np.array([bits_of(meld) for meld in melds])).any()


def test_deadwood_equals_brute_force() -> None:
    check_deadwood(sample_hands(3_000, seed=1))


@pytest.mark.slow
def test_deadwood_equals_brute_force_on_100_000_hands() -> None:
    check_deadwood(sample_hands(100_000, seed=2))


def test_deadwood_of_no_cards_and_no_hands() -> None:
    assert deadwood(np.zeros(2, np.uint64)).tolist() == [0, 0]
    assert deadwood(np.zeros(0, np.uint64)).shape == (0,)


@pytest.mark.parametrize(
    ("cards", "points"), [("AS 2S 3S", 0), ("QS KS AS", 21), ("KS AS 2S", 13), ("JS QS KS", 0), ("KS AH 2H", 13)]
)
def test_no_run_continues_from_the_king_to_the_ace(cards: str, points: int) -> None:
    assert deadwood(np.array([bits_of(parse_cards(cards))])).tolist() == [points]


def test_tied_arrangements_may_knock_with_nine() -> None:
    hand = np.array([bits_of(parse_cards(TIED_HAND))])
    _, cards, points = deadwood_after_each(hand, hand)
    after = dict(zip(map(format_card, cards), points.tolist(), strict=True))
    assert after["6S"] == 9 == min(after.values())
    assert legal_knocks(hand, hand, 9)[0] == bits_of([parse_card("6S")])
    assert legal_knocks(hand, hand, 8)[0] == 0


def test_least_arrangements_are_those_of_the_reference_in_order() -> None:
    hands = sample_hands(2_000, seed=3)
    found = least_arrangements(hands)
    assert (np.diff(found.rows) >= 0).all()
    assert (found.deadwood == deadwood(hands)[found.rows]).all()

    num_tied = 0
    for row, hand in enumerate(hands):
        indices = np.flatnonzero(found.rows == row)
        melds = [melds_of(found.set_bits[index], found.run_bits[index]) for index in indices]
        expected = [
            sorted(sorted(map(parse_card, meld)) for meld in arrangement)
            for arrangement in reference_arrangements(format_cards(hand).split())
        ]
        assert melds == expected, format_cards(hand)
        num_tied += len(indices) > 1
    assert num_tied > 100


def test_meldable_cards_are_those_of_some_meld() -> None:
    melds = [int(bits_of(meld)) for meld in all_melds()]
    hands = sample_hands(500, seed=4)
    for hand, found in zip(hands.tolist(), meldable_cards(hands).tolist(), strict=True):
        expected = 0
        for meld in melds:
            expected |= meld if hand & meld == meld else 0
        assert found == expected


def test_neighbours_and_fourth_cards() -> None:
    bits = np.array([bits_of(parse_cards("AS KH 5D 6D"))])
    assert format_cards(neighbours(bits)[0]) == "2S QH 4D 5D 6D 7D"
    assert format_cards(fourth_cards(np.array([bits_of(parse_cards("7S 7H 7C 9S 9H 9D 9C"))]))[0]) == "7D"


def test_legal_knocks_equal_trying_every_card() -> None:
    generator = np.random.default_rng(5)
    hands = np.array([bits_of(meld_rich_hand(generator, 11, set(range(52)))) for _ in range(400)])
    discardable = hands & ~(hands & (~hands + np.uint64(1)))  # all but the lowest card

    for limit in (0, 4, 10):
        found = legal_knocks(hands, discardable, limit)
        for hand, cards, knocks in zip(hands.tolist(), discardable.tolist(), found.tolist(), strict=True):
            ids = [card for card in range(52) if cards >> card & 1]
            after = deadwood(np.array([hand ^ (1 << card) for card in ids], dtype=np.uint64))
            assert knocks == sum(1 << card for card, points in zip(ids, after, strict=True) if points <= limit)


def test_a_card_fits_where_the_longer_meld_is_a_meld() -> None:
    melds = all_melds()
    assert len(melds) == 329

    for meld in melds:
        for card in range(52):
            longer = sorted([*meld, card])
            is_meld = card not in meld and (is_run(longer) or is_set(longer))
            assert fits(sorted(meld), card) == is_meld, (meld, card)
