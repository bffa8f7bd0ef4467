"""The state of N deals at once: one array per fact.

Shape letters, used in every comment: **N** deals, **P** seats at a table, **C** = 52 cards, **T** teams,
**W** words of legal actions, **L** events of a deal's log, **S** overlapping score sheets (3 or none).
A name ending in ``_bits`` is a bitboard.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.cards import NO_CARD, NUM_CARDS, UInt64Array
from gin_env.engine.actions import ActionLayout, action_layout
from gin_env.rules import Rules

NO_SEAT = 255
#: Sheets of Hollywood scoring.
NUM_SHEETS = 3


class Phase(IntEnum):
    """What the mover is asked, in rule-book order."""

    UPCARD_OFFER = 0  #: pass or take the first upcard
    FORCED_DRAW = 1  #: everybody passed: only the stock is left
    DRAW = 2  #: draw from the stock or take the upcard
    PLAY = 3  #: trade, boast or catch if there is that, then discard, knock or lay down big gin
    TRADE_ANSWER = 4  #: give a card back for the one on offer
    CATCH = 5  #: name the next card of a catch
    LAST_DISCARD = 6  #: pass, or take the deal's last discard to knock
    OVER = 7  #: the deal has ended


def _array(dtype: str, shape: str, meaning: str) -> Any:
    return dataclasses.field(metadata={"dtype": dtype, "shape": shape, "meaning": meaning, "rare": False})


def _rare(dtype: str, shape: str, meaning: str) -> Any:
    """An array that few rule systems look at, or only at a deal's end; it stays out of the blocks."""
    return dataclasses.field(metadata={"dtype": dtype, "shape": shape, "meaning": meaning, "rare": True})


@dataclass(init=False, eq=False)
class State:
    """All facts of N deals under one rule system. Made by :meth:`allocate`, filled by the engine.

    Arrays of one dtype and shape lie side by side in blocks, so that a view gathers a whole block at
    once: ``seat_boards`` (K, N, P), ``row_bytes`` (K, N) and ``team_numbers`` (K, N, T), in the order
    of ``BLOCKS``. Write into the arrays; never put another array in their place.
    """

    rules: Rules
    layout: ActionLayout  #: what the action indices mean
    optional: tuple[str, ...]  #: the facts that these rules have beside those of all
    seat_boards: UInt64Array
    row_bytes: NDArray[np.uint8]
    team_numbers: NDArray[np.int32]

    # Randomness: a deal's cards depend on its row's key and its number alone
    stream_key: UInt64Array = _array("u8", "N", "the row's random stream")
    deal_number: NDArray[np.uint32] = _array("u4", "N", "deals dealt in this stream before the present one")

    # Where the cards are
    deck: NDArray[np.uint8] = _array("u1", "NC", "all cards in dealing order; the stock is its tail")
    stock_next: NDArray[np.uint8] = _array("u1", "N", "position in the deck of the stock's top card")
    hands: UInt64Array = _array("u8", "NP", "the cards each seat holds")
    pile: NDArray[np.uint8] = _array("u1", "NC", "the discard pile, bottom first")
    pile_size: NDArray[np.uint8] = _array("u1", "N", "cards in the pile")
    pile_bits: UInt64Array = _array("u8", "N", "the pile as a set")
    upcard: NDArray[np.uint8] = _array("u1", "N", "the pile's top card, NO_CARD for an empty pile")

    # Whose move it is
    phase: NDArray[np.uint8] = _array("u1", "N", "Phase")
    mover: NDArray[np.uint8] = _array("u1", "N", "the seat that decides now")
    turn_seat: NDArray[np.uint8] = _array("u1", "N", "the seat whose turn it is")
    dealer: NDArray[np.uint8] = _array("u1", "N", "the seat that dealt")
    turn: NDArray[np.uint16] = _array("u2", "N", "turns completed")
    offers_left: NDArray[np.uint8] = _array("u1", "N", "seats still to be offered the first upcard, mover included")
    taken_card: NDArray[np.uint8] = _array("u1", "N", "card taken from the pile in this turn")
    drawn_card: NDArray[np.uint8] = _array("u1", "N", "card drawn or taken in this turn")
    offered_card: NDArray[np.uint8] = _array("u1", "N", "card on offer to the partner")
    trades: NDArray[np.uint8] = _array("u1", "N", "trades begun in this turn")
    legal: UInt64Array = _array("u8", "NW", "the mover's legal actions, one word per block of the layout")
    boasted: NDArray[np.uint8] = _rare("u1", "NP", "1 for a seat that has boasted in this deal")
    boast_bar: NDArray[np.uint8] = _rare("u1", "NP", "own turns, the present one included, without a knock for a boast")
    catches: NDArray[np.uint8] = _rare("u1", "N", "catches begun in this turn")
    named_bits: UInt64Array = _rare("u8", "N", "cards named in the catch under way")
    caught_bits: UInt64Array = _rare("u8", "N", "cards of the pile that served in a successful catch")

    # What has been seen
    known_bits: UInt64Array = _array("u8", "NP", "cards everybody knows to lie with that seat")
    team_known_bits: UInt64Array = _array("u8", "NT", "cards everybody knows to lie with one of that team's two seats")
    discarded_bits: UInt64Array = _array("u8", "NP", "cards that seat has thrown in this deal")
    declined_bits: UInt64Array = _array("u8", "NP", "upcards that seat has declined in this deal")
    gave_bits: UInt64Array = _array("u8", "NP", "cards that seat gave to its partner, who still holds them")
    log_size: NDArray[np.uint16] = _array("u2", "N", "events so far")
    log: NDArray[np.uint32] = _array("u4", "NL", "events: card | action << 8 | seat << 16 (pack_event)")

    # How it ended
    kind: NDArray[np.uint8] = _array("u1", "N", "Kind")
    winner: NDArray[np.int8] = _array("i1", "N", "the team that won the deal, -1 for none")
    knocker: NDArray[np.uint8] = _array("u1", "N", "the seat that knocked")
    points: NDArray[np.int32] = _array("i4", "NT", "points the deal has paid, as a scorer writes them")
    net_points: NDArray[np.int32] = _rare("i4", "NT", "the same against every other team: zero-sum")
    deadwood: NDArray[np.uint8] = _array("u1", "NP", "deadwood points after laying off")
    set_bits: UInt64Array = _array("u8", "NP", "cards laid down in sets")
    run_bits: UInt64Array = _array("u8", "NP", "cards laid down in runs")
    laid_bits: UInt64Array = _array("u8", "NP", "cards laid off on the knockers' melds")

    # The game around the deal: booked by the score sheet when a deal ends
    scores: NDArray[np.int32] = _array("i4", "NT", "points of the game so far")
    boxes: NDArray[np.int32] = _array("i4", "NT", "deals won in the game so far")
    deals_played: NDArray[np.uint16] = _array("u2", "N", "deals of the game finished so far, dead ones too")
    sheet_scores: NDArray[np.int32] = _rare("i4", "NST", "points on each overlapping sheet; scores holds their sum")
    sheet_boxes: NDArray[np.int32] = _rare("i4", "NST", "deals won that count on each sheet")

    @classmethod
    def allocate(cls, rules: Rules, num_deals: int) -> State:
        """Return an empty state (all phases OVER) for ``num_deals`` deals."""
        sizes = _sizes(rules, num_deals)
        fields = {field.name: field for field in array_fields()}
        storage = {}
        for name, members in _storage_members().items():
            metadata = fields[members[0]].metadata
            shape = [sizes[letter] for letter in metadata["shape"]]
            storage[name] = np.zeros([len(members), *shape] if name in BLOCKS else shape, metadata["dtype"])
        state = cls._of(rules, storage)
        state.phase[:] = Phase.OVER
        for name in ("upcard", "taken_card", "drawn_card", "offered_card"):
            getattr(state, name)[:] = NO_CARD
        state.knocker[:] = NO_SEAT
        state.winner[:] = -1
        return state

    @classmethod
    def _of(cls, rules: Rules, storage: dict[str, NDArray[Any]]) -> State:
        """Return the state that lives in some blocks and single arrays."""
        state = cls.__new__(cls)
        state.__setstate__({"rules": rules, "storage": storage})
        return state

    def __getstate__(self) -> dict[str, Any]:
        return {"rules": self.rules, "storage": self._storage}

    def __setstate__(self, parts: dict[str, Any]) -> None:
        self.rules, self._storage = parts["rules"], parts["storage"]
        self.layout, self.optional = action_layout(self.rules), optional_facts(self.rules)
        for name, members in _storage_members().items():
            setattr(self, name, self._storage[name])
            if name in BLOCKS:
                for member, array in zip(members, self._storage[name], strict=True):
                    setattr(self, member, array)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays that hold all facts, by name: copy them to keep a state, write into them to restore it."""
        return dict(self._storage)

    @classmethod
    def concatenate(cls, states: Sequence[State]) -> State:
        """Return the rows of several states of the same rules, one after another; a single one itself."""
        first = states[0]
        if len(states) == 1:
            return first
        storage = {
            name: np.concatenate([state._storage[name] for state in states], axis=1 if name in BLOCKS else 0)
            for name in first._storage
        }
        return cls._of(first.rules, storage)

    @property
    def num_deals(self) -> int:
        """N, the number of deals."""
        return len(self.phase)

    @property
    def nbytes_per_deal(self) -> int:
        """Memory that one deal takes in all arrays, in bytes."""
        return sum(getattr(self, field.name)[:1].nbytes for field in array_fields())

    @property
    def stock_count(self) -> NDArray[np.uint8]:
        """Cards left in the stock (N,)."""
        return np.uint8(NUM_CARDS) - self.stock_next

    @property
    def first_upcard(self) -> NDArray[np.uint8]:
        """The card turned up at the deal (N,)."""
        return self.deck[:, self.rules.num_hands * self.rules.hand_size]

    def left_of_dealer(self, rows: NDArray[np.intp]) -> NDArray[np.integer]:
        """Return the seat that plays first in some rows (M,)."""
        return (self.dealer[rows] + 1) % self.rules.num_seats

    def seat_after(self, rows: NDArray[np.intp], seats: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return the next seat clockwise that plays (M,): where three rotate, the dealer sits out."""
        after = (seats + 1) % self.rules.num_seats
        if self.rules.mode == "rotation":
            after = np.where(after == self.dealer[rows], self.left_of_dealer(rows), after)
        return after

    def take(self, rows: ArrayLike) -> State:
        """Return a copy of some rows, in the order given."""
        index = np.atleast_1d(np.asarray(rows))
        storage = {name: array[:, index] if name in BLOCKS else array[index] for name, array in self._storage.items()}
        return State._of(self.rules, storage)

    def put(self, rows: ArrayLike, other: State) -> None:
        """Overwrite some rows with the rows of another state of the same rules."""
        for field in array_fields():
            getattr(self, field.name)[rows] = getattr(other, field.name)

    def clone(self) -> State:
        """Return an independent copy."""
        return self.take(np.arange(self.num_deals))

    def equals(self, other: State) -> bool:
        """Return whether two states agree in the rules and in all that :meth:`differences` compares."""
        return self.rules == other.rules and not self.differences(other)

    def differences(self, other: State) -> list[str]:
        """Return the names of the arrays in which two states differ; cells of pile and log not in use do not count."""
        return [field.name for field in array_fields() if not np.array_equal(self._used(field), other._used(field))]

    def _used(self, field: dataclasses.Field[Any]) -> NDArray[Any]:
        """Return an array, with zeros in the cells that hold nothing any more."""
        values = getattr(self, field.name)
        if field.name not in ("pile", "log"):
            return values
        sizes = self.pile_size if field.name == "pile" else self.log_size
        return values * (np.arange(values.shape[1]) < sizes[:, None])


def teams_playing(rules: Rules, dealers: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return which teams play in deals of some dealers (M, T): all, but where three rotate the dealer's."""
    teams = np.arange(rules.num_teams)
    if rules.mode == "rotation":
        return teams != dealers[:, None]
    return np.ones((len(dealers), len(teams)), dtype=bool)


@functools.cache
def array_fields() -> tuple[dataclasses.Field[Any], ...]:
    """Return the dataclass fields of State that are arrays."""
    return tuple(field for field in dataclasses.fields(State) if "dtype" in field.metadata)


def optional_facts(rules: Rules) -> tuple[str, ...]:
    """Return the facts that only some rule systems have, as far as these have them: they are part of a view."""
    names: list[str] = []
    if rules.looks_at_upcard:
        names.append("first_upcard")
    if rules.boast:
        names += ["boasted", "boast_bar"]
    if rules.catch_glass:
        names += ["named_bits", "caught_bits", "catches"]
    if rules.score_sheet == "hollywood":
        names += ["sheet_scores", "sheet_boxes"]
    return tuple(names)


def _members(dtype: str, shape: str) -> tuple[str, ...]:
    return tuple(
        field.name
        for field in array_fields()
        if (field.metadata["dtype"], field.metadata["shape"], field.metadata["rare"]) == (dtype, shape, False)
    )


#: The arrays of each block, in their order in it.
BLOCKS: dict[str, tuple[str, ...]] = {
    "seat_boards": _members("u8", "NP"),
    "row_bytes": _members("u1", "N"),
    "team_numbers": _members("i4", "NT"),
}


@functools.cache
def _storage_members() -> dict[str, tuple[str, ...]]:
    """Return the names of the arrays in memory: the blocks with their members, then the single arrays."""
    in_blocks = {member for members in BLOCKS.values() for member in members}
    single = {field.name: (field.name,) for field in array_fields() if field.name not in in_blocks}
    return BLOCKS | single


def pack_event(seats: NDArray | int, actions: NDArray | int, cards: NDArray | int) -> NDArray[np.uint32]:
    """Pack who acted, the action's index and the card that moved (NO_CARD for a pass) into log entries."""
    return _SEAT_EVENTS[seats] + _ACTION_EVENTS[actions] + cards


_SEAT_EVENTS = np.arange(256, dtype=np.uint32) << 16
_ACTION_EVENTS = np.arange(256, dtype=np.uint32) << 8


def log_events(state: State, rows: NDArray[np.intp], seats: NDArray, actions: NDArray, cards: NDArray | int) -> None:
    """Add one event to the log of each of some rows."""
    log, sizes = state.log, state.log_size
    if len(rows) == 1:  # Python numbers are several times faster for a single deal
        row, card = rows.item(), cards if isinstance(cards, int) else cards.item()
        log[row, sizes.item(row)] = pack_event(seats.item(), actions.item(), card)
        sizes[row] += 1
        return
    ends = rows * log.shape[1]
    ends += sizes[rows]
    log.reshape(-1)[ends] = pack_event(seats, actions, cards)
    sizes[rows] += 1


def unpack_events(log: NDArray[np.uint32]) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]:
    """Return seats, action indices and cards of log entries; the inverse of :func:`pack_event`."""
    return ((log >> 16) & 255).astype(np.uint8), ((log >> 8) & 255).astype(np.uint8), (log & 255).astype(np.uint8)


def log_capacity(rules: Rules) -> int:
    """Return the most events of a deal: the offers, then a draw, all that is optional and a throw each turn."""
    optional = 2 * rules.max_trades_per_turn + 3 * rules.catch_glass
    boasts = rules.num_seats * rules.boast
    return rules.num_hands + rules.max_turns * (2 + optional) + boasts + rules.last_discard_knock


def _sizes(rules: Rules, num_deals: int) -> dict[str, int]:
    return {
        "N": num_deals,
        "P": rules.num_seats,
        "C": NUM_CARDS,
        "T": rules.num_teams,
        "W": action_layout(rules).num_words,
        "L": log_capacity(rules),
        "S": NUM_SHEETS if rules.score_sheet == "hollywood" else 0,
    }
