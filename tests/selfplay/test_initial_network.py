"""A training can begin with the network of a saved model, provided that it fits."""

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from agents.policy.model_files import Model, write_model
from agents.selfplay.initial_network import load_initial_network
from gin_env.observation import ObservationEncoder
from gin_env.observation.encoder import ObservationOptions
from tests.helpers.policies import PALACE, logits_of, make_policy


@pytest.mark.parametrize("num_actors", [1, 2])
def test_training_begins_with_a_saved_network(num_actors, tmp_path):
    saved = make_policy(seed=1)[1].policy
    write_model(tmp_path, Model(PALACE, ObservationOptions(), "relu", saved.weights()), {})
    env, model = make_policy(num_actors, seed=2)
    load_initial_network(model.policy, tmp_path, env.encoder, "relu")
    observations = env.reset()
    np.testing.assert_allclose(logits_of(model.policy, observations), logits_of(saved, observations), atol=1e-5)
    seen = torch.from_numpy(observations)
    torch.testing.assert_close(model.policy.predict_values(seen), saved.predict_values(seen))


def test_the_actors_of_two_seats_stay_apart(tmp_path):
    saved = make_policy(2, seed=1)[1].policy
    write_model(tmp_path, Model(PALACE, ObservationOptions(), "relu", saved.weights()), {})
    env, model = make_policy(2, seed=2)
    load_initial_network(model.policy, tmp_path, env.encoder, "relu")
    before, after = saved.weights(), model.policy.weights()
    assert all(np.array_equal(before[name], after[name]) for name in before)
    env, model = make_policy(1)
    with pytest.raises(ValueError, match=r"2 actors.*--per-seat"):
        load_initial_network(model.policy, tmp_path, env.encoder, "relu")


def test_a_network_that_does_not_fit_is_refused(tmp_path):
    weights = make_policy()[1].policy.weights()
    write_model(tmp_path, Model(PALACE, ObservationOptions(), "relu", weights), {})
    env, model = make_policy(sizes=(16, 16))
    with pytest.raises(ValueError, match=r"actor\.0\.weight: expected shape \(16, .*got \(24, .*--net"):
        load_initial_network(model.policy, tmp_path, env.encoder, "relu")
    with pytest.raises(ValueError, match="other features"):
        load_initial_network(
            model.policy, tmp_path, ObservationEncoder(PALACE, ObservationOptions(derived=True)), "relu"
        )
    with pytest.raises(ValueError, match="has --activation relu"):
        load_initial_network(model.policy, tmp_path, env.encoder, "tanh")
