"""The networks of training: one for each seat, those that never trade, and those that begin with a saved one."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO

from agents.policy import PolicyAgent, actor_weights
from agents.policy.model_files import Model, read_model, write_model
from agents.registry import load_agent
from agents.selfplay.network import (
    SelfPlayPolicy,
    begin_with,
)
from gin_env.engine import (
    Engine,
    Phase,
)
from gin_env.envs.sb3 import GinVecEnv
from gin_env.observation import (
    ObservationEncoder,
    player_view,
)
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import Rules

PALACE = Rules.preset("palace_4p")
ROWS = 48


def make_policy(num_actors=1, rules=PALACE, sizes=(24, 16), seed=1, observation=None):
    env = GinVecEnv(rules, ROWS, show_hidden=True, observation=observation)
    own = {"num_seen": env.encoder.size, "num_actors": num_actors}
    options = {"net_arch": list(sizes), "activation_fn": torch.nn.ReLU, **own}
    model = MaskablePPO(SelfPlayPolicy, env, n_steps=4, batch_size=64, policy_kwargs=options, device="cpu", seed=seed)
    with torch.no_grad():
        for name, parameter in model.policy.named_parameters():
            if parameter.requires_grad:
                parameter.add_(0.1 * torch.randn_like(parameter))
            assert parameter.requires_grad or name == "action_net.bias"
    return env, model


def logits_of(policy, observations):
    with torch.no_grad():
        return policy.logits(torch.from_numpy(observations)).numpy()


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


def test_a_network_without_skip_connection_is_a_beginning():
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


def test_two_seats_ask_their_own_networks():
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
    with pytest.raises(ValueError, match="3 actors: 1 is needed, or 2"):
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
    weights["actor.2.bias"][PALACE_GIVES] += 100.0  # nothing would please it more
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
    assert answered > 100  # which it answers, all the same


PALACE_GIVES = np.arange(52) + Engine(PALACE, 1).layout.give


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
    """Neither does its training: with trades in view the worth of a mere throw would be lost beside theirs."""
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


@pytest.mark.parametrize("num_actors", [1, 2])
def test_training_begins_with_a_saved_network(num_actors, tmp_path):
    saved = make_policy(seed=1)[1].policy
    write_model(tmp_path, Model(PALACE, ObservationOptions(), "relu", saved.weights()), {})
    env, model = make_policy(num_actors, seed=2)
    begin_with(model.policy, tmp_path, env.encoder, "relu")
    observations = env.reset()
    np.testing.assert_allclose(logits_of(model.policy, observations), logits_of(saved, observations), atol=1e-5)
    seen = torch.from_numpy(observations)
    torch.testing.assert_close(model.policy.predict_values(seen), saved.predict_values(seen))


def test_networks_of_their_own_stay_apart_when_they_begin(tmp_path):
    saved = make_policy(2, seed=1)[1].policy
    write_model(tmp_path, Model(PALACE, ObservationOptions(), "relu", saved.weights()), {})
    env, model = make_policy(2, seed=2)
    begin_with(model.policy, tmp_path, env.encoder, "relu")
    before, after = saved.weights(), model.policy.weights()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    env, model = make_policy(1)
    with pytest.raises(ValueError, match="has 2 actors, one for each seat; give --per-seat"):
        begin_with(model.policy, tmp_path, env.encoder, "relu")


def test_a_network_that_does_not_fit_is_refused(tmp_path):
    weights = make_policy()[1].policy.weights()
    write_model(tmp_path, Model(PALACE, ObservationOptions(), "relu", weights), {})
    env, model = make_policy(sizes=(16, 16))
    with pytest.raises(ValueError, match=r"actor\.0\.weight is \(24, .*give the --net of that model"):
        begin_with(model.policy, tmp_path, env.encoder, "relu")
    with pytest.raises(ValueError, match="sees other features"):
        begin_with(model.policy, tmp_path, ObservationEncoder(PALACE, ObservationOptions(derived=True)), "relu")
    with pytest.raises(ValueError, match="has --activation relu"):
        begin_with(model.policy, tmp_path, env.encoder, "tanh")
