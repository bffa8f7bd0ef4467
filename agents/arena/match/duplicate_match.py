"""Matches on duplicate deals: every deck is played once for each team, the first agent holding that team.

With T teams a **pair** is the T plays of one deck: in play ``k`` the first side holds team ``k`` (in a
partnership both seats of it) and the second side all others; deck and dealer stay. What the first side
scores is net of every other team, so that equal agents come to 0 on average, and agents without chance to
exactly 0 in every pair, whatever the number of teams. Each team may also be a side of its own, and each seat
of a team may have an agent of its own (agents/arena/match/lineup.py).

A pair's cards depend on the seed and the pair's number alone, so that every pairing with the same seed meets
the same decks, and the size of the batch changes nothing (but for the order in which agents that draw lots
draw them). In a pair of games the deals' decks are shared number by number, while the dealers follow each
game's own course.

Where three rotate, the dealer's agent sits a deal out. Deals that the first agent sits out tell nothing of
it: they count in no figure per deal, and where an episode is a deal, for nobody's wins.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from agents.arena.match.deal_records import NO_SIDE, DealRecords, join_records, read_records
from agents.arena.match.lineup import Lineup
from agents.arena.match.referee import AgentFault, Referee
from agents.arena.match.result import MatchResult
from agents.arena.match.style import style_sums
from agents.arena.match.tally import NUM_TURNS, Tally
from agents.arena.statistics.ratings import side_name
from agents.thoughts import HasThoughts, annotate_all, think
from gin_env.cards import CARD_BITS, NUM_CARDS
from gin_env.cards.melds import deadwood
from gin_env.engine import State
from gin_env.episodes import Agent, Episodes, Transition
from gin_env.episodes.agent import decide
from gin_env.episodes.episodes import EPISODES
from gin_env.notation.recorder import Recorder
from gin_env.notation.records import DealRecord, GameRecord, Thought
from gin_env.observation import PlayerView
from gin_env.rules import Rules, resolve_rules

#: Finished deals that are kept before they are counted together: many at once are cheaper.
_NUM_KEPT = 2_000


class Forfeit(Exception):
    """An agent lost a match by its own fault.

    Attributes
    ----------
    side, place : int
        Where it sat (``agents.arena.match.lineup``).
    agent : str
        What its side is called in the match.
    reason : str
        One of ``agents.arena.match.referee.REASONS``.
    text : str
        What happened.
    pair : int
        The pair in which it did it, or, where that is not known, the first of those that it was asked about.
    """

    def __init__(self, side: int, place: int, agent: str, fault: AgentFault, pair: int) -> None:
        super().__init__(f"{agent} forfeits: {fault.text}")
        self.side, self.place, self.agent, self.pair = side, place, agent, pair
        self.reason, self.text = fault.reason, fault.text


def play_match(
    rules: Rules | str,
    first: Agent | Sequence[Agent],
    second: Agent | Sequence[Agent],
    num_pairs: int,
    seed: int = 0,
    batch_rows: int = 4096,
    episode: str = "deal",
    names: tuple[str, str] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    on_record: Callable[[DealRecord | GameRecord], object] | None = None,
) -> MatchResult:
    """Let two agents (or two partnerships of agents) play duplicate deals or games against each other.

    Parameters
    ----------
    rules : Rules or str
    first, second : Agent, or sequence of Agent
        The first plays all seats of its team, the second those of all other teams; the same object may do both.
        A sequence gives one agent for each seat of a team.
    num_pairs : int
        Decks (or, for games, streams of decks), each played once for each team.
    seed : int
        Fixes the decks, the dealers and the agents' own chances.
    batch_rows : int
        Deals played at once; a finished one makes room for the next.
    episode : {"deal", "game"}
    names : tuple of str, optional
        What the agents are called in the result and in the records; their own names by default.
    on_progress : callable, optional
        Called now and then with the episodes finished and their total.
    on_record : callable, optional
        Called with the record of each episode that ends (``gin_env.notation.records``), in the order in which they do.

    Raises
    ------
    ValueError
        Fewer than one pair or row, a negative seed, or an unknown kind of episode.
    AgentError
        An agent returned something that is no legal action.
    """
    lineup = Lineup.make(resolve_rules(rules), (first, second))
    return play_lineup(
        lineup,
        num_pairs,
        seed,
        batch_rows=batch_rows,
        episode=episode,
        names=names,
        on_progress=on_progress,
        on_record=on_record,
    )


def play_lineup(
    lineup: Lineup,
    num_pairs: int,
    seed: int = 0,
    first_pair: int = 0,
    batch_rows: int = 4096,
    episode: str = "deal",
    names: Sequence[str] | None = None,
    referee: Referee | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    on_record: Callable[[DealRecord | GameRecord], object] | None = None,
    thoughts: bool = False,
) -> MatchResult:
    """Let the sides of a lineup play some pairs of a match, as ``play_match`` does.

    Parameters
    ----------
    lineup : Lineup
    first_pair : int
        The number of the first pair: with the seed it fixes the decks, so that blocks of a match can be played
        apart. The agents' chances begin anew with each block.
    referee : Referee, optional
        Watches over the agents; by default whatever they raise comes through.
    num_pairs, seed, batch_rows, episode, names, on_progress, on_record
        As for ``play_match``; with a name for each side.
    thoughts : bool
        Whether the records hold what the agents think (``agents/thoughts.py``). They are asked, and ``on_record`` is
        called, when all episodes are over, so that asking changes nothing that is played.

    Raises
    ------
    Forfeit
        An agent's fault, where there is a referee.
    """
    if num_pairs < 1:
        raise ValueError(f"num_pairs={num_pairs}: a match needs at least one pair of deals")
    if seed < 0:
        raise ValueError(f"seed={seed}: must be 0 or more")
    if batch_rows < 1:
        raise ValueError(f"batch_rows={batch_rows}: at least one row is needed")
    if episode not in EPISODES:
        raise ValueError(f"unknown episode {episode!r}: one of {', '.join(EPISODES)}")
    started = time.perf_counter()
    names = tuple(names or (side_name([agent.name for agent in side]) for side in lineup.agents))
    table = _Table(lineup, names, num_pairs, seed, first_pair, batch_rows, episode, referee)
    table.reset_agents()
    if on_record is not None:
        sink = table.records.append if thoughts else on_record
        table.recorder = Recorder(lineup.rules, episode, table.seated, {"match": seed}, sink)
    while table.num_finished < table.num_episodes:
        table.step()
        if on_progress is not None:
            on_progress(table.num_finished, table.num_episodes)
    if on_record is not None and thoughts:
        for record in table.records_with_thoughts():
            on_record(record)
    tally, records = table.count()
    return MatchResult(names, lineup.rules.name, episode, seed, tally, records, time.perf_counter() - started)


class _Table:
    """The rows on which a match is played: E = num_teams * num_pairs episodes pass through a batch of rows."""

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
        self.num_episodes = rules.num_teams * num_pairs
        self.num_finished = 0
        #: (E, T) by team, end bonuses included; the side that won each episode, -1 for none.
        self.net_points = np.zeros((self.num_episodes, rules.num_teams), dtype=np.int64)
        self.winner = np.full(self.num_episodes, NO_SIDE, dtype=np.int8)
        self.deadwood = np.zeros((2, lineup.num_sides, NUM_TURNS), dtype=np.int64)
        self.recorder: Recorder | None = None
        #: Records that wait for thoughts, and the episodes that ended, in the same order.
        self.records: list[DealRecord | GameRecord] = []
        self._ended: list[int] = []
        self.episodes = Episodes(rules, min(batch_rows, self.num_episodes), episode)
        self.seed, self.first_pair = seed, first_pair
        #: The episode that each row plays, and the rows that still play.
        self.episode_of = np.zeros(self.episodes.num_rows, dtype=np.intp)
        self.live: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self._agents, self._by_seat = lineup.different_agents(), lineup.by_seat()
        self._finished: list[tuple[State, NDArray[np.intp]]] = []
        self._records: list[DealRecords] = []
        self._events: NDArray[np.int64] = np.zeros((), dtype=np.int64)
        self._next_episode = 0
        self._start(np.arange(self.episodes.num_rows))

    def reset_agents(self) -> None:
        """Start every agent's own chances anew, by the seed, the block and the agent's number."""
        for number, agent in enumerate(self._agents):
            stream = int(np.random.SeedSequence((self.seed, self.first_pair, number)).generate_state(1)[0])
            if self.referee is None:
                agent.reset(stream)
            else:
                with self._blamed(number, self.episode_of[self.live]):
                    self.referee.reset(agent, stream)

    def _start(self, rows: NDArray[np.intp]) -> None:
        """Begin the next episodes in free rows; what finds no episode stays empty."""
        rows = rows[: self.num_episodes - self._next_episode]
        if not len(rows):
            return
        chosen = self._next_episode + np.arange(len(rows))
        self._next_episode += len(rows)
        self.episode_of[rows] = chosen
        # A pair's plays have one stream.
        self.episodes.seed(self.seed, rows, streams=self.first_pair + chosen // self.rules.num_teams)
        self.episodes.reset(rows)
        self.live = np.union1d(self.live, rows)

    def step(self) -> None:
        """Let every live row's mover decide, then deal anew where an episode has ended."""
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
        actions = np.zeros(len(rows), dtype=np.intp)
        asked = self._by_seat[self._play(rows), movers]
        for number in range(len(self._agents)):
            own = np.flatnonzero(asked == number)
            if len(own):
                actions[own] = self._answer(number, rows[own])
        return actions

    def _answer(self, number: int, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        agent = self._agents[number]
        view = self.episodes.views(rows, history=agent.needs_history)
        if self.referee is None:
            return decide(agent, view)
        with self._blamed(number, self.episode_of[rows]):
            return self.referee.decide(agent, view)

    def records_with_thoughts(self) -> list[DealRecord | GameRecord]:
        """Return the records that wait, with the thoughts of the agents that have some."""
        plays = self._by_seat[np.array(self._ended) % self.rules.num_teams]
        seated = [[self._agents[number] for number in seats] for seats in plays.tolist()]
        return annotate_all(self.records, seated, self._think)

    def _think(self, agent: HasThoughts, view: PlayerView) -> list[Thought]:
        referee = self.referee
        if referee is None:
            return think(agent, view)
        number = next(number for number, one in enumerate(self._agents) if one is agent)
        with self._blamed(number, np.array(self._ended)):
            return referee.watch(lambda: think(agent, view), len(view))

    def _note_deadwood(self, rows: NDArray[np.intp], movers: NDArray[np.integer], actions: NDArray[np.intp]) -> None:
        """Add up the deadwood that discards leave, by side and the seat's own turn."""
        layout, state = self.episodes.layout, self.episodes.state
        discarded = actions - layout.discard
        discards = np.flatnonzero((discarded >= 0) & (discarded < NUM_CARDS))
        if not len(discards):
            return
        rows, movers = rows[discards], movers[discards]
        tables = self.episodes.table_rows(rows, movers)
        hands = state.hands[tables, movers % self.rules.num_seats]
        left = deadwood(hands & ~CARD_BITS[discarded[discards]])
        turns = state.turn[tables].astype(np.intp) // self.rules.num_hands
        sides = self._sides(rows)[np.arange(len(rows)), movers % self.rules.num_teams]
        counted = turns < NUM_TURNS
        np.add.at(self.deadwood[0], (sides[counted], turns[counted]), left[counted])
        np.add.at(self.deadwood[1], (sides[counted], turns[counted]), 1)

    def _note_deals(self, transition: Transition) -> None:
        """Keep the deals that have just ended, and who won the episodes that end with them."""
        assert transition.finished is not None
        if self.recorder is not None:
            self.recorder.note(transition)
        rows = transition.finished_rows
        self._ended += self.episode_of[rows[transition.over_deals]].tolist()
        self._finished.append((transition.finished, self.episode_of[rows]))
        if sum(len(episodes) for _, episodes in self._finished) >= _NUM_KEPT:
            self._read_finished()
        winner = transition.winner if self.episodes.episode == "deal" else transition.game_winner
        decided = (winner >= 0) & transition.over_deals
        self.winner[self.episode_of[rows[decided]]] = self._sides(rows[decided])[
            np.arange(decided.sum()), winner[decided]
        ]

    def _read_finished(self) -> None:
        states, episodes = zip(*self._finished, strict=True)
        self._finished = []
        played = np.concatenate(episodes)
        sides = self.lineup.side_of[played % self.rules.num_teams]
        records, events = read_records(State.concatenate(states), played, sides, self.lineup.num_sides)
        self._records.append(records)
        self._events = self._events + events

    def count(self) -> tuple[Tally, DealRecords]:
        """Return what the match came to."""
        if self._finished:
            self._read_finished()
        rules, records, num_sides = self.rules, join_records(self._records), self.lineup.num_sides
        shape = (-1, rules.num_teams)

        def by_episode(values: NDArray | None = None) -> NDArray[np.int64]:
            """Add up what stands by deal and table."""
            totals = np.bincount(records.episode, values, self.num_episodes)
            return np.rint(totals / rules.num_tables).astype(np.int64).reshape(shape)

        sides = np.tile(self.lineup.side_of, (self.num_episodes // rules.num_teams, 1))
        points = [(self.net_points * (sides == side)).sum(axis=1).reshape(shape) for side in range(num_sides)]
        took_part = [by_episode(records.teams[:, side] > 0) for side in range(num_sides)]
        tally = Tally(
            points=np.stack(points, axis=2),
            deals=np.stack(took_part, axis=2),
            winner=self.winner.reshape(shape),
            num_deals=by_episode(),
            style=np.stack([style_sums(records, side) for side in range(num_sides)]),
            events=self._events,
            deadwood=self.deadwood[0],
            discards=self.deadwood[1],
        )
        return tally, records

    def seated(self, row: int) -> list[str]:
        """Return who sits in each seat of a row."""
        play = self.episode_of[row] % self.rules.num_teams
        seats = range(self.rules.num_players)
        return [self.names[self.lineup.at(play, seat)[0]] for seat in seats]

    def _play(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return which play of its pair each row plays (M,)."""
        return self.episode_of[rows] % self.rules.num_teams

    def _sides(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the side of each team in some rows (M, T)."""
        return self.lineup.side_of[self._play(rows)]

    @contextlib.contextmanager
    def _blamed(self, number: int, episodes: NDArray[np.intp]) -> Iterator[None]:
        """Turn a fault of an agent, asked about some episodes, into its forfeit."""
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
