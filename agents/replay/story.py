"""A recorded deal step by step, as seen with all hands and by each seat: tables, texts and deadwood.

Records are always replayed through the engine, so that a page shows what the rules make of the recorded actions. Step
0 is the deal as dealt, and step k follows action k. If a deal has two tables, their actions alternate, as
``gin_env.episodes.episodes`` plays them. What a seat may see comes from its ``PlayerView``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from agents.cli.agent_names import shortened
from gin_env.cards import NO_CARD, Rows
from gin_env.engine import Phase, State
from gin_env.notation.records import DealRecord, GameRecord, Thought
from gin_env.notation.replay import STANDING, decision_states, replay
from gin_env.observation import player_view
from gin_env.rendering.explanation import Line, explain_deal
from gin_env.rendering.table import Hand, Table, table_of_state, table_of_view
from gin_env.rendering.words import event_words, result
from gin_env.rules import Rules, player_name, resolve_rules

#: Phases within a turn, when a hand has a card too many or too few: its deadwood is that after its last turn.
_WITHIN_A_TURN = (Phase.PLAY, Phase.TRADE_ANSWER, Phase.CATCH)


class Step(NamedTuple):
    """One action."""

    table: int
    seat: int  #: who acted, numbered over all tables
    action: str
    begins_turn: bool
    thought: Thought | None  #: what the agent thought before it


@dataclass(frozen=True)
class View:
    """A view of a deal; lists have an entry for each step, beginning with the deal as dealt."""

    seat: int | None  #: the viewer's seat, numbered over all tables; None for all hands
    tables: list[list[Table]]  #: the tables to draw, one or two at each step
    events: list[str]  #: what happened, without what this view may not know
    deadwood: list[list[int | None]]  #: by seat over all tables; None if the hand is hidden


@dataclass(frozen=True)
class DealStory:
    """A replayed deal."""

    record: DealRecord
    rules: Rules
    steps: list[Step]
    limits: list[int]  #: the knock limit of each table
    views: list[View]  #: all hands, then each seat
    results: list[str]  #: the result of each table; with two tables, also their sum
    explanations: list[list[Line]]  #: by table


@dataclass(frozen=True)
class Story:
    """A replayed record."""

    record: DealRecord | GameRecord
    deals: list[DealStory]


def replay_story(record: DealRecord | GameRecord) -> Story:
    """Replay a record and describe its deals step by step.

    Raises
    ------
    RecordError
        The record contradicts its rules; the message says how.
    """
    replayed = replay(record)
    finals = replayed if isinstance(replayed, list) else [replayed]
    deals = record.deals if isinstance(record, GameRecord) else (record,)
    return Story(record, [_deal_story(deal, final) for deal, final in zip(deals, finals, strict=True)])


def shown_name(record: DealRecord, seat: int) -> str:
    """Return a seat's name in pictures: ``"player_0 (simple)"`` if its agent is recorded."""
    if not record.agents:
        return player_name(seat)
    agent = shortened(record.agents[seat])
    return f"{player_name(seat)} ({agent})" if agent else player_name(seat)


def _deal_story(record: DealRecord, final: State) -> DealStory:
    rules = resolve_rules(record.rules)
    order = _order(record)
    positions = _positions(record, final, order)
    last = [table_of_state(final, at) for at in range(rules.num_tables)]
    return DealStory(
        record=record,
        rules=rules,
        steps=_steps(record, rules, positions, order),
        limits=[table.limit if table.limit >= 0 else rules.knock_limit for table in last],
        views=[_view(record, rules, positions, order, seat) for seat in (None, *range(rules.num_players))],
        results=[*(result(table) for table in last), *_both_tables(record, rules)],
        explanations=[explain_deal(final, at, first_seat=at * rules.num_seats) for at in range(rules.num_tables)],
    )


def _both_tables(record: DealRecord, rules: Rules) -> list[str]:
    """Describe the sum of two tables; nothing for a single table."""
    if rules.num_tables == 1:
        return []

    sides = ["+".join(map(player_name, rules.seats_of(team))) for team in range(rules.num_teams)]
    sums = [sum(table.points[team] for table in record.tables) for team in range(rules.num_teams)]
    totals = ", ".join(f"{side} {points}" for side, points in zip(sides, sums, strict=True))
    payments = [f"{points} points to {side}" for side, points in zip(sides, record.points, strict=True) if points]
    return [f"Both tables together: {totals}; this pays {', '.join(payments) or 'no points'}"]


def _steps(record: DealRecord, rules: Rules, positions: State, order: list[int]) -> list[Step]:
    """Return all actions with their seats, thoughts and the beginnings of turns."""
    steps = []
    num_played, last_turn = [0] * rules.num_tables, [-1] * rules.num_tables

    for number, at in enumerate(order):
        table, played, row = record.tables[at], num_played[at], number * rules.num_tables + at
        seat, turn = int(positions.mover[row]) + at * rules.num_seats, int(positions.turn[row])
        thought = table.thoughts[played] if table.thoughts else None
        steps.append(Step(at, seat, table.actions[played], turn != last_turn[at], thought))
        num_played[at], last_turn[at] = played + 1, turn
    return steps


def _order(record: DealRecord) -> list[int]:
    """Return the table of each action: tables alternate until one is over, then the other plays alone."""
    remaining = [len(table.actions) for table in record.tables]
    order: list[int] = []
    while any(remaining):
        order += [at for at in range(len(remaining)) if remaining[at]]
        remaining = [max(count - 1, 0) for count in remaining]
    return order


def _positions(record: DealRecord, final: State, order: list[int]) -> State:
    """Return the deal at each step: a row for each step and table, the tables of a step next to each other."""
    lengths = np.array([len(table.actions) for table in record.tables])
    states = State.concatenate([decision_states([record]), final])

    # The number of actions played at each table before each step selects its state.
    starts = np.cumsum(lengths) - lengths
    acted = np.zeros((len(order) + 1, len(lengths)), dtype=np.intp)
    acted[np.arange(1, len(order) + 1), order] = 1
    num_played = acted.cumsum(axis=0)
    ends = lengths.sum() + np.arange(len(lengths))
    rows: Rows = np.where(num_played < lengths, starts + num_played, ends)
    positions = states.take(rows.ravel())

    # A table that ends before the other is settled together with it, at the last step and not before.
    waiting = (rows == ends).ravel()
    waiting[-len(lengths) :] = False
    for name in STANDING:
        array = getattr(positions, name)
        array[waiting] = np.array(getattr(record.before, name), dtype=array.dtype).reshape(array.shape[1:])
    return positions


def _view(record: DealRecord, rules: Rules, positions: State, order: list[int], seat: int | None) -> View:
    """Return the deal as a seat sees it, or with all hands for seat None."""
    names = [shown_name(record, number) for number in range(rules.num_players)]

    if seat is None:
        tables = [table_of_state(positions, row, names) for row in range(positions.num_deals)]
        seen = [tables[first : first + rules.num_tables] for first in range(0, len(tables), rules.num_tables)]
    else:
        at, own = divmod(seat, rules.num_seats)
        view = player_view(positions, own, np.arange(at, positions.num_deals, rules.num_tables), history=True)
        seen = [[table_of_view(view, row, at * rules.num_seats, names)] for row in range(len(view))]

    visible_table = None if seat is None else seat // rules.num_seats
    return View(seat, seen, _events(rules, seen, order, visible_table), _deadwood(rules, seen))


def _events(rules: Rules, seen: list[list[Table]], order: list[int], visible_table: int | None) -> list[str]:
    """Describe what happened at each step; ``visible_table`` is the table that the viewer sees, None for all."""
    dealers = [player_name(table.dealer + table.first_seat) for table in seen[0]]
    texts = [f"The cards are dealt by {' and '.join(dealers)}"]
    for before, after, at in zip(seen[:-1], seen[1:], order, strict=True):
        if visible_table is None:
            texts.append(_event_text(rules, before[at], after[at]))
        elif at == visible_table:
            texts.append(_event_text(rules, before[0], after[0]))
        else:
            texts.append("A move at the other table")
    return texts


def _event_text(rules: Rules, before: Table, after: Table) -> str:
    """Describe the last event at a table: an offer with its receiver, an answer with "no trade" if none was made."""
    event = after.events[-1]
    reply = rules.trade_reply if event.is_answer else ""
    text = event_words(player_name(event.seat + after.first_seat), event.verb, event.card, reply)

    partner = rules.partner_of(event.seat)
    if event.verb != "give" or partner is None:
        return text
    if not event.is_answer:
        return f"{text} to {player_name(partner + after.first_seat)}"
    return f"{text}: no trade" if event.card == before.offered != NO_CARD else text


def _deadwood(rules: Rules, seen: list[list[Table]]) -> list[list[int | None]]:
    """Return each seat's deadwood, over all tables, at each step: that after its last complete turn."""
    lines: list[list[int | None]] = [[] for _ in range(rules.num_players)]

    for tables in seen:
        current: dict[int, int | None] = {}
        for table in tables:
            for hand in table.hands:
                line = lines[hand.seat + table.first_seat]
                is_within_turn = bool(line) and table.phase in _WITHIN_A_TURN
                current[hand.seat + table.first_seat] = line[-1] if is_within_turn else _points(hand)
        for seat, line in enumerate(lines):
            line.append(current.get(seat))
    return lines


def _points(hand: Hand) -> int | None:
    return None if hand.hidden or hand.sits_out else hand.points
