"""What agents think of decisions, written into records: how likely they would play each action, what they expect.

>>> record = annotate(record, [best, None, best, None])  # the thoughts of seats 0 and 2
>>> record.tables[0].thoughts[3].probabilities
{'draw': 0.9127, 'take': 0.0873}

An agent that can tell its thoughts has a method ``thoughts`` beside ``act`` (:class:`HasThoughts`); nothing else is
asked of it, and an agent without one has none. ``agents.policy.policy_agent.PolicyAgent`` has; wrappers around other
agents (search, ablate) do not, since what they play is not what their base thinks.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from gin_env.engine import ActionLayout, State
from gin_env.episodes import Agent
from gin_env.errors import AgentError
from gin_env.notation.records import LEAST_PROBABILITY, THOUGHT_DIGITS, DealRecord, GameRecord, Thought
from gin_env.notation.replay import decision_states
from gin_env.observation import PlayerView, player_view
from gin_env.rules import resolve_rules

Record = TypeVar("Record", bound=DealRecord | GameRecord)

#: Deals that are played again together: enough that a network's layers are filled, few enough to fit into memory.
_DEALS_AT_ONCE = 64


@runtime_checkable
class HasThoughts(Protocol):
    """An agent that can tell what it thinks."""

    def thoughts(self, view: PlayerView) -> list[Thought]:
        """Return what it thinks of each of the M decisions of a view, as ``act`` would see them.

        It draws no lots and changes nothing, so that asking never changes what is played. ``thoughts_of`` makes the
        list from an array of probabilities.
        """


#: How an agent is asked: :func:`think`, or a function that watches over it.
Think = Callable[[Any, PlayerView], list[Thought]]


def thoughts_of(
    view: PlayerView, probabilities: NDArray[np.floating], values: NDArray[np.floating] | None = None
) -> list[Thought]:
    """Return thoughts from arrays, rounded and sorted as ``Thought`` says.

    Parameters
    ----------
    view : PlayerView
        M decisions.
    probabilities : float, shape (M, A)
        Of all actions; what is not legal counts for nothing.
    values : float, shape (M,), optional
    """
    layout, told = view.layout, []
    rounded = np.round(probabilities.astype(np.float64), THOUGHT_DIGITS)
    rows, actions = np.nonzero(view.legal_mask & (probabilities >= LEAST_PROBABILITY))
    starts = np.searchsorted(rows, np.arange(len(view) + 1))
    for row in range(len(view)):
        own = actions[starts[row] : starts[row + 1]]
        pairs = zip(map(layout.text, own.tolist()), rounded[row, own].tolist(), strict=True)
        ranked = dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))
        told.append(Thought(ranked, None if values is None else round(float(values[row]), THOUGHT_DIGITS)))
    return told


def think(agent: HasThoughts, view: PlayerView) -> list[Thought]:
    """Return an agent's thoughts of a view, one for each row.

    Raises ``AgentError`` where it returns anything else, or tells of actions that are not legal.
    """
    name, layout, legal = getattr(agent, "name", agent), view.layout, view.legal.copy()
    thoughts = agent.thoughts(view)
    if not isinstance(thoughts, list) or {*map(type, thoughts)} - {Thought} or len(thoughts) != len(legal):
        told = repr(thoughts)
        raise AgentError(f"agent {name!r} returned {told:.60}: a list of {len(legal)} Thoughts is needed")
    for words, mask, thought in zip(legal, layout.mask(legal), thoughts, strict=True):
        for action in thought.probabilities:
            if not _is_legal(layout, mask, action):
                could = ", ".join(layout.texts(words))
                raise AgentError(f"agent {name!r} thinks of {action!r}, which is not legal there; legal: {could}")
    return thoughts


def _is_legal(layout: ActionLayout, mask: NDArray[np.bool_], action: str) -> bool:
    try:
        return bool(mask[layout.index(action)])
    except ValueError:
        return False


def annotate(record: Record, agents: Sequence[Agent | None], think: Think = think) -> Record:
    """Return a record with what the agents think of its decisions.

    Parameters
    ----------
    record : DealRecord or GameRecord
    agents : sequence of Agent or None
        One for each seat, counted over all tables. Each is asked about the decisions of its seat, whoever made them;
        one without ``thoughts`` leaves None there. Where a seat has None, what the record holds stays.
    think : callable, optional
        How an agent is asked.

    Raises
    ------
    ValueError
        Another number of agents than seats.
    RecordError
        The record cannot be played again; what came of the deal is not checked (``gin_env.notation.replay`` does).
    AgentError
        An agent returned something that is no thought of its decisions.
    """
    return annotate_all([record], [agents], think)[0]


def annotate_all(
    records: Sequence[Record], agents: Sequence[Sequence[Agent | None]], think: Think = think
) -> list[Record]:
    """Return records of the same rules, each with the thoughts of its own agents; as ``annotate``, but faster."""
    deals: list[DealRecord] = []
    seated: list[Sequence[Agent | None]] = []
    for record, by_seat in zip(records, agents, strict=True):
        players = resolve_rules(record.rules).num_players
        if len(by_seat) != players:
            raise ValueError(f"{len(by_seat)} agents for {record.rules}: {players} are needed, one for each seat")
        own = record.deals if isinstance(record, GameRecord) else (record,)
        deals += own
        seated += [by_seat] * len(own)
    thoughtful: list[DealRecord] = []
    for start in range(0, len(deals), _DEALS_AT_ONCE):
        some = slice(start, start + _DEALS_AT_ONCE)
        thoughtful += _annotated(deals[some], seated[some], think)
    left = iter(thoughtful)
    return [_with_deals(record, left) for record in records]


def _with_deals(record: Any, deals: Iterator[DealRecord]) -> Any:
    """Return a record with the next deals in place of its own."""
    if isinstance(record, GameRecord):
        return dataclasses.replace(record, deals=tuple(next(deals) for _ in record.deals))
    return next(deals)


def _annotated(deals: Sequence[DealRecord], seated: Sequence[Sequence[Agent | None]], think: Think) -> list[DealRecord]:
    """Return deals with the thoughts of the agents seated in each; all of an agent's decisions are asked at once."""
    positions = decision_states(deals)
    deciders = _deciders(positions, deals, seated)
    tables = [table for deal in deals for table in deal.tables]
    told = [thought for table in tables for thought in table.thoughts or (None,) * len(table.indices)]
    numbers: dict[int, list[int]] = {}
    for number, agent in enumerate(deciders):
        if agent is not None:
            numbers.setdefault(id(agent), []).append(number)
    for rows in numbers.values():
        agent = deciders[rows[0]]
        assert agent is not None
        thoughts: Sequence[Thought | None] = [None] * len(rows)
        if isinstance(agent, HasThoughts):
            thoughts = think(agent, player_view(positions, rows=rows, history=agent.needs_history))
        for number, thought in zip(rows, thoughts, strict=True):
            told[number] = thought
    left = iter(told)
    return [
        dataclasses.replace(deal, tables=tuple(_with_thoughts(table, left) for table in deal.tables)) for deal in deals
    ]


def _with_thoughts(table: Any, thoughts: Iterator[Thought | None]) -> Any:
    """Return a table with the next thoughts, one for each action; with none at all where nobody had any."""
    own = tuple(next(thoughts) for _ in table.indices)
    return dataclasses.replace(table, thoughts=own if any(thought is not None for thought in own) else ())


def _deciders(
    positions: State, deals: Sequence[DealRecord], seated: Sequence[Sequence[Agent | None]]
) -> list[Agent | None]:
    """Return the agent that sits where each decision was made."""
    movers = iter(positions.mover.tolist())
    num_seats = positions.rules.num_seats
    return [
        by_seat[next(movers) + num_seats * number]
        for deal, by_seat in zip(deals, seated, strict=True)
        for number, table in enumerate(deal.tables)
        for _ in table.indices
    ]
