"""The result of one step of a learner's table: rewards, episodes that ended, and the deals that ended on the way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import Rows
from gin_env.engine import State
from gin_env.episodes.episodes import Transition
from gin_env.observation import PlayerView, player_view


@dataclass(eq=False)
class LearnerStep:
    """What happened in N rows from one decision of the learner to its next; D deals ended on the way.

    Attributes
    ----------
    rewards : float32, shape (N,)
        The sum for the learner's team since its last decision.
    over, truncated : bool, shape (N,)
        Episodes that ended, and those among them that were cut short.
    finished_rows : int, shape (D,)
        The row of each deal that ended; a row can occur more than once.
    finished : State or None
        Those D deals as they ended, a row for each table; None if D is 0.
    points, net_points, bonuses : int, shape (D, T)
    winner, game_winner : int8, shape (D,)
    truncated_deals : bool, shape (D,)
        Of those deals, as in :class:`~gin_env.episodes.episodes.Transition`.
    seats : int, shape (N,)
        The seat for which the learner made the decision of this step.
    """

    rewards: NDArray[np.float32]
    over: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    finished_rows: Rows
    finished: State | None
    points: NDArray[np.int64]
    net_points: NDArray[np.int64]
    bonuses: NDArray[np.int64]
    winner: NDArray[np.int8]
    game_winner: NDArray[np.int8]
    truncated_deals: NDArray[np.bool_]
    seats: Rows
    _last_deals: Rows  #: (N,) number of the deal that ended the row's episode

    def terminal_view(self) -> PlayerView:
        """Return how the rows that are ``over`` (in ascending order) ended, seen from the learner's last seat there.

        Raises ``ValueError`` if no episode ended.
        """
        if self.finished is None or not self.over.any():
            raise ValueError("no episode ended with this step")
        over = np.flatnonzero(self.over)
        _, tables = self.last_deals(over)
        return player_view(self.finished, seats=self.seats[over] % self.finished.rules.num_seats, rows=tables)

    def last_deals(self, rows: Rows) -> tuple[Rows, Rows]:
        """Return which deals (M,) ended the episodes of some rows, and the row of each in ``finished``.

        With two tables the row is that of the learner's table. Raises ``ValueError`` if no deal ended.
        """
        if self.finished is None:
            raise ValueError("no deal ended with this step")
        rules = self.finished.rules
        deals = self._last_deals[rows]
        return deals, deals * rules.num_tables + self.seats[rows] // rules.num_seats


def join_deals(transitions: Sequence[Transition]) -> dict[str, Any]:
    """Return the fields of a learner's step that describe the deals of one or more transitions."""
    names = ("finished_rows", "points", "net_points", "bonuses", "winner", "game_winner", "truncated_deals")
    joined: dict[str, Any] = {name: np.concatenate([getattr(each, name) for each in transitions]) for name in names}
    finished = [each.finished for each in transitions if each.finished is not None]
    return joined | {"finished": State.concatenate(finished) if finished else None}
