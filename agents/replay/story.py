"""What happens in a recorded deal, step by step, for each who may look: tables, words and deadwood.

A record is always played again through the engine, so that what is shown is what the rules make of the recorded
actions. Step 0 is the deal as it was dealt, step k stands after action k; where a deal has two tables, their actions
follow one another by turns, as ``gin_env.episodes.episodes`` plays them. What one seat may see comes from its
``PlayerView``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.cli.agent_names import shortened
from gin_env.cards import NO_CARD
from gin_env.engine import Phase, State
from gin_env.notation.records import DealRecord, GameRecord, Thought
from gin_env.notation.replay import STANDING, decision_states, replay
from gin_env.observation import player_view
from gin_env.rendering.explanation import Line, explain_deal
from gin_env.rendering.table import Hand, Table, table_of_state, table_of_view
from gin_env.rendering.words import event_words, result
from gin_env.rules import Rules, player_name, resolve_rules

#: Within a turn a hand holds a card too many, or one is under way: its deadwood is that of the turn before.
_WITHIN_A_TURN = (Phase.PLAY, Phase.TRADE_ANSWER, Phase.CATCH)


class Step(NamedTuple):
    """One action."""

    table: int
    seat: int  #: who acted, counted over all tables
    action: str
    begins_turn: bool
    thought: Thought | None  #: what the agent thought before it


@dataclass(frozen=True)
class View:
    """A deal as somebody sees it; lists have an entry for each step, the deal as it was dealt first."""

    seat: int | None  #: the seat that looks, counted over all tables; None for all hands
    tables: list[list[Table]]  #: what there is to draw, at each step one table or two
    events: list[str]  #: what happened, as far as this view tells it
    deadwood: list[list[int | None]]  #: of each seat over all tables, None where its hand is not to be seen


@dataclass(frozen=True)
class DealStory:
    """A recorded deal, played again."""

    record: DealRecord
    rules: Rules
    steps: list[Step]
    limits: list[int]  #: by table: the most deadwood with which one may knock
    views: list[View]  #: all hands, then each seat
    results: list[str]  #: by table how it ended and what it paid; of two tables at last what both paid together
    explanations: list[list[Line]]  #: by table


@dataclass(frozen=True)
class Story:
    """A record, played again."""

    record: DealRecord | GameRecord
    deals: list[DealStory]


def tell(record: DealRecord | GameRecord) -> Story:
    """Play a record again and tell its deals.

    Raises
    ------
    RecordError
        The record does not tell of a deal or game as its rules play it; the message says why.
    """
    ended = replay(record)
    finals = ended if isinstance(ended, list) else [ended]
    deals = record.deals if isinstance(record, GameRecord) else (record,)
    return Story(record, [_tell_deal(deal, final) for deal, final in zip(deals, finals, strict=True)])


def shown_name(record: DealRecord, seat: int) -> str:
    """Return what pictures call a seat: ``"player_0 (simple)"`` where its agent is recorded."""
    if not record.agents:
        return player_name(seat)
    agent = shortened(record.agents[seat])
    return f"{player_name(seat)} ({agent})" if agent else player_name(seat)


def _tell_deal(record: DealRecord, final: State) -> DealStory:
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
    """Tell what two tables came to together; nothing where there is only one."""
    if rules.num_tables == 1:
        return []
    sides = ["+".join(map(player_name, rules.seats_of(team))) for team in range(rules.num_teams)]
    sums = [sum(table.points[team] for table in record.tables) for team in range(rules.num_teams)]
    counts = ", ".join(f"{side} {points}" for side, points in zip(sides, sums, strict=True))
    paid = [f"{points} points to {side}" for side, points in zip(sides, record.points, strict=True) if points]
    return [f"Both tables together: {counts}; this pays {', '.join(paid) or 'no points'}"]


def _steps(record: DealRecord, rules: Rules, positions: State, order: list[int]) -> list[Step]:
    steps = []
    taken, turns = [0] * rules.num_tables, [-1] * rules.num_tables
    for number, at in enumerate(order):
        table, played, row = record.tables[at], taken[at], number * rules.num_tables + at
        seat, turn = int(positions.mover[row]) + at * rules.num_seats, int(positions.turn[row])
        thought = table.thoughts[played] if table.thoughts else None
        steps.append(Step(at, seat, table.actions[played], turn != turns[at], thought))
        taken[at], turns[at] = played + 1, turn
    return steps


def _order(record: DealRecord) -> list[int]:
    """Return at which table each action was: by turns, and one that is over leaves the rest to the other."""
    left = [len(table.actions) for table in record.tables]
    order: list[int] = []
    while any(left):
        order += [at for at in range(len(left)) if left[at]]
        left = [max(count - 1, 0) for count in left]
    return order


def _positions(record: DealRecord, final: State, order: list[int]) -> State:
    """Return the deal at each step: rows step by step, and of each the tables one after another."""
    lengths = np.array([len(table.actions) for table in record.tables])
    every = State.concatenate([decision_states([record]), final])
    starts = np.cumsum(lengths) - lengths
    acted = np.zeros((len(order) + 1, len(lengths)), dtype=np.intp)
    acted[np.arange(1, len(order) + 1), order] = 1
    done = acted.cumsum(axis=0)
    ends = lengths.sum() + np.arange(len(lengths))
    rows: NDArray[np.intp] = np.where(done < lengths, starts + done, ends)
    positions = every.take(rows.ravel())
    # A table that is over while the other one plays is booked with it, at the last step and not before.
    waiting = (rows == ends).ravel()
    waiting[-len(lengths) :] = False
    for name in STANDING:
        array = getattr(positions, name)
        array[waiting] = np.array(getattr(record.before, name), dtype=array.dtype).reshape(array.shape[1:])
    return positions


def _view(record: DealRecord, rules: Rules, positions: State, order: list[int], seat: int | None) -> View:
    names = [shown_name(record, number) for number in range(rules.num_players)]
    if seat is None:
        tables = [table_of_state(positions, row, names) for row in range(positions.num_deals)]
        seen = [tables[first : first + rules.num_tables] for first in range(0, len(tables), rules.num_tables)]
    else:
        at, own = divmod(seat, rules.num_seats)
        view = player_view(positions, own, np.arange(at, positions.num_deals, rules.num_tables), history=True)
        seen = [[table_of_view(view, row, at * rules.num_seats, names)] for row in range(len(view))]
    return View(
        seat,
        seen,
        _events(rules, seen, order, None if seat is None else seat // rules.num_seats),
        _deadwood(rules, seen),
    )


def _events(rules: Rules, seen: list[list[Table]], order: list[int], only: int | None) -> list[str]:
    """Tell what happened at each step; ``only`` is the one table that is seen, None for all."""
    dealers = [player_name(table.dealer + table.first_seat) for table in seen[0]]
    texts = [f"The cards are dealt by {' and '.join(dealers)}"]
    for before, after, at in zip(seen[:-1], seen[1:], order, strict=True):
        if only is None:
            texts.append(_told(rules, before[at], after[at]))
        else:
            texts.append(_told(rules, before[0], after[0]) if at == only else "A move at the other table")
    return texts


def _told(rules: Rules, before: Table, after: Table) -> str:
    """Tell the last event at a table; of an offer, to whom, of an answer, whether it changes nothing."""
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
    """Return the deadwood of each seat over all tables, step by step, as it stands between turns."""
    lines: list[list[int | None]] = [[] for _ in range(rules.num_players)]
    for tables in seen:
        told: dict[int, int | None] = {}
        for table in tables:
            for hand in table.hands:
                line = lines[hand.seat + table.first_seat]
                goes_on = bool(line) and table.phase in _WITHIN_A_TURN
                told[hand.seat + table.first_seat] = line[-1] if goes_on else _points(hand)
        for seat, line in enumerate(lines):
            line.append(told.get(seat))
    return lines


def _points(hand: Hand) -> int | None:
    return None if hand.hidden or hand.sits_out else hand.points
