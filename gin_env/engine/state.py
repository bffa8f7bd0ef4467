"""The state of N deals at once: one array per fact, the phases of a deal, and its log of events.

Shape letters, used in every comment: **N** deals, **P** seats at a table, **C** = 52 cards, **T** teams,
**W** action bitmasks, **L** events of a deal's log, **S** overlapping score sheets (3 or none).
A name ending in ``_bits`` is a bitboard. An optional rule that remembers something has its arrays here, in the
sections marked "only with".
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import NamedTuple, TypedDict, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.cards import NO_CARD, NUM_CARDS, Rows, UInt64Array
from gin_env.engine.actions import ActionLayout, action_layout
from gin_env.rules import Rules

#: No seat, in arrays that hold seats.
NO_SEAT = 255
#: Sheets of Hollywood scoring.
NUM_SHEETS = 3

Scalar = TypeVar("Scalar", bound=np.generic)


class Phase(IntEnum):
    """What the mover has to decide, in rule-book order."""

    UPCARD_OFFER = 0  #: pass or take the first upcard
    FORCED_DRAW = 1  #: everybody passed: draw from the stock
    DRAW = 2  #: draw from the stock or take the upcard
    PLAY = 3  #: discard or knock, after optional actions: trade, boast, catch, big gin
    TRADE_ANSWER = 4  #: give a card back for the offered one
    CATCH = 5  #: name the next card of a catch
    LAST_DISCARD = 6  #: pass, or take the deal's last discard to knock
    OVER = 7  #: nothing: the deal has ended


#: The phases as plain ints, for comparisons with arrays: those with enum members take six times as long.
(
    PHASE_UPCARD_OFFER,
    PHASE_FORCED_DRAW,
    PHASE_DRAW,
    PHASE_PLAY,
    PHASE_TRADE_ANSWER,
    PHASE_CATCH,
    PHASE_LAST_DISCARD,
    PHASE_OVER,
) = map(int, Phase)


class ArrayField(NamedTuple):
    """What an array of :class:`State` holds."""

    name: str
    dtype: str  #: kind and bytes, for example ``"u8"``
    shape: str  #: the letters of the module's docstring, one per dimension
    meaning: str
    is_rare: bool  #: used by few rule systems or only at a deal's end, and therefore kept out of the blocks


def _array(dtype: type[Scalar], shape: str, meaning: str) -> NDArray[Scalar]:
    return dataclasses.field(metadata={"array": (np.dtype(dtype).str[1:], shape, meaning, False)})


def _rare(dtype: type[Scalar], shape: str, meaning: str) -> NDArray[Scalar]:
    return dataclasses.field(metadata={"array": (np.dtype(dtype).str[1:], shape, meaning, True)})


class _Contents(TypedDict):
    """What a pickled state consists of."""

    rules: Rules
    storage: dict[str, NDArray[np.generic]]


@dataclass(init=False, eq=False)
class State:
    """All facts of N deals under one rule system. Made by :meth:`allocate`, filled by the engine.

    Most arrays of one dtype and shape are views of a common block, so that a player's view gathers a whole block at
    once: ``seat_boards`` (K, N, P), ``row_bytes`` (K, N) and ``team_numbers`` (K, N, T), in the order of ``BLOCKS``.
    Write into the arrays; never assign another array to an attribute.
    """

    rules: Rules
    layout: ActionLayout  #: what the action indices mean
    optional: tuple[str, ...]  #: names of the arrays, seen by players, that only some rule systems use
    seat_boards: UInt64Array
    row_bytes: NDArray[np.uint8]
    team_numbers: NDArray[np.int32]

    # Randomness: a deal's cards depend on its row's key and its number alone
    stream_key: UInt64Array = _array(np.uint64, "N", "the row's random stream")
    deal_number: NDArray[np.uint32] = _array(np.uint32, "N", "deals dealt in this stream before the present one")

    # Where the cards are
    deck: NDArray[np.uint8] = _array(np.uint8, "NC", "all cards in dealing order; the stock is its tail")
    stock_next: NDArray[np.uint8] = _array(np.uint8, "N", "position in the deck of the stock's top card")
    hands: UInt64Array = _array(np.uint64, "NP", "the cards each seat holds")
    pile: NDArray[np.uint8] = _array(np.uint8, "NC", "the discard pile, bottom first")
    pile_size: NDArray[np.uint8] = _array(np.uint8, "N", "cards in the pile")
    pile_bits: UInt64Array = _array(np.uint64, "N", "the pile as a set")
    upcard: NDArray[np.uint8] = _array(np.uint8, "N", "the pile's top card, NO_CARD for an empty pile")

    # Whose move it is
    phase: NDArray[np.uint8] = _array(np.uint8, "N", "Phase")
    mover: NDArray[np.uint8] = _array(np.uint8, "N", "the seat that decides now")
    turn_seat: NDArray[np.uint8] = _array(np.uint8, "N", "the seat whose turn it is")
    dealer: NDArray[np.uint8] = _array(np.uint8, "N", "the seat that dealt")
    turn: NDArray[np.uint16] = _array(np.uint16, "N", "turns completed")
    offers_left: NDArray[np.uint8] = _array(np.uint8, "N", "seats still to be offered the first upcard, with the mover")
    taken_card: NDArray[np.uint8] = _array(np.uint8, "N", "card taken from the pile in this turn")
    drawn_card: NDArray[np.uint8] = _array(np.uint8, "N", "card drawn or taken in this turn")
    offered_card: NDArray[np.uint8] = _array(np.uint8, "N", "card offered to the partner")
    trades: NDArray[np.uint8] = _array(np.uint8, "N", "trades begun in this turn")
    legal: UInt64Array = _array(np.uint64, "NW", "the mover's legal actions, one bitmask per block of the layout")

    # Only with boasting (``boast``)
    boasted: NDArray[np.uint8] = _rare(np.uint8, "NP", "1 for a seat that has boasted in this deal")
    boast_bar: NDArray[np.uint8] = _rare(np.uint8, "NP", "own turns, with the present one, before a boaster may knock")

    # Only with catching the glass (``catch_glass``)
    catches: NDArray[np.uint8] = _rare(np.uint8, "N", "catches begun in this turn")
    named_bits: UInt64Array = _rare(np.uint64, "N", "cards named in the catch under way")
    caught_bits: UInt64Array = _rare(np.uint64, "N", "cards of the pile that used in a successful catch")

    # What has been seen
    known_bits: UInt64Array = _array(np.uint64, "NP", "cards everybody knows that seat to hold")
    team_known_bits: UInt64Array = _array(np.uint64, "NT", "cards everybody knows one of that team's two seats to hold")
    discarded_bits: UInt64Array = _array(np.uint64, "NP", "cards that seat has discarded in this deal")
    declined_bits: UInt64Array = _array(np.uint64, "NP", "upcards that seat has declined in this deal")
    gave_bits: UInt64Array = _array(np.uint64, "NP", "cards that seat gave to its partner, who still holds them")
    log_size: NDArray[np.uint16] = _array(np.uint16, "N", "events so far")
    log: NDArray[np.uint32] = _array(np.uint32, "NL", "events: card | action << 8 | seat << 16 (pack_event)")

    # How the deal ended
    kind: NDArray[np.uint8] = _array(np.uint8, "N", "Kind")
    winner: NDArray[np.int8] = _array(np.int8, "N", "the team that won the deal, -1 for none")
    knocker: NDArray[np.uint8] = _array(np.uint8, "N", "the seat that knocked")
    points: NDArray[np.int32] = _array(np.int32, "NT", "points the deal has paid, as a scorer writes them")
    net_points: NDArray[np.int32] = _rare(np.int32, "NT", "the same against every other team: zero-sum")
    deadwood: NDArray[np.uint8] = _array(np.uint8, "NP", "deadwood points after laying off")
    set_bits: UInt64Array = _array(np.uint64, "NP", "cards laid down in sets")
    run_bits: UInt64Array = _array(np.uint64, "NP", "cards laid down in runs")
    laid_bits: UInt64Array = _array(np.uint64, "NP", "cards laid off on the knockers' melds")

    # The game around the deal, changed when a deal ends (game_score.py)
    scores: NDArray[np.int32] = _array(np.int32, "NT", "points of the game so far")
    boxes: NDArray[np.int32] = _array(np.int32, "NT", "deals won in the game so far")
    deals_played: NDArray[np.uint16] = _array(np.uint16, "N", "deals of the game finished so far, dead ones too")

    # Only with Hollywood scoring (``score_sheet``)
    sheet_scores: NDArray[np.int32] = _rare(np.int32, "NST", "points on each overlapping sheet; scores holds their sum")
    sheet_boxes: NDArray[np.int32] = _rare(np.int32, "NST", "deals won that count on each sheet")

    @classmethod
    def allocate(cls, rules: Rules, num_deals: int) -> State:
        """Return an empty state (all phases OVER) for ``num_deals`` deals."""
        sizes = _sizes(rules, num_deals)
        fields = {field.name: field for field in array_fields()}

        storage: dict[str, NDArray[np.generic]] = {}
        for name, members in _storage_members().items():
            first = fields[members[0]]
            shape = [sizes[letter] for letter in first.shape]
            storage[name] = np.zeros([len(members), *shape] if name in BLOCKS else shape, first.dtype)

        state = cls._from_storage(rules, storage)
        state.phase[:] = PHASE_OVER
        for cards in (state.upcard, state.taken_card, state.drawn_card, state.offered_card):
            cards[:] = NO_CARD
        state.knocker[:] = NO_SEAT
        state.winner[:] = -1
        return state

    @classmethod
    def _from_storage(cls, rules: Rules, storage: dict[str, NDArray[np.generic]]) -> State:
        """Return the state whose facts are in the given blocks and single arrays."""
        state = cls.__new__(cls)
        state.__setstate__({"rules": rules, "storage": storage})
        return state

    def __getstate__(self) -> _Contents:
        return {"rules": self.rules, "storage": self._storage}

    def __setstate__(self, contents: _Contents) -> None:
        self.rules, self._storage = contents["rules"], contents["storage"]
        self.layout, self.optional = action_layout(self.rules), optional_facts(self.rules)
        for name, members in _storage_members().items():
            setattr(self, name, self._storage[name])
            if name in BLOCKS:
                for member, array in zip(members, self._storage[name], strict=True):
                    setattr(self, member, array)

    # Rows, seats and arrays

    @property
    def num_deals(self) -> int:
        """N, the number of deals."""
        return len(self.phase)

    def cell(self, rows: Rows, seats: NDArray[np.integer]) -> NDArray[np.intp]:
        """Return the indices (M,) of some rows' seats (M,) in an array (N, P) seen as one dimension.

        ``state.hands.reshape(-1)[state.cell(rows, seats)]`` is ``state.hands[rows, seats]``, but NumPy finds elements
        by one index much faster than by two.
        """
        return rows * self.rules.num_seats + seats

    def array(self, name: str) -> NDArray[np.generic]:
        """Return the array of a name, for code that treats several arrays alike."""
        array: NDArray[np.generic] = getattr(self, name)
        return array

    def arrays(self) -> dict[str, NDArray[np.generic]]:
        """Return the arrays that hold all facts, by name: copy them to keep a state, write into them to restore it."""
        return dict(self._storage)

    @property
    def nbytes_per_deal(self) -> int:
        """Memory that one deal takes in all arrays, in bytes."""
        return sum(self.array(field.name)[:1].nbytes for field in array_fields())

    @property
    def stock_count(self) -> NDArray[np.uint8]:
        """Cards left in the stock (N,)."""
        return np.uint8(NUM_CARDS) - self.stock_next

    @property
    def first_upcard(self) -> NDArray[np.uint8]:
        """The card turned up at the deal (N,)."""
        return self.deck[:, self.rules.num_hands * self.rules.hand_size]

    def left_of_dealer(self, rows: Rows) -> NDArray[np.integer]:
        """Return the seat that plays first in some rows (M,)."""
        return (self.dealer[rows] + 1) % self.rules.num_seats

    def seat_after(self, rows: Rows, seats: NDArray[np.integer]) -> NDArray[np.integer]:
        """Return the next seat clockwise that plays (M,); in rotation the dealer sits out."""
        after = (seats + 1) % self.rules.num_seats
        if self.rules.mode == "rotation":
            after = np.where(after == self.dealer[rows], self.left_of_dealer(rows), after)
        return after

    # Copies and comparisons

    @classmethod
    def concatenate(cls, states: Sequence[State]) -> State:
        """Return the rows of several states of the same rules, one after another; a single state itself, uncopied."""
        first = states[0]
        if len(states) == 1:
            return first
        storage = {
            name: np.concatenate([state._storage[name] for state in states], axis=1 if name in BLOCKS else 0)
            for name in first._storage
        }
        return cls._from_storage(first.rules, storage)

    def take(self, rows: ArrayLike) -> State:
        """Return a copy of some rows, in the order given."""
        index = np.atleast_1d(np.asarray(rows))
        storage = {name: array[:, index] if name in BLOCKS else array[index] for name, array in self._storage.items()}
        return State._from_storage(self.rules, storage)

    def put(self, rows: ArrayLike, other: State) -> None:
        """Overwrite some rows with the rows of another state of the same rules."""
        index = np.asarray(rows)
        for field in array_fields():
            self.array(field.name)[index] = other.array(field.name)

    def clone(self) -> State:
        """Return an independent copy."""
        return self.take(np.arange(self.num_deals))

    def equals(self, other: State) -> bool:
        """Return whether two states have the same rules and no :meth:`differences`."""
        return self.rules == other.rules and not self.differences(other)

    def differences(self, other: State) -> list[str]:
        """Return the names of the arrays in which two states differ; unused cells of pile and log do not count."""
        names = [field.name for field in array_fields()]
        return [name for name in names if not np.array_equal(self._used_cells(name), other._used_cells(name))]

    def _used_cells(self, name: str) -> NDArray[np.generic]:
        """Return an array, with zeros in the cells of pile and log beyond their size."""
        values = self.array(name)
        if name not in ("pile", "log"):
            return values
        sizes = self.pile_size if name == "pile" else self.log_size
        return np.where(np.arange(values.shape[1]) < sizes[:, None], values, 0)


def teams_playing(rules: Rules, dealers: NDArray[np.integer]) -> NDArray[np.bool_]:
    """Return which teams play in the deals of some dealers (M, T): all, but in rotation the dealer sits out."""
    teams = np.arange(rules.num_teams)
    if rules.mode == "rotation":
        return teams != dealers[:, None]
    return np.ones((len(dealers), len(teams)), dtype=bool)


@functools.cache
def array_fields() -> tuple[ArrayField, ...]:
    """Return what each array of State holds, in the order of the class."""
    fields = dataclasses.fields(State)
    return tuple(ArrayField(field.name, *field.metadata["array"]) for field in fields if "array" in field.metadata)


def optional_facts(rules: Rules) -> tuple[str, ...]:
    """Return the names of the facts, part of a player's view, that these rules have and most do not."""
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
    alike = (field for field in array_fields() if (field.dtype, field.shape) == (dtype, shape))
    return tuple(field.name for field in alike if not field.is_rare)


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


def _sizes(rules: Rules, num_deals: int) -> dict[str, int]:
    """Return the size of each shape letter."""
    return {
        "N": num_deals,
        "P": rules.num_seats,
        "C": NUM_CARDS,
        "T": rules.num_teams,
        "W": action_layout(rules).num_words,
        "L": log_capacity(rules),
        "S": NUM_SHEETS if rules.score_sheet == "hollywood" else 0,
    }


# The log of events


def pack_event(seats: NDArray | int, actions: NDArray | int, cards: NDArray | int) -> NDArray[np.uint32]:
    """Pack who acted, the action's index and the card that moved (NO_CARD for none) into log entries."""
    return _SEAT_EVENTS[seats] + _ACTION_EVENTS[actions] + cards


_SEAT_EVENTS = np.arange(256, dtype=np.uint32) << 16
_ACTION_EVENTS = np.arange(256, dtype=np.uint32) << 8


def unpack_events(log: NDArray[np.uint32]) -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]:
    """Return seats, action indices and cards of log entries; the inverse of :func:`pack_event`."""
    return ((log >> 16) & 255).astype(np.uint8), ((log >> 8) & 255).astype(np.uint8), (log & 255).astype(np.uint8)


def log_events(state: State, rows: Rows, seats: NDArray, actions: NDArray, cards: NDArray | int) -> None:
    """Add one event to the log of each of some rows."""
    log, sizes = state.log, state.log_size
    if len(rows) == 1:  # Python ints are several times faster for a single deal
        row, card = rows.item(), cards if isinstance(cards, int) else cards.item()
        log[row, sizes.item(row)] = pack_event(seats.item(), actions.item(), card)
        sizes[row] += 1
        return

    ends = rows * log.shape[1]
    ends += sizes[rows]
    log.reshape(-1)[ends] = pack_event(seats, actions, cards)
    sizes[rows] += 1


def log_capacity(rules: Rules) -> int:
    """Return the most events of a deal: the offers, then in each turn a draw, optional actions and a discard."""
    optional = 2 * rules.max_trades_per_turn + 3 * rules.catch_glass
    boasts = rules.num_seats * rules.boast
    return rules.num_hands + rules.max_turns * (2 + optional) + boasts + rules.last_discard_knock
