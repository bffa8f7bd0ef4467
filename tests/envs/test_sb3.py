"""GinVecEnv keeps Stable-Baselines3's contract, and MaskablePPO learns on it."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks, is_masking_supported
from stable_baselines3.common.vec_env import VecCheckNan, VecMonitor

from agents.arena import play_match
from agents.policy import PolicyAgent, network_weights
from agents.selfplay.rollout_buffer import LeanRolloutBuffer
from gin_env.engine import (
    Phase,
    random_actions,
)
from gin_env.envs.sb3 import GinVecEnv
from gin_env.episodes import RandomAgent
from gin_env.errors import IllegalAction
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import Rules

ROWS = 32
#: Rules that pay in the middle of a deal, to three who play for themselves.
CATCHING = Rules.preset("free_for_all_3p", catch_glass=True)


def random_choice(env, generator):
    table = env.unwrapped.table
    return random_actions(table.views().legal, table.layout, generator)


def play(env, steps, seed=0):
    """Yield what every step of random play returns."""
    generator = np.random.default_rng(seed)
    for _ in range(steps):
        yield env.step(random_choice(env, generator))


@pytest.mark.parametrize("rules", ["palace_4p", "classic_2p", "free_for_all_3p", "rotation_3p", "two_tables_4p"])
def test_shapes_types_and_spaces(rules):
    env = GinVecEnv(rules, ROWS)
    observations = env.reset()
    for observations, rewards, dones, infos in play(env, 60):
        assert observations.shape == (ROWS, *env.observation_space.shape)
        assert observations.dtype == np.float32
        assert rewards.dtype == np.float32
        assert rewards.shape == dones.shape == (ROWS,)
        assert dones.dtype == bool
        assert len(infos) == ROWS
        masks = env.action_masks()
        assert masks.shape == (ROWS, env.action_space.n)
        assert masks.any(axis=1).all()
    assert env.observation_space.contains(observations[0])


def test_observations_of_one_step_outlive_the_next():
    env = GinVecEnv("classic_2p", ROWS)
    first = env.reset()
    kept = first.copy()
    for _ in play(env, 3):
        pass
    np.testing.assert_array_equal(first, kept)


@pytest.mark.parametrize("rules", ["palace_4p", "two_tables_4p", CATCHING])
def test_infos_of_ended_rows_describe_the_episode(rules):
    env = GinVecEnv(rules, ROWS, reward="points")
    env.reset()
    returns, lengths, ended = np.zeros(ROWS), np.zeros(ROWS, dtype=int), 0
    paid_in_mid_deal = 0
    for _, rewards, dones, infos in play(env, 400):
        paid_in_mid_deal += np.count_nonzero(rewards[~dones])
        returns += rewards
        lengths += 1
        for row in np.flatnonzero(dones):
            assert infos[row]["episode"]["r"] == pytest.approx(returns[row])
            assert infos[row]["episode"]["l"] == lengths[row]
            assert infos[row]["deal"]["points"] == returns[row]
            assert infos[row]["TimeLimit.truncated"] is False
            terminal = infos[row]["terminal_observation"]
            phase = env.encoder.section("phase")
            assert terminal[phase.start : phase.start + phase.width].argmax() == Phase.OVER
            ended += 1
        assert all(not infos[row] for row in np.flatnonzero(~dones))
        returns[dones], lengths[dones] = 0, 0
    assert ended > 20
    assert (paid_in_mid_deal > 0) == (rules == CATCHING)


def test_games_cut_short_are_truncated():
    rules = Rules.preset("palace_2p", max_deals=1)
    env = GinVecEnv(rules, ROWS, episode="game")
    env.reset()
    flags = [info["TimeLimit.truncated"] for *_, dones, infos in play(env, 100) for info in np.array(infos)[dones]]
    assert len(flags) > 10
    assert any(flags)


def test_wrappers_and_masks():
    env = VecCheckNan(VecMonitor(GinVecEnv("classic_2p", ROWS)), raise_exception=True)
    assert is_masking_supported(env)
    env.reset()
    masks = get_action_masks(env)
    assert masks.shape == (ROWS, env.action_space.n)
    np.testing.assert_array_equal(env.env_method("action_masks", indices=[3, 5]), masks[[3, 5]])
    np.testing.assert_array_equal(env.env_method("action_masks", indices=4), masks[[4]])
    for _ in play(env, 50):
        pass


def test_attributes():
    env = GinVecEnv("classic_2p", ROWS)
    assert env.get_attr("render_mode") == [None] * ROWS
    assert env.get_attr("num_envs", indices=[0, 1]) == [ROWS, ROWS]
    assert not env.has_attr("no_such_attribute")
    assert env.env_is_wrapped(VecMonitor) == [False] * ROWS
    env.set_attr("anything", 5)
    assert env.get_attr("anything", 0) == [5]
    with pytest.raises(ValueError, match="share"):
        env.set_attr("anything", 6, indices=[0])
    env.close()


def test_a_seeded_reset_repeats_everything():
    env = GinVecEnv("palace_4p", ROWS, seed=3)
    env.seed(11)
    first = [env.reset()] + [step[0] for step in play(env, 40)]
    env.seed(11)
    second = [env.reset()] + [step[0] for step in play(env, 40)]
    np.testing.assert_array_equal(np.stack(first), np.stack(second))
    assert not np.array_equal(first[0], env.reset())  # unseeded: the streams go on


def test_illegal_actions_raise():
    env = GinVecEnv("classic_2p", ROWS)
    env.reset()
    with pytest.raises(IllegalAction):
        env.step(env.action_masks().argmin(axis=1))


def test_opponents_change_in_mid_deal():
    class Counting(RandomAgent):
        rows = 0

        def act(self, view):
            self.rows += len(view)
            return super().act(view)

    env = GinVecEnv("classic_2p", ROWS)
    env.reset()
    agents = [Counting(), Counting()]
    env.set_opponents(agents, [0] * (ROWS - 8) + [1] * 8)
    for _ in play(env, 40):
        pass
    assert agents[0].rows > 2 * agents[1].rows > 0
    with pytest.raises(ValueError, match="assignment"):
        env.set_opponents(agents, [2] * ROWS)


def test_the_lean_buffer_gives_the_stock_buffers_minibatches():
    from sb3_contrib.common.maskable.buffers import MaskableRolloutBuffer

    env = GinVecEnv("classic_2p", 8)
    env.reset()
    sizes = (6, env.observation_space, env.action_space, "cpu")
    buffers = [kind(*sizes, gae_lambda=0.9, gamma=1.0, n_envs=8) for kind in (MaskableRolloutBuffer, LeanRolloutBuffer)]
    for number in range(2):  # twice: the second rollout meets used arrays
        generator = np.random.default_rng(number)
        rows = []
        for buffer in buffers:
            buffer.reset()
        for _ in range(6):
            step = [generator.random((8, *env.observation_space.shape), dtype=np.float32)]
            step += [generator.integers(5, size=(8, 1)), generator.random(8), generator.random(8) < 0.2]
            step += [torch.from_numpy(generator.random(8, dtype=np.float32)) for _ in range(2)]
            masks = generator.random((8, env.action_space.n)) < 0.5
            for buffer in buffers:
                buffer.add(*step, action_masks=masks)
        for buffer in buffers:
            buffer.compute_returns_and_advantage(torch.zeros(8), np.zeros(8, dtype=bool))
            (batch,) = buffer.get()
            order = np.argsort(batch.observations[:, 0].numpy())
            rows.append([np.asarray(part, dtype=np.float64)[order] for part in batch])
        for stock, lean in zip(*rows, strict=True):
            np.testing.assert_allclose(lean, stock)


@pytest.mark.slow
def test_maskable_ppo_learns_to_beat_random():
    torch.set_num_threads(1)
    rules = Rules.preset("palace_2p", hand_size=7)  # seven cards are soon good enough to knock
    options = ObservationOptions(derived=True)
    env = GinVecEnv(rules, 128, observation=options, seed=2)
    model = MaskablePPO(
        "MlpPolicy",
        env,
        n_steps=32,
        batch_size=512,
        n_epochs=4,
        learning_rate=1e-3,
        gamma=1.0,
        ent_coef=0.01,
        policy_kwargs={"net_arch": [64], "activation_fn": torch.nn.ReLU},
        rollout_buffer_class=LeanRolloutBuffer,
        device="cpu",
        seed=2,
    )

    def points():
        agent = PolicyAgent(rules, network_weights(model.policy), "relu", options)
        return play_match(rules, agent, RandomAgent(), num_pairs=500, seed=5).points_per_deal

    before = points()
    model.learn(80_000)
    after = points()
    assert before.high < 8
    assert after.low > 15  # about +38; with a few seeds less, where it learns to knock at once
