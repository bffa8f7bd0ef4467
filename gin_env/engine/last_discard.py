"""The last discard (``last_discard_knock``): when the stock has run out, the next seat may take it, only to knock."""

from __future__ import annotations

import numpy as np

from gin_env.cards import CARD_BITS, NO_CARD, NUM_CARDS, Rows, UInt64Array
from gin_env.cards.melds import legal_knocks
from gin_env.engine import boasting
from gin_env.engine.actions import PASS, TAKE
from gin_env.engine.knocking import has_no_deadwood, knock_limits
from gin_env.engine.state import PHASE_LAST_DISCARD, State

_PASS_OR_TAKE = np.uint64(1 << PASS | 1 << TAKE)
_PASS_ONLY = np.uint64(1 << PASS)


def offer(state: State, rows: Rows) -> None:
    """Offer the last discard to the movers."""
    state.phase[rows] = PHASE_LAST_DISCARD
    state.legal[rows] = offer_words(state, rows)


def offer_words(state: State, rows: Rows) -> UInt64Array:
    """Return the action bitmasks (M, W) of the offer: the card may be taken only if a knock then exists."""
    rules = state.rules
    cells = state.cell(rows, state.mover[rows])
    hands = state.hands.reshape(-1)[cells]

    with_card = hands | CARD_BITS[state.upcard[rows]]
    discardable = hands if rules.forbid_return_discard else with_card
    can_end = legal_knocks(with_card, discardable, knock_limits(state, rows)) != 0
    if rules.has_big_gin:
        can_end |= has_no_deadwood(with_card)
    if rules.boast:
        can_end &= ~boasting.is_barred(state, cells)

    words = np.zeros((len(rows), state.layout.num_words), dtype=np.uint64)
    words[:, 0] = np.where(can_end, _PASS_OR_TAKE, _PASS_ONLY)
    return words


def apply_to_words(state: State, rows: Rows, words: UInt64Array) -> None:
    """Leave only the ends of the deal in the action bitmasks (M, W) of movers who have taken the last discard."""
    layout = state.layout
    stock_is_out = state.stock_next[rows] >= NUM_CARDS - state.rules.stock_floor
    took_last = stock_is_out & (state.taken_card[rows] != NO_CARD)

    kept = np.zeros(layout.num_words, dtype=np.uint64)
    kept[layout.knock_word] = ~np.uint64(0)
    if layout.big_gin >= 0:
        kept[0] = 1 << layout.big_gin
    words[took_last] &= kept
