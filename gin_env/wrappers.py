"""What an illegal action costs in an environment that must go on: the whole team pays."""

from __future__ import annotations

import logging
from typing import Any

from pettingzoo.utils.wrappers import BaseWrapper

from gin_env.errors import IllegalAction

_logger = logging.getLogger(__name__)


class TerminateIllegalTeamWrapper(BaseWrapper):
    """Ends the episode on an illegal action, at the cost of the offender's team.

    Each seat of that team gets the penalty and the others 0, so that nobody earns anything by a
    partner's fault. (PettingZoo's own ``TerminateIllegalWrapper`` punishes the mover alone.) An action
    outside the action space is a mistake in the program and raises as before.

    Parameters
    ----------
    env : GinRummyEnv
    illegal_reward : float, optional
        The penalty; by default the reward of a deal lost by ``ILLEGAL_POINTS``.
    """

    def __init__(self, env: Any, illegal_reward: float | None = None) -> None:
        super().__init__(env)
        self._penalty = illegal_reward

    def last(self, observe: bool = True) -> tuple[Any, float, bool, bool, dict[str, Any]]:
        """Return what the selected agent sees; asks the environment at once, which is faster than name by name."""
        return self.env.last(observe)

    def step(self, action: int | None) -> None:
        """Apply an action; an illegal one ends the episode instead of raising."""
        try:
            self.env.step(action)
        except IllegalAction as error:
            if not 0 <= action < self.env.layout.size:  # type: ignore[operator]
                raise
            _logger.warning("illegal action, the episode ends and the team pays: %s", error)
            self.env.end_by_fault(str(error), self._penalty)

    def __str__(self) -> str:
        """Return the environment's name."""
        return str(self.env)
