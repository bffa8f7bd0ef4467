"""What each seat did in a deal, counted: draws, trades, cards melded by a trade, knocks.

>>> events = seat_events(transition.finished)
>>> events.trade_melds.sum(axis=1)  # cards melded by trades, deal by deal
>>> events.of(0)[2]["draws"]  # the first deal, seat 2

Everything is read from the log. Hands are reconstructed *backwards* from the hands in the state, so that a deal that
continued from a loaded position is counted correctly too: its log begins there, and so do the counts.
The counts reveal draws and trades that not every seat has seen: show them when a deal is over, not before.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.cards import ALL_CARDS, CARD_BITS, CARD_POINTS, Rows, UInt64Array
from gin_env.cards.melds import deadwood
from gin_env.engine import ActionLayout, Phase, State
from gin_env.engine.state import unpack_events
from gin_env.errors import row_index

Counts = NDArray[np.int64]

#: The hands that each verb changes: 1 the acting seat's own, 2 the partner's too. Other verbs move no card.
_HANDS_CHANGED = {"take": 1, "draw": 1, "discard": 1, "knock": 1, "give": 2}

#: The two cards of an exchange as columns: who receives each, in seats from the mover, and the event that moved it, in
#: events before the answer. The mover receives the answer's card, and the partner the offer's.
_RECEIVERS = np.array([[0], [2]])
_EVENTS_BACK = np.array([[0], [1]])


@dataclass(eq=False)
class SeatEvents:
    """What each seat did in D deals (D tables, if a deal has two); arrays int64 (D, P), P seats at a table."""

    decisions: Counts  #: actions chosen
    draws: Counts  #: cards drawn from the stock
    takes: Counts  #: cards taken from the discard pile, the first upcard included
    offers: Counts  #: trades offered
    answers: Counts  #: trades answered
    exchanges: Counts  #: trades answered with another card than the one on offer
    trade_melds: Counts  #: cards received in such a trade that the hand melds at once, as ``seat_events`` defines it
    knocks: Counts  #: deals ended by this seat, with a knock or big gin
    gins: Counts  #: those among them that left no deadwood in the knocker's own hand

    def __len__(self) -> int:
        """Return D."""
        return len(self.decisions)

    def of(self, deal: int) -> list[dict[str, int]]:
        """Return the counts of one deal as plain numbers: for each seat a dict of the counts by name."""
        by_name = [getattr(self, name)[deal].tolist() for name in EVENT_NAMES]
        return [dict(zip(EVENT_NAMES, of_seat, strict=True)) for of_seat in zip(*by_name, strict=True)]


#: The names of the counts in order.
EVENT_NAMES = tuple(field.name for field in fields(SeatEvents))


class _Log(NamedTuple):
    """The M events of D rows, one row after another."""

    deal: Rows  #: (M,) the event's place among the D rows
    seat: Rows  #: (M,) who acted
    verb: Rows  #: (M,) index of the action's verb in the layout
    card: NDArray[np.uint8]  #: (M,)
    starts: Rows  #: (D,) where each row's events begin
    ends: Rows  #: (D,) where they end


def seat_events(state: State, rows: ArrayLike | None = None) -> SeatEvents:
    """Count what each seat did in all rows of a state or in the given ones, whether or not their deals are over.

    Parameters
    ----------
    state : State
    rows : int or bool, optional
        D row numbers, or a mask of all rows.

    Returns
    -------
    SeatEvents
        A decision counts for the seat that made it, and a card received in a trade for the seat that received it, so
        both sides of an exchange may count one. A received card counts as **melded** if the hand saves its points at
        once: right after the exchange, the hand's deadwood is less than the deadwood of its other cards plus the
        card's own points. In other words, the card is in a meld, new or extended, in every arrangement with the least
        deadwood.

    Raises
    ------
    ValueError
        A row does not exist.

    Notes
    -----
    What happened before a loaded position is not counted. If a trade was under way there, its answer is counted, but
    neither as an exchange nor as a meld.
    """
    layout, num_seats = state.layout, state.rules.num_seats
    selected = np.arange(state.num_deals) if rows is None else row_index(rows, state.num_deals)
    log = _read_log(state, selected)

    # Actions by deal, seat and verb.
    shape = (len(selected), num_seats)
    cells = log.deal * num_seats + log.seat
    num_verbs = len(layout.verbs)
    by_verb = np.bincount(cells * num_verbs + log.verb, minlength=len(selected) * num_seats * num_verbs)
    by_verb = by_verb.reshape(*shape, num_verbs)

    # Trades: a card that is given is an offer or an answer.
    zeros: Counts = np.zeros(shape, dtype=np.int64)
    gives = answers = exchanges = trade_melds = zeros
    if layout.give >= 0:
        give = layout.verbs.index("give")
        gives = by_verb[:, :, give]
        is_waiting = state.phase[selected] == Phase.TRADE_ANSWER
        answer_events, exchange_events = _trades(log, (log.verb == give).nonzero()[0], is_waiting)
        answers = _count(cells[answer_events], shape)
        exchanges = _count(cells[exchange_events], shape)
        trade_melds = _count(_melding_cells(state, selected, log, exchange_events), shape)

    knocks = (state.knocker[selected, None] == np.arange(num_seats)).astype(np.int64)
    return SeatEvents(
        decisions=by_verb.sum(axis=2),
        draws=by_verb[:, :, layout.verbs.index("draw")],
        takes=by_verb[:, :, layout.verbs.index("take")],
        offers=gives - answers,
        answers=answers,
        exchanges=exchanges,
        trade_melds=trade_melds,
        knocks=knocks,
        gins=knocks * (state.deadwood[selected] == 0),
    )


def _read_log(state: State, rows: Rows) -> _Log:
    """Read the events of some rows from their logs."""
    sizes = state.log_size[rows].astype(np.intp)
    ends = np.cumsum(sizes)
    starts = ends - sizes
    deal = np.repeat(np.arange(len(rows)), sizes)

    places = (rows * state.log.shape[1] - starts).take(deal) + np.arange(len(deal))  # in the flattened logs
    seat, action, card = unpack_events(state.log.reshape(-1).take(places))
    return _Log(deal, seat.astype(np.intp), state.layout.verb_of.take(action), card, starts, ends)


def _count(cells: Rows, shape: tuple[int, int]) -> Counts:
    """Count cells (row * seats + seat) by row and seat."""
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def _trades(log: _Log, gives: Rows, is_waiting: NDArray[np.bool_]) -> tuple[Rows, Rows]:
    """Return the events that answer an offer, and those among them that answer with another card.

    Parameters
    ----------
    log : _Log
    gives : int, shape (G,)
        The events that give a card to the partner.
    is_waiting : bool, shape (D,)
        Deals in which an offer has no answer yet.
    """
    # Offers and answers alternate. They are counted from the end of the log, because its beginning may lack an offer.
    deal = log.deal.take(gives)
    ends = np.cumsum(np.bincount(deal, minlength=len(is_waiting)))
    num_later = ends.take(deal) - np.arange(1, len(gives) + 1)
    is_answer = (num_later + is_waiting.take(deal)) % 2 == 0
    answers = gives[is_answer]

    # The event before an answer is its offer, unless the log begins with the answer.
    has_offer = log.starts.take(deal[is_answer]) < answers
    is_other_card = log.card.take(answers) != log.card.take(answers - 1)
    return answers, answers[has_offer & is_other_card]


def _melding_cells(state: State, rows: Rows, log: _Log, exchanges: Rows) -> Rows:
    """Return the cell of the receiving seat for each card that one of X exchanges (X,) made part of a meld."""
    if not len(exchanges):
        return exchanges
    num_seats, num_events = state.rules.num_seats, len(log.seat)
    receivers = (log.seat.take(exchanges - 1) + _RECEIVERS) % num_seats
    cards = log.card.take(exchanges - _EVENTS_BACK).reshape(-1)
    cells = log.deal.take(exchanges) * num_seats + receivers

    # The hand right after the exchange: the XOR of two running totals of changes undoes the changes between them.
    changes = np.bitwise_xor.accumulate(_hand_changes(state.layout, num_seats, log), axis=1)
    without_changes = state.hands[rows] ^ changes.take(log.ends - 1, axis=1).T
    hands = (without_changes.take(cells) ^ changes.take(receivers * num_events + exchanges)).reshape(-1)

    # With and without the card.
    points = deadwood(np.concatenate([hands, hands ^ CARD_BITS.take(cards)]))
    points_with, points_without = points[: len(hands)], points[len(hands) :]
    is_melded = points_with < points_without + CARD_POINTS.take(cards)
    return cells.reshape(-1)[is_melded]


def _hand_changes(layout: ActionLayout, num_seats: int, log: _Log) -> UInt64Array:
    """Return the card that each event of the log added to a seat's hand or took from it, as bits (P, M)."""
    verb_offsets, changed_hands = _hand_change_table(layout, num_seats)
    return changed_hands.take(verb_offsets.take(log.verb) + log.seat, axis=1) & CARD_BITS.take(log.card)


@functools.cache
def _hand_change_table(layout: ActionLayout, num_seats: int) -> tuple[Rows, UInt64Array]:
    """Return which hands (P, 3P) change, as all ones or zeros; a column is a verb's offset plus the acting seat."""
    verb_offsets = np.array([_HANDS_CHANGED.get(verb, 0) for verb in layout.verbs]) * num_seats
    own = np.eye(num_seats, dtype=bool)
    partner = own[(np.arange(num_seats) + 2) % num_seats]
    return verb_offsets, np.concatenate([own & False, own, own | partner], axis=1) * ALL_CARDS
