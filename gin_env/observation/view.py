"""What a seat may know: ``PlayerView``, through which alone hidden cards are read.

Agents, features, search and pictures for one seat all read a view, never the state. Seats in a view
are counted from the viewer: 0 is the viewer, 1 the seat to the left, 2 the partner in a partnership. Only
the seats of one table appear.

Who knows what
--------------
``_visible_facts`` decides it, and the leak tests check that changing cards which a seat may not know changes nothing in
its view:

- the viewer's own hand;
- the partner's hand, and the card the partner has drawn, where ``partner_hand_visible`` (``_partner_hand``);
- a card taken from the pile: everybody knows who holds it until that seat trades, then which team holds it;
- traded cards: partners see them, opponents see only that a trade was made;
- all hands, once somebody has knocked.

Two forms of a view
-------------------
A view is a batch of arrays (``PlayerView``, by ``player_view``), or one row in Python numbers (``RowView``, by
``single_view``). Nearly everything reads batches. Environments that play one deal at a time (PettingZoo's, and
Gymnasium's with one learner) encode a ``RowView`` at every step, four times faster than a batch of one row.
Both forms come from the same ``_visible_facts``, which reads the state through ``ManyRows`` or ``OneRow``
(seat_relative.py), and the features have one source for both. Tests compare the two forms field by field
(test_view.py) and feature by feature (test_encoder.py).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.cards import ALL_CARDS, CARD_BITS, NO_CARD, NUM_CARDS, UInt64Array
from gin_env.engine import ActionLayout, Phase, State
from gin_env.engine.state import NO_SEAT, unpack_events
from gin_env.errors import row_index, whole_number
from gin_env.observation.seat_relative import DEAD, RELATIVE_SEAT, ManyRows, OneRow, SeatRelative, Value, Values
from gin_env.rules import Rules, upcard_limits


@dataclass(frozen=True, eq=False)
class History:
    """The deal's events so far as the viewer saw them; all arrays (M, L), oldest first.

    Attributes
    ----------
    seats : uint8
        Who acted, counted from the viewer; 255 past the end.
    verbs : int8
        Position of the verb in ``layout.verbs``; -1 past the end.
    cards : uint8
        The card that moved; ``NO_CARD`` for a pass, past the end, and for one that the viewer may not know.
    """

    seats: NDArray[np.uint8]
    verbs: NDArray[np.int8]
    cards: NDArray[np.uint8]


@dataclass(eq=False)  # frozen would double the time that a view takes to make
class PlayerView:
    """What the viewers of M rows may know: the batch form of a view.

    Arrays are (M,) unless another shape is given; ``_bits`` are bitboards; card ids are ``NO_CARD``
    where there is no such card or the viewer may not know it; P seats count from the viewer, and T
    teams count from the viewer's own.
    """

    rules: Rules
    layout: ActionLayout
    seat: NDArray[np.intp]  #: the viewer's seat at its table
    legal: UInt64Array  #: (M, W) the viewer's legal actions as bitmasks; zeros when another seat is to move

    hand_bits: UInt64Array
    partner_bits: UInt64Array  #: the partner's hand, where visible
    pile_bits: UInt64Array
    upcard: NDArray[np.uint8]
    taken_card: NDArray[np.uint8]  #: taken from the pile in this turn
    drawn_card: NDArray[np.uint8]  #: drawn or taken in this turn, by the viewer's side
    offered_card: NDArray[np.uint8]  #: on offer within the viewer's team
    known_bits: UInt64Array  #: (M, P) known to everybody to be held by that seat
    team_known_bits: UInt64Array  #: (M, T) the same for one of the seats of a team
    discarded_bits: UInt64Array  #: (M, P) discarded by that seat
    declined_bits: UInt64Array  #: (M, P) upcards that seat declined
    gave_bits: UInt64Array  #: cards the viewer gave to the partner, who still holds them

    phase: NDArray[np.uint8]  #: Phase
    mover: NDArray[np.uint8]
    turn_seat: NDArray[np.uint8]
    dealer: NDArray[np.uint8]
    turn: NDArray[np.uint16]  #: turns completed
    stock_count: NDArray[np.uint8]
    offers_left: NDArray[np.uint8]  #: seats still to be offered the first upcard
    trades: NDArray[np.uint8]  #: trades begun in this turn

    kind: NDArray[np.uint8]  #: Kind
    knocker: NDArray[np.uint8]  #: 255 for none
    points: NDArray[np.int32]  #: (M, T)
    shown_bits: UInt64Array  #: (M, P) hands shown at the end of the deal
    set_bits: UInt64Array  #: (M, P) of these, the cards in sets
    run_bits: UInt64Array  #: (M, P) of these, the cards in runs
    laid_bits: UInt64Array  #: (M, P) of these, the cards laid off

    scores: NDArray[np.int32]  #: (M, T) the game so far
    boxes: NDArray[np.int32]  #: (M, T)
    deals_played: NDArray[np.uint16]

    # Only under the rules that use them, else None
    first_upcard: NDArray[np.uint8] | None = None  #: the card turned up at the deal
    boasted: NDArray[np.uint8] | None = None  #: (M, P) 1 for a seat that has boasted
    boast_bar: NDArray[np.uint8] | None = None  #: (M, P) own turns in which that seat may not knock
    named_bits: UInt64Array | None = None  #: cards named in the catch under way
    caught_bits: UInt64Array | None = None  #: cards of the pile that used in a successful catch
    catches: NDArray[np.uint8] | None = None  #: catches begun in this turn
    sheet_scores: NDArray[np.int32] | None = None  #: (M, S, T) of overlapping score sheets
    sheet_boxes: NDArray[np.int32] | None = None  #: (M, S, T)

    history: History | None = None  #: on request
    may_offer: bool = True  #: whether the viewer may offer cards to the partner, if the rules allow it

    def __len__(self) -> int:
        """Return M, the number of rows."""
        return len(self.seat)

    @property
    def legal_mask(self) -> NDArray[np.bool_]:
        """The viewer's legal actions (M, A)."""
        return self.layout.mask(self.legal)

    @property
    def legal_give_bits(self) -> UInt64Array:
        """The cards that the viewer may give now; none under rules without trades."""
        if self.layout.give < 0:
            return np.zeros(len(self), dtype=np.uint64)
        return self.legal[:, self.layout.give_word]

    def without_offers(self) -> PlayerView:
        """Return the same view for a player who never offers a card, but still answers offers."""
        if not self.may_offer:
            return self
        legal = self.legal
        if self.layout.give >= 0:
            legal = legal.copy()
            legal[self.phase == Phase.PLAY, self.layout.give_word] = 0
        return replace(self, legal=legal, may_offer=False)

    @property
    def legal_discard_bits(self) -> UInt64Array:
        """The cards that the viewer may discard now."""
        return self.legal[:, self.layout.discard_word]

    @property
    def legal_knock_bits(self) -> UInt64Array:
        """The cards with which the viewer may knock now."""
        return self.legal[:, self.layout.knock_word]

    @property
    def knock_limit(self) -> NDArray[np.intp]:
        """The most deadwood (M,) with which a player may knock in this deal."""
        if self.first_upcard is None or not self.rules.limit_from_upcard:
            return np.full(len(self), self.rules.knock_limit, dtype=np.intp)
        return upcard_limits(self.rules)[self.first_upcard]

    @property
    def unseen_bits(self) -> UInt64Array:
        """The cards in the stock or in a hidden hand, as far as the viewer knows."""
        located = self.hand_bits | self.partner_bits | self.pile_bits
        located = located | np.bitwise_or.reduce(self.known_bits, axis=1)
        located = located | np.bitwise_or.reduce(self.team_known_bits, axis=1) | self.gave_bits
        located = located | np.bitwise_or.reduce(self.shown_bits, axis=1) | CARD_BITS[self.offered_card]
        return ALL_CARDS & ~located

    def choose(self, index: ArrayLike) -> PlayerView:
        """Return the view of the rows in ``index``."""
        rows = np.asarray(index)
        chosen: dict[str, Any] = {
            name: value[rows] if isinstance(value, np.ndarray) else value for name, value in vars(self).items()
        }
        if self.history is not None:
            history = self.history
            chosen["history"] = History(history.seats[rows], history.verbs[rows], history.cards[rows])
        return PlayerView(**chosen)


class RowView(SimpleNamespace):
    """What one viewer may know in one row: the other form of a view.

    The attributes are those of ``PlayerView``, an int for each (M,) array and a list for each (M, P) one.
    """


def player_view(
    state: State,
    seats: ArrayLike | None = None,
    rows: ArrayLike | None = None,
    history: bool = False,
) -> PlayerView:
    """Return what some seats may know.

    Parameters
    ----------
    state : State
    seats : int (M,) or int, optional
        The viewing seat of each row; the seats to move by default.
    rows : int (M,), optional
        The rows to view; all by default.
    history : bool
        Whether to add the events of the deal, which takes longer than all the rest.
    """
    index = np.arange(state.num_deals) if rows is None else row_index(rows, state.num_deals)
    viewer = state.mover[index].astype(np.intp) if seats is None else _viewers(state.rules, seats, len(index))
    facts = _visible_facts(state, ManyRows(state, index, viewer))
    return PlayerView(**facts, history=_history(state, index, viewer) if history else None)


def check_seats(seats: ArrayLike, num_rows: int, num_seats: int) -> None:
    """Raise ``ValueError`` unless ``seats`` is a seat, or one for each of some rows."""
    array = np.asarray(seats)
    if array.shape not in ((), (num_rows,)) or not np.isin(array, np.arange(num_seats)).all():
        raise ValueError(f"seats={seats!r}: expected a seat from 0 to {num_seats - 1}, or one for each row")


def _viewers(rules: Rules, seats: ArrayLike, num_rows: int) -> NDArray[np.intp]:
    check_seats(seats, num_rows, rules.num_seats)
    return np.full(num_rows, np.asarray(seats), dtype=np.intp)


def single_view(state: State, seat: int, row: int = 0) -> RowView:
    """Return what one seat may know in one row, as Python numbers: four times faster than a ``player_view`` of it."""
    whole_number("seat", seat, 0, state.rules.num_seats - 1, "seat")
    return RowView(**_visible_facts(state, OneRow(state, row, seat)))


def batch_of_one(view: RowView) -> PlayerView:
    """Return a ``single_view`` as a view of one row."""
    arrays: dict[str, Any] = {
        name: np.array([value], dtype=np.uint64 if name == "legal" or name.endswith("_bits") else np.intp)
        for name, value in vars(view).items()
        if name not in ("rules", "layout") and value is not None
    }
    return PlayerView(rules=view.rules, layout=view.layout, **arrays)


def _visible_facts(state: State, table: SeatRelative[Value, Values]) -> dict[str, Any]:
    """Return what the viewers may know, by field of ``PlayerView``: the one place that decides it, for both forms."""
    rules = state.rules
    hands = table.per_seat("hands")
    own_turn, team_turn = table.turn_seat == 0, table.turn_seat % rules.num_teams == 0
    facts = {
        "rules": rules,
        "layout": state.layout,
        "seat": table.viewer,
        "legal": table.legal_if(table.mover == 0),
        "hand_bits": table.of_seat(hands, 0),
        "partner_bits": _partner_hand(rules, table),
        "pile_bits": table.pile_bits,
        "upcard": table.byte("upcard"),
        "taken_card": table.byte("taken_card"),
        "drawn_card": table.card_if(team_turn if rules.sees_partner else own_turn, "drawn_card"),
        "offered_card": table.card_if(team_turn, "offered_card"),
        "known_bits": table.per_seat("known_bits"),
        "team_known_bits": table.team_known_bits,
        "discarded_bits": table.per_seat("discarded_bits"),
        "declined_bits": table.per_seat("declined_bits"),
        "gave_bits": table.of_seat(table.per_seat("gave_bits"), 0),
        "phase": table.byte("phase"),
        "mover": table.mover,
        "turn_seat": table.turn_seat,
        "dealer": table.dealer,
        "turn": table.turn,
        "stock_count": NUM_CARDS - table.byte("stock_next"),
        "offers_left": table.byte("offers_left"),
        "trades": table.byte("trades"),
        "kind": table.byte("kind"),
        "knocker": table.knocker,
        "points": table.per_team("points"),
        "shown_bits": table.hands_if(table.byte("kind") > DEAD, hands),
        "set_bits": table.per_seat("set_bits"),
        "run_bits": table.per_seat("run_bits"),
        "laid_bits": table.per_seat("laid_bits"),
        "scores": table.per_team("scores"),
        "boxes": table.per_team("boxes"),
        "deals_played": table.deals_played,
    }
    for name in state.optional:
        facts[name] = table.optional(name)
    return facts


def _partner_hand(rules: Rules, table: SeatRelative[Value, Values]) -> Value:
    """Return the partner's hand: hidden, that is empty, unless ``partner_hand_visible`` in a partnership."""
    return table.of_seat(table.per_seat("hands"), 2) if rules.sees_partner else table.no_cards()


def _history(state: State, rows: NDArray[np.intp], viewer: NDArray[np.intp]) -> History:
    """Return the log as the viewers saw it: who did what, and the cards that they may know."""
    rules, layout = state.rules, state.layout
    sizes = state.log_size[rows]
    length = int(sizes.max(initial=0))
    past_end = np.arange(length) >= sizes[:, None]

    actors, actions, cards = unpack_events(state.log[rows, :length])
    verbs = layout.verb_of[np.where(past_end, 0, actions)].astype(np.int8)

    # Draws are hidden as the hand is; gifts (trades) are hidden from the other team.
    own = actors == viewer[:, None]
    same_team = actors % rules.num_teams == viewer[:, None] % rules.num_teams
    hidden_draw = (verbs == layout.verbs.index("draw")) & ~(same_team if rules.sees_partner else own)
    hidden_gift = (verbs == layout.verbs.index("give")) & ~same_team if layout.give >= 0 else np.False_

    relative = RELATIVE_SEAT[rules.num_seats][viewer[:, None] * 256 + actors]
    return History(
        seats=np.where(past_end, np.uint8(NO_SEAT), relative),
        verbs=np.where(past_end, -1, verbs).astype(np.int8),
        cards=np.where(past_end | hidden_draw | hidden_gift, NO_CARD, cards).astype(np.uint8),
    )
