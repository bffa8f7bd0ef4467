"""The networks of training: privileged critics, one actor for each seat, and networks that never offer a trade."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from agents.policy import PolicyAgent, actor_weights
from agents.policy.model_files import Model, read_model, write_model
from agents.registry import load_agent
from gin_env.engine import Engine, Phase
from gin_env.envs.sb3 import GinVecEnv
from gin_env.observation import player_view
from gin_env.observation.encoder import ObservationOptions
from tests.helpers.policies import PALACE, ROWS, logits_of, make_policy

PALACE_GIVES = np.arange(52) + Engine(PALACE, 1).layout.give


def positions(rules=PALACE, steps=40, rows=256):
    """Yield views of self-play by random legal actions."""
    engine, agent = Engine(rules, rows, seed=3), np.random.default_rng(0)
    engine.reset()
    for _ in range(steps):
        over = np.flatnonzero(engine.over)
        if len(over):
            engine.reset(over)
        view = player_view(engine.state)
        yield view
        mask = view.legal_mask
        engine.step(np.where(mask, agent.random(mask.shape), -1.0).argmax(axis=1))


@pytest.mark.parametrize("num_actors", [1, 2])
def test_the_agent_plays_what_was_trained(num_actors):
    env, model = make_policy(num_actors)
    agent = PolicyAgent(PALACE, model.policy.weights(), "relu")
    observations = env.reset()
    for _ in range(6):
        view = env.table.views()
        np.testing.assert_allclose(agent.logits(view), logits_of(model.policy, observations), atol=1e-4)
        observations, *_ = env.step(agent.act(view))


def test_a_skip_connection_adds_to_the_logits():
    weights = actor_weights(make_policy()[1].policy.weights())
    without = {name: array for name, array in weights.items() if name != "actor.skip.weight"}
    agents = [PolicyAgent(PALACE, some, "relu") for some in (weights, without)]
    for view in positions(steps=3):
        added = agents[0].encoder.encode(view) @ weights["actor.skip.weight"].T
        logits = [agent.logits(view) for agent in agents]
        np.testing.assert_allclose(logits[0], logits[1] + added, atol=1e-4)
        assert not np.allclose(logits[0], logits[1], atol=0.1)


def test_a_network_without_skip_connection_can_be_the_initial_one():
    weights = actor_weights(make_policy(seed=1)[1].policy.weights())
    del weights["actor.skip.weight"]
    env, model = make_policy(seed=2)
    model.policy.set_weights(weights)
    agent, observations = PolicyAgent(PALACE, weights, "relu"), env.reset()
    np.testing.assert_allclose(agent.logits(env.table.views()), logits_of(model.policy, observations), atol=1e-4)


def test_partners_with_networks_of_their_own_learn_apart():
    env, model = make_policy(2)
    before = model.policy.weights()
    observations = torch.from_numpy(env.reset())
    observations[:, -1] = 1.0  # all decide as the second seat of their team
    loss = model.policy.logits(observations).square().sum()
    model.policy.optimizer.zero_grad()
    loss.backward()
    model.policy.optimizer.step()
    after = model.policy.weights()
    changed = {name for name in before if not np.array_equal(before[name], after[name])}
    assert changed
    assert all(name.startswith("seat_1.") for name in changed)


def test_two_seats_use_their_own_networks():
    first, second = (actor_weights(make_policy(seed=seed)[1].policy.weights()) for seed in (1, 2))
    both = {f"seat_{place}.{name}": array for place, one in enumerate((first, second)) for name, array in one.items()}
    together = PolicyAgent(PALACE, both, "relu")
    apart = [PolicyAgent(PALACE, one, "relu") for one in (first, second)]
    for view in positions(steps=6):
        expected = np.where(view.seat // 2 == 0, apart[0].act(view), apart[1].act(view))
        np.testing.assert_array_equal(together.act(view), expected)


def test_too_many_actors_are_refused():
    one = actor_weights(make_policy()[1].policy.weights())
    three = {f"seat_{place}.{name}": array for place in range(3) for name, array in one.items()}
    with pytest.raises(ValueError, match=r"expected 1 actor, or 2 .*got 3"):
        PolicyAgent(PALACE, three, "relu")


def test_the_policy_does_not_see_hidden_cards():
    env, model = make_policy()
    observations = env.reset()
    other = observations.copy()
    other[:, env.encoder.size :] = np.random.default_rng(0).random(other[:, env.encoder.size :].shape)
    np.testing.assert_array_equal(logits_of(model.policy, observations), logits_of(model.policy, other))
    values = [model.policy.predict_values(torch.from_numpy(some)).detach().numpy() for some in (observations, other)]
    assert not np.allclose(*values)


def test_an_agent_without_offers_never_offers():
    weights = make_policy()[1].policy.weights()
    weights["actor.2.bias"][PALACE_GIVES] += 100.0  # it would offer whenever it may
    willing, barred = (PolicyAgent(PALACE, weights, "relu", offers=offers) for offers in (True, False))
    offered = answered = 0
    for view in positions():
        playing = (view.phase == Phase.PLAY) & (view.legal_give_bits != 0)
        chosen = barred.act(view)
        assert view.legal_mask[np.arange(len(view)), chosen].all()
        assert not np.isin(chosen[playing], PALACE_GIVES).any()
        offered += np.isin(willing.act(view)[playing], PALACE_GIVES).sum()
        answered += (view.phase == Phase.TRADE_ANSWER).sum()
    assert offered > 100
    assert answered > 100  # it answers the partner's trades all the same


def test_an_environment_without_offers_never_lets_the_learner_offer():
    env = GinVecEnv(PALACE, ROWS, offers=False)
    env.reset()
    generator = np.random.default_rng(0)
    for _ in range(100):
        masks, view = env.action_masks(), env.table.views()
        assert masks.any(axis=1).all()
        assert not masks[view.phase == Phase.PLAY][:, PALACE_GIVES].any()
        env.step(np.where(masks, generator.random(masks.shape), -1.0).argmax(axis=1))


def test_a_network_without_offers_sees_no_trades():
    """Neither does its training: next to the value of trades the value of a mere discard would not stand out."""
    outlook = ObservationOptions(outlook=True)
    weights = actor_weights(make_policy(observation=outlook)[1].policy.weights())
    willing, barred = (PolicyAgent(PALACE, weights, "relu", outlook, offers=offers) for offers in (True, False))
    env, encoder = GinVecEnv(PALACE, ROWS, offers=False, observation=outlook), willing.encoder
    teacher = load_agent("no-trade-lookahead", PALACE)
    gifts, discards, gain = (encoder.section(name) for name in ("plan_of_gift", "plan_of_throw", "gain_of_take"))
    observations, played, taken = env.reset(), 0, 0
    for _ in range(60):
        view = env.table.views()
        np.testing.assert_array_equal(observations, encoder.encode(view.without_offers()))
        np.testing.assert_array_equal(barred.logits(view), willing.logits(view.without_offers()))
        playing = observations[view.phase == Phase.PLAY]
        assert not playing[:, gifts.start : gifts.start + gifts.width].any()
        assert (playing[:, discards.start : discards.start + discards.width].max(axis=1) == 4).all()
        drawing = (view.phase == Phase.UPCARD_OFFER) | (view.phase == Phase.DRAW)
        wanted = observations[drawing, gain.start] > 1
        np.testing.assert_array_equal(wanted, teacher.act(view)[drawing] == view.layout.index("take"))
        played, taken = played + len(playing), taken + wanted.sum()
        observations, *_ = env.step(barred.act(view))
    assert played > 100
    assert taken > 20


def test_half_precision_and_offers_are_kept(tmp_path):
    weights = actor_weights(make_policy()[1].policy.weights())
    write_model(tmp_path, Model(PALACE, ObservationOptions(), "relu", weights, offers=False), {}, np.float16)
    model = read_model(tmp_path)
    assert not model.offers
    assert not PolicyAgent.load(tmp_path).offers
    for name, array in model.weights.items():
        assert array.dtype == np.float32
        np.testing.assert_array_equal(array, weights[name].astype(np.float16).astype(np.float32))
