"""The options of ``reset(options=...)``: a deck and a dealer, or a position from which play continues."""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.engine import Phase, State
from gin_env.engine.dealing import parse_deck
from gin_env.errors import InvalidPosition, whole_number
from gin_env.notation.position import parse_position, status
from gin_env.rules import Rules

#: The keys that ``reset`` reads. Others are left to wrappers, as PettingZoo and Gymnasium allow.
OPTIONS = ("deck", "dealer", "position")

#: A key at least this similar (0 to 1) to one of ours is taken for a misspelling and refused. The key "options",
#: which PettingZoo's own tests send, is less similar.
_MISSPELLING_SIMILARITY = 0.82

#: The arrays of a state that describe the game around a deal; they are the same at both tables of a deal.
_GAME_ARRAYS = ("scores", "boxes", "deals_played", "sheet_scores", "sheet_boxes")


def read_deck_and_dealer(
    rules: Rules, options: Mapping[str, Any] | None
) -> tuple[NDArray[np.uint8] | None, int | list[int] | None]:
    """Return the deck (52,) and the dealer that the options of ``reset`` give, each None if they do not.

    ``options["deck"]`` holds 52 card texts or ids in dealing order, and ``options["dealer"]`` is a seat. With two
    tables each is a pair, one for each table, and a dealer is one of the seats there; the decks are then (2, 52),
    and the dealers are returned as seats at their own table.

    Raises
    ------
    ValueError
        A misspelt key, an unknown card text, or a dealer that is not a seat.
    InvalidPosition
        A deck that is not 52 different cards, one for two tables, or a deck or dealer together with a position.
    """
    if not options:
        return None, None
    _check_keys(options)
    deck, dealer = options.get("deck"), options.get("dealer")

    if options.get("position") is not None:
        for name, value in (("deck", deck), ("dealer", dealer)):
            if value is not None:
                raise InvalidPosition(f"position and {name}: a position has its own cards and dealer, leave {name} out")

    if rules.num_tables == 1:
        return (
            None if deck is None else parse_deck(deck),
            None if dealer is None else whole_number("dealer", dealer, 0, rules.num_players - 1, "seat"),
        )
    return (
        None if deck is None else np.stack([parse_deck(each) for each in _pair("deck", deck, rules)]),
        None
        if dealer is None
        else [_dealer_at_table(rules, table, seat) for table, seat in enumerate(_pair("dealer", dealer, rules))],
    )


def read_position(rules: Rules, options: Mapping[str, Any] | None, num_rows: int = 1) -> State | None:
    """Return the position that the options of ``reset`` give, a row for each table of N rows, or None.

    Parameters
    ----------
    rules : Rules
    options : mapping or None
        ``options["position"]`` is a text as written by ``gin_env.format_position``, a ``State``, or a sequence of
        these. They are the tables of one row, used for all rows; or the tables of each row, one row after another. A
        row has one table, or two if a deal is played at two (the first of them moves next).
    num_rows : int
        N.

    Raises
    ------
    InvalidPosition
        A text or state that is not a possible position, has other rules, has ended, or does not fit the number of
        tables.

    Notes
    -----
    After a text, play continues without a log: what happened before is missing in ``PlayerView`` histories, records
    and counts of events. A ``State`` brings its log. In a game the deals that follow come from the environment's own
    random stream.
    """
    value = (options or {}).get("position")
    if value is None:
        return None

    states = _parse_states(value)
    for state in states:
        if state.rules != rules:
            raise InvalidPosition(f"position under {state.rules.name}: this environment plays {rules.name}")
    position = State.concatenate(states)

    tables_of_a_row, tables_of_all_rows = rules.num_tables, rules.num_tables * num_rows
    if position.num_deals not in (tables_of_a_row, tables_of_all_rows):
        expected = f"{tables_of_a_row} for {rules.name}"
        if num_rows > 1:
            expected += f", or {tables_of_all_rows} for {num_rows} rows"
        raise InvalidPosition(f"position: expected tables: {expected}, got {position.num_deals}")

    _check_not_over(position)
    _check_same_game(position)
    if position.num_deals == tables_of_all_rows:
        return position
    return position.take(np.tile(np.arange(tables_of_a_row), num_rows))


def _check_keys(options: Mapping[str, Any]) -> None:
    """Raise ``ValueError`` for options that are not a mapping, or with a key that is a misspelling of ours."""
    if not isinstance(options, Mapping):
        raise ValueError(f"options: expected a mapping such as {{'deck': ..., 'dealer': 0}}, got {options!r}")
    for key in options:
        close = difflib.get_close_matches(str(key), OPTIONS, n=1, cutoff=_MISSPELLING_SIMILARITY)
        if key not in OPTIONS and close:
            raise ValueError(f"unknown option {key!r}: did you mean {close[0]!r}?")


def _pair(name: str, value: Any, rules: Rules) -> Sequence[Any]:
    """Return an option that has an entry for each of two tables; raises ``InvalidPosition`` for anything else."""
    if not isinstance(value, Sequence | np.ndarray) or isinstance(value, str):
        raise InvalidPosition(f"{name}: expected two, one for each table, got {value!r}")
    if len(value) != rules.num_tables:
        raise InvalidPosition(f"{name}: expected two, one for each table, got {len(value)}")
    return value  # type: ignore[return-value]


def _dealer_at_table(rules: Rules, table: int, seat: Any) -> int:
    """Return a dealer, given as a seat of all tables, as a seat at its own table."""
    first = table * rules.num_seats
    return whole_number(f"dealer of table {table}", seat, first, first + rules.num_seats - 1, "seat") - first


def _parse_states(value: Any) -> list[State]:
    """Return the states given as a text, a state, or a sequence of these."""
    if isinstance(value, State):
        for row in range(value.num_deals):
            if problems := status(value, row):
                raise InvalidPosition(f"row {row} of the position is impossible: {'; '.join(problems)}")
        return [value]
    if isinstance(value, str):
        return [parse_position(value)]
    if isinstance(value, Sequence) and value:
        return [state for part in value for state in _parse_states(part)]
    raise InvalidPosition(f"position: expected a text from gin_env.format_position or a State, got {value!r}")


def _check_not_over(position: State) -> None:
    """Raise ``InvalidPosition`` for a deal that has ended at all of its tables."""
    is_over: NDArray[np.bool_] = np.all((position.phase == Phase.OVER).reshape(-1, position.rules.num_tables), axis=1)
    if is_over.any():
        raise InvalidPosition(f"position {is_over.argmax()}: the deal has ended, give one in which a seat is to move")


def _check_same_game(position: State) -> None:
    """Raise ``InvalidPosition`` if two tables of a deal belong to different games."""
    tables = np.arange(position.num_deals).reshape(-1, position.rules.num_tables)
    for name in _GAME_ARRAYS:
        values = getattr(position, name)[tables]
        if (values != values[:, :1]).any():
            raise InvalidPosition(f"positions of two tables with different {name}: both must belong to the same game")
