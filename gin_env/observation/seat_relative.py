"""The state's arrays with seats and teams counted from the viewer, for both forms of a view (view.py explains them).

``ManyRows`` reads a batch in arrays, ``OneRow`` one row in Python numbers. Neither decides who may know what: view.py
does, and asks them for the state's arrays by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NO_CARD
from gin_env.engine import State
from gin_env.engine.state import BLOCKS, NO_SEAT
from gin_env.scoring import Kind

#: A fact of each row: an array (M,) for many rows, an int for one.
Value = TypeVar("Value", NDArray[Any], int)
#: Facts by seat, team or word: an array (M, P), (M, T) or (M, W) for many rows, a list for one.
Values = TypeVar("Values", NDArray[Any], list[int])

#: Arrays outside the blocks that hold one value for each seat, and one for each team.
_BY_SEAT = ("boasted", "boast_bar")
_BY_TEAM = ("sheet_scores", "sheet_boxes")


class SeatRelative(ABC, Generic[Value, Values]):
    """The state as its viewers count seats and teams; P seats from the viewer, T teams from the viewer's own."""

    _per_seat: dict[str, Values]
    _per_team: dict[str, Values]
    _bytes: dict[str, Value]
    viewer: Value
    mover: Value
    turn_seat: Value
    dealer: Value
    knocker: Value
    pile_bits: Value
    team_known_bits: Values
    turn: Value
    deals_played: Value

    def per_seat(self, name: str) -> Values:
        """Return bitboards by seat (M, P)."""
        return self._per_seat[name]

    def per_team(self, name: str) -> Values:
        """Return numbers by team (M, T)."""
        return self._per_team[name]

    def byte(self, name: str) -> Value:
        """Return a small number or card id (M,)."""
        return self._bytes[name]

    @abstractmethod
    def of_seat(self, values: Values, seat: int) -> Value:
        """Return what belongs to one seat (M,)."""

    @abstractmethod
    def no_cards(self) -> Value:
        """Return empty bitboards (M,)."""

    @abstractmethod
    def card_if(self, visible: Value, name: str) -> Value:
        """Return a card id (M,) where ``visible`` (M,), else ``NO_CARD``."""

    @abstractmethod
    def hands_if(self, visible: Value, hands: Values) -> Values:
        """Return hands (M, P) where ``visible`` (M,), else empty ones."""

    @abstractmethod
    def legal_if(self, visible: Value) -> Values:
        """Return the mover's action bitmasks (M, W) where ``visible`` (M,), else zeros."""

    @abstractmethod
    def optional(self, name: str) -> Any:
        """Return an array that only some rules have, of any shape."""


class ManyRows(SeatRelative[NDArray[Any], NDArray[Any]]):
    """The state of M rows, in arrays."""

    def __init__(self, state: State, rows: NDArray[np.intp], viewer: NDArray[np.intp]) -> None:
        players, teams, deals = state.rules.num_seats, state.rules.num_teams, state.num_deals
        seats_from = _SEATS_FROM[players][viewer]
        teams_from = _SEATS_FROM[teams][viewer & 1 if teams == 2 else viewer]
        by_seat = (rows * players)[:, None] + seats_from
        by_team = (rows * teams)[:, None] + teams_from
        self._state, self._rows = state, rows
        self._seats_from, self._teams_from = seats_from, teams_from

        per_seat = state.seat_boards.reshape(-1, deals * players).take(by_seat, axis=1)
        per_team = state.team_numbers.reshape(-1, deals * teams).take(by_team, axis=1)
        self._per_seat = dict(zip(BLOCKS["seat_boards"], per_seat, strict=True))
        self._per_team = dict(zip(BLOCKS["team_numbers"], per_team, strict=True))
        self._bytes = dict(zip(BLOCKS["row_bytes"], state.row_bytes.take(rows, axis=1), strict=True))
        self._legal = state.legal[rows]

        self.viewer = viewer
        self.mover, self.turn_seat, self.dealer, self.knocker = RELATIVE_SEAT[players].take(
            [viewer * 256 + self._bytes[name] for name in _SEATS]
        )
        self.pile_bits = state.pile_bits[rows]
        self.team_known_bits = state.team_known_bits.reshape(-1)[by_team]
        self.turn = state.turn[rows]
        self.deals_played = state.deals_played[rows]

    def of_seat(self, values: NDArray[Any], seat: int) -> NDArray[Any]:
        """Return what belongs to one seat."""
        return values[:, seat]

    def no_cards(self) -> NDArray[Any]:
        """Return empty bitboards."""
        return np.zeros(len(self.viewer), dtype=np.uint64)

    def card_if(self, visible: NDArray[Any], name: str) -> NDArray[Any]:
        """Return a card id where visible, else ``NO_CARD``."""
        return np.where(visible, self._bytes[name], _NO_CARD)

    def hands_if(self, visible: NDArray[Any], hands: NDArray[Any]) -> NDArray[Any]:
        """Return hands where visible, else empty ones."""
        return hands * visible[:, None]

    def legal_if(self, visible: NDArray[Any]) -> NDArray[Any]:
        """Return the mover's action bitmasks where visible, else zeros."""
        return self._legal * visible[:, None]

    def optional(self, name: str) -> Any:
        """Return an array that only some rules have."""
        values = getattr(self._state, name)[self._rows]
        if name in _BY_SEAT:
            return np.take_along_axis(values, self._seats_from, axis=1)
        return np.take_along_axis(values, self._teams_from[:, None], axis=2) if name in _BY_TEAM else values


class OneRow(SeatRelative[int, list[int]]):
    """The state of one row, in Python numbers and lists."""

    def __init__(self, state: State, row: int, viewer: int) -> None:
        players, teams = state.rules.num_seats, state.rules.num_teams
        per_seat = state.seat_boards[:, row].tolist()
        per_team = state.team_numbers[:, row].tolist()
        team_known = state.team_known_bits[row].tolist()
        if viewer:
            per_seat = [values[viewer:] + values[:viewer] for values in per_seat]
        if team := viewer % teams:
            per_team = [values[team:] + values[:team] for values in per_team]
            team_known = team_known[team:] + team_known[:team]

        self._state, self._row, self._team = state, row, team
        self._per_seat = dict(zip(BLOCKS["seat_boards"], per_seat, strict=True))
        self._per_team = dict(zip(BLOCKS["team_numbers"], per_team, strict=True))
        self._bytes = dict(zip(BLOCKS["row_bytes"], state.row_bytes[:, row].tolist(), strict=True))
        self._legal = state.legal[row].tolist()

        self.viewer = viewer
        self.mover = (self._bytes["mover"] - viewer) % players
        self.turn_seat = (self._bytes["turn_seat"] - viewer) % players
        self.dealer = (self._bytes["dealer"] - viewer) % players
        knocker = self._bytes["knocker"]
        self.knocker = NO_SEAT if knocker == NO_SEAT else (knocker - viewer) % players
        self.pile_bits = state.pile_bits.item(row)
        self.team_known_bits = team_known
        self.turn = state.turn.item(row)
        self.deals_played = state.deals_played.item(row)

    def of_seat(self, values: list[int], seat: int) -> int:
        """Return what belongs to one seat."""
        return values[seat]

    def no_cards(self) -> int:
        """Return empty bitboards."""
        return 0

    def card_if(self, visible: int, name: str) -> int:
        """Return a card id where visible, else ``NO_CARD``."""
        return self._bytes[name] if visible else NO_CARD

    def hands_if(self, visible: int, hands: list[int]) -> list[int]:
        """Return hands where visible, else empty ones."""
        return hands if visible else [0] * len(hands)

    def legal_if(self, visible: int) -> list[int]:
        """Return the mover's action bitmasks where visible, else zeros."""
        return self._legal if visible else [0] * len(self._legal)

    def optional(self, name: str) -> Any:
        """Return an array that only some rules have."""
        values = getattr(self._state, name)[self._row].tolist()
        if name in _BY_SEAT:
            return values[self.viewer :] + values[: self.viewer]
        return [sheet[self._team :] + sheet[: self._team] for sheet in values] if name in _BY_TEAM else values


_NO_CARD = np.uint8(NO_CARD)
DEAD = int(Kind.DEAD)  # arrays compare with enum members six times slower than with ints
_SEATS = ("mover", "turn_seat", "dealer", "knocker")
_PLAYERS = (2, 3, 4, 5)
#: (P, P) per number of seats (or teams): these in the order in which a viewer counts them.
_SEATS_FROM = {players: (np.arange(players)[:, None] + np.arange(players)) % players for players in _PLAYERS}


def _relative_seats(players: int) -> NDArray[np.uint8]:
    """Return, at ``viewer * 256 + seat``, the seat counted from the viewer; ``NO_SEAT`` stays."""
    table = np.full((players, 256), NO_SEAT, dtype=np.uint8)
    table[:, :players] = (np.arange(players) - np.arange(players)[:, None]) % players
    return table.reshape(-1)


RELATIVE_SEAT = {players: _relative_seats(players) for players in _PLAYERS}
