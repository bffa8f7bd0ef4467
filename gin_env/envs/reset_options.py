"""What ``reset(options=...)`` accepts: a deck, a dealer, or a position to play on from."""

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

#: What ``reset`` can be asked for.
OPTIONS = ("deck", "dealer", "position")
#: From this similarity on (0 to 1) a key is one of them misspelt; "options", which PettingZoo's tests send, is not.
_MISSPELT = 0.82
#: What tells of the game around a deal, the same at both tables where it is played at two.
GAME_FACTS = ("scores", "boxes", "deals_played", "sheet_scores", "sheet_boxes")


def injected_deal(
    rules: Rules, options: Mapping[str, Any] | None
) -> tuple[NDArray[np.uint8] | None, int | list[int] | None]:
    """Return the deck (52,) and the dealer that the options of ``reset`` ask for, None where they do not.

    ``options["deck"]`` is 52 card texts or ids in dealing order, ``options["dealer"]`` a seat. With two tables
    each is a pair, one for each table, whose dealer is one of the seats there; the decks are then (2, 52) and
    the dealers counted at their table. Other keys are other people's, as PettingZoo and Gymnasium allow.

    Raises
    ------
    ValueError
        An unknown card text, or (``InvalidPosition``) anything but 52 different cards, or no such seat; or either of
        them beside a position.
    """
    if not options:
        return None, None
    if not isinstance(options, Mapping):
        raise ValueError(f"options={options!r}: must map names to values, such as {{'deck': ..., 'dealer': 0}}")
    for key in options:
        close = difflib.get_close_matches(str(key), OPTIONS, n=1, cutoff=_MISSPELT)
        if key not in OPTIONS and close:
            raise ValueError(f"unknown option {key!r}: did you mean {close[0]!r}?")
    deck, dealer = options.get("deck"), options.get("dealer")
    for name, given in (("deck", deck), ("dealer", dealer)):
        if given is not None and options.get("position") is not None:
            raise InvalidPosition(f"position and {name}: a position has its own cards and dealer, leave {name} out")
    if rules.num_tables == 1:
        return (
            None if deck is None else parse_deck(deck),
            None if dealer is None else whole_number("dealer", dealer, 0, rules.num_players - 1, "seat"),
        )
    for name, given in (("deck", deck), ("dealer", dealer)):
        if given is not None and (not isinstance(given, Sequence | np.ndarray) or isinstance(given, str)):
            raise InvalidPosition(f"{name}={given!r}: two are needed, one for each table")
        if given is not None and len(given) != rules.num_tables:
            raise InvalidPosition(f"{name} has {len(given)} entries: two are needed, one for each table")
    return (
        None if deck is None else np.stack([parse_deck(one) for one in deck]),
        None if dealer is None else [_dealer_at(rules, table, seat) for table, seat in enumerate(dealer)],
    )


def injected_position(rules: Rules, options: Mapping[str, Any] | None, num_rows: int = 1) -> State | None:
    """Return the position that the options of ``reset`` ask for, a row for each table of N rows; None if they do not.

    ``options["position"]`` is a text, as ``gin_env.format_position`` writes it, a ``State``, or a sequence of such.
    They are the tables of one row, for all rows, or the tables of each row, one row after another: one table for each
    row, two where a deal is played at two tables (of which the first moves next).

    Of a text play goes on without a log: what happened before is not in ``PlayerView`` histories, records or counts of
    events; a ``State`` brings its log. In a game the deals that follow come from the environment's own random stream.

    Raises
    ------
    InvalidPosition
        Text or state that is no possible position, has other rules, is over, or does not fit the number of tables.
    """
    given = (options or {}).get("position")
    if given is None:
        return None
    states = _states_of(given)
    for state in states:
        if state.rules != rules:
            raise InvalidPosition(f"position under {state.rules.name}: this environment plays {rules.name}")
    position = State.concatenate(states)
    count, tables = position.num_deals, rules.num_tables
    if count not in (tables, tables * num_rows):
        each = f", or {tables * num_rows}, one after another, for {num_rows} rows" if num_rows > 1 else ""
        raise InvalidPosition(f"position of {count} tables: {tables} needed, as {rules.name} is played{each}")
    ended = np.all((position.phase == Phase.OVER).reshape(-1, tables), axis=1)
    if ended.any():
        raise InvalidPosition(
            f"position {ended.argmax()} is of a deal that has ended: give one in which a seat is to move"
        )
    _check_games(position)
    return position if count == tables * num_rows else position.take(np.tile(np.arange(tables), num_rows))


def _states_of(given: Any) -> list[State]:
    """Return the states of a text, a state, or a sequence of such."""
    if isinstance(given, State):
        for row in range(given.num_deals):
            if wrong := status(given, row):
                raise InvalidPosition(f"row {row} of the position is impossible: {'; '.join(wrong)}")
        return [given]
    if isinstance(given, str):
        return [parse_position(given)]
    if isinstance(given, Sequence) and given:
        return [state for part in given for state in _states_of(part)]
    raise InvalidPosition(f"position={given!r}: a text that gin_env.format_position wrote, or a State, is needed")


def _check_games(position: State) -> None:
    """Raise ``InvalidPosition`` where two tables do not stand in the same game."""
    tables = np.arange(position.num_deals).reshape(-1, position.rules.num_tables)
    for name in GAME_FACTS:
        values = getattr(position, name)[tables]
        if (values != values[:, :1]).any():
            raise InvalidPosition(f"positions of two tables with different {name}: both must stand in the same game")


def _dealer_at(rules: Rules, table: int, seat: Any) -> int:
    first = table * rules.num_seats
    return whole_number(f"dealer of table {table}", seat, first, first + rules.num_seats - 1, "seat") - first
