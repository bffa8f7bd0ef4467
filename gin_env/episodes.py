"""N episodes at once, each a deal or a whole game: engine, score sheet and reward behind one ``step``.

Every environment door (PettingZoo, Gymnasium, Stable-Baselines3) and the arena stand on this class.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.engine import Engine
from gin_env.errors import row_index
from gin_env.rewards import Outcome, Reward, resolve_reward
from gin_env.rules import Rules
from gin_env.scorekeeping import GameEnd, book_deals, next_dealers, start_games
from gin_env.state import State

EPISODES = ("deal", "game")


@dataclass(eq=False)
class Transition:
    """What one step of M rows brought.

    Attributes
    ----------
    rewards : float32, shape (M, P)
        Per seat, equal within a team.
    over, truncated : bool, shape (M,)
        Episodes that ended with this step, and those of them that were cut short.
    finished_rows : int, shape (D,)
        Rows whose deal ended with this step.
    finished : State
        Those D rows as the deal left them (in a game the next deal has already begun), with the
        scores after it.
    """

    rewards: NDArray[np.float32]
    over: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    finished_rows: NDArray[np.intp]
    finished: State | None


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
        self.engine = Engine(rules, num_rows, seed)
        self.rules = self.engine.rules
        self.layout = self.engine.layout
        self.episode = episode
        self.reward = resolve_reward(reward)
        self._all_rows = np.arange(num_rows)
        self._teams = [self.rules.team_of(seat) for seat in range(self.rules.num_players)]

    @property
    def state(self) -> State:
        """The engine's state."""
        return self.engine.state

    def reset(
        self,
        rows: ArrayLike | None = None,
        decks: ArrayLike | None = None,
        dealers: ArrayLike | None = None,
    ) -> None:
        """Begin new episodes, in all rows or some; arguments as in ``Engine.reset``."""
        where = self._all_rows if rows is None else row_index(rows, self.engine.num_deals)
        self.engine.reset(where, decks, dealers)
        start_games(self.state, where)

    def step(self, actions: ArrayLike, rows: ArrayLike | None = None) -> Transition:
        """Apply one action in each row (rows whose episode is over are left alone).

        Raises ``IllegalAction`` before anything changes if some action is not legal.
        """
        where = self._all_rows if rows is None else row_index(rows, self.engine.num_deals)
        just_ended = self.engine.step(actions, rows)
        over = np.zeros(len(where), dtype=bool)
        truncated = np.zeros(len(where), dtype=bool)
        rewards = np.zeros((len(where), self.rules.num_players), dtype=np.float32)
        ended_rows, finished = just_ended, None
        if len(just_ended):
            ended = np.isin(where, just_ended).nonzero()[0]
            ended_rows = where[ended]
            game = book_deals(self.state, ended_rows)
            finished = self.state.take(ended_rows)
            over[ended], truncated[ended] = self._ends(game)
            rewards[ended] = self._rewards(self._outcome(finished, game))
            going_on = ended_rows[~over[ended]]
            if len(going_on):
                self.engine.reset(going_on, dealers=next_dealers(self.state, going_on))
        return Transition(rewards, over, truncated, ended_rows, finished)

    def _rewards(self, outcome: Outcome) -> NDArray[np.floating]:
        """Return the rewards per seat (M, P) of the episodes' reward per team."""
        by_team = np.asarray(self.reward(outcome))
        if by_team.shape != outcome.net_points.shape:
            raise ValueError(
                f"reward {self.reward!r} returned shape {by_team.shape}: "
                f"one number for each deal and team, {outcome.net_points.shape}, is needed"
            )
        return by_team[:, self._teams]

    def _ends(self, game: GameEnd) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
        if self.episode == "deal":
            return np.ones(len(game.finished), dtype=bool), np.zeros(len(game.finished), dtype=bool)
        return game.finished | game.truncated, game.truncated

    def _outcome(self, finished: State, game: GameEnd) -> Outcome:
        points = finished.points.astype(np.float64)
        over, _ = self._ends(game)
        if self.episode == "deal":
            winner = finished.winner
        else:
            points = points + game.bonuses
            winner = game.winner
        return Outcome(points - points[:, ::-1], finished.winner, over, winner)
