"""N episodes at once, each a deal or a whole game: engine, score sheet and reward behind one ``step``.

All environments (PettingZoo, Gymnasium, Stable-Baselines3) and the arena are built on this class. A row is an
episode. Where a deal is played at two tables, both belong to the row: they move in turn, seats are numbered across
both, and the deal ends when both have finished.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.cards import Rows, UInt64Array
from gin_env.engine import Engine, State
from gin_env.engine.game_score import GameEnd, add_to_games, deal_totals, start_games
from gin_env.engine.next_dealer import next_dealers
from gin_env.engine.settlement import settle_dead_deal, settle_showdown
from gin_env.engine.state import teams_playing
from gin_env.engine.two_tables import decks_of_tables, per_table
from gin_env.episodes.rewards import Outcome, Reward, resolve_reward, rewards_of
from gin_env.errors import row_index, whole_number
from gin_env.observation import PlayerView, player_view
from gin_env.observation.view import check_seats
from gin_env.rules import Rules, resolve_rules
from gin_env.scoring import Kind
from gin_env.scoring.two_tables import DealEnd, net_of

#: What an episode can be.
EPISODES = ("deal", "game")

_NO_ROWS: Rows = np.zeros(0, dtype=np.intp)


@dataclass(eq=False)
class Transition:
    """The result of one step of M rows, in which D deals ended.

    Attributes
    ----------
    rewards : float32, shape (M, P)
        Per seat, equal within a team.
    over, truncated : bool, shape (M,)
        Episodes that ended with this step, and those among them that were cut short.
    episode : {"deal", "game"}
        What an episode is.
    finished_rows : int, shape (D,)
        Rows whose deal ended with this step.
    finished : State or None
        Those deals as they ended, with the scores after them (in a game the next deal has already begun). One
        row for each table, so that with two tables deal ``d`` has the rows ``2 * d`` and ``2 * d + 1``. None
        if D is 0.
    points : int, shape (D, T)
        What each team scores for the deal, all tables together.
    net_points : int, shape (D, T)
        The same minus the points of every other team: zero-sum.
    winner : int8, shape (D,)
        The team that won the deal, -1 for none.
    bonuses : int, shape (D, T)
        The bonuses at the end of a game, with the deal that ended it; otherwise 0.
    game_winner : int8, shape (D,)
        The team that won the game which ended with the deal, -1 for none.
    over_deals, truncated_deals : bool, shape (D,)
        Deals that ended their episode, and those among them that cut it short.
    """

    rewards: NDArray[np.float32]
    over: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    episode: str
    finished_rows: NDArray[np.intp]
    finished: State | None
    points: NDArray[np.int64]
    net_points: NDArray[np.int64]
    winner: NDArray[np.int8]
    bonuses: NDArray[np.int64]
    game_winner: NDArray[np.int8]
    over_deals: NDArray[np.bool_]
    truncated_deals: NDArray[np.bool_]


def _fields_without_deals(num_teams: int) -> dict[str, Any]:
    """Return the fields of a transition in which no deal ended."""
    return {
        "finished_rows": _NO_ROWS,
        "finished": None,
        "points": np.zeros((0, num_teams), dtype=np.int64),
        "net_points": np.zeros((0, num_teams), dtype=np.int64),
        "winner": np.zeros(0, dtype=np.int8),
        "bonuses": np.zeros((0, num_teams), dtype=np.int64),
        "game_winner": np.zeros(0, dtype=np.int8),
        "over_deals": np.zeros(0, dtype=bool),
        "truncated_deals": np.zeros(0, dtype=bool),
    }


class Episodes:
    """Plays N episodes.

    Parameters
    ----------
    rules : Rules or str
        A rule system or a preset's name.
    num_rows : int
        N, at least 1.
    episode : {"deal", "game"}
        One deal, or deals until a team reaches the target score.
    reward : str or callable
        ``"points"``, ``"scaled"``, ``"win"``, or a function of an :class:`~gin_env.episodes.rewards.Outcome`.
    seed : int
        At least 0.
    """

    def __init__(
        self,
        rules: Rules | str,
        num_rows: int = 1,
        episode: str = "deal",
        reward: str | Reward = "points",
        seed: int = 0,
    ) -> None:
        if episode not in EPISODES:
            raise ValueError(f"unknown episode {episode!r}: expected one of {', '.join(EPISODES)}")
        self.rules = resolve_rules(rules)
        self.num_rows = whole_number("num_rows", num_rows, 1)
        self.engine = Engine(self.rules, self.num_rows * self.rules.num_tables, seed)
        self.layout = self.engine.layout
        self.episode = episode
        self.reward = resolve_reward(reward)

        #: (N, K) the engine's row of each table.
        self.tables: Rows = np.arange(self.engine.num_deals).reshape(num_rows, -1)
        #: Called with every transition, whichever environment plays the episodes: for example ``Recorder.note``.
        #: Copies and pickles drop it: what is tried out on them is not part of the record.
        self.watch: Callable[[Transition], None] | None = None

        self._all_rows = np.arange(num_rows)
        self._has_one_table = self.rules.num_tables == 1
        self._team_of_seat = [self.rules.team_of(seat) for seat in range(self.rules.num_players)]
        self._fields_without_deals = _fields_without_deals(self.rules.num_teams)
        self._next_table = np.zeros(num_rows, dtype=np.intp)  # the table of the row that moves next
        self._rewarded = np.zeros((num_rows, self.rules.num_teams), dtype=np.int64)  # net points of catches in the deal

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"watch": None}

    @property
    def state(self) -> State:
        """The engine's state: a row for each table."""
        return self.engine.state

    @property
    def over(self) -> NDArray[np.bool_]:
        """Rows whose episode is over (N,)."""
        over = self.engine.over
        return over if self._has_one_table else np.all(over[self.tables], axis=1)

    def table_rows(self, rows: Rows, seats: NDArray[np.integer] | int | None = None) -> Rows:
        """Return the engine's rows (M,) of the tables at which given seats play; by default the seats to move next."""
        if self._has_one_table:
            return rows
        tables = self._next_table[rows] if seats is None else np.asarray(seats, dtype=np.intp) // self.rules.num_seats
        return self.tables[rows, tables]

    def movers(self, rows: Rows) -> NDArray[np.integer]:
        """Return the seats that decide next (M,), numbered across all tables."""
        movers = self.state.mover[self.table_rows(rows)]
        return movers if self._has_one_table else movers + self._next_table[rows] * self.rules.num_seats

    def legal(self, rows: Rows) -> UInt64Array:
        """Return the action bitmasks (M, W) of the seats that decide next."""
        return self.state.legal[self.table_rows(rows)]

    def views(self, rows: Rows, seats: NDArray[np.integer] | int | None = None, history: bool = False) -> PlayerView:
        """Return what given seats (M,) may know; by default the seats that decide next."""
        if self._has_one_table:
            return player_view(self.state, seats=seats, rows=rows, history=history)

        if seats is not None:
            check_seats(seats, len(rows), self.rules.num_players)
        tables = self.table_rows(rows, seats)
        seats_at_table = None if seats is None else np.asarray(seats) % self.rules.num_seats
        view = player_view(self.state, seats=seats_at_table, rows=tables, history=history)

        # Nothing is legal at the table that waits.
        view.legal *= (tables == self.table_rows(rows))[:, None]
        return view

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays that change during play, by name.

        Copy them to save a point of play, and write into them to restore it.
        """
        return self.state.arrays() | {"dealt": self.engine.dealt, "at": self._next_table, "paid": self._rewarded}

    def seed(self, seed: int, rows: ArrayLike | None = None, streams: ArrayLike | None = None) -> None:
        """Restart random streams; arguments as in ``Engine.seed``, one stream number for all tables of a row."""
        selected = self._all_rows if rows is None else row_index(rows, self.num_rows)
        row_streams = selected if streams is None else np.asarray(streams, dtype=np.intp)

        num_tables = self.rules.num_tables
        table_streams = row_streams[:, None] * num_tables + np.arange(num_tables)
        self.engine.seed(seed, self.tables[selected].ravel(), table_streams.ravel())

    def reset(
        self,
        rows: ArrayLike | None = None,
        decks: ArrayLike | None = None,
        dealers: ArrayLike | None = None,
    ) -> None:
        """Begin new episodes in all rows or in the given ones.

        Arguments as in ``Engine.reset``; with two tables ``decks`` is (M, 2, 52) and ``dealers`` (2,) or (M, 2),
        each dealer a seat at its own table.
        """
        selected = self._all_rows if rows is None else row_index(rows, self.num_rows)
        tables = self.tables[selected].ravel()
        if not self._has_one_table:
            decks = None if decks is None else decks_of_tables(decks, len(selected))
            dealers = None if dealers is None else per_table(dealers, len(selected), self.rules.num_seats).ravel()

        self.engine.reset(tables, decks, dealers)
        start_games(self.state, tables)
        self._next_table[selected] = 0
        self._rewarded[selected] = 0

    def load(self, positions: State, rows: ArrayLike | None = None) -> None:
        """Load positions into all rows or into the given ones; play continues from there.

        With two tables each row takes two positions, and the first table moves next. Points that catches have
        already scored in a position are not rewarded again. Raises the same errors as ``Engine.load``.
        """
        selected = self._all_rows if rows is None else row_index(rows, self.num_rows)
        self.engine.load(positions, self.tables[selected].ravel())

        first_is_over = self.engine.over[self.tables[selected, 0]]
        self._next_table[selected] = np.where(first_is_over, self.rules.num_tables - 1, 0)
        self._rewarded[selected] = self._catch_points(self.tables[selected]).sum(axis=1)

    def step(self, actions: ArrayLike, rows: ArrayLike | None = None) -> Transition:
        """Apply one action in each row; rows whose episode is over are left alone.

        Raises ``IllegalAction`` before anything changes if an action is not legal.
        """
        transition = self._step(actions, rows)
        if self.watch is not None:
            self.watch(transition)
        return transition

    def _step(self, actions: ArrayLike, rows: ArrayLike | None) -> Transition:
        stepped = self._all_rows if rows is None else row_index(rows, self.num_rows)
        tables = stepped if self._has_one_table else self.table_rows(stepped)
        points_before = self.state.net_points[tables] if self.rules.catch_glass else None
        just_ended = self.engine.step(actions, rows if self._has_one_table else tables)

        transition = Transition(
            rewards=np.zeros((len(stepped), self.rules.num_players), dtype=np.float32),
            over=np.zeros(len(stepped), dtype=bool),
            truncated=np.zeros(len(stepped), dtype=bool),
            episode=self.episode,
            **self._fields_without_deals,
        )

        # Catches are rewarded at once, not with the end of the deal.
        if points_before is not None:
            self._reward_catches(transition, stepped, tables, points_before)

        # A deal ends when all of its tables have finished.
        ended = np.isin(tables, just_ended).nonzero()[0] if len(just_ended) else _NO_ROWS
        if not self._has_one_table:
            self._switch_tables(stepped)
            ended = ended[self.over[stepped[ended]]]

        if len(ended):
            self._end_deals(transition, ended, stepped[ended])
        return transition

    def _end_deals(self, transition: Transition, ended: Rows, rows: Rows) -> None:
        """Settle the deals that ended, in places ``ended`` (D,) of the step and rows ``rows`` (D,), and deal the next.

        Writes the results into the transition.
        """
        tables = self.tables[rows]
        deals = deal_totals(self.state, tables)
        game = add_to_games(self.state, tables, deals)
        finished = self.state.take(tables.ravel())  # a copy, before the next deal is dealt

        over_deals, truncated_deals = self._episode_ends(game)
        outcome = self._outcome(rows, deals, game, finished, over_deals)
        transition.over[ended] = over_deals
        transition.truncated[ended] = truncated_deals
        transition.rewards[ended] = self._seat_rewards(outcome)

        transition.finished_rows, transition.finished = rows, finished
        transition.points, transition.net_points, transition.winner = deals.points, deals.net_points, deals.winner
        transition.over_deals, transition.truncated_deals = over_deals, truncated_deals
        if self.episode == "game":
            transition.bonuses, transition.game_winner = game.bonuses, game.winner
        else:
            transition.bonuses = np.zeros_like(game.bonuses)
            transition.game_winner = np.full_like(game.winner, -1)

        self._rewarded[rows] = 0
        self._deal_next(rows[~over_deals])

    def _deal_next(self, rows: Rows) -> None:
        """Deal the next deal of the games in some rows."""
        if not len(rows):
            return
        tables = self.tables[rows].ravel()
        self.engine.reset(tables, dealers=next_dealers(self.state, tables))
        self._next_table[rows] = 0

    def _episode_ends(self, game: GameEnd) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        """Return in which of D ended deals the episode is over, and in which it is cut short."""
        if self.episode == "deal":
            return np.ones(len(game.finished), dtype=bool), np.zeros(len(game.finished), dtype=bool)
        return game.finished | game.truncated, game.truncated

    def _switch_tables(self, rows: Rows) -> None:
        """Let the other table move next, unless it has finished."""
        other = 1 - self._next_table[rows]
        is_playing = ~self.engine.over[self.tables[rows, other]]
        self._next_table[rows[is_playing]] = other[is_playing]

    def _seat_rewards(self, outcome: Outcome) -> NDArray[np.floating]:
        """Return the rewards per seat (M, P): those of its team."""
        return rewards_of(self.reward, outcome)[:, self._team_of_seat]

    def _outcome(
        self, rows: Rows, deals: DealEnd, game: GameEnd, finished: State, episode_over: NDArray[np.bool_]
    ) -> Outcome:
        """Return the outcome of the deals that ended in some rows, without what catches have been rewarded before."""
        takes_part = teams_playing(self.rules, finished.dealer[:: self.rules.num_tables])
        if self.episode == "deal":
            net_points, winner = deals.net_points, deals.winner
        else:
            # A deal counts on up to three sheets in a Hollywood game, so its points are not what the scores gain.
            has_sheets = self.rules.score_sheet == "hollywood"
            net_points = (net_of(game.score_gains) if has_sheets else deals.net_points) + net_of(game.bonuses)
            winner = game.winner
            takes_part = takes_part | episode_over[:, None]  # every team took part in the game

        return Outcome(
            net_points=(net_points - self._rewarded[rows]).astype(np.float64),
            takes_part=takes_part,
            deal_winner=deals.winner,
            episode_over=episode_over,
            episode_winner=winner,
        )

    def _reward_catches(
        self, transition: Transition, rows: Rows, tables: Rows, points_before: NDArray[np.int32]
    ) -> None:
        """Reward the points that catches scored in this step, and remember them: the deal's end pays only the rest."""
        gains = self.state.net_points[tables] - points_before
        caught = np.flatnonzero(gains.any(axis=1) & ~self.engine.over[tables])
        if not len(caught):
            return

        nobody = np.full(len(caught), -1, dtype=np.int8)
        outcome = Outcome(
            net_points=gains[caught].astype(np.float64),
            takes_part=teams_playing(self.rules, self.state.dealer[tables[caught]]),
            deal_winner=nobody,
            episode_over=np.zeros(len(caught), dtype=bool),
            episode_winner=nobody,
        )
        transition.rewards[caught] = self._seat_rewards(outcome)
        self._rewarded[rows[caught]] += gains[caught]

    def _catch_points(self, tables: Rows) -> NDArray[np.int64]:
        """Return the net points (M, K, T) that catches have scored at some tables (M, K)."""
        catch_points = self.state.net_points[tables].astype(np.int64)
        ended = self.engine.over[tables]
        if not ended.any():
            return catch_points

        # At a table that has finished, take off what the end of the deal scored: settle it again from 0.
        settled_again = self.state.take(tables[ended])
        settled_again.points[:] = settled_again.net_points[:] = 0
        is_dead = settled_again.kind == Kind.DEAD
        settle_dead_deal(settled_again, np.flatnonzero(is_dead))
        settle_showdown(settled_again, np.flatnonzero(~is_dead), settled_again.knocker[~is_dead])
        catch_points[ended] -= settled_again.net_points
        return catch_points
