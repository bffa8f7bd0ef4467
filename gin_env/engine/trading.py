"""The trade between partners: an offer, the answer, and what the table learns of it.

Functions on some rows of a four-player ``State``; the engine has checked that the actions are legal. The rules' fields:
``max_trades_per_turn``, ``trade_reply``, ``trade_taken_card``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_BITS, NO_CARD, Rows, UInt64Array
from gin_env.engine.state import PHASE_TRADE_ANSWER, State


def offer_words(state: State, rows: Rows, hands: UInt64Array, not_taken: UInt64Array) -> UInt64Array:
    """Return the bitmasks (M,) of the cards that the movers may offer.

    ``hands`` (M,) are the movers' cards, ``not_taken`` (M,) those among them that they did not take in this turn.
    """
    rules = state.rules
    may_trade = state.trades[rows] < rules.max_trades_per_turn
    return (hands if rules.trade_taken_card else not_taken) * may_trade


def answer_words(state: State, rows: Rows) -> UInt64Array:
    """Return the action bitmasks (M, W) of an answer: the partner of the turn's seat may give back any card."""
    words = np.zeros((len(rows), state.layout.num_words), dtype=np.uint64)
    partners = state.cell(rows, state.rules.partner_seats(state.turn_seat[rows]))
    words[:, state.layout.give_word] = state.hands.reshape(-1)[partners]
    return words


def offer_card(state: State, rows: Rows, cards: NDArray[np.intp]) -> None:
    """Move the movers' cards (M,) into their partners' hands, and let them choose one in return."""
    movers = state.mover[rows]
    partners = state.rules.partner_seats(movers)
    mover_cells, partner_cells = state.cell(rows, movers), state.cell(rows, partners)
    _hand_over(state, mover_cells, partner_cells, CARD_BITS[cards])
    _hide_known_cards(state, _team_cells(rows, movers), mover_cells, partner_cells)

    state.offered_card[rows] = cards
    state.trades[rows] += 1
    state.phase[rows] = PHASE_TRADE_ANSWER
    if state.rules.trade_reply == "partner":
        state.mover[rows] = partners
    state.legal[rows] = answer_words(state, rows)


def answer_offer(state: State, rows: Rows, cards: NDArray[np.intp]) -> None:
    """Move cards (M,) of the partners back into the movers' hands; the movers decide again."""
    movers = state.turn_seat[rows]
    partners = state.rules.partner_seats(movers)
    _hand_over(state, state.cell(rows, partners), state.cell(rows, movers), CARD_BITS[cards])
    state.offered_card[rows] = NO_CARD
    state.mover[rows] = movers


def forget_discarded(state: State, rows: Rows, movers: NDArray[np.integer], bits: UInt64Array) -> None:
    """Remove discarded cards (M,) from what is known of trades: the movers no longer hold them."""
    others = ~bits
    state.team_known_bits.reshape(-1)[_team_cells(rows, movers)] &= others
    state.gave_bits.reshape(-1)[state.cell(rows, state.rules.partner_seats(movers))] &= others


def _hand_over(state: State, givers: NDArray[np.intp], receivers: NDArray[np.intp], bits: UInt64Array) -> None:
    """Move cards between the two seats (cells, M) of each trade; both remember them."""
    hands, gave = state.hands.reshape(-1), state.gave_bits.reshape(-1)
    hands[givers] ^= bits
    hands[receivers] |= bits

    gave[givers] |= bits
    gave[receivers] &= ~bits


def _hide_known_cards(
    state: State, teams: NDArray[np.intp], movers: NDArray[np.intp], partners: NDArray[np.intp]
) -> None:
    """Note that either partner may now hold the cards which one of them was known to hold (all arguments: cells, M)."""
    known = state.known_bits.reshape(-1)
    state.team_known_bits.reshape(-1)[teams] |= known[movers] | known[partners]
    known[movers] = 0
    known[partners] = 0


def _team_cells(rows: Rows, seats: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the indices of the seats' teams in an array (N, 2) seen as one dimension."""
    return rows * 2 + seats % 2
