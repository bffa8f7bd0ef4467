"""What agents think of decisions, for records: the probability of each action, and the points they expect.

>>> record = annotate(record, [best, None, best, None])  # the thoughts of seats 0 and 2
>>> record.tables[0].thoughts[3].probabilities
{'draw': 0.9127, 'take': 0.0873}

An agent that can report its thoughts has a method ``thoughts`` besides ``act`` (:class:`HasThoughts`); the method is
optional. ``PolicyAgent`` has it. Agents that wrap others (search, ablate) do not, since they may play something else
than their base would.
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

#: Number of deals replayed at once: enough for large batches through a network, few enough to fit into memory.
_DEALS_AT_ONCE = 64


@runtime_checkable
class HasThoughts(Protocol):
    """An agent that can report its thoughts."""

    def thoughts(self, view: PlayerView) -> list[Thought]:
        """Return the thoughts on each of the M decisions of a view, as ``act`` would see them.

        The method uses no random numbers and changes no state, so that calling it never changes what is played.
        ``thoughts_of`` makes the list from an array of probabilities.
        """


#: How thoughts are requested: :func:`think`, or a function that also enforces limits.
Think = Callable[[Any, PlayerView], list[Thought]]


def thoughts_of(
    view: PlayerView, probabilities: NDArray[np.floating], values: NDArray[np.floating] | None = None
) -> list[Thought]:
    """Return thoughts from arrays, rounded and sorted as ``Thought`` requires.

    Parameters
    ----------
    view : PlayerView
        M decisions.
    probabilities : float, shape (M, A)
        Probabilities of all actions; illegal ones are left out.
    values : float, shape (M,), optional
    """
    layout, thoughts = view.layout, []
    rounded = np.round(probabilities.astype(np.float64), THOUGHT_DIGITS)
    rows, actions = np.nonzero(view.legal_mask & (probabilities >= LEAST_PROBABILITY))
    starts = np.searchsorted(rows, np.arange(len(view) + 1))
    for row in range(len(view)):
        likely = actions[starts[row] : starts[row + 1]]
        pairs = zip(map(layout.text, likely.tolist()), rounded[row, likely].tolist(), strict=True)
        ranked = dict(sorted(pairs, key=lambda pair: (-pair[1], pair[0])))
        thoughts.append(Thought(ranked, None if values is None else round(float(values[row]), THOUGHT_DIGITS)))
    return thoughts


def think(agent: HasThoughts, view: PlayerView) -> list[Thought]:
    """Return an agent's thoughts on a view, one for each row.

    Raises
    ------
    AgentError
        The agent returned something else, or named an action that is not legal.
    """
    name, layout, legal = getattr(agent, "name", agent), view.layout, view.legal.copy()
    thoughts = agent.thoughts(view)
    if not isinstance(thoughts, list) or {*map(type, thoughts)} - {Thought} or len(thoughts) != len(legal):
        raise AgentError(f"agent {name!r}: expected a list of {len(legal)} Thoughts, got {thoughts!r:.60}")

    for words, mask, thought in zip(legal, layout.mask(legal), thoughts, strict=True):
        for action in thought.probabilities:
            if not _is_legal(layout, mask, action):
                legal_texts = ", ".join(layout.texts(words))
                raise AgentError(f"agent {name!r} named {action!r}, which is not legal; legal: {legal_texts}")
    return thoughts


def _is_legal(layout: ActionLayout, mask: NDArray[np.bool_], action: str) -> bool:
    try:
        return bool(mask[layout.index(action)])
    except ValueError:
        return False


def annotate(record: Record, agents: Sequence[Agent | None], think: Think = think) -> Record:
    """Return a record with the agents' thoughts on its decisions.

    Parameters
    ----------
    record : DealRecord or GameRecord
    agents : sequence of Agent or None
        One for each seat, counted over all tables. Each agent is asked about the decisions of its seat, whoever made
        them; an agent without ``thoughts`` leaves None. Where a seat has None, the record keeps what it holds.
    think : callable, optional
        How thoughts are requested.

    Raises
    ------
    ValueError
        The number of agents is not the number of seats.
    RecordError
        The record cannot be replayed. The result of the deal is not checked (``gin_env.replay`` checks it).
    AgentError
        An agent returned something other than thoughts on its decisions.
    """
    return annotate_all([record], [agents], think)[0]


def annotate_all(
    records: Sequence[Record], agents: Sequence[Sequence[Agent | None]], think: Think = think
) -> list[Record]:
    """Return records of the same rules, each with the thoughts of its own agents: a faster ``annotate`` for many."""
    deals: list[DealRecord] = []
    seated: list[Sequence[Agent | None]] = []
    for record, by_seat in zip(records, agents, strict=True):
        players = resolve_rules(record.rules).num_players
        if len(by_seat) != players:
            raise ValueError(f"agents for {record.rules}: expected {players}, one for each seat, got {len(by_seat)}")
        own_deals = record.deals if isinstance(record, GameRecord) else (record,)
        deals += own_deals
        seated += [by_seat] * len(own_deals)

    annotated: list[DealRecord] = []
    for start in range(0, len(deals), _DEALS_AT_ONCE):
        batch = slice(start, start + _DEALS_AT_ONCE)
        annotated += _annotated(deals[batch], seated[batch], think)

    remaining = iter(annotated)
    return [_with_deals(record, remaining) for record in records]


def _with_deals(record: Any, deals: Iterator[DealRecord]) -> Any:
    """Return a record with the next deals in place of its own."""
    if isinstance(record, GameRecord):
        return dataclasses.replace(record, deals=tuple(next(deals) for _ in record.deals))
    return next(deals)


def _annotated(deals: Sequence[DealRecord], seated: Sequence[Sequence[Agent | None]], think: Think) -> list[DealRecord]:
    """Return deals with the thoughts of the agents seated in each, each agent asked for all its decisions at once."""
    positions = decision_states(deals)
    deciders = _deciders(positions, deals, seated)
    tables = [table for deal in deals for table in deal.tables]
    all_thoughts = [thought for table in tables for thought in table.thoughts or (None,) * len(table.indices)]

    # Which of the decisions each agent made.
    rows_of: dict[int, list[int]] = {}
    for row, agent in enumerate(deciders):
        if agent is not None:
            rows_of.setdefault(id(agent), []).append(row)

    for rows in rows_of.values():
        agent = deciders[rows[0]]
        assert agent is not None
        thoughts: Sequence[Thought | None] = [None] * len(rows)
        if isinstance(agent, HasThoughts):
            thoughts = think(agent, player_view(positions, rows=rows, history=agent.needs_history))
        for row, thought in zip(rows, thoughts, strict=True):
            all_thoughts[row] = thought

    remaining = iter(all_thoughts)
    return [
        dataclasses.replace(deal, tables=tuple(_with_thoughts(table, remaining) for table in deal.tables))
        for deal in deals
    ]


def _with_thoughts(table: Any, thoughts: Iterator[Thought | None]) -> Any:
    """Return a table with the next thoughts, one for each action; with an empty tuple where all are None."""
    own_thoughts = tuple(next(thoughts) for _ in table.indices)
    has_any = any(thought is not None for thought in own_thoughts)
    return dataclasses.replace(table, thoughts=own_thoughts if has_any else ())


def _deciders(
    positions: State, deals: Sequence[DealRecord], seated: Sequence[Sequence[Agent | None]]
) -> list[Agent | None]:
    """Return the agent in the seat that made each decision."""
    movers = iter(positions.mover.tolist())
    num_seats = positions.rules.num_seats
    return [
        by_seat[next(movers) + num_seats * number]
        for deal, by_seat in zip(deals, seated, strict=True)
        for number, table in enumerate(deal.tables)
        for _ in table.indices
    ]
