"""Records played again: through the engine, every action checked, and held against what was recorded.

>>> state = replay(record)  # raises RecordError if the record does not tell of this deal
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
from gin_env.notation.records import DealRecord, GameRecord, RecordError, split_deck
from gin_env.rules import Rules, resolve_rules

#: The arrays of a state that tell the game around the deal, named as the fields of a ``Standing``.
STANDING = ("scores", "boxes", "deals_played", "sheet_scores", "sheet_boxes")
#: What was noted about a deal, but cannot be found out by playing it.
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
        The state at the deal's end, one row for each table, equal in every array to the one that was recorded; of a
        game, those of its deals.

    Raises
    ------
    RecordError
        An action that is not legal, or a result that differs from the recorded one, named.
    """
    if isinstance(record, DealRecord):
        return replay_deals([record])
    if not isinstance(record, GameRecord):
        raise ValueError(f"{type(record).__name__} is no record: give one of those that read_records returns")
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
        An action that is not legal, named. What came of the deals is not held against the records.
    """
    engine = _engine_of(records)
    parts, tables = [], []
    for rows in _turns(engine, records):
        parts.append(engine.state.take(rows))
        tables.append(rows)
    return State.concatenate(parts).take(np.argsort(np.concatenate(tables), kind="stable"))


def _replay(records: Sequence[DealRecord]) -> tuple[State, dict[int, GameEnd]]:
    """Return the final state of deals, and what booking brought, by number, to those that were booked."""
    engine = _engine_of(records)
    for _ in _turns(engine, records):
        pass
    tables = np.arange(engine.num_deals).reshape(len(records), -1)
    ends = {
        number: add_to_games(engine.state, tables[[number]], deal_totals(engine.state, tables[[number]]))
        for number, record in enumerate(records)
        if record.after.deals_played == record.before.deals_played + 1
    }
    again = record_deals(engine.state, [record.before for record in records])
    for number, (record, played) in enumerate(zip(records, again, strict=True)):
        _compare(number, record, played)
    return engine.state, ends


def _engine_of(records: Sequence[DealRecord]) -> Engine:
    """Return an engine with the recorded cards dealt; raises ``RecordError`` where that cannot be done."""
    if not records:
        raise RecordError("no deal to replay")
    names = {record.rules for record in records}
    if len(names) > 1:
        raise RecordError(f"deals under several rules: {', '.join(sorted(names))}")
    with _refused():
        return _dealt(resolve_rules(records[0].rules), records)


@contextlib.contextmanager
def _refused() -> Iterator[None]:
    """Turn what NumPy and the engine say of values that no record has into a ``RecordError``."""
    try:
        yield
    except RecordError:
        raise
    except (ValueError, TypeError, OverflowError) as error:
        raise RecordError(str(error)) from None


def _dealt(rules: Rules, records: Sequence[DealRecord]) -> Engine:
    """Return an engine with the recorded cards dealt and the games as they stood."""
    tables = [table for record in records for table in record.tables]
    if len(tables) != len(records) * rules.num_tables:
        raise RecordError(f"{len(tables)} tables for {len(records)} deals of {rules.name}")
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
    """Play the recorded actions, one in each row that has some left; yield these rows before each step."""
    lengths, actions = _recorded_actions(records)
    for turn in range(actions.shape[1]):
        rows = np.flatnonzero(lengths > turn)
        over = rows[engine.over[rows]]
        if len(over):
            raise RecordError(f"table {over[0]}: the deal is over before action {turn + 1} of {lengths[over[0]]}")
        yield rows
        try:
            engine.step(actions[rows, turn], rows)
        except ValueError as error:
            raise RecordError(f"action {turn + 1}: {error}") from None
    going_on = np.flatnonzero(~engine.over)
    if len(going_on):
        raise RecordError(f"table {going_on[0]}: the deal is not over after its {lengths[going_on[0]]} actions")


def _recorded_actions(records: Sequence[DealRecord]) -> tuple[NDArray[np.intp], NDArray[np.int64]]:
    """Return how many actions each table has (N,), and their indices (N, L), -1 past the end."""
    played = [table.indices for record in records for table in record.tables]
    lengths = np.array([len(indices) for indices in played], dtype=np.intp)
    actions = np.full((len(played), lengths.max()), -1, dtype=np.int64)
    with _refused():
        for row, indices in enumerate(played):
            actions[row, : len(indices)] = indices
    return lengths, actions


def _compare(number: int, record: DealRecord, played: DealRecord) -> None:
    """Raise ``RecordError`` where a deal came to something else than recorded."""
    for table, (recorded, again) in enumerate(zip(record.tables, played.tables, strict=True)):
        for field in dataclasses.fields(again):
            was, is_now = getattr(recorded, field.name), getattr(again, field.name)
            if was != is_now and field.name not in _NOTED:
                raise RecordError(f"deal {number}, table {table}: {field.name} is {is_now!r}, but {was!r} is recorded")
    for field in dataclasses.fields(played):
        was, is_now = getattr(record, field.name), getattr(played, field.name)
        if was != is_now and field.name not in ("tables", *_NOTED):
            raise RecordError(f"deal {number}: {field.name} is {is_now!r}, but {was!r} is recorded")


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
            due = next_dealers(state, tables[number - 1]).tolist()
            dealers = [table.dealer for table in deal.tables]
            if dealers != due:
                raise RecordError(f"deal {number}: dealers {dealers}, but {due} are due")
    end, winner = ends[len(deals) - 1], -1 if record.winner is None else record.winner
    expected = {
        "bonuses": tuple(end.bonuses[0].tolist()),
        "final_scores": tuple((end.bonuses[0] + deals[-1].after.scores).tolist()),
        "truncated": bool(end.truncated[0]),
    }
    for name, value in expected.items():
        if getattr(record, name) != value:
            raise RecordError(f"{name} is {value!r}, but {getattr(record, name)!r} is recorded")
    if winner != end.winner[0]:
        raise RecordError(f"winner is {end.winner[0]}, but {winner} is recorded (-1 for none)")
