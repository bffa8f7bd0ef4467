"""Gymnasium's vector form: spaces, automatic resets, one row against many, and rows that do not disturb each other."""

from __future__ import annotations

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import data_equivalence
from gymnasium.vector import AutoresetMode
from gymnasium.wrappers.vector import DictInfoToList, RecordEpisodeStatistics

from gin_env import GinRummySingleEnv, GinRummyVectorEnv, IllegalAction, Rules
from tests.helpers.learners import Eager, random_action
from tests.helpers.options import ALL_RULES, swept

KINDS = ("dead", "knock", "gin", "small_gin", "team_gin", "big_gin", "undercut")


@pytest.mark.parametrize(("name", "form"), [*((name, "flat") for name in ALL_RULES), ("palace_4p", "dict")])
def test_the_vector_environments_spaces_and_automatic_resets(name, form):
    rules, generator = ALL_RULES[name], np.random.default_rng(0)
    envs = gymnasium.make_vec("gin_env/classic_2p-v0", num_envs=6, rules=rules, form=form, opponents=Eager())
    assert envs.metadata["autoreset_mode"] is AutoresetMode.SAME_STEP
    observations, infos = envs.reset(seed=5)
    ended, paid = 0, np.zeros(6)
    for _ in range(50 * rules.num_tables):
        assert observations in envs.observation_space
        assert infos["action_mask"].any(axis=1).all()
        assert np.array_equal(infos["action_mask"], envs.unwrapped.action_masks())
        actions = np.array([random_action(mask, generator) for mask in infos["action_mask"]])
        assert actions in envs.action_space
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        over = terminated | truncated
        assert ("final_obs" in infos) == over.any()
        paid[~over] += rewards[~over]
        if not over.any():
            continue
        assert np.array_equal(infos["_final_obs"], over)
        assert np.array_equal(infos["_final_info"], over)
        deal = infos["final_info"]["deal"]
        for row in np.flatnonzero(over):
            ended += 1
            assert infos["final_obs"][row] in envs.single_observation_space
            paid[row] += rewards[row]
            if rules.num_teams == 2:
                team = envs.unwrapped.table.seat[row] % 2
                assert paid[row] == deal["points"][row, team] - deal["points"][row, 1 - team]
            paid[row] = 0
            assert deal["kind"][row] in KINDS
            assert (deal["kind"][row] == "dead") == (deal["knocker"][row] == -1)
            assert deal["knocker"][row] < rules.num_players
            assert deal["turns"][row] > 0
        assert all(infos["final_obs"][row] is None for row in np.flatnonzero(~over))
    assert ended or rules.catch_glass  # where one may name cards for ever, random play takes long


@pytest.mark.skipif(
    tuple(int(part) for part in gymnasium.__version__.split(".")[:3]) < (1, 2, 2),
    reason="before 1.2.2 DictInfoToList cannot read what RecordEpisodeStatistics writes",
)
def test_gymnasiums_vector_wrappers_work():
    generator = np.random.default_rng(0)
    envs = DictInfoToList(RecordEpisodeStatistics(GinRummyVectorEnv(4, "palace_4p", opponents=Eager())))
    _, infos = envs.reset(seed=1)
    for _ in range(120):
        actions = np.array([random_action(info["action_mask"], generator) for info in infos])
        _, rewards, terminated, _, infos = envs.step(actions)
        for row in np.flatnonzero(terminated):
            assert infos[row]["episode"]["r"] == rewards[row]
            assert infos[row]["final_info"]["deal"]["turns"] > 0
        if terminated.any():
            return
    pytest.fail("no episode ended")


#: The others may end a deal with one card in the stock before the learner has anything to decide.
@pytest.mark.parametrize("name", swept([name for name in ALL_RULES if name != "five_with_one_card_in_the_stock"]))
def test_rows_of_a_vector_equal_single_environments(name):
    rules = ALL_RULES[name]
    generator = np.random.default_rng(4)
    seats = [1, 2, 2] if rules.mode == "rotation" else [row % rules.num_players for row in range(3)]  # not the dealer
    envs = GinRummyVectorEnv(3, rules, opponents=Eager(), seats=seats)
    singles = [GinRummySingleEnv(rules, seat=seat, opponents=Eager()) for seat in seats]
    decks = [generator.permutation(52).tolist() for _ in range(rules.num_tables)]
    two = rules.num_tables == 2
    options = {"deck": decks if two else decks[0], "dealer": [0, 3] if two else 0}
    observations, infos = envs.reset(options=options)
    starts = [single.reset(options=options) for single in singles]
    live = set(range(3))
    for row, (observation, _) in enumerate(starts):
        assert np.array_equal(observation, observations[row])
    while live:
        actions = np.array([random_action(mask, generator) for mask in infos["action_mask"]])
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        for row in sorted(live):
            observation, reward, over, cut, info = singles[row].step(int(actions[row]))
            assert (reward, over, cut) == (rewards[row], terminated[row], truncated[row])
            if over:
                assert np.array_equal(observation, infos["final_obs"][row])
                live.remove(row)
            else:
                assert np.array_equal(observation, observations[row])
                assert np.array_equal(info["action_mask"], infos["action_mask"][row])


def test_an_illegal_action_ends_its_row_only():
    envs = GinRummyVectorEnv(3, "palace_4p", form="dict")
    observations, infos = envs.reset(seed=1)
    actions = infos["action_mask"].argmax(axis=1)
    actions[1] = infos["action_mask"][1].argmin()
    seen = observations["observation"][1].copy()
    observations, rewards, terminated, truncated, infos = envs.step(actions)
    assert rewards.tolist() == [0.0, -100.0, 0.0]
    assert terminated.tolist() == [False, True, False]
    assert not truncated.any()
    assert np.array_equal(infos["final_obs"][1]["observation"], seen)
    assert repr(envs.table.layout.text(actions[1])) in infos["final_info"]["illegal_action"][1]
    assert infos["action_mask"].any(axis=1).all()
    strict = GinRummyVectorEnv(3, "palace_4p", on_illegal="raise")
    strict.reset(seed=1)
    with pytest.raises(IllegalAction):
        strict.step(infos["action_mask"].argmin(axis=1))


def test_seeds_make_runs_equal_and_a_seeded_reset_keeps_the_options():
    runs = []
    for _ in range(2):
        envs = GinRummyVectorEnv(4, Rules.preset("palace_2p", knock_limit=4), reward="win", derived=True)
        envs.reset(seed=8)
        observations, infos = envs.reset(seed=3)
        answers = [observations]
        for _ in range(60):
            observations, rewards, *_, infos = envs.step(infos["action_mask"].argmax(axis=1))
            answers += [observations, rewards]
        runs.append(answers)
        assert envs.table.rules.knock_limit == 4
        assert envs.encoder.options.derived
    assert data_equivalence(runs[0], runs[1], exact=True)


@pytest.mark.parametrize("actions", [[0.0, 0.0, 0.0], ["a", "b", "c"], [0, 0]])
def test_vector_actions_of_another_kind_are_refused(actions):
    envs = GinRummyVectorEnv(3, "palace_4p")
    envs.reset(seed=1)
    with pytest.raises(ValueError, match="actions"):
        envs.step(np.array(actions))


def test_an_offenders_row_plays_nothing_more():
    """The rows beside it, and the agents' random streams, go on as without the offence."""
    one, other = (GinRummyVectorEnv(2, "palace_4p", opponents=Eager()) for _ in range(2))
    _, info = one.reset(seed=4)
    other.reset(seed=4)
    illegal = int(np.flatnonzero(info["action_mask"][1] == 0)[0])
    legal = int(np.flatnonzero(info["action_mask"][0])[0])
    one.step(np.array([legal, illegal]))
    other.table.step(np.array([legal, 0]), skip=np.array([False, True]))
    assert one.table.state.take([0]).equals(other.table.state.take([0]))
