"""Matches on duplicate deals: every deck is played once for each team, the first agent holding that team.

With T teams a **pair** is the T plays of one deck: in play ``k`` the first agent holds team ``k`` (in a
partnership both seats of it) and the second agent all others; deck and dealer stay. What the first agent
scores is net of every other team, so that equal agents come to 0 on average, and agents without chance to
exactly 0 in every pair, whatever the number of teams.

A pair's cards depend on the seed and the pair's number alone, so that every pairing with the same seed meets
the same decks, and the size of the batch changes nothing (but for the order in which agents that draw lots
draw them). In a pair of games the deals' decks are shared number by number, while the dealers follow each
game's own course.

Where three rotate, the dealer's agent sits a deal out. Deals that the first agent sits out tell nothing of
it: they count in no figure per deal, and where an episode is a deal, for nobody's wins.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from agents.arena.records import NO_SIDE, DealRecords, join_records, read_records, side_of
from agents.arena.result import MatchResult
from agents.arena.statistics import ratio_estimate
from agents.arena.style import style_of
from gin_env.agent import Agent, decide
from gin_env.episodes import EPISODES, Episodes, Transition
from gin_env.notation.recorder import Recorder
from gin_env.notation.records import DealRecord, GameRecord
from gin_env.rules import Rules


def play_match(
    rules: Rules,
    first: Agent,
    second: Agent,
    num_pairs: int,
    seed: int = 0,
    batch_rows: int = 4096,
    episode: str = "deal",
    names: tuple[str, str] | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    on_record: Callable[[DealRecord | GameRecord], object] | None = None,
) -> MatchResult:
    """Let two agents play duplicate deals (or games) against each other.

    Parameters
    ----------
    rules : Rules
    first, second : Agent
        The first plays all seats of its team, the second those of all other teams; the same object may do both.
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
    names = names or (first.name, second.name)
    table = _Table(rules, (first, second), num_pairs, seed, batch_rows, episode)
    if on_record is not None:
        table.recorder = Recorder(rules, episode, lambda row: table.seated(row, names), {"match": seed}, on_record)
    while table.num_finished < table.num_episodes:
        table.step()
        if on_progress is not None:
            on_progress(table.num_finished, table.num_episodes)
    seconds = time.perf_counter() - started
    return _result(table, names, seed, seconds)


class _Table:
    """The rows on which a match is played: E = num_teams * num_pairs episodes pass through a batch of rows."""

    def __init__(
        self, rules: Rules, agents: tuple[Agent, Agent], num_pairs: int, seed: int, batch_rows: int, episode: str
    ) -> None:
        self.agents = agents
        self.rules = rules
        self.num_pairs = num_pairs
        self.num_episodes = rules.num_teams * num_pairs
        self.num_finished = 0
        self.net_points = np.zeros(self.num_episodes)
        #: The side that won each episode, -1 for none.
        self.winner = np.full(self.num_episodes, NO_SIDE)
        self.records: list[DealRecords] = []
        self.recorder: Recorder | None = None
        self.episodes = Episodes(rules, min(batch_rows, self.num_episodes), episode)
        self.seed = seed
        #: The episode that each row plays, and the rows that still play.
        self.episode_of = np.zeros(self.episodes.num_rows, dtype=np.intp)
        self.live: NDArray[np.intp] = np.zeros(0, dtype=np.intp)
        self._next_episode = 0
        self._start(np.arange(self.episodes.num_rows))

    def _start(self, rows: NDArray[np.intp]) -> None:
        """Begin the next episodes in free rows; what finds no episode stays empty."""
        rows = rows[: self.num_episodes - self._next_episode]
        if not len(rows):
            return
        chosen = self._next_episode + np.arange(len(rows))
        self._next_episode += len(rows)
        self.episode_of[rows] = chosen
        self.episodes.seed(self.seed, rows, streams=chosen // self.rules.num_teams)  # a pair's plays: one stream
        self.episodes.reset(rows)
        self.live = np.union1d(self.live, rows)

    def step(self) -> None:
        """Let every live row's mover decide, then deal anew where an episode has ended."""
        rows = self.live
        actions = np.zeros(len(rows), dtype=np.intp)
        if self.agents[0] is self.agents[1]:
            actions[:] = self._decide(self.agents[0], rows)
        else:
            side = side_of(self.episodes.movers(rows) % self.rules.num_teams, self._first_team(rows))
            for which, agent in enumerate(self.agents):
                own = np.flatnonzero(side == which)
                if len(own):
                    actions[own] = self._decide(agent, rows[own])
        transition = self.episodes.step(actions, rows)
        if transition.finished is not None or self.rules.catch_glass:  # a catch pays in the middle of a deal
            # Team k's lowest seat is seat k.
            self.net_points[self.episode_of[rows]] += transition.rewards[np.arange(len(rows)), self._first_team(rows)]
        if transition.finished is not None:
            self._note_deals(transition)
            free = rows[transition.over]
            self.num_finished += len(free)
            self.live = np.setdiff1d(self.live, free, assume_unique=True)
            self._start(free)

    def _note_deals(self, transition: Transition) -> None:
        """Keep what happened in the deals that have just ended, and who won the episodes that end with them."""
        assert transition.finished is not None
        if self.recorder is not None:
            self.recorder.note(transition)
        rows = transition.finished_rows
        ended, first_team = self.episode_of[rows], self._first_team(rows)
        self.records.append(read_records(transition.finished, ended, first_team))
        winner = transition.winner if self.episodes.episode == "deal" else transition.game_winner
        decided = (winner >= 0) & transition.over_deals
        self.winner[ended[decided]] = side_of(winner[decided], first_team[decided])

    def seated(self, row: int, names: tuple[str, str]) -> list[str]:
        """Return who sits in each seat of a row."""
        rules, first_team = self.rules, self.episode_of[row] % self.rules.num_teams
        return [names[int(rules.team_of(seat) != first_team)] for seat in range(rules.num_players)]

    def _first_team(self, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the team that the first agent holds in some rows (M,)."""
        return self.episode_of[rows] % self.rules.num_teams

    def _decide(self, agent: Agent, rows: NDArray[np.intp]) -> NDArray[np.intp]:
        return decide(agent, self.episodes.views(rows, history=agent.needs_history))


def _result(table: _Table, names: tuple[str, str], seed: int, seconds: float) -> MatchResult:
    rules, records = table.rules, join_records(table.records)
    # The deals of each episode in which the first agent took part.
    deals = np.bincount(records.episode, records.teams[:, 0], table.num_episodes) / rules.num_tables
    counted = deals > 0 if table.episodes.episode == "deal" else np.ones(table.num_episodes, dtype=bool)

    def by_pair(values: NDArray) -> NDArray[np.float64]:
        return values.reshape(-1, rules.num_teams).sum(axis=1).astype(np.float64)

    points, plays = by_pair(table.net_points), by_pair(counted)
    rates = [ratio_estimate(by_pair(counted & (table.winner == side)), plays, seed) for side in range(2)]
    return MatchResult(
        names=names,
        rules_name=rules.name,
        episode=table.episodes.episode,
        seed=seed,
        num_pairs=table.num_pairs,
        num_plays=table.num_episodes,
        num_deals=len(records) // rules.num_tables,
        pair_means=points / by_pair(deals),
        points_per_deal=ratio_estimate(points, by_pair(deals), seed),
        win_rates=(rates[0], rates[1]),
        styles=(style_of(records, 0), style_of(records, 1)),
        records=records,
        seconds=seconds,
    )
