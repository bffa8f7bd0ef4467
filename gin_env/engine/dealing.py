"""Dealing: decks and dealers that come from outside are checked here, and cards laid out for a new deal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.cards import CARD_BITS, NO_CARD, NUM_CARDS, format_card, parse_cards
from gin_env.engine.state import NO_SEAT, State
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


def checked_dealers(dealers: ArrayLike, num_rows: int, num_seats: int) -> NDArray[np.uint8]:
    """Return dealers (num_rows,), one for all or one each; raises ``InvalidPosition`` for a seat that is none."""
    array = np.asarray(dealers)
    if array.dtype.kind not in "iu":
        raise InvalidPosition(f"dealer {dealers!r} is no seat: the seats are 0 to {num_seats - 1}")
    if array.shape not in ((), (num_rows,)):
        raise InvalidPosition(f"dealers have shape {array.shape}: one for all or one for each of {num_rows} deals")
    array = np.broadcast_to(array, (num_rows,))
    wrong = array[(array < 0) | (array >= num_seats)]
    if len(wrong):
        raise InvalidPosition(f"dealer {wrong[0]} is no seat: the seats are 0 to {num_seats - 1}")
    return array.astype(np.uint8)


def per_table(dealers: ArrayLike, num_rows: int, num_seats: int) -> NDArray:
    """Return a dealer for each of two tables, (num_rows, 2), from one pair for all rows or a pair for each."""
    array = np.asarray(dealers)
    if array.shape not in ((2,), (num_rows, 2)):
        raise InvalidPosition(
            f"dealers have shape {array.shape}: each of the two tables needs its own, a seat from 0 to "
            f"{num_seats - 1}, as a pair for all rows or one for each of {num_rows}"
        )
    return np.broadcast_to(array, (num_rows, 2))


def decks_of_tables(decks: ArrayLike, num_rows: int) -> NDArray:
    """Return decks for the two tables of each row, one after another (2 * num_rows, 52)."""
    array = np.asarray(decks)
    if array.shape not in ((2, NUM_CARDS), (num_rows, 2, NUM_CARDS)):
        raise InvalidPosition(
            f"decks have shape {array.shape}: each of the two tables needs its own {NUM_CARDS} card ids, as "
            f"{(2, NUM_CARDS)} for all rows or {(num_rows, 2, NUM_CARDS)}"
        )
    return np.broadcast_to(array, (num_rows, 2, NUM_CARDS)).reshape(-1, NUM_CARDS)


def parse_deck(cards: str | Sequence[str] | Sequence[int]) -> NDArray[np.uint8]:
    """Return a deck's card ids (52,) from texts or ids; raises ``InvalidPosition`` for anything but 52 cards."""
    if not isinstance(cards, (str, Sequence, np.ndarray)):
        raise InvalidPosition(f"deck {cards!r} is none: 52 card texts or ids in dealing order are needed")
    texts = isinstance(cards, str) or (len(cards) > 0 and isinstance(cards[0], str))
    try:
        ids = parse_cards(cards) if texts else list(cards)  # type: ignore[arg-type]
    except ValueError as error:
        raise InvalidPosition(f"deck: {error}") from error
    if len(ids) != NUM_CARDS:
        raise InvalidPosition(f"deck of {len(ids)} cards: all {NUM_CARDS} are needed, in dealing order")
    return checked_decks(np.asarray(ids), 1)[0]


def deal_cards(state: State, rows: NDArray[np.intp], decks: NDArray[np.uint8], dealers: NDArray[np.uint8]) -> None:
    """Lay out new deals in some rows: hands, upcard and stock, with nothing seen or played yet.

    One card at a time from the dealer's left (``deal_order="seat_zero"``: from seat 0), then the upcard,
    then the stock from its top (docs/rules.md, fine print).
    """
    rules = state.rules
    seats, dealt = rules.num_hands, rules.num_hands * rules.hand_size
    in_order = np.bitwise_or.reduce(CARD_BITS[decks[:, :dealt]].reshape(-1, rules.hand_size, seats), axis=1)
    if rules.deal_order == "left_of_dealer":
        receivers = (dealers[:, None] + 1 + np.arange(seats)) % rules.num_seats
        if rules.mode == "rotation":
            state.hands[rows] = 0
        state.hands[rows[:, None], receivers] = in_order
    else:
        state.hands[rows] = in_order
    upcards = decks[:, dealt]
    state.deck[rows] = decks
    state.stock_next[rows] = dealt + 1
    state.pile[rows, 0] = upcards
    state.pile_size[rows] = 1
    state.pile_bits[rows] = CARD_BITS[upcards]
    state.upcard[rows] = upcards
    state.dealer[rows] = dealers
    state.offers_left[rows] = seats if rules.upcard_offer else 0
    state.offered_card[rows] = NO_CARD
    for name in _BLANK_AT_THE_DEAL:
        getattr(state, name)[rows] = 0
    for name in _BLANK_IF_PRESENT.intersection(state.optional):
        getattr(state, name)[rows] = 0
    state.winner[rows] = -1
    state.knocker[rows] = NO_SEAT


#: Arrays that a new deal sets to zero: what has been seen, and how the last deal ended.
_BLANK_AT_THE_DEAL = (
    "turn",
    "known_bits",
    "team_known_bits",
    "discarded_bits",
    "declined_bits",
    "gave_bits",
    "log_size",
    "kind",
    "points",
    "net_points",
    "deadwood",
    "set_bits",
    "run_bits",
    "laid_bits",
)
#: The same of those that only some rule systems have.
_BLANK_IF_PRESENT = frozenset({"boasted", "boast_bar", "catches", "named_bits", "caught_bits"})
