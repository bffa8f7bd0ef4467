"""A duplicate match while it is played: the rows of deals, the agents' decisions, and what is counted."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from agents.arena.match.deal_records import NO_SIDE, DealRecords, join_records, read_records
from agents.arena.match.lineup import Lineup
from agents.arena.match.referee import AgentFault, Forfeit, Referee
from agents.arena.match.style import style_sums
from agents.arena.match.tally import NUM_TURNS, Tally
from agents.thoughts import HasThoughts, annotate_all, think
from gin_env.cards import CARD_BITS, NUM_CARDS, Rows
from gin_env.cards.melds import deadwood
from gin_env.engine import State
from gin_env.episodes import Episodes, Transition
from gin_env.episodes.agent import decide
from gin_env.notation.recorder import Recorder
from gin_env.notation.records import DealRecord, GameRecord, Thought
from gin_env.observation import PlayerView

#: Finished deals are counted together once this many have ended: large batches are cheaper.
_COUNTED_TOGETHER = 2_000


class MatchInProgress:
    """A match while it is played: E = num_teams * num_pairs episodes pass through a batch of rows.

    Arguments as for ``agents.arena.match.duplicate_match.play_lineup``, already checked.

    Attributes
    ----------
    num_episodes, num_finished : int
        E, and how many of them have ended.
    net_points : int64, shape (E, T)
        Points by team, end bonuses of games included.
    winner : int8, shape (E,)
        The side that won each episode, -1 for none.
    deadwood : int64, shape (2, S, NUM_TURNS)
        Sum of the deadwood left after discards, and the number of these discards.
    recorder : Recorder or None
        Writes records, if they are wanted.
    records : list of records
        Records that wait for thoughts.
    episode_of : intp, shape (rows,)
        The episode that each row plays.
    live : intp
        The rows that still play.
    """

    def __init__(
        self,
        lineup: Lineup,
        names: tuple[str, ...],
        num_pairs: int,
        seed: int,
        first_pair: int,
        batch_rows: int,
        episode: str,
        referee: Referee | None,
    ) -> None:
        self.lineup, self.names, self.referee = lineup, names, referee
        self.rules = rules = lineup.rules
        self.seed, self.first_pair = seed, first_pair
        self._agents, self._by_seat = lineup.distinct_agents(), lineup.by_seat()

        # Results by episode.
        self.num_episodes = rules.num_teams * num_pairs
        self.num_finished = 0
        self.net_points = np.zeros((self.num_episodes, rules.num_teams), dtype=np.int64)
        self.winner = np.full(self.num_episodes, NO_SIDE, dtype=np.int8)
        self.deadwood = np.zeros((2, lineup.num_sides, NUM_TURNS), dtype=np.int64)

        # Records, and the episodes that ended, in the same order.
        self.recorder: Recorder | None = None
        self.records: list[DealRecord | GameRecord] = []
        self._ended: list[int] = []

        # Finished deals, kept until enough of them can be counted together.
        self._finished: list[tuple[State, Rows]] = []
        self._deal_records: list[DealRecords] = []
        self._events: NDArray[np.int64] = np.zeros((), dtype=np.int64)

        self.episodes = Episodes(rules, min(batch_rows, self.num_episodes), episode)
        self.episode_of = np.zeros(self.episodes.num_rows, dtype=np.intp)
        self.live: Rows = np.zeros(0, dtype=np.intp)
        self._next_episode = 0
        self._start(np.arange(self.episodes.num_rows))

    def reset_agents(self) -> None:
        """Reset every agent's random stream, by the seed, the first pair and the agent's number."""
        for number, agent in enumerate(self._agents):
            stream = int(np.random.SeedSequence((self.seed, self.first_pair, number)).generate_state(1)[0])
            if self.referee is None:
                agent.reset(stream)
            else:
                with self._blamed(number, self.episode_of[self.live]):
                    self.referee.reset(agent, stream)

    def _start(self, rows: NDArray[np.intp]) -> None:
        """Start the next episodes in free rows; rows for which none is left stay empty."""
        rows = rows[: self.num_episodes - self._next_episode]
        if not len(rows):
            return

        started = self._next_episode + np.arange(len(rows))
        self._next_episode += len(rows)
        self.episode_of[rows] = started

        # All plays of a pair share one random stream, and with it the deck and the dealer.
        self.episodes.seed(self.seed, rows, streams=self.first_pair + started // self.rules.num_teams)
        self.episodes.reset(rows)
        self.live = np.union1d(self.live, rows)

    def step(self) -> None:
        """Let every live row's mover decide, then start new episodes where one has ended."""
        rows = self.live
        movers = self.episodes.movers(rows)
        actions = self._decide(rows, movers)
        self._note_deadwood(rows, movers, actions)
        transition = self.episodes.step(actions, rows)

        if transition.finished is not None or self.rules.catch_glass:  # a catch pays in the middle of a deal
            # Team k's lowest seat is seat k.
            paid = transition.rewards[:, : self.rules.num_teams]
            self.net_points[self.episode_of[rows]] += np.rint(paid).astype(np.int64)

        if transition.finished is not None:
            self._note_deals(transition)
            free = rows[transition.over]
            self.num_finished += len(free)
            self.live = np.setdiff1d(self.live, free, assume_unique=True)
            self._start(free)

    def _decide(self, rows: NDArray[np.intp], movers: NDArray[np.integer]) -> NDArray[np.intp]:
        """Return the movers' actions (M,), asking each agent once for all of its rows."""
        actions = np.zeros(len(rows), dtype=np.intp)
        deciding = self._by_seat[self._play(rows), movers]
        for number in range(len(self._agents)):
            own = np.flatnonzero(deciding == number)
            if len(own):
                actions[own] = self._ask(number, rows[own])
        return actions

    def _ask(self, number: int, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        agent = self._agents[number]
        view = self.episodes.views(rows, history=agent.needs_history)
        if self.referee is None:
            return decide(agent, view)
        with self._blamed(number, self.episode_of[rows]):
            return self.referee.decide(agent, view)

    def records_with_thoughts(self) -> list[DealRecord | GameRecord]:
        """Return the waiting records together with the thoughts of the agents that report them."""
        plays = self._by_seat[np.array(self._ended) % self.rules.num_teams]
        agents_by_seat = [[self._agents[number] for number in seats] for seats in plays.tolist()]
        return annotate_all(self.records, agents_by_seat, self._think)

    def _think(self, agent: HasThoughts, view: PlayerView) -> list[Thought]:
        referee = self.referee
        if referee is None:
            return think(agent, view)
        number = next(number for number, candidate in enumerate(self._agents) if candidate is agent)
        with self._blamed(number, np.array(self._ended)):
            return referee.watch(lambda: think(agent, view), len(view))

    def _note_deadwood(self, rows: NDArray[np.intp], movers: NDArray[np.integer], actions: NDArray[np.intp]) -> None:
        """Count the deadwood left after discards, by side and by the seat's turn of the deal."""
        layout, state = self.episodes.layout, self.episodes.state
        discarded = actions - layout.discard
        discards = np.flatnonzero((discarded >= 0) & (discarded < NUM_CARDS))
        if not len(discards):
            return

        rows, movers = rows[discards], movers[discards]
        tables = self.episodes.table_rows(rows, movers)
        hands = state.hands[tables, movers % self.rules.num_seats]
        points = deadwood(hands & ~CARD_BITS[discarded[discards]])
        turns = state.turn[tables].astype(np.intp) // self.rules.num_hands
        sides = self._sides(rows)[np.arange(len(rows)), movers % self.rules.num_teams]

        counted = turns < NUM_TURNS
        np.add.at(self.deadwood[0], (sides[counted], turns[counted]), points[counted])
        np.add.at(self.deadwood[1], (sides[counted], turns[counted]), 1)

    def _note_deals(self, transition: Transition) -> None:
        """Keep the deals that have just ended, and the winners of the episodes that ended with them."""
        assert transition.finished is not None
        if self.recorder is not None:
            self.recorder.note(transition)

        rows = transition.finished_rows
        self._ended += self.episode_of[rows[transition.over_deals]].tolist()
        self._finished.append((transition.finished, self.episode_of[rows]))
        if sum(len(episodes) for _, episodes in self._finished) >= _COUNTED_TOGETHER:
            self._read_finished()

        winner = transition.winner if self.episodes.episode == "deal" else transition.game_winner
        decided = (winner >= 0) & transition.over_deals
        self.winner[self.episode_of[rows[decided]]] = self._sides(rows[decided])[
            np.arange(decided.sum()), winner[decided]
        ]

    def _read_finished(self) -> None:
        """Turn the finished deals kept so far into records and counts."""
        states, episodes = zip(*self._finished, strict=True)
        self._finished = []
        played = np.concatenate(episodes)
        sides = self.lineup.side_of[played % self.rules.num_teams]
        records, events = read_records(State.concatenate(states), played, sides, self.lineup.num_sides)
        self._deal_records.append(records)
        self._events = self._events + events

    def count(self) -> tuple[Tally, DealRecords]:
        """Return the tally and the records of all deals of the match."""
        if self._finished:
            self._read_finished()
        rules, records, num_sides = self.rules, join_records(self._deal_records), self.lineup.num_sides
        shape = (-1, rules.num_teams)

        def by_episode(values: NDArray | None = None) -> NDArray[np.int64]:
            """Sum values given by deal and table, and average them over the tables."""
            totals = np.bincount(records.episode, values, self.num_episodes)
            return np.rint(totals / rules.num_tables).astype(np.int64).reshape(shape)

        # What each side's teams scored in each play, and the deals in which they took part.
        sides = np.tile(self.lineup.side_of, (self.num_episodes // rules.num_teams, 1))
        points = [(self.net_points * (sides == side)).sum(axis=1).reshape(shape) for side in range(num_sides)]
        deals_played = [by_episode(records.teams[:, side] > 0) for side in range(num_sides)]

        tally = Tally(
            points=np.stack(points, axis=2),
            deals=np.stack(deals_played, axis=2),
            winner=self.winner.reshape(shape),
            num_deals=by_episode(),
            style=np.stack([style_sums(records, side) for side in range(num_sides)]),
            events=self._events,
            deadwood=self.deadwood[0],
            discards=self.deadwood[1],
        )
        return tally, records

    def agents_by_seat(self, row: int) -> list[str]:
        """Return the name of the side in each seat of a row."""
        play = self.episode_of[row] % self.rules.num_teams
        seats = range(self.rules.num_players)
        return [self.names[self.lineup.at(play, seat)[0]] for seat in seats]

    def _play(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the number of the play within its pair, for each row (M,)."""
        return self.episode_of[rows] % self.rules.num_teams

    def _sides(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the side that holds each team, for each row (M, T)."""
        return self.lineup.side_of[self._play(rows)]

    @contextlib.contextmanager
    def _blamed(self, number: int, episodes: NDArray[np.intp]) -> Iterator[None]:
        """Turn a fault of an agent that is asked about these episodes into a forfeit."""
        side, place = next(
            (side, place)
            for side, agents in enumerate(self.lineup.agents)
            for place, agent in enumerate(agents)
            if agent is self._agents[number]
        )

        if self.referee is not None:
            self.referee.on_ask(side, place)

        try:
            yield
        except AgentFault as fault:
            episode = episodes.min() if fault.row is None else episodes[fault.row]
            pair = self.first_pair + int(episode) // self.rules.num_teams
            raise Forfeit(side, place, self.names[side], fault, pair) from fault
