"""Where rewards come from: the points of a deal or game become a number for each team.

``Episodes`` describes what it has just settled as an :class:`Outcome`, and a reward function turns that into rewards
by team; every seat of a team gets the same. Three functions have names: ``"points"``, ``"scaled"`` and ``"win"``. All
three are zero-sum.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Net points per unit of the ``"scaled"`` reward: about one standard deviation of a deal.
REWARD_SCALE = 20.0


class Outcome(NamedTuple):
    """What has just been settled in M deals, as a reward function sees it; steps that settle nothing pay 0.

    A deal is settled when it ends. Under ``catch_glass`` each catch is settled at once.
    """

    net_points: NDArray[np.float64]  #: (M, T) own points minus other teams'; end bonuses with a game's last deal
    takes_part: NDArray[np.bool_]  #: (M, T) teams that played in the deal, or in the game if it ends
    deal_winner: NDArray[np.int8]  #: (M,) team that won the deal just ended, -1 for none
    episode_over: NDArray[np.bool_]  #: (M,)
    episode_winner: NDArray[np.int8]  #: (M,) team that won the deal or game that is the episode, -1 for none


#: Turns outcomes into rewards by team, shape (M, T).
Reward = Callable[[Outcome], NDArray[np.floating]]


def points_reward(outcome: Outcome) -> NDArray[np.float64]:
    """Return the net points."""
    return outcome.net_points


def scaled_reward(outcome: Outcome) -> NDArray[np.float64]:
    """Return the net points divided by ``REWARD_SCALE``."""
    return outcome.net_points / REWARD_SCALE


def win_reward(outcome: Outcome) -> NDArray[np.float64]:
    """Return 1 for the winner of an episode that is over, and -1 shared by the other teams that took part."""
    teams = np.arange(outcome.net_points.shape[1])
    is_winner = outcome.episode_winner[:, None] == teams
    has_winner = (outcome.episode_winner >= 0) & outcome.episode_over

    num_losers = outcome.takes_part.sum(axis=1, keepdims=True) - 1
    losers_reward = -1.0 / np.maximum(num_losers, 1) * outcome.takes_part
    return np.where(is_winner, 1.0, losers_reward) * has_winner[:, None]


REWARDS: dict[str, Reward] = {"points": points_reward, "scaled": scaled_reward, "win": win_reward}


def resolve_reward(reward: str | Reward) -> Reward:
    """Return the reward function of that name, or the function itself; raises ``ValueError`` for anything else."""
    if callable(reward):
        return reward
    if not isinstance(reward, str) or reward not in REWARDS:
        names = ", ".join(REWARDS)
        raise ValueError(f"unknown reward {reward!r}: expected one of {names}, or a function of an Outcome")
    return REWARDS[reward]


def rewards_of(reward: Reward, outcome: Outcome) -> NDArray[np.floating]:
    """Return the rewards by team (M, T); raises ``ValueError`` if the function returns another shape."""
    by_team = np.asarray(reward(outcome))
    expected = outcome.net_points.shape
    if by_team.shape != expected:
        raise ValueError(
            f"reward {reward!r} returned shape {by_team.shape}: expected {expected}, a number for each deal and team"
        )
    return by_team
