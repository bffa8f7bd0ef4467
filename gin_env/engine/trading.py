"""The trade between partners: an offer, the answer, and what the table learns of it (docs/rules.md rows 16-19).

Functions on some rows of a four-player ``State``; the engine has checked that the moves are legal.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_BITS, NO_CARD, Rows, UInt64Array
from gin_env.engine.legal import answer_words
from gin_env.engine.state import Phase, State

_SEATS = 4
_TRADE_ANSWER = int(Phase.TRADE_ANSWER)


def offer_card(state: State, rows: Rows, cards: NDArray[np.intp]) -> None:
    """Put the movers' cards (M,) into their partners' hands, and ask for one in return."""
    movers = state.mover[rows]
    partners = (movers + 2) % _SEATS
    _hand_over(state, rows * _SEATS + movers, rows * _SEATS + partners, CARD_BITS[cards])
    _veil(state, rows, movers, partners)
    state.offered_card[rows] = cards
    state.trades[rows] += 1
    state.phase[rows] = _TRADE_ANSWER
    if state.rules.trade_reply == "partner":
        state.mover[rows] = partners
    state.legal[rows] = answer_words(state, rows)


def answer_offer(state: State, rows: Rows, cards: NDArray[np.intp]) -> None:
    """Put cards (M,) of the partners back into the movers' hands; it is the movers' decision again."""
    movers = state.turn_seat[rows]
    _hand_over(state, rows * _SEATS + (movers + 2) % _SEATS, rows * _SEATS + movers, CARD_BITS[cards])
    state.offered_card[rows] = NO_CARD
    state.mover[rows] = movers


def _hand_over(state: State, givers: NDArray[np.intp], receivers: NDArray[np.intp], bits: UInt64Array) -> None:
    """Move a card between two seats (cells into all hands), both of whom remember it."""
    hands, gave = state.hands.reshape(-1), state.gave_bits.reshape(-1)
    hands[givers] ^= bits
    hands[receivers] |= bits
    gave[givers] |= bits
    gave[receivers] &= ~bits


def _veil(state: State, rows: Rows, movers: NDArray, partners: NDArray) -> None:
    """What was known to lie with one of the two is from now on known to lie with their team (row 19)."""
    known = state.known_bits.reshape(-1)
    movers_cells, partners_cells = rows * _SEATS + movers, rows * _SEATS + partners
    seen = known[movers_cells] | known[partners_cells]
    state.team_known_bits.reshape(-1)[rows * 2 + movers % 2] |= seen
    known[movers_cells] = 0
    known[partners_cells] = 0
