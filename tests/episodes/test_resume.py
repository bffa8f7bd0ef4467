"""Arrays saved in the middle of play and written into a fresh object continue bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gin_env.engine import Engine, random_actions
from gin_env.episodes import Episodes
from gin_env.episodes.learner_table import LearnerTable
from gin_env.rules import Rules
from tests.helpers.learners import Eager, FirstLegal
from tests.helpers.options import ALL_RULES, swept

ROWS = 12
#: What differs in the arrays that a table keeps: catches, boasts, sheets, rotation, two tables, trades.
NAMES = ["palace_4p", "duel_all", "team_all", "rotation_all", "four_for_themselves", "two_tables_4p", "tables_net"]


def copied(arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: array.copy() for name, array in arrays.items()}


def write(kept: dict[str, np.ndarray], arrays: dict[str, np.ndarray]) -> None:
    assert kept.keys() == arrays.keys()
    for name, array in arrays.items():
        array[...] = kept[name]


def table_of(rules: Rules, episode: str, seed: int) -> LearnerTable:
    return LearnerTable(rules, ROWS, [Eager(), FirstLegal()], episode=episode, seed=seed)


def played(table: LearnerTable, steps: int, seed: int) -> list[Any]:
    """Take random actions and return all that was seen and paid."""
    generator, told = np.random.default_rng(seed), []
    for _ in range(steps):
        view = table.views(history=True)
        outcome = table.step(random_actions(view.legal, table.layout, generator))
        assert view.history is not None
        told += [view.hand_bits, view.legal, view.history.cards, view.scores, outcome.rewards, outcome.over]
    return [*told, *copied(table.arrays()).values()]


@pytest.mark.parametrize("episode", ["deal", "game"])
@pytest.mark.parametrize("name", NAMES)
def test_a_learners_table_continues(name: str, episode: str) -> None:
    rules = ALL_RULES[name]
    one, other = table_of(rules, episode, 5), table_of(rules, episode, 6)
    one.reset()
    played(one, 60, seed=1)
    write(copied(one.arrays()), other.arrays())
    for first, second in zip(played(one, 60, seed=2), played(other, 60, seed=2), strict=True):
        np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", NAMES)
def test_what_was_kept_is_no_part_of_the_play_that_continues(name: str) -> None:
    """Writing the copies back into the same object plays the same deals again."""
    episodes = Episodes(ALL_RULES[name], 6, "game", "points", seed=3)
    episodes.reset()
    kept = copied(episodes.arrays())

    def play() -> list[np.ndarray]:
        generator, told = np.random.default_rng(0), []
        for _ in range(80):
            rows = np.flatnonzero(~episodes.over)
            if len(rows):
                legal = episodes.legal(rows)
                episodes.step(random_actions(legal, episodes.layout, generator), rows)
            told.append(episodes.state.hands.copy())
        return told

    first = play()
    write(kept, episodes.arrays())
    np.testing.assert_array_equal(first, play())


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_a_state_is_its_arrays(name: str) -> None:
    rules = ALL_RULES[name]
    one, other = Engine(rules, 5, seed=1), Engine(rules, 5, seed=2)
    one.reset()
    other.reset()
    write(copied(one.state.arrays()), other.state.arrays())
    for field in ("hands", "deck", "pile", "legal", "mover", "stream_key", "deal_number", "known_bits", "log"):
        np.testing.assert_array_equal(getattr(one.state, field), getattr(other.state, field))


def test_an_environment_of_stable_baselines_continues() -> None:
    pytest.importorskip("stable_baselines3")
    from gin_env.envs.sb3 import GinVecEnv

    def run(env: GinVecEnv, seed: int) -> list[Any]:
        generator, told = np.random.default_rng(seed), []
        for _ in range(50):
            actions = random_actions(env.table.views().legal, env.table.layout, generator)
            observations, rewards, dones, infos = env.step(actions)
            told.append((observations.tobytes(), rewards.tobytes(), dones.tobytes()))
            told.append([(info["episode"]["r"], info["episode"]["l"], info["deal"]) for info in infos if info])
            told.append([info["terminal_observation"].tobytes() for info in infos if info])
        return told

    one, other = (GinVecEnv("palace_4p", ROWS, Eager(), seed=seed, show_hidden=True) for seed in (1, 2))
    one.reset()
    run(one, 1)
    write(copied(one.arrays()), other.arrays())
    np.testing.assert_array_equal(one.observe(), other.observe())
    assert run(one, 2) == run(other, 2)
