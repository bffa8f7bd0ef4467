"""From points to reinforcement-learning rewards: per team, net and zero-sum (docs/rules.md, fine print)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

#: Net points per unit of reward of ``"scaled"``: about one standard deviation of a deal.
REWARD_SCALE = 20.0


class Outcome(NamedTuple):
    """What has just been booked in M deals, as a reward sees it; steps that book nothing pay 0.

    A deal is booked when it ends; where the rules have it, a catch is booked at once.
    """

    net_points: NDArray[np.float64]  #: (M, T) own points against every other team's; end bonuses with the last deal
    takes_part: NDArray[np.bool_]  #: (M, T) teams that played in the deal, or in the game if that ends
    deal_winner: NDArray[np.int8]  #: (M,) team that won the deal just ended, -1 for none
    episode_over: NDArray[np.bool_]  #: (M,)
    episode_winner: NDArray[np.int8]  #: (M,) team that won the deal or game that is the episode, -1 for none


#: Turns outcomes into rewards per team, shape (M, T); both seats of a team get the same.
Reward = Callable[[Outcome], NDArray[np.floating]]


def points_reward(outcome: Outcome) -> NDArray[np.float64]:
    """Net points."""
    return outcome.net_points


def scaled_reward(outcome: Outcome) -> NDArray[np.float64]:
    """Net points divided by ``REWARD_SCALE``."""
    return outcome.net_points / REWARD_SCALE


def win_reward(outcome: Outcome) -> NDArray[np.float64]:
    """1 for the winner of the episode and -1 shared by the other teams that took part, at its end only."""
    teams = np.arange(outcome.net_points.shape[1])
    decided = (outcome.episode_winner >= 0) & outcome.episode_over
    num_losers = outcome.takes_part.sum(axis=1, keepdims=True) - 1
    lost = -1.0 / np.maximum(num_losers, 1) * outcome.takes_part
    return np.where(outcome.episode_winner[:, None] == teams, 1.0, lost) * decided[:, None]


REWARDS: dict[str, Reward] = {"points": points_reward, "scaled": scaled_reward, "win": win_reward}


def rewards_of(reward: Reward, outcome: Outcome) -> NDArray[np.floating]:
    """Return a reward by team (M, T); raises ``ValueError`` where it gives anything but one number for each."""
    by_team = np.asarray(reward(outcome))
    if by_team.shape != outcome.net_points.shape:
        raise ValueError(
            f"reward {reward!r} returned shape {by_team.shape}: "
            f"one number for each deal and team, {outcome.net_points.shape}, is needed"
        )
    return by_team


def resolve_reward(reward: str | Reward) -> Reward:
    """Return the reward named, or the callable itself; raises ``ValueError`` for anything else."""
    if callable(reward):
        return reward
    if not isinstance(reward, str) or reward not in REWARDS:
        raise ValueError(f"unknown reward {reward!r}: one of {', '.join(REWARDS)}, or a callable taking an Outcome")
    return REWARDS[reward]
