"""What each seat did in a deal, counted: draws, trades, what the trades brought, and who knocked.

>>> events = seat_events(transition.finished)
>>> events.trade_melds.sum(axis=1)  # cards traded into melds, deal by deal
>>> events.of(0)[2]["draws"]  # of the first deal, seat 2

Everything is read from the log. Hands are followed *back* from those that the state holds, so that a deal that
was played on from a loaded position counts rightly, too: its log begins there, and so do the counts.
The counts tell of draws and trades that not every seat has seen: show them when a deal is over, not before.
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


@dataclass(eq=False)
class SeatEvents:
    """What each seat did in D deals (D tables, where a deal has two); arrays int64 (D, P), P seats at a table."""

    decisions: Counts  #: actions chosen
    draws: Counts  #: cards drawn from the stock
    takes: Counts  #: cards taken from the pile, the first upcard included
    offers: Counts  #: trades offered
    answers: Counts  #: trades answered
    exchanges: Counts  #: trades answered otherwise than with the card on offer
    trade_melds: Counts  #: cards received in such a trade that the hand melds at once, as ``seat_events`` says
    knocks: Counts  #: deals ended by this seat, with a knock or big gin
    gins: Counts  #: those of them that left nothing in its own hand

    def __len__(self) -> int:
        """Return D."""
        return len(self.decisions)

    def of(self, deal: int) -> list[dict[str, int]]:
        """Return the counts of one deal as plain numbers: for each seat a dict with every count by its name."""
        by_name = [getattr(self, name)[deal].tolist() for name in EVENT_NAMES]
        return [dict(zip(EVENT_NAMES, by_seat, strict=True)) for by_seat in zip(*by_name, strict=True)]


#: The names of the counts in their order.
EVENT_NAMES = tuple(field.name for field in fields(SeatEvents))


class _Log(NamedTuple):
    """The M events of D rows, one row after another; arrays (M,), but two of them (D,)."""

    deal: Rows  #: which of the D rows
    seat: Rows
    verb: Rows  #: place of the action's verb in the layout
    card: NDArray[np.uint8]
    starts: Rows  #: where each row's events begin
    ends: Rows  #: where they end


def seat_events(state: State, rows: ArrayLike | None = None) -> SeatEvents:
    """Count what each seat did in all rows of a state or some (D), whether their deals are over or not.

    A decision counts at the seat that made it, a card received in a trade at the seat that received it: both sides
    of an exchange may count one. Of such cards those count as **melded** whose points the hand saves at once: right
    after the exchange its deadwood is less than the deadwood of its other cards plus the card's own points. That
    is, in every arrangement with the least deadwood the card lies in a meld, be that a new one or a longer one.

    What happened before a loaded position is not counted. Of a trade that was under way there the answer is
    counted, but not what came of it.

    Raises ``ValueError`` for rows that are none.
    """
    layout, seats = state.layout, state.rules.num_seats
    where = np.arange(state.num_deals) if rows is None else row_index(rows, state.num_deals)
    log = _read_log(state, where)
    shape = len(where), seats
    cells = log.deal * seats + log.seat
    verbs = len(layout.verbs)
    by_verb = np.bincount(cells * verbs + log.verb, minlength=len(where) * seats * verbs).reshape(*shape, verbs)
    nothing: NDArray[np.int64] = np.zeros(shape, dtype=np.int64)
    answers = exchanges = trade_melds = gives = nothing
    if layout.give >= 0:
        give = layout.verbs.index("give")
        gives = by_verb[:, :, give]
        answered, exchanged = _trades(log, (log.verb == give).nonzero()[0], state.phase[where] == Phase.TRADE_ANSWER)
        answers, exchanges = _count(cells[answered], shape), _count(cells[exchanged], shape)
        trade_melds = _count(_melded(state, where, log, exchanged), shape)
    knocks = (state.knocker[where, None] == np.arange(seats)).astype(np.int64)
    return SeatEvents(
        decisions=by_verb.sum(axis=2),
        draws=by_verb[:, :, layout.verbs.index("draw")],
        takes=by_verb[:, :, layout.verbs.index("take")],
        offers=gives - answers,
        answers=answers,
        exchanges=exchanges,
        trade_melds=trade_melds,
        knocks=knocks,
        gins=knocks * (state.deadwood[where] == 0),
    )


def _read_log(state: State, rows: Rows) -> _Log:
    sizes = state.log_size[rows].astype(np.intp)
    ends = np.cumsum(sizes)
    starts, deal = ends - sizes, np.repeat(np.arange(len(rows)), sizes)
    places = (rows * state.log.shape[1] - starts).take(deal) + np.arange(len(deal))
    seat, action, card = unpack_events(state.log.reshape(-1).take(places))
    return _Log(deal, seat.astype(np.intp), state.layout.verb_of.take(action), card, starts, ends)


def _count(cells: Rows, shape: tuple[int, int]) -> Counts:
    """Count cells (row * seats + seat) by row and seat."""
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def _trades(log: _Log, gives: Rows, waiting: NDArray[np.bool_]) -> tuple[Rows, Rows]:
    """Return which events are answers, and which of them answer with another card than the one on offer.

    ``gives`` are the events that move a card to the partner, ``waiting`` (D,) says where an offer has no answer yet.
    An answer follows its offer at once. Counted from the end of the log, because its beginning may lack an offer.
    """
    deal = log.deal.take(gives)
    ends = np.cumsum(np.bincount(deal, minlength=len(waiting)))
    later = ends.take(deal) - np.arange(1, len(gives) + 1)
    answered = (later + waiting.take(deal)) % 2 == 0
    answers = gives[answered]
    told = log.starts.take(deal[answered]) < answers
    return answers, answers[told & (log.card.take(answers) != log.card.take(answers - 1))]


def _melded(state: State, rows: Rows, log: _Log, exchanges: Rows) -> Rows:
    """Return the cells of the seats that melded a card received in some exchanges (X,), once for each card."""
    if not len(exchanges):
        return exchanges
    seats, count = state.rules.num_seats, len(log.seat)
    receivers = (log.seat.take(exchanges - 1) + _MOVER_AND_PARTNER) % seats
    cards = log.card.take(exchanges - _ANSWER_AND_OFFER).reshape(-1)
    cells = log.deal.take(exchanges) * seats + receivers
    # What a hand differs by between two events of a row is the difference of what changed in it up to each of them.
    changes = np.bitwise_xor.accumulate(_changes(state.layout, seats, log), axis=1)
    without_changes = state.hands[rows] ^ changes.take(log.ends - 1, axis=1).T
    hands = (without_changes.take(cells) ^ changes.take(receivers * count + exchanges)).reshape(-1)
    bits = CARD_BITS.take(cards)
    points = deadwood(np.concatenate([hands, hands ^ bits]))
    saved = points[: len(hands)] < points[len(hands) :] + CARD_POINTS.take(cards)
    return cells.reshape(-1)[saved]


#: (2, 1) the receivers of an exchange, as steps from the seat whose turn it is; and what they get, as events before
#: the answer.
_MOVER_AND_PARTNER, _ANSWER_AND_OFFER = np.array([[0], [2]]), np.array([[0], [1]])


def _changes(layout: ActionLayout, seats: int, log: _Log) -> UInt64Array:
    """Return the card that each event of partners brought to a seat's hand or took from it (P, M)."""
    kinds, moved = _moves(layout, seats)
    return moved.take(kinds.take(log.verb) + log.seat, axis=1) & CARD_BITS.take(log.card)


@functools.cache
def _moves(layout: ActionLayout, seats: int) -> tuple[Rows, UInt64Array]:
    """Return by verb a number to which the acting seat is added: a column (P,) that is full for hands that change."""
    kinds = np.array([_KINDS.get(verb, 0) for verb in layout.verbs]) * seats
    own = np.eye(seats, dtype=bool)
    partners = own[(np.arange(seats) + 2) % seats]
    return kinds, np.concatenate([own & False, own, own | partners], axis=1) * ALL_CARDS


#: Whose hands a verb changes: 1 the seat's own, 2 the partner's too; those not named move no card.
_KINDS = {"take": 1, "draw": 1, "discard": 1, "knock": 1, "give": 2}
