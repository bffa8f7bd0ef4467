"""Cards as small integers, hands as bitboards, and their texts.

A **card id** is ``suit * 13 + rank`` (0-51), suits in the order S H D C, ranks in the order
A 2 3 4 5 6 7 8 9 T J Q K (ace low). A **bitboard** is one ``uint64`` whose bit ``i`` says that card
``i`` is there; hands, the discard pile and every other set of cards are bitboards, so that set
operations are ``& | ~`` over whole batches. ``NO_CARD`` stands for "no card" wherever an id is kept.

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

#: (53,) uint8: deadwood points of each card id: ace 1, J Q K 10 (docs/rules.md); NO_CARD 0.
CARD_POINTS: NDArray[np.uint8] = np.append(np.minimum(np.arange(NUM_CARDS) % NUM_RANKS + 1, 10), 0).astype(np.uint8)

ALL_CARDS = np.uint64(2**NUM_CARDS - 1)
#: One bit of every suit: multiplied with a single-rank bit it marks that rank in all four suits.
EVERY_SUIT = np.uint64(sum(1 << (suit * NUM_RANKS) for suit in range(NUM_SUITS)))
ACES = EVERY_SUIT
KINGS = EVERY_SUIT << np.uint64(NUM_RANKS - 1)
#: (4, 1) uint64: how far to shift a bitboard so that each suit's 13 bits come lowest.
SUIT_SHIFTS: UInt64Array = (np.arange(NUM_SUITS, dtype=np.uint64) * np.uint64(NUM_RANKS))[:, None]
SUIT_MASK = np.uint64(2**NUM_RANKS - 1)

_REVERSED_BYTES = np.array([int(f"{byte:08b}"[::-1], 2) for byte in range(256)], dtype=np.uint8)


def parse_card(text: str) -> int:
    """Return the id of a card written as rank and suit, for example ``"5H"`` or ``"TS"``."""
    if isinstance(text, str) and len(text) == 2 and text[0] in RANKS and text[1] in SUITS:
        return SUITS.index(text[1]) * NUM_RANKS + RANKS.index(text[0])
    raise ValueError(f"unknown card {text!r}: write a rank of {RANKS} and a suit of {SUITS}, for example '5H' or 'TS'")


def format_card(card: int) -> str:
    """Return the text of a card id; ``"--"`` for ``NO_CARD``."""
    if card == NO_CARD:
        return "--"
    if not 0 <= card < NUM_CARDS:
        raise ValueError(f"card id {card} is outside 0..{NUM_CARDS - 1}")
    return RANKS[card % NUM_RANKS] + SUITS[card // NUM_RANKS]


def parse_cards(cards: str | Iterable[str]) -> list[int]:
    """Return the ids of several cards, given as one text, spaced or not (``"5H6H"``), or as a sequence of texts.

    Raises ``ValueError`` when a card is unknown or stands twice.
    """
    if isinstance(cards, str):
        texts = [word[start : start + 2] for word in cards.split() for start in range(0, len(word), 2)]
    elif isinstance(cards, Iterable):
        texts = list(cards)
    else:
        raise ValueError(f"cards {cards!r}: a text such as '5H 6H', or a sequence of card texts, is needed")
    ids = [parse_card(text) for text in texts]
    for position, card in enumerate(ids):
        if card in ids[:position]:
            raise ValueError(f"card {format_card(card)} stands twice in {' '.join(texts)!r}")
    return ids


def format_cards(cards: int | np.uint64 | Sequence[int]) -> str:
    """Return the spaced texts of a bitboard (in id order) or of a sequence of ids (in its order)."""
    ids = card_ids(cards) if isinstance(cards, (int, np.integer)) else cards
    return " ".join(format_card(int(card)) for card in ids)


def card_ids(bits: int | np.uint64) -> list[int]:
    """Return the card ids of one bitboard in ascending order."""
    value = int(bits)
    return [card for card in range(NUM_CARDS) if value >> card & 1]


def bits_of(ids: Iterable[int]) -> np.uint64:
    """Return the bitboard of some card ids."""
    return np.uint64(sum(1 << int(card) for card in ids))


def unpack_cards(bits: UInt64Array) -> NDArray[np.bool_]:
    """Spread bitboards of any shape ``S`` into booleans of shape ``S + (52,)``."""
    octets = np.ascontiguousarray(bits, dtype="<u8").view(np.uint8).reshape(*bits.shape, 8)
    return np.unpackbits(octets, axis=-1, bitorder="little", count=NUM_CARDS).view(np.bool_)


def rows_and_cards(bits: UInt64Array) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return every card of bitboards (M,) with its row: rows (K,), ascending, and card ids (K,), ascending in a row."""
    places = np.flatnonzero(unpack_cards(bits))  # many times faster than nonzero of the array as it is
    rows = places // NUM_CARDS
    return rows, places - rows * NUM_CARDS


def lowest_first_key(bits: UInt64Array) -> UInt64Array:
    """Return keys that are larger for the bitboard holding the lowest card in which two differ."""
    octets = np.ascontiguousarray(bits, dtype="<u8").view(np.uint8).reshape(*bits.shape, 8)
    return np.ascontiguousarray(_REVERSED_BYTES[octets[..., ::-1]]).view("<u8").reshape(bits.shape)


def suit_slices(bits: UInt64Array) -> UInt64Array:
    """Return the 13-bit rank sets of the four suits, shape (4, N), of N bitboards."""
    return (bits >> SUIT_SHIFTS) & SUIT_MASK
