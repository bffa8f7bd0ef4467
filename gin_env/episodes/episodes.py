"""N episodes at once, each a deal or a whole game: engine, score sheet and reward behind one ``step``.

Every environment door (PettingZoo, Gymnasium, Stable-Baselines3) and the arena stand on this class. A row is
an episode; where a deal is played at two tables, both belong to the row: they move by turns, seats are
counted over both, and the deal ends when both have finished.
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

EPISODES = ("deal", "game")


@dataclass(eq=False)
class Transition:
    """What one step of M rows brought; D deals ended with it.

    Attributes
    ----------
    rewards : float32, shape (M, P)
        Per seat, equal within a team.
    over, truncated : bool, shape (M,)
        Episodes that ended with this step, and those of them that were cut short.
    episode : {"deal", "game"}
        What an episode is.
    finished_rows : int, shape (D,)
        Rows whose deal ended with this step.
    finished : State or None
        Those deals as they ended (in a game the next deal has already begun), with the scores after them; one
        row for each table, so that with two tables deal ``d`` has the rows ``2 * d`` and ``2 * d + 1``. None
        where D is 0.
    points : int, shape (D, T)
        What a scorer writes down for each deal, all tables together.
    net_points : int, shape (D, T)
        The same against every other team: zero-sum.
    winner : int8, shape (D,)
        The team that won the deal, -1 for none.
    bonuses : int, shape (D, T)
        What the end of a game paid on top, with the deal that ended it; else 0.
    game_winner : int8, shape (D,)
        The team that won the game which ended with the deal, -1 for none.
    over_deals, truncated_deals : bool, shape (D,)
        Deals with which the episode ended, and was cut short.
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


class Episodes:
    """Plays N episodes.

    Parameters
    ----------
    rules : Rules or str
    num_rows : int
    episode : {"deal", "game"}
        A deal, or deals to the target score.
    reward : str or callable
        ``"points"``, ``"scaled"``, ``"win"``, or a function of an ``Outcome``.
    seed : int
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
            raise ValueError(f"unknown episode {episode!r}: one of {', '.join(EPISODES)}")
        self.rules = resolve_rules(rules)
        self.num_rows = whole_number("num_rows", num_rows, 1)
        self.engine = Engine(self.rules, self.num_rows * self.rules.num_tables, seed)
        self.layout = self.engine.layout
        self.episode = episode
        self.reward = resolve_reward(reward)
        self._all_rows = np.arange(num_rows)
        self._teams = [self.rules.team_of(seat) for seat in range(self.rules.num_players)]
        #: (N, K) the engine's row of each table.
        self.tables: Rows = np.arange(self.engine.num_deals).reshape(num_rows, -1)
        #: Called with every transition, whichever door the episodes are played through: a ``Recorder``'s ``note``.
        #: Copies and pickles are not watched: what is tried out on them is not part of the record.
        self.watch: Callable[[Transition], None] | None = None
        self._one_table = self.rules.num_tables == 1
        self._no_deals = _NO_DEALS[self.rules.num_teams]
        self._at = np.zeros(num_rows, dtype=np.intp)  # the table that moves next
        self._paid = np.zeros((num_rows, self.rules.num_teams), dtype=np.int64)  # of this deal's points, for catches

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"watch": None}

    # ------------------------------------------------------------------ looking

    @property
    def state(self) -> State:
        """The engine's state: a row for each table."""
        return self.engine.state

    @property
    def over(self) -> NDArray[np.bool_]:
        """Rows whose episode is over (N,)."""
        over = self.engine.over
        return over if self._one_table else np.all(over[self.tables], axis=1)

    def table_rows(self, rows: Rows, seats: NDArray[np.integer] | int | None = None) -> Rows:
        """Return the engine's rows (M,) of the tables at which some seats sit, by default of those to move next."""
        if self._one_table:
            return rows
        at = self._at[rows] if seats is None else np.asarray(seats, dtype=np.intp) // self.rules.num_seats
        return self.tables[rows, at]

    def movers(self, rows: Rows) -> NDArray[np.integer]:
        """Return the seats that decide next (M,), counted over all tables."""
        movers = self.state.mover[self.table_rows(rows)]
        return movers if self._one_table else movers + self._at[rows] * self.rules.num_seats

    def legal(self, rows: Rows) -> UInt64Array:
        """Return the words of the movers' legal actions (M, W)."""
        return self.state.legal[self.table_rows(rows)]

    def views(self, rows: Rows, seats: NDArray[np.integer] | int | None = None, history: bool = False) -> PlayerView:
        """Return what some seats (M,) may know, by default those to move next."""
        if self._one_table:
            return player_view(self.state, seats=seats, rows=rows, history=history)
        if seats is not None:
            check_seats(seats, len(rows), self.rules.num_players)
        tables = self.table_rows(rows, seats)
        at_table = None if seats is None else np.asarray(seats) % self.rules.num_seats
        view = player_view(self.state, seats=at_table, rows=tables, history=history)
        view.legal *= (tables == self.table_rows(rows))[:, None]  # nothing is legal at the table that waits
        return view

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return all arrays that change while the rows are played.

        Copy them to keep where play stands, write into them to restore it.
        """
        return self.state.arrays() | {"dealt": self.engine.dealt, "at": self._at, "paid": self._paid}

    # ------------------------------------------------------------------ playing

    def seed(self, seed: int, rows: ArrayLike | None = None, streams: ArrayLike | None = None) -> None:
        """Start random streams anew; arguments as in ``Engine.seed``, one stream for all tables of a row."""
        where = self._all_rows if rows is None else row_index(rows, self.num_rows)
        numbers = where if streams is None else np.asarray(streams, dtype=np.intp)
        count = self.rules.num_tables
        self.engine.seed(seed, self.tables[where].ravel(), (numbers[:, None] * count + np.arange(count)).ravel())

    def reset(
        self,
        rows: ArrayLike | None = None,
        decks: ArrayLike | None = None,
        dealers: ArrayLike | None = None,
    ) -> None:
        """Begin new episodes, in all rows or some.

        Arguments as in ``Engine.reset``; with two tables ``decks`` is (M, 2, 52) and ``dealers`` (2,) or (M, 2),
        each dealer counted at its own table.
        """
        where = self._all_rows if rows is None else row_index(rows, self.num_rows)
        tables = self.tables[where].ravel()
        if not self._one_table:
            decks = None if decks is None else decks_of_tables(decks, len(where))
            dealers = None if dealers is None else per_table(dealers, len(where), self.rules.num_seats).ravel()
        self.engine.reset(tables, decks, dealers)
        start_games(self.state, tables)
        self._at[where] = 0
        self._paid[where] = 0

    def load(self, positions: State, rows: ArrayLike | None = None) -> None:
        """Put positions (parsed texts, or rows of a state) into all rows or some; play goes on from there.

        With two tables each row takes two, and the first table moves next. What catches have paid in a
        position counts as rewarded. Raises as ``Engine.load``.
        """
        where = self._all_rows if rows is None else row_index(rows, self.num_rows)
        self.engine.load(positions, self.tables[where].ravel())
        over = self.engine.over[self.tables[where, 0]]
        self._at[where] = np.where(over, self.rules.num_tables - 1, 0)
        self._paid[where] = self._caught(self.tables[where]).sum(axis=1)

    def _caught(self, tables: Rows) -> NDArray[np.int64]:
        """Return the net points (M, K, T) that catches have paid at some tables (M, K)."""
        caught = self.state.net_points[tables].astype(np.int64)
        ended = self.engine.over[tables]
        if ended.any():  # there the deal's end has paid the rest
            again = self.state.take(tables[ended])
            again.points[:] = again.net_points[:] = 0
            dead = again.kind == Kind.DEAD
            settle_dead_deal(again, np.flatnonzero(dead))
            settle_showdown(again, np.flatnonzero(~dead), again.knocker[~dead])
            caught[ended] -= again.net_points
        return caught

    def step(self, actions: ArrayLike, rows: ArrayLike | None = None) -> Transition:
        """Apply one action in each row (rows whose episode is over are left alone).

        Raises ``IllegalAction`` before anything changes if some action is not legal.
        """
        transition = self._step(actions, rows)
        if self.watch is not None:
            self.watch(transition)
        return transition

    def _step(self, actions: ArrayLike, rows: ArrayLike | None) -> Transition:
        where = self._all_rows if rows is None else row_index(rows, self.num_rows)
        tables = where if self._one_table else self.table_rows(where)
        before = self.state.net_points[tables] if self.rules.catch_glass else None
        just_ended = self.engine.step(actions, rows if self._one_table else tables)
        rewards = np.zeros((len(where), self.rules.num_players), dtype=np.float32)
        over, truncated = np.zeros(len(where), dtype=bool), np.zeros(len(where), dtype=bool)
        if before is not None:
            self._pay_catches(where, tables, before, rewards)
        ended = np.isin(tables, just_ended).nonzero()[0] if len(just_ended) else _NONE
        if not self._one_table:
            self._go_to_the_other_table(where)
            ended = ended[self.over[where[ended]]]
        if not len(ended):
            return Transition(rewards, over, truncated, self.episode, _NONE, None, *self._no_deals)
        ended_rows = where[ended]
        ended_tables = self.tables[ended_rows]
        deals = deal_totals(self.state, ended_tables)
        game = add_to_games(self.state, ended_tables, deals)
        finished = self.state.take(ended_tables.ravel())
        over_deals, truncated_deals = self._ends(game)
        over[ended], truncated[ended] = over_deals, truncated_deals
        outcome = self._outcome(ended_rows, deals, game, finished)
        rewards[ended] = self._rewards(outcome)
        self._paid[ended_rows] = 0
        going_on = ended_rows[~over_deals]
        if len(going_on):
            next_tables = self.tables[going_on].ravel()
            self.engine.reset(next_tables, dealers=next_dealers(self.state, next_tables))
            self._at[going_on] = 0
        in_games = self.episode == "game"
        return Transition(
            rewards,
            over,
            truncated,
            self.episode,
            ended_rows,
            finished,
            deals.points,
            deals.net_points,
            deals.winner,
            game.bonuses * in_games,
            game.winner if in_games else np.full_like(game.winner, -1),
            over_deals,
            truncated_deals,
        )

    def _go_to_the_other_table(self, rows: Rows) -> None:
        """Let the tables move by turns; one that has finished waits for the other."""
        other = 1 - self._at[rows]
        goes_on = ~self.engine.over[self.tables[rows, other]]
        self._at[rows[goes_on]] = other[goes_on]

    def _pay_catches(self, rows: Rows, tables: Rows, before: NDArray[np.int32], rewards: NDArray[np.float32]) -> None:
        """Reward catches at once; what they paid is kept, so that the deal's end pays the rest."""
        gains = self.state.net_points[tables] - before
        caught = np.flatnonzero(gains.any(axis=1) & ~self.engine.over[tables])
        if not len(caught):
            return
        nobody, count = np.full(len(caught), -1, dtype=np.int8), len(caught)
        score_gains = gains[caught].astype(np.float64)
        takes_part = teams_playing(self.rules, self.state.dealer[tables[caught]])
        outcome = Outcome(score_gains, takes_part, nobody, np.zeros(count, dtype=bool), nobody)
        rewards[caught] = self._rewards(outcome)
        self._paid[rows[caught]] += gains[caught]

    def _rewards(self, outcome: Outcome) -> NDArray[np.floating]:
        """Return the rewards per seat (M, P) of the episodes' reward per team."""
        return rewards_of(self.reward, outcome)[:, self._teams]

    def _ends(self, game: GameEnd) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        if self.episode == "deal":
            return np.ones(len(game.finished), dtype=bool), np.zeros(len(game.finished), dtype=bool)
        return game.finished | game.truncated, game.truncated

    def _outcome(self, rows: Rows, deals: DealEnd, game: GameEnd, finished: State) -> Outcome:
        over, _ = self._ends(game)
        takes_part = teams_playing(self.rules, finished.dealer[:: self.rules.num_tables])
        if self.episode == "deal":
            return Outcome(
                (deals.net_points - self._paid[rows]).astype(np.float64), takes_part, deals.winner, over, deals.winner
            )
        overlapping = self.rules.score_sheet == "hollywood"
        net_points = net_of(game.score_gains) if overlapping else deals.net_points
        net_points = net_points + net_of(game.bonuses) - self._paid[rows]
        takes_part = takes_part | over[:, None]
        return Outcome(net_points.astype(np.float64), takes_part, deals.winner, over, game.winner)


_NONE: Rows = np.zeros(0, dtype=np.intp)
#: By the number of teams, the fields of a transition with which no deal ended.
_NO_DEALS: dict[int, tuple[NDArray[Any], ...]] = {
    teams: (
        np.zeros((0, teams), dtype=np.int64),
        np.zeros((0, teams), dtype=np.int64),
        np.zeros(0, dtype=np.int8),
        np.zeros((0, teams), dtype=np.int64),
        np.zeros(0, dtype=np.int8),
        np.zeros(0, dtype=bool),
        np.zeros(0, dtype=bool),
    )
    for teams in range(2, 6)
}
