"""The warm start: a network that is fitted to a teacher's decisions soon plays like the teacher."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO
from stable_baselines3.common.logger import Logger

from agents.registry import load_agent
from agents.selfplay.behaviour_cloning import clone_teacher, collect_from_teacher
from agents.selfplay.network import SelfPlayPolicy
from agents.selfplay.rollout_buffer import LeanRolloutBuffer
from gin_env.envs.sb3 import GinVecEnv
from gin_env.episodes.agent import decide
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import Rules


def make_model(rules, rows, steps, show_hidden=True):
    env = GinVecEnv(rules, rows, observation=ObservationOptions(derived=True), show_hidden=show_hidden)
    torch.manual_seed(1)
    model = MaskablePPO(
        SelfPlayPolicy,
        env,
        n_steps=steps,
        batch_size=256,
        learning_rate=2e-3,
        gamma=1.0,
        rollout_buffer_class=LeanRolloutBuffer,
        policy_kwargs={"net_arch": [64], "activation_fn": torch.nn.ReLU, "num_seen": env.encoder.size},
        device="cpu",
        seed=1,
    )
    model.set_logger(Logger(None, []))
    return env, model


def test_a_clone_soon_plays_like_its_teacher():
    rules = Rules.preset("eaai_2p")
    teacher = load_agent("gold-k4", rules)
    env, model = make_model(rules, 96, 32)
    env.set_opponents(teacher)
    made = []
    collect_from_teacher(model, teacher, made.append)
    first_agreement, _ = clone_teacher(model, 1)
    for _ in range(4):
        collect_from_teacher(model, teacher, made.append)
        last_agreement, _ = clone_teacher(model, 3)
    assert sum(made) == model.num_timesteps == 5 * 96 * 32
    assert model._n_updates == 1 + 4 * 3
    assert first_agreement < 0.6 < last_agreement
    # It agrees as often in deals from which it has not learnt.
    views = env.table.views()
    best, _ = model.predict(env.observe(), deterministic=True, action_masks=env.action_masks())
    assert (best == decide(teacher, views)).mean() > 0.55


@pytest.mark.parametrize("rules", ["palace_4p", "two_tables_4p", "rotation_3p"])
def test_the_next_rollout_begins_where_that_of_the_teacher_ends(rules):
    env, model = make_model(Rules.preset(rules), 24, 8)
    teacher = load_agent("simple", env.table.rules)
    collect_from_teacher(model, teacher, lambda _: None)
    np.testing.assert_array_equal(model._last_obs, env.observe())
    buffer = model.rollout_buffer
    masks, actions = buffer.action_masks.reshape(24 * 8, -1), buffer.actions.astype(int).reshape(-1)
    assert masks[np.arange(len(actions)), actions].all()
    assert np.isfinite(buffer.returns).all()
