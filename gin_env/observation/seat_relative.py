"""Gathering what views show: many rows in arrays, or one row in Python numbers, as their viewers count seats and teams.

``view.py`` decides who may know what; here it is only read from the state's blocks, by name.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NO_CARD
from gin_env.engine import State
from gin_env.engine.state import BLOCKS, NO_SEAT
from gin_env.scoring import Kind

#: Arrays outside the blocks that hold one value for each seat, and one for each team.
_BY_SEAT = ("boasted", "boast_bar")
_BY_TEAM = ("sheet_scores", "sheet_boxes")


class Table:
    """What was gathered from the state's blocks, by name."""

    _boards: dict[str, Any]
    _numbers: dict[str, Any]
    _bytes: dict[str, Any]

    def boards(self, name: str) -> Any:
        """Return a seat board (M, P)."""
        return self._boards[name]

    def numbers(self, name: str) -> Any:
        """Return numbers by team (M, T)."""
        return self._numbers[name]

    def byte(self, name: str) -> Any:
        """Return a byte of each row (M,)."""
        return self._bytes[name]


class ManyRows(Table):
    """The state of M rows as their viewers count the seats, in arrays."""

    def __init__(self, state: State, rows: NDArray[np.intp], viewer: NDArray[np.intp]) -> None:
        players, teams, deals = state.rules.num_seats, state.rules.num_teams, state.num_deals
        seats_from = _SEATS_FROM[players][viewer]
        teams_from = _SEATS_FROM[teams][viewer & 1 if teams == 2 else viewer]
        by_seat = (rows * players)[:, None] + seats_from
        by_team = (rows * teams)[:, None] + teams_from
        self._state, self._rows = state, rows
        self._seats_from, self._teams_from = seats_from, teams_from
        self._boards = dict(
            zip(
                BLOCKS["seat_boards"], state.seat_boards.reshape(-1, deals * players).take(by_seat, axis=1), strict=True
            )
        )
        self._numbers = dict(
            zip(
                BLOCKS["team_numbers"],
                state.team_numbers.reshape(-1, deals * teams).take(by_team, axis=1),
                strict=True,
            )
        )
        self._bytes = dict(zip(BLOCKS["row_bytes"], state.row_bytes.take(rows, axis=1), strict=True))
        self._legal = state.legal[rows]
        self.viewer: Any = viewer
        self.mover, self.turn_seat, self.dealer, self.knocker = RELATIVE_SEAT[players].take(
            [viewer * 256 + self._bytes[name] for name in _SEATS]
        )
        self.pile_bits: Any = state.pile_bits[rows]
        self.team_known_bits = state.team_known_bits.reshape(-1)[by_team]
        self.turn: Any = state.turn[rows]
        self.deals_played: Any = state.deals_played[rows]

    def of_seat(self, boards: Any, seat: int) -> Any:
        """Return the board of one seat."""
        return boards[:, seat]

    def no_board(self) -> Any:
        """Return an empty board."""
        return np.zeros(len(self.viewer), dtype=np.uint64)

    def card_if(self, visible: Any, name: str) -> Any:
        """Return a card where it is visible, else ``NO_CARD``."""
        return np.where(visible, self._bytes[name], _NO_CARD)

    def boards_if(self, visible: Any, boards: Any) -> Any:
        """Return boards where they are visible, else empty ones."""
        return boards * visible[:, None]

    def words_if(self, visible: Any) -> Any:
        """Return the legal words where they are visible, else none."""
        return self._legal * visible[:, None]

    def optional(self, name: str) -> Any:
        """Return an array outside the blocks."""
        values = getattr(self._state, name)[self._rows]
        if name in _BY_SEAT:
            return np.take_along_axis(values, self._seats_from, axis=1)
        return np.take_along_axis(values, self._teams_from[:, None], axis=2) if name in _BY_TEAM else values


class OneRow(Table):
    """The state of one row as its viewer counts the seats, in Python numbers; methods as in ``ManyRows``."""

    def __init__(self, state: State, row: int, viewer: int) -> None:
        players, teams = state.rules.num_seats, state.rules.num_teams
        boards = state.seat_boards[:, row].tolist()
        numbers = state.team_numbers[:, row].tolist()
        team_known = state.team_known_bits[row].tolist()
        if viewer:
            boards = [own[viewer:] + own[:viewer] for own in boards]
        if team := viewer % teams:
            numbers = [own[team:] + own[:team] for own in numbers]
            team_known = team_known[team:] + team_known[:team]
        self._state, self._row, self._team = state, row, team
        self._boards = dict(zip(BLOCKS["seat_boards"], boards, strict=True))
        self._numbers = dict(zip(BLOCKS["team_numbers"], numbers, strict=True))
        self._bytes = dict(zip(BLOCKS["row_bytes"], state.row_bytes[:, row].tolist(), strict=True))
        self._legal = state.legal[row].tolist()
        self.viewer: Any = viewer
        self.mover: Any = (self._bytes["mover"] - viewer) % players
        self.turn_seat: Any = (self._bytes["turn_seat"] - viewer) % players
        self.dealer: Any = (self._bytes["dealer"] - viewer) % players
        knocker = self._bytes["knocker"]
        self.knocker: Any = NO_SEAT if knocker == NO_SEAT else (knocker - viewer) % players
        self.pile_bits: Any = state.pile_bits.item(row)
        self.team_known_bits = team_known
        self.turn: Any = state.turn.item(row)
        self.deals_played: Any = state.deals_played.item(row)

    def of_seat(self, boards: Any, seat: int) -> Any:
        """Return the board of one seat."""
        return boards[seat]

    def no_board(self) -> Any:
        """Return an empty board."""
        return 0

    def card_if(self, visible: Any, name: str) -> Any:
        """Return a card where it is visible, else ``NO_CARD``."""
        return self._bytes[name] if visible else NO_CARD

    def boards_if(self, visible: Any, boards: Any) -> Any:
        """Return boards where they are visible, else empty ones."""
        return boards if visible else [0] * len(boards)

    def words_if(self, visible: Any) -> Any:
        """Return the legal words where they are visible, else none."""
        return self._legal if visible else [0] * len(self._legal)

    def optional(self, name: str) -> Any:
        """Return an array outside the blocks."""
        values = getattr(self._state, name)[self._row].tolist()
        if name in _BY_SEAT:
            return values[self.viewer :] + values[: self.viewer]
        return [own[self._team :] + own[: self._team] for own in values] if name in _BY_TEAM else values


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
