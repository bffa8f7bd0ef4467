"""Matches on duplicate deals: every deck is played twice with the agents' seats swapped.

In the first play of a pair the first agent holds team 0 (in a partnership both seats of it), in the
second team 1; deck and dealer stay. A pair's cards depend on the seed and the pair's number alone, so
that every pairing with the same seed meets the same decks, and the size of the batch changes nothing
(but for the order in which agents that draw lots draw them). In a pair of games the deals' decks are
shared number by number, while the dealers follow each game's own course.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from agents.arena.records import NO_SIDE, DealRecords, join_records, read_records
from agents.arena.result import PLAYS_PER_PAIR, MatchResult
from agents.arena.statistics import ratio_estimate
from agents.arena.style import style_of
from gin_env.agent import Agent, decide
from gin_env.episodes import EPISODES, Episodes
from gin_env.rules import Rules
from gin_env.view import player_view


def play_match(
    rules: Rules,
    first: Agent,
    second: Agent,
    num_pairs: int,
    seed: int = 0,
    batch_rows: int = 4096,
    episode: str = "deal",
    on_progress: Callable[[int, int], None] | None = None,
) -> MatchResult:
    """Let two agents play duplicate deals (or games) against each other.

    Parameters
    ----------
    rules : Rules
    first, second : Agent
        Each plays all seats of its team; the same object may play both sides.
    num_pairs : int
        Decks (or, for games, streams of decks), each played twice.
    seed : int
        Fixes the decks, the dealers and the agents' own chances.
    batch_rows : int
        Deals played at once; a finished one makes room for the next.
    episode : {"deal", "game"}
    on_progress : callable, optional
        Called now and then with the episodes finished and their total.

    Raises
    ------
    ValueError
        Fewer than one pair or row, a negative seed, or an unknown kind of episode.
    AgentError
        An agent returned something that is no legal action.
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
    first.reset(2 * seed)
    if second is not first:
        second.reset(2 * seed + 1)
    table = _Table(rules, (first, second), num_pairs, seed, batch_rows, episode)
    while table.num_finished < table.num_episodes:
        table.step()
        if on_progress is not None:
            on_progress(table.num_finished, table.num_episodes)
    seconds = time.perf_counter() - started
    return _result(table, (first.name, second.name), seed, seconds)


class _Table:
    """The rows on which a match is played: E = 2 * num_pairs episodes pass through a batch of rows."""

    def __init__(
        self, rules: Rules, agents: tuple[Agent, Agent], num_pairs: int, seed: int, batch_rows: int, episode: str
    ) -> None:
        self.agents = agents
        self.num_pairs = num_pairs
        self.num_episodes = PLAYS_PER_PAIR * num_pairs
        self.num_finished = 0
        self.net_points = np.zeros(self.num_episodes)
        self.cut_short = np.zeros(self.num_episodes, dtype=bool)
        self.records: list[DealRecords] = []
        self.episodes = Episodes(rules, min(batch_rows, self.num_episodes), episode)
        self.seed = seed
        #: The episode that each row plays, and the rows that still play.
        self.episode_of = np.zeros(self.episodes.engine.num_deals, dtype=np.intp)
        self.live: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self._next_episode = 0
        self._start(np.arange(self.episodes.engine.num_deals))

    def _start(self, rows: NDArray[np.intp]) -> None:
        """Begin the next episodes in free rows; what finds no episode stays empty."""
        rows = rows[: self.num_episodes - self._next_episode]
        if not len(rows):
            return
        chosen = self._next_episode + np.arange(len(rows))
        self._next_episode += len(rows)
        self.episode_of[rows] = chosen
        self.episodes.engine.seed(self.seed, rows, streams=chosen // PLAYS_PER_PAIR)  # both plays: the same stream
        self.episodes.reset(rows)
        self.live = np.union1d(self.live, rows)

    def step(self) -> None:
        """Let every live row's mover decide, then deal anew where an episode has ended."""
        rows, state = self.live, self.episodes.state
        actions = np.zeros(len(rows), dtype=np.intp)
        if self.agents[0] is self.agents[1]:
            actions[:] = self._decide(self.agents[0], rows)
        else:
            side = (state.mover[rows] % 2) ^ (self.episode_of[rows] % PLAYS_PER_PAIR)
            for which, agent in enumerate(self.agents):
                own = np.flatnonzero(side == which)
                if len(own):
                    actions[own] = self._decide(agent, rows[own])
        transition = self.episodes.step(actions, rows)
        if transition.finished is None:
            return
        where = transition.finished_rows
        ended = self.episode_of[where]
        first_team = ended % PLAYS_PER_PAIR
        self.records.append(read_records(transition.finished, ended, first_team))
        index = np.searchsorted(rows, where)
        self.net_points[ended] += transition.rewards[index, first_team]
        self.cut_short[ended] = transition.truncated[index]
        free = where[transition.over[index]]
        self.num_finished += len(free)
        self.live = np.setdiff1d(self.live, free, assume_unique=True)
        self._start(free)

    def _decide(self, agent: Agent, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        return decide(agent, player_view(self.episodes.state, rows=rows, history=agent.needs_history))

    def winners(self, records: DealRecords) -> NDArray[np.int64]:
        """Return the side that won each episode (E,), -1 for none."""
        if self.episodes.episode == "deal":
            return records.winner
        ahead = np.select([self.net_points > 0, self.net_points < 0], [0, 1], NO_SIDE)
        return np.where(self.cut_short, NO_SIDE, ahead)


def _result(table: _Table, names: tuple[str, str], seed: int, seconds: float) -> MatchResult:
    records = join_records(table.records)
    deals = _by_pair(np.bincount(records.episode, minlength=table.num_episodes))
    points = _by_pair(table.net_points)
    winners = table.winners(records)
    plays = np.full(table.num_pairs, PLAYS_PER_PAIR)
    rates = [ratio_estimate(_by_pair(winners == side), plays, seed) for side in range(2)]
    return MatchResult(
        names=names,
        rules_name=table.episodes.rules.name,
        episode=table.episodes.episode,
        seed=seed,
        num_pairs=table.num_pairs,
        pair_means=points / deals,
        points_per_deal=ratio_estimate(points, deals, seed),
        win_rates=(rates[0], rates[1]),
        styles=(style_of(records, 0), style_of(records, 1)),
        records=records,
        seconds=seconds,
    )


def _by_pair(values: NDArray) -> NDArray[np.float64]:
    """Add up the two plays of each pair."""
    return values.reshape(-1, PLAYS_PER_PAIR).sum(axis=1).astype(np.float64)
