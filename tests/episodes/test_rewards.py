"""Rewards by name and by function, and who pays for a win."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.episodes import Episodes, Outcome
from gin_env.episodes.rewards import resolve_reward
from tests.helpers.play import lively_actions


def outcome() -> Outcome:
    return Outcome(
        net_points=np.array([[30.0, -30.0], [0.0, 0.0]]),
        takes_part=np.ones((2, 2), dtype=bool),
        deal_winner=np.array([0, -1], dtype=np.int8),
        episode_over=np.array([True, True]),
        episode_winner=np.array([0, -1], dtype=np.int8),
    )


def test_rewards_by_name_and_by_function() -> None:
    assert resolve_reward("points")(outcome()).tolist() == [[30, -30], [0, 0]]
    assert resolve_reward("scaled")(outcome()).tolist() == [[1.5, -1.5], [0, 0]]
    assert resolve_reward("win")(outcome()).tolist() == [[1, -1], [0, 0]]
    own = resolve_reward(lambda result: result.net_points * 2)
    assert own(outcome()).tolist() == [[60, -60], [0, 0]]
    with pytest.raises(ValueError, match=r"unknown reward 'goals'.*points, scaled, win"):
        resolve_reward("goals")
    for wrong in (lambda result: result.net_points[:, 0], lambda _: 1.0, lambda _: None):
        episodes = Episodes("palace_4p", 4, reward=wrong, seed=2)
        episodes.reset()
        with pytest.raises(ValueError, match=r"returned shape .*each deal and team"):
            play_out(episodes)
    with pytest.raises(ValueError, match=r"unknown episode 'round'.*deal, game"):
        Episodes("palace_4p", episode="round")


def play_out(episodes: Episodes) -> None:
    generator = np.random.default_rng(0)
    while not episodes.over.any():
        rows = episodes.table_rows(np.arange(episodes.num_rows))
        episodes.step(lively_actions(episodes.engine, generator, rows))


def test_the_win_of_three_is_paid_by_those_who_took_part() -> None:
    result = Outcome(
        net_points=np.zeros((3, 3)),
        takes_part=np.array([[True, True, True], [True, False, True], [True, True, True]]),
        deal_winner=np.array([1, 2, -1], dtype=np.int8),
        episode_over=np.array([True, True, True]),
        episode_winner=np.array([1, 2, -1], dtype=np.int8),
    )
    assert resolve_reward("win")(result).tolist() == [[-0.5, 1.0, -0.5], [-1.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
