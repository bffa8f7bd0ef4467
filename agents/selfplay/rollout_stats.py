"""Statistics of the episodes that end during a rollout: for the log, and for the opponent pool."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

import numpy as np
from stable_baselines3.common.callbacks import BaseCallback

from agents.selfplay.opponent_pool import OpponentPool
from gin_env.scoring import Kind


class RolloutStats(BaseCallback):
    """Collect the episodes of one rollout from ``GinVecEnv``'s infos; of a game, its last deal.

    Parameters
    ----------
    pool : OpponentPool
        Receives the learner's return of each episode, from which it counts the wins of its snapshots.
    on_decisions : callable
        Called after each step with the number of decisions made in it.
    """

    def __init__(self, pool: OpponentPool, on_decisions: Callable[[int], None]) -> None:
        super().__init__()
        self._pool = pool
        self._on_decisions = on_decisions
        self._deals: list[dict] = []
        self._returns: list[float] = []
        self._lengths: list[int] = []

    def _on_step(self) -> bool:
        rows = np.flatnonzero(self.locals["dones"])
        infos = [self.locals["infos"][row] for row in rows]
        returns = [info["episode"]["r"] for info in infos]
        self._pool.record(rows, np.array(returns))

        self._deals += [info["deal"] for info in infos]
        self._returns += returns
        self._lengths += [info["episode"]["l"] for info in infos]

        self._on_decisions(len(self.locals["dones"]))
        return True

    def _on_rollout_end(self) -> None:
        if not self._deals:
            return
        num_deals = len(self._deals)
        self.logger.record("deals/count", num_deals)
        self.logger.record("episodes/reward", float(np.mean(self._returns)))
        self.logger.record("deals/points", float(np.mean([deal["points"] for deal in self._deals])))
        self.logger.record("deals/turns", float(np.mean([deal["turns"] for deal in self._deals])))
        self.logger.record("deals/learner_knocks", sum(deal["knock"] for deal in self._deals) / num_deals)
        self.logger.record("deals/decisions", float(np.mean(self._lengths)))

        # How the deals ended: the share of each kind but the first, Kind.NONE.
        kinds = Counter(deal["kind"] for deal in self._deals)
        for kind in list(Kind)[1:]:
            name = kind.name.lower()
            self.logger.record(f"deals/kind_{name}", kinds[name] / num_deals)
