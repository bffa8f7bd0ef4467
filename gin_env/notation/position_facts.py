"""What several checks of a position need to know about it."""

from __future__ import annotations

import numpy as np

from gin_env.cards import CARD_BITS
from gin_env.engine import Phase, State

#: The phases in which the turn's seat has drawn, and those before the first turn.
AFTER_DRAW = (Phase.PLAY, Phase.TRADE_ANSWER, Phase.CATCH)
BEFORE_TURNS = (Phase.UPCARD_OFFER, Phase.FORCED_DRAW)
#: The cards of one catch (``catch_glass``).
CATCH_SIZE = 3


def phase_of(state: State, row: int) -> Phase:
    """Return the phase of a row."""
    return Phase(int(state.phase[row]))


def seats_playing(state: State, row: int) -> list[int]:
    """Return the seats that play, clockwise from the dealer's left."""
    rules, dealer = state.rules, int(state.dealer[row])
    return [(dealer + 1 + place) % rules.num_seats for place in range(rules.num_hands)]


def turned_up(state: State, row: int) -> np.uint64:
    """Return the cards that have been on the discard pile."""
    return np.bitwise_or.reduce(state.discarded_bits[row]) | CARD_BITS[state.first_upcard[row]]
