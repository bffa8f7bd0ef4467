"""Records played again through the engine: every action is checked, and the result compared with the record.

>>> state = replay(record)  # raises RecordError if the record is not of a deal that can be played
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np
from numpy.typing import NDArray

from gin_env.engine import Engine, State
from gin_env.engine.game_score import GameEnd, add_to_games, deal_totals
from gin_env.engine.next_dealer import next_dealers
from gin_env.notation.recorder import new_game, record_deals
from gin_env.notation.records import DealRecord, GameRecord, RecordError, TableRecord, split_deck
from gin_env.rules import Rules, resolve_rules

#: The arrays of a state for the game around the deal, which are also the fields of a ``Standing``.
STANDING = ("scores", "boxes", "deals_played", "sheet_scores", "sheet_boxes")
#: What a record has besides, which cannot be found by playing.
_NOTED = ("agents", "seeds", "version", "thoughts")


@overload
def replay(record: DealRecord) -> State: ...
@overload
def replay(record: GameRecord) -> list[State]: ...
def replay(record: DealRecord | GameRecord) -> State | list[State]:
    """Play a record again.

    Returns
    -------
    State, or list of State
        The final state of the deal, one row for each table, equal in every array to the one that was recorded; for a
        game, the final states of its deals.

    Raises
    ------
    RecordError
        An action is not legal, or a result differs from the recorded one; the message names it.
    """
    if isinstance(record, DealRecord):
        return replay_deals([record])
    if not isinstance(record, GameRecord):
        raise ValueError(f"expected a record, as read_records returns them, got {type(record).__name__}")
    state, ends = _replay(record.deals)
    _check_game(record, state, ends)
    tables = np.arange(state.num_deals).reshape(len(record.deals), -1)
    return [state.take(rows) for rows in tables]


def replay_deals(records: Sequence[DealRecord]) -> State:
    """Play deals of the same rules again, all at once; arguments and errors as in :func:`replay`.

    Returns
    -------
    State
        The tables of each deal, one after another.
    """
    return _replay(records)[0]


def decision_states(records: Sequence[DealRecord]) -> State:
    """Return the position before every action of some deals of the same rules.

    Returns
    -------
    State
        A row for each action, first to last; table by table, and the tables of each deal one after another.

    Raises
    ------
    RecordError
        An action is not legal. The results of the deals are not compared with the records.
    """
    engine = _engine_of(records)
    states, tables = [], []
    for rows in _turns(engine, records):
        states.append(engine.state.take(rows))
        tables.append(rows)

    # Actions were played at all tables in turn; the stable sort puts those of a table together, in their order.
    table_order = np.argsort(np.concatenate(tables), kind="stable")
    return State.concatenate(states).take(table_order)


def _replay(records: Sequence[DealRecord]) -> tuple[State, dict[int, GameEnd]]:
    """Return the final state of deals and, for those that belong to a game, by number, what they added to it."""
    engine = _engine_of(records)
    for _ in _turns(engine, records):
        pass

    tables = np.arange(engine.num_deals).reshape(len(records), -1)
    ends = {
        number: add_to_games(engine.state, tables[[number]], deal_totals(engine.state, tables[[number]]))
        for number, record in enumerate(records)
        if record.after.deals_played == record.before.deals_played + 1
    }

    replayed = record_deals(engine.state, [record.before for record in records])
    for number, (record, played) in enumerate(zip(records, replayed, strict=True)):
        _compare(number, record, played)
    return engine.state, ends


def _engine_of(records: Sequence[DealRecord]) -> Engine:
    """Return an engine with the recorded cards dealt; raises ``RecordError`` if they cannot be."""
    if not records:
        raise RecordError("no deal to replay")
    names = {record.rules for record in records}
    if len(names) > 1:
        raise RecordError(f"deals under several rules: {', '.join(sorted(names))}")
    with _refused():
        return _dealt(resolve_rules(records[0].rules), records)


@contextlib.contextmanager
def _refused() -> Iterator[None]:
    """Turn errors of NumPy and the engine about impossible values into ``RecordError``."""
    try:
        yield
    except RecordError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise RecordError(str(error)) from None


def _dealt(rules: Rules, records: Sequence[DealRecord]) -> Engine:
    """Return an engine with the recorded cards dealt and the scores of the games before the deals."""
    tables = [table for record in records for table in record.tables]
    if len(tables) != len(records) * rules.num_tables:
        raise RecordError(
            f"expected {len(records) * rules.num_tables} tables for {len(records)} deals of {rules.name}, "
            f"got {len(tables)}"
        )

    engine = Engine(rules, len(tables))
    state = engine.state
    state.stream_key[:] = [table.stream_key for table in tables]
    engine.reset(decks=[split_deck(table.deck) for table in tables], dealers=[table.dealer for table in tables])
    state.deal_number[:] = [table.deal_number for table in tables]

    for name in STANDING:
        array = getattr(state, name)
        values = np.array([getattr(record.before, name) for record in records], dtype=array.dtype)
        array[:] = np.repeat(values.reshape(len(records), *array.shape[1:]), rules.num_tables, axis=0)
    return engine


def _turns(engine: Engine, records: Sequence[DealRecord]) -> Iterator[NDArray[np.intp]]:
    """Play the recorded actions, one in each row that still has any; yield these rows before each step."""
    lengths, actions = _recorded_actions(records)
    for number in range(actions.shape[1]):
        rows = np.flatnonzero(lengths > number)
        over = rows[engine.over[rows]]
        if len(over):
            raise RecordError(f"table {over[0]}: the deal is over before action {number + 1} of {lengths[over[0]]}")
        yield rows
        try:
            engine.step(actions[rows, number], rows)
        except ValueError as error:
            raise RecordError(f"action {number + 1}: {error}") from None

    unfinished = np.flatnonzero(~engine.over)
    if len(unfinished):
        raise RecordError(f"table {unfinished[0]}: the deal is not over after its {lengths[unfinished[0]]} actions")


def _recorded_actions(records: Sequence[DealRecord]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return the number of actions of each table (N,) and their indices (N, L), -1 past the end."""
    played = [table.indices for record in records for table in record.tables]
    lengths = np.array([len(indices) for indices in played], dtype=np.intp)
    actions = np.full((len(played), lengths.max()), -1, dtype=np.int64)
    with _refused():
        for row, indices in enumerate(played):
            actions[row, : len(indices)] = indices
    return lengths, actions


def _compare(number: int, record: DealRecord, played: DealRecord) -> None:
    """Raise ``RecordError`` if the result of a deal differs from the recorded one."""
    for table, (recorded, replayed) in enumerate(zip(record.tables, played.tables, strict=True)):
        _compare_fields(f"deal {number}, table {table}", recorded, replayed, _NOTED)
    _compare_fields(f"deal {number}", record, played, ("tables", *_NOTED))


def _compare_fields(
    name: str, recorded: DealRecord | TableRecord, replayed: DealRecord | TableRecord, left_out: Sequence[str]
) -> None:
    for field in dataclasses.fields(replayed):
        expected, got = getattr(recorded, field.name), getattr(replayed, field.name)
        if expected != got and field.name not in left_out:
            raise RecordError(f"{name}: {field.name} is {got!r}, but {expected!r} is recorded")


def _check_game(record: GameRecord, state: State, ends: dict[int, GameEnd]) -> None:
    """Raise ``RecordError`` unless the deals follow one another and the game ends as recorded."""
    deals = record.deals
    tables = np.arange(state.num_deals).reshape(len(deals), -1)
    standings = [new_game(state.rules), *(deal.after for deal in deals)]

    for number, deal in enumerate(deals):
        if deal.rules != record.rules or deal.before != standings[number] or number not in ends:
            raise RecordError(f"deal {number} does not follow the one before it")
        is_over = bool(ends[number].finished[0] or ends[number].truncated[0])
        if is_over != (number == len(deals) - 1):
            raise RecordError(f"deal {number} {'ends' if is_over else 'does not end'} the game of {len(deals)} deals")
        if number:
            expected_dealers = next_dealers(state, tables[number - 1]).tolist()
            dealers = [table.dealer for table in deal.tables]
            if dealers != expected_dealers:
                raise RecordError(f"deal {number}: expected dealers {expected_dealers}, got {dealers}")
    _check_game_result(record, ends[len(deals) - 1])


def _check_game_result(record: GameRecord, end: GameEnd) -> None:
    winner = -1 if record.winner is None else record.winner
    expected = {
        "bonuses": tuple(end.bonuses[0].tolist()),
        "final_scores": tuple((end.bonuses[0] + record.deals[-1].after.scores).tolist()),
        "truncated": bool(end.truncated[0]),
    }
    for name, value in expected.items():
        if getattr(record, name) != value:
            raise RecordError(f"{name} is {value!r}, but {getattr(record, name)!r} is recorded")
    if winner != end.winner[0]:
        raise RecordError(f"winner is {end.winner[0]}, but {winner} is recorded (-1 for none)")
