"""Cards as small integers, hands as bitboards, and their texts.

A **card id** is ``suit * 13 + rank`` (0 to 51). A **bitboard** is one ``uint64`` whose bit ``i`` is set if card ``i``
belongs to the set. Hands, the discard pile and every other set of cards are bitboards, so that set operations are
``& | ~`` over whole batches. ``NO_CARD`` is the id that means "no card".

The order of cards is decided here: suits in the order S H D C (``SUITS``), ranks A 2 3 4 5 6 7 8 9 T J Q K with the ace
low (``RANKS``). Texts, action indices, card planes and ties "by the lowest card id" all follow from it. Some rules
assume that spades come first (a spade as the first upcard doubles). Two modules translate from orders of other
programs: gin_env/scoring/challenge_2021.py (C H S D) and the agent that asks OpenSpiel's bot.

``parse_card`` and ``format_card`` are exact inverses, and so are ``parse_cards`` and ``format_cards``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

UInt64Array = NDArray[np.uint64]
#: Row numbers of a batch, ascending unless said otherwise.
Rows = NDArray[np.intp]

NUM_CARDS = 52
NUM_SUITS = 4
NUM_RANKS = 13
NO_CARD = 52

RANKS = "A23456789TJQK"
SUITS = "SHDC"

#: (53,) uint64: the bitboard of each card id; ``CARD_BITS[NO_CARD]`` is empty.
CARD_BITS: UInt64Array = np.append(np.uint64(1) << np.arange(NUM_CARDS, dtype=np.uint64), np.uint64(0))

#: (53,) uint8: deadwood points of each card id: ace 1, J Q K 10; ``NO_CARD`` 0.
CARD_POINTS: NDArray[np.uint8] = np.append(np.minimum(np.arange(NUM_CARDS) % NUM_RANKS + 1, 10), 0).astype(np.uint8)

ALL_CARDS = np.uint64(2**NUM_CARDS - 1)
#: The lowest bit of each suit: multiplied by a 13-bit set of ranks, it gives those ranks in all four suits.
EVERY_SUIT = np.uint64(sum(1 << (suit * NUM_RANKS) for suit in range(NUM_SUITS)))
ACES = EVERY_SUIT
KINGS = EVERY_SUIT << np.uint64(NUM_RANKS - 1)
#: (4, 1) uint64: right shift that moves each suit's 13 bits to the lowest position.
SUIT_SHIFTS: UInt64Array = (np.arange(NUM_SUITS, dtype=np.uint64) * np.uint64(NUM_RANKS))[:, None]
SUIT_MASK = np.uint64(2**NUM_RANKS - 1)

#: (256,) uint8: each byte with its bits in reverse order.
_REVERSED_BYTES = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], dtype=np.uint8)


def parse_card(text: str) -> int:
    """Return the id of a card written as rank and suit, for example ``"5H"`` or ``"TS"``."""
    if isinstance(text, str) and len(text) == 2 and text[0] in RANKS and text[1] in SUITS:
        return SUITS.index(text[1]) * NUM_RANKS + RANKS.index(text[0])
    raise ValueError(
        f"unknown card {text!r}: expected a rank of {RANKS} and a suit of {SUITS}, for example '5H' or 'TS'"
    )


def format_card(card: int) -> str:
    """Return the text of a card id, or ``"--"`` for ``NO_CARD``."""
    if card == NO_CARD:
        return "--"
    if not 0 <= card < NUM_CARDS:
        raise ValueError(f"card id: expected 0 to {NUM_CARDS - 1}, got {card}")
    return RANKS[card % NUM_RANKS] + SUITS[card // NUM_RANKS]


def parse_cards(cards: str | Iterable[str]) -> list[int]:
    """Return the ids of cards given as one text, spaced or not (``"5H6H"``), or as a sequence of texts.

    Raises
    ------
    ValueError
        For an unknown card, or a card that is listed twice.
    """
    if isinstance(cards, str):
        texts = [word[start : start + 2] for word in cards.split() for start in range(0, len(word), 2)]
    elif isinstance(cards, Iterable):
        texts = list(cards)
    else:
        raise ValueError(f"cards: expected a text such as '5H 6H', or a sequence of card texts, got {cards!r}")

    ids = [parse_card(text) for text in texts]
    for position, card in enumerate(ids):
        if card in ids[:position]:
            raise ValueError(f"card {format_card(card)} is listed twice in {' '.join(texts)!r}")
    return ids


def format_cards(cards: int | np.uint64 | Sequence[int]) -> str:
    """Return the texts of a bitboard (in id order) or of a sequence of ids (in its order), separated by spaces."""
    ids = card_ids(cards) if isinstance(cards, (int, np.integer)) else cards
    return " ".join(format_card(int(card)) for card in ids)


def card_ids(bits: int | np.uint64) -> list[int]:
    """Return the card ids of one bitboard in ascending order."""
    value = int(bits)
    return [card for card in range(NUM_CARDS) if value >> card & 1]


def bits_of(ids: Iterable[int]) -> np.uint64:
    """Return the bitboard of a collection of card ids."""
    return np.uint64(sum(1 << int(card) for card in ids))


def unpack_cards(bits: UInt64Array) -> NDArray[np.bool_]:
    """Spread bitboards of any shape ``S`` into booleans of shape ``S + (52,)``."""
    octets = np.ascontiguousarray(bits, dtype="<u8").view(np.uint8).reshape(*bits.shape, 8)
    return np.unpackbits(octets, axis=-1, bitorder="little", count=NUM_CARDS).view(np.bool_)


def rows_and_cards(bits: UInt64Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return every card of some bitboards together with its row.

    Parameters
    ----------
    bits : uint64, shape (M,)

    Returns
    -------
    rows, cards : intp, shape (K,)
        Rows into ``bits``, ascending, and card ids, ascending within each row.
    """
    # Many times faster than nonzero() of the two-dimensional array.
    positions = np.flatnonzero(unpack_cards(bits))
    rows = positions // NUM_CARDS
    return rows, positions - rows * NUM_CARDS


def lowest_first_key(bits: UInt64Array) -> UInt64Array:
    """Return keys that order bitboards: of two, the one that holds the lowest card in which they differ is larger."""
    octets = np.ascontiguousarray(bits, dtype="<u8").view(np.uint8).reshape(*bits.shape, 8)
    return np.ascontiguousarray(_REVERSED_BYTES[octets[..., ::-1]]).view("<u8").reshape(bits.shape)


def suit_slices(bits: UInt64Array) -> UInt64Array:
    """Return the 13-bit set of ranks in each suit, shape (4, N), of bitboards (N,)."""
    return (bits >> SUIT_SHIFTS) & SUIT_MASK
