"""Records of deals that were played: from finished states, or while episodes are played.

>>> recorder = Recorder("classic_2p", "game", agents=("simple", "random"), seeds={"seed": 1}, sink="games.jsonl")
>>> while not episodes.over.all():
...     recorder.note(episodes.step(actions))
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from gin_env import __version__
from gin_env.cards import CARD_BITS, format_cards
from gin_env.engine import State, action_layout
from gin_env.engine.dealing import deal_cards
from gin_env.engine.game_score import deal_totals
from gin_env.engine.state import NO_SEAT, unpack_events
from gin_env.episodes import Transition
from gin_env.episodes.episodes import EPISODES
from gin_env.notation.records import DealRecord, GameRecord, Standing, TableRecord, action_texts, write_records
from gin_env.rules import Rules, resolve_rules
from gin_env.scoring.deal_result import describe_result

#: The names of the agents, one for each seat: for all rows, or a function of the row.
Agents = Sequence[str] | Callable[[int], Sequence[str]]


def standing_of(state: State, row: int) -> Standing:
    """Return the scores of the game around a row's deal."""
    return Standing(
        scores=tuple(state.scores[row].tolist()),
        boxes=tuple(state.boxes[row].tolist()),
        deals_played=int(state.deals_played[row]),
        sheet_scores=tuple(map(tuple, state.sheet_scores[row].tolist())),
        sheet_boxes=tuple(map(tuple, state.sheet_boxes[row].tolist())),
    )


def new_game(rules: Rules) -> Standing:
    """Return the standing before the first deal of a game."""
    return standing_of(State.allocate(rules, 1), 0)


def record_deals(
    finished: State,
    before: Sequence[Standing] | None = None,
    agents: Agents = (),
    seeds: Mapping[str, int] | None = None,
    rows: Sequence[int] | None = None,
) -> list[DealRecord]:
    """Return the records of deals that are over.

    Parameters
    ----------
    finished : State
        D * K rows: the K tables of each of D deals, one after another (K is 2 in mode ``two_tables``, else 1).
    before : sequence of Standing, optional
        The games before each deal. Without it, each deal must be the first of its game or not part of one.
    agents : sequence of str, or callable, optional
        A name for each seat, or a function that gives them for one of ``rows``.
    seeds : mapping, optional
        Seeds to note, by name.
    rows : sequence of int, optional
        The row of each deal, for ``agents``; by default 0 to D - 1.

    Raises
    ------
    ValueError
        A deal is not over; it is not the first of its game and ``before`` is not given; or it was continued from a
        loaded position, so that its log does not begin with the deal.
    """
    rules = finished.rules
    tables = np.arange(finished.num_deals).reshape(-1, rules.num_tables)
    _check_logs(finished)
    deals = deal_totals(finished, tables)
    name, version, records = rules.name, __version__, []
    for number, table_rows in enumerate(tables.tolist()):
        after = standing_of(finished, table_rows[0])
        names = agents(rows[number] if rows is not None else number) if callable(agents) else agents
        if len(names) not in (0, rules.num_players):
            raise ValueError(f"agents={names!r}: expected {rules.num_players} names, one for each seat")
        records.append(
            DealRecord(
                rules=name,
                tables=tuple(_record_table(finished, row) for row in table_rows),
                before=before[number] if before else _standing_before(rules, after, number),
                after=after,
                points=_ints(deals.points[number]),
                net_points=_ints(deals.net_points[number]),
                winner=_or_none(deals.winner[number], -1),
                agents=tuple(names),
                seeds=dict(seeds or {}),
                version=version,
            )
        )
    return records


def _standing_before(rules: Rules, after: Standing, number: int) -> Standing:
    """Return the standing before a deal that is the first of its game, or not part of a game."""
    if after.deals_played > 1:
        raise ValueError(f"deal {number} is number {after.deals_played} of its game: give before=")
    return new_game(rules) if after.deals_played else after


class Recorder:
    """Make a record of each episode that ends.

    Parameters
    ----------
    rules : Rules or str
    episode : {"deal", "game"}
        As in the ``Episodes`` to be recorded, from their reset on.
    agents : sequence of str, or callable, optional
        A name for each seat, or a function that gives them for a row.
    seeds : mapping, optional
        Seeds to note, by name.
    sink : path or callable, optional
        A file to which each record is appended, or a function that takes it; by default they are kept in ``records``.

    Attributes
    ----------
    records : list of DealRecord or GameRecord
        The records, if there is no sink.
    """

    def __init__(
        self,
        rules: Rules | str,
        episode: str = "deal",
        agents: Agents = (),
        seeds: Mapping[str, int] | None = None,
        sink: str | Path | Callable[[DealRecord | GameRecord], object] | None = None,
    ) -> None:
        if episode not in EPISODES:
            raise ValueError(f"unknown episode {episode!r}: expected one of {', '.join(EPISODES)}")
        if not callable(agents):
            _check_agents(resolve_rules(rules), agents)
        if sink is not None and not callable(sink) and not isinstance(sink, str | Path):
            raise ValueError(f"sink={sink!r}: expected a path, or a function that takes a record")

        self.rules = resolve_rules(rules)
        self.episode = episode
        self.agents = agents
        self.seeds = dict(seeds or {})
        self.records: list[DealRecord | GameRecord] = []
        self._games: dict[int, list[DealRecord]] = {}  # the deals so far of each row's game
        self._sink = sink

    def note(self, transition: Transition) -> None:
        """Record the episodes that ended with a step; call this after each step.

        A game is left out if the recorder has not seen all of its deals.

        Raises
        ------
        ValueError
            The step is of other rules, or of other episodes, than the recorder was made for.
        """
        finished = transition.finished
        if finished is None:
            return
        if (finished.rules, transition.episode) != (self.rules, self.episode):
            raise ValueError(
                f"expected a step of {self.rules.name}, episode {self.episode!r}, "
                f"got one of {finished.rules.name}, episode {transition.episode!r}"
            )

        # Keep the rows whose game the recorder has seen from its first deal.
        played = finished.deals_played[:: self.rules.num_tables].tolist()
        rows = transition.finished_rows.tolist()
        games = [[] if count == 1 else self._games.pop(row, []) for row, count in zip(rows, played, strict=True)]
        seen = [number for number, game in enumerate(games) if len(game) == played[number] - 1]

        before = [games[number][-1].after if games[number] else new_game(self.rules) for number in seen]
        tables = np.arange(finished.num_deals).reshape(-1, self.rules.num_tables)[seen].ravel()
        deals = record_deals(finished.take(tables), before, self.agents, self.seeds, [rows[number] for number in seen])

        for number, deal in zip(seen, deals, strict=True):
            row, game = rows[number], [*games[number], deal]
            if not transition.over_deals[number]:
                self._games[row] = game
                continue
            self._games.pop(row, None)
            self._emit(game[0] if self.episode == "deal" else _record_game(game, transition, number))

    def _emit(self, record: DealRecord | GameRecord) -> None:
        if self._sink is None:
            self.records.append(record)
        elif callable(self._sink):
            self._sink(record)
        else:
            write_records(self._sink, [record], append=True)


def _check_agents(rules: Rules, agents: Sequence[str]) -> None:
    are_names = isinstance(agents, Sequence) and not isinstance(agents, str) and all(isinstance(n, str) for n in agents)
    if not are_names or len(agents) not in (0, rules.num_players):
        raise ValueError(f"agents={agents!r}: expected {rules.num_players} names, one for each seat, or none")


def _record_game(deals: list[DealRecord], transition: Transition, number: int) -> GameRecord:
    last = deals[-1]
    return GameRecord(
        rules=last.rules,
        deals=tuple(deals),
        bonuses=_ints(transition.bonuses[number]),
        final_scores=_ints(transition.bonuses[number] + last.after.scores),
        winner=_or_none(transition.game_winner[number], -1),
        truncated=bool(transition.truncated_deals[number]),
        agents=last.agents,
        seeds=last.seeds,
        version=last.version,
    )


def _check_logs(state: State) -> None:
    """Raise ``ValueError`` unless each row's log leads from the hands that its deck deals to the final hands."""
    rows = np.arange(state.num_deals)
    dealt = State.allocate(state.rules, state.num_deals)
    deal_cards(dealt, rows, state.deck, state.dealer)
    verbs = np.array(action_layout(state.rules).verbs)[action_layout(state.rules).verb_of]

    for row in rows.tolist():
        hands = [int(hand) for hand in dealt.hands[row]]
        events = unpack_events(state.log[row, : state.log_size[row]])
        seats, indices, cards = (values.tolist() for values in events)
        for seat, verb, bit in zip(seats, verbs[indices].tolist(), CARD_BITS[cards].tolist(), strict=True):
            if verb == "give":
                # With trade_reply "mover", an answer is logged for the mover, but comes from the partner's hand.
                giver = seat if hands[seat] & bit else state.rules.partner_seats(seat)
                hands[giver] ^= bit
                hands[state.rules.partner_seats(giver)] ^= bit
            elif verb in ("take", "draw", "discard", "knock"):
                hands[seat] ^= bit
        if hands != state.hands[row].tolist():
            raise ValueError(f"the log of row {row} does not begin with its deal: it was continued from a position")


def _record_table(state: State, row: int) -> TableRecord:
    rules = state.rules
    result = describe_result(rules, state, row)
    _, indices, _ = unpack_events(state.log[row, : state.log_size[row]])
    seats = range(rules.num_seats) if result.spread else ()
    assert result.kind is not None
    return TableRecord(
        deck=format_cards(state.deck[row].tolist()).replace(" ", ""),
        dealer=int(state.dealer[row]),
        stream_key=int(state.stream_key[row]),
        deal_number=int(state.deal_number[row]),
        actions=action_texts(rules, indices.tolist()),
        indices=tuple(indices.tolist()),
        kind=result.kind,
        knocker=_or_none(state.knocker[row], NO_SEAT),
        winner=result.winner,
        points=result.points,
        net_points=result.net_points,
        deadwood=result.deadwood or (),
        spread=tuple(tuple("".join(meld) for meld in result.spread[seat]) for seat in seats),
        layoffs=tuple("".join(result.layoffs.get(seat, ())) for seat in seats),
        bonuses=result.bonuses,
    )


def _ints(values: NDArray[np.integer]) -> tuple[int, ...]:
    return tuple(int(value) for value in values)


def _or_none(value: np.integer, none: int) -> int | None:
    return None if value == none else int(value)
