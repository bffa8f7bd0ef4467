"""Dealing: decks, dealers and positions that come from outside are checked, and cards are laid out for a new deal."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.cards import CARD_BITS, NO_CARD, NUM_CARDS, Rows, format_card, parse_cards
from gin_env.engine.state import NO_SEAT, State
from gin_env.errors import InvalidPosition
from gin_env.rules import Rules


def checked_decks(decks: ArrayLike, num_rows: int) -> NDArray[np.uint8]:
    """Return decks as ids (num_rows, 52); raises ``InvalidPosition`` unless each is a permutation of the 52 cards."""
    array = np.asarray(decks)
    if array.dtype.kind not in "iu":
        raise InvalidPosition(f"decks hold {array.dtype} values: expected card ids from 0 to {NUM_CARDS - 1}")
    if array.ndim == 1:
        array = array[None]
    if array.shape != (num_rows, NUM_CARDS):
        raise InvalidPosition(f"decks have shape {array.shape}: expected {(num_rows, NUM_CARDS)}")

    is_wrong = (np.sort(array, axis=1) != np.arange(NUM_CARDS)).any(axis=1)
    if is_wrong.any():
        row = int(is_wrong.argmax())
        missing = [format_card(card) for card in range(NUM_CARDS) if card not in array[row]]
        raise InvalidPosition(f"deck {row} is not a permutation of the 52 cards: it lacks {' '.join(missing)}")
    return array.astype(np.uint8)


def checked_dealers(dealers: ArrayLike, num_rows: int, num_seats: int) -> NDArray[np.uint8]:
    """Return dealers (num_rows,), one for all or one each; raises ``InvalidPosition`` for what is not a seat."""
    array = np.asarray(dealers)
    if array.dtype.kind not in "iu":
        raise InvalidPosition(f"dealer {dealers!r} is not a seat: expected one from 0 to {num_seats - 1}")
    if array.shape not in ((), (num_rows,)):
        raise InvalidPosition(
            f"dealers have shape {array.shape}: expected one for all deals, or one for each of {num_rows}"
        )

    array = np.broadcast_to(array, (num_rows,))
    wrong = array[(array < 0) | (array >= num_seats)]
    if len(wrong):
        raise InvalidPosition(f"dealer {wrong[0]} is not a seat: expected one from 0 to {num_seats - 1}")
    return array.astype(np.uint8)


def check_position(position: State, rules: Rules, num_rows: int) -> None:
    """Raise ``ValueError`` unless a position is a state of these rules and of ``num_rows`` rows."""
    if not isinstance(position, State):
        raise ValueError(f"position: expected a State (gin_env.parse_position makes one of a text), got {position!r}")
    if position.rules != rules or position.num_deals != num_rows:
        raise ValueError(
            f"position: expected {num_rows} rows under {rules.name}, got a state of {position.num_deals} rows under "
            f"{position.rules.name}"
        )


def parse_deck(cards: str | Sequence[str] | Sequence[int]) -> NDArray[np.uint8]:
    """Return a deck's card ids (52,) from texts or ids; raises ``InvalidPosition`` for anything but 52 cards."""
    if not isinstance(cards, (str, Sequence, np.ndarray)):
        raise InvalidPosition(f"deck {cards!r} is not a deck: expected 52 card texts or ids in dealing order")

    are_texts = isinstance(cards, str) or (len(cards) > 0 and isinstance(cards[0], str))
    try:
        ids = parse_cards(cards) if are_texts else list(cards)  # type: ignore[arg-type]
    except ValueError as error:
        raise InvalidPosition(f"deck: {error}") from error

    if len(ids) != NUM_CARDS:
        raise InvalidPosition(f"deck of {len(ids)} cards: expected all {NUM_CARDS}, in dealing order")
    return checked_decks(np.asarray(ids), 1)[0]


def deal_cards(state: State, rows: Rows, decks: NDArray[np.uint8], dealers: NDArray[np.uint8]) -> None:
    """Lay out new deals in some rows: hands, upcard and stock, with nothing seen or played yet.

    Cards go one at a time to the seats from the dealer's left (``deal_order="seat_zero"``: from seat 0), then follow
    the upcard and the stock from its top.
    """
    rules = state.rules
    num_hands, num_dealt = rules.num_hands, rules.num_hands * rules.hand_size

    # Hands, in the order in which they are dealt.
    hands = np.bitwise_or.reduce(CARD_BITS[decks[:, :num_dealt]].reshape(-1, rules.hand_size, num_hands), axis=1)
    if rules.deal_order == "left_of_dealer":
        receivers = (dealers[:, None] + 1 + np.arange(num_hands)) % rules.num_seats
        if rules.mode == "rotation":
            state.hands[rows] = 0  # of the seat that sits out
        state.hands[rows[:, None], receivers] = hands
    else:
        state.hands[rows] = hands

    # The upcard and the stock.
    upcards = decks[:, num_dealt]
    state.deck[rows] = decks
    state.stock_next[rows] = num_dealt + 1
    state.pile[rows, 0] = upcards
    state.pile_size[rows] = 1
    state.pile_bits[rows] = CARD_BITS[upcards]
    state.upcard[rows] = upcards

    state.dealer[rows] = dealers
    state.offers_left[rows] = num_hands if rules.upcard_offer else 0
    state.offered_card[rows] = NO_CARD
    state.winner[rows] = -1
    state.knocker[rows] = NO_SEAT
    for name in _CLEARED:
        state.array(name)[rows] = 0
    for name in _CLEARED_IF_IN_USE.intersection(state.optional):
        state.array(name)[rows] = 0


#: Arrays that a new deal sets to zero: what has been seen, and how the last deal ended.
_CLEARED = (
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
#: The same of optional rules.
_CLEARED_IF_IN_USE = frozenset({"boasted", "boast_bar", "catches", "named_bits", "caught_bits"})
