"""Decks and dealers that come from outside: duplicate deals, worked examples, replays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.cards import NUM_CARDS, format_card, parse_cards
from gin_env.errors import InvalidPosition


def checked_decks(decks: ArrayLike, num_rows: int) -> NDArray[np.uint8]:
    """Return decks as ids (num_rows, 52); raises ``InvalidPosition`` unless each is a permutation of the 52 cards."""
    array = np.asarray(decks)
    if array.dtype.kind not in "iu":
        raise InvalidPosition(f"decks hold {array.dtype} values: card ids 0 to {NUM_CARDS - 1} are needed")
    if array.ndim == 1:
        array = array[None]
    if array.shape != (num_rows, NUM_CARDS):
        raise InvalidPosition(f"decks have shape {array.shape}: {num_rows} decks of {NUM_CARDS} card ids are needed")
    wrong = np.flatnonzero((np.sort(array, axis=1) != np.arange(NUM_CARDS)).any(axis=1))
    if len(wrong):
        row = int(wrong[0])
        missing = [format_card(card) for card in range(NUM_CARDS) if card not in array[row]]
        raise InvalidPosition(f"deck {row} is not a permutation of the 52 cards: it lacks {' '.join(missing)}")
    return array.astype(np.uint8)


def checked_dealers(dealers: ArrayLike, num_rows: int, num_players: int) -> NDArray[np.uint8]:
    """Return dealers (num_rows,), one for all or one each; raises ``InvalidPosition`` for a seat that is none."""
    array = np.asarray(dealers)
    if array.dtype.kind not in "iu":
        raise InvalidPosition(f"dealer {dealers!r} is no seat: the seats are 0 to {num_players - 1}")
    if array.shape not in ((), (num_rows,)):
        raise InvalidPosition(f"dealers have shape {array.shape}: one for all or one for each of {num_rows} deals")
    array = np.broadcast_to(array, (num_rows,))
    wrong = array[(array < 0) | (array >= num_players)]
    if len(wrong):
        raise InvalidPosition(f"dealer {wrong[0]} is no seat: the seats are 0 to {num_players - 1}")
    return array.astype(np.uint8)


def parse_deck(cards: str | Sequence[str] | Sequence[int]) -> NDArray[np.uint8]:
    """Return a deck's card ids (52,) from texts or ids; raises ``InvalidPosition`` for anything but 52 cards."""
    texts = isinstance(cards, str) or (len(cards) > 0 and isinstance(cards[0], str))
    try:
        ids = parse_cards(cards) if texts else list(cards)  # type: ignore[arg-type]
    except ValueError as error:
        raise InvalidPosition(f"deck: {error}") from error
    return checked_decks(np.asarray(ids), 1)[0]
