"""Decks for tests, rich in melds so that seats can knock early and defenders can lay off."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from gin_env.rules import Rules


def all_melds() -> list[list[int]]:
    """Return every set and run of the 52 cards as ascending ids."""
    sets = [
        [rank + 13 * suit for suit in suits]
        for rank in range(13)
        for size in (3, 4)
        for suits in itertools.combinations(range(4), size)
    ]
    runs = [
        list(range(13 * suit + low, 13 * suit + high))
        for suit in range(4)
        for low in range(13)
        for high in range(low + 3, 14)
    ]
    return sets + runs


SHORT_MELDS = [meld for meld in all_melds() if len(meld) <= 5]


def meld_rich_hand(generator: np.random.Generator, size: int, available: set[int]) -> list[int]:
    """Return a hand from the available cards: some melds, then cards near them or random cards."""
    hand: list[int] = []
    for index in generator.permutation(len(SHORT_MELDS))[:40]:
        meld = SHORT_MELDS[index]
        if len(hand) + len(meld) <= size and set(meld) <= available - set(hand):
            hand += meld
        if len(hand) > size - 3 or generator.random() < 0.1:
            break

    rest = sorted(available - set(hand))
    if hand and generator.random() < 0.7:  # cards close to the melds make arrangements tie
        rest.sort(key=lambda card: min(abs(card % 13 - other % 13) for other in hand) + generator.random() * 2)
    else:
        generator.shuffle(rest)
    return hand + rest[: size - len(hand)]


def meld_rich_deck(generator: np.random.Generator, rules: Rules, dealer: int) -> list[int]:
    """Return a deck that deals a meld-rich hand to every seat at a table; the dealer is a seat at that table."""
    available = set(range(52))
    hands = []
    for _ in range(rules.num_hands):
        hands.append(meld_rich_hand(generator, rules.hand_size, available))
        available -= set(hands[-1])

    # A hand belongs to a seat, whoever deals: that two hands belong to partners must not depend on the dealer.
    first = 0 if rules.deal_order == "seat_zero" or rules.mode == "rotation" else (dealer + 1) % rules.num_hands
    order = [hands[(first + place) % rules.num_hands] for place in range(rules.num_hands)]
    dealt = [order[place][card] for card in range(rules.hand_size) for place in range(rules.num_hands)]
    rest = sorted(available)
    generator.shuffle(rest)
    return dealt + rest


def rich_deal(generator: np.random.Generator, rules: Rules, dealer: int = 0) -> dict[str, Any]:
    """Return options of ``reset`` that deal meld-rich hands at every table; the dealer is a seat at each table."""
    decks = [meld_rich_deck(generator, rules, dealer) for _ in range(rules.num_tables)]
    if rules.num_tables == 1:
        return {"deck": decks[0], "dealer": dealer}
    return {"deck": decks, "dealer": [dealer, rules.num_seats + dealer]}
