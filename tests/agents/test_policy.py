"""A saved network plays like the one that was trained, and every damaged or unknown folder is refused."""

import dataclasses
import hashlib
import importlib.metadata
import io
import json
import zipfile

import numpy as np
import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO

import gin_env
from agents.policy import PolicyAgent, network_weights, save_policy
from agents.policy.model_files import read_description
from gin_env.engine import Engine, action_layout
from gin_env.envs.sb3 import GinVecEnv
from gin_env.observation import ObservationEncoder, player_view
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import Rules

ROWS = 64
DERIVED = ObservationOptions(derived=True)


def make_model(activation=torch.nn.Tanh, rules="classic_2p", observation=DERIVED):
    env = GinVecEnv(rules, ROWS, observation=observation)
    options = {"net_arch": [32, 16], "activation_fn": activation}
    model = MaskablePPO("MlpPolicy", env, n_steps=4, batch_size=64, policy_kwargs=options, device="cpu", seed=3)
    with torch.no_grad():
        for parameter in model.policy.parameters():
            parameter.add_(0.1 * torch.randn_like(parameter))
    return model


@pytest.fixture(scope="module")
def model():
    return make_model()


@pytest.fixture
def folder(model, tmp_path):
    save_policy(tmp_path / "model", model.policy, "classic_2p", DERIVED, {"timesteps": 12, "seed": 3})
    return tmp_path / "model"


@pytest.mark.parametrize("activation", [torch.nn.Tanh, torch.nn.ReLU])
@pytest.mark.parametrize("rules", ["classic_2p", "palace_4p", "free_for_all_5p", "rotation_3p", "two_tables_4p"])
def test_numpy_forward_equals_torch_forward(activation, rules, tmp_path):
    model = make_model(activation, rules)
    save_policy(tmp_path, model.policy, rules, DERIVED)
    agent = PolicyAgent.load(tmp_path, rules)
    env = model.get_env()
    observations, masks = env.reset(), env.env_method("action_masks")
    with torch.no_grad():
        features = model.policy.mlp_extractor.forward_actor(torch.from_numpy(observations))
        expected = model.policy.action_net(features).numpy()
    np.testing.assert_allclose(agent.logits(env.table.views()), expected, atol=1e-4)
    actions, _ = model.predict(observations, deterministic=True, action_masks=masks)
    np.testing.assert_array_equal(agent.act(env.table.views()), actions)


def test_sampling_follows_the_legal_probabilities(model):
    env = model.get_env()
    env.reset()
    view = env.table.views()
    agent = PolicyAgent("classic_2p", network_weights(model.policy), observation=DERIVED, greedy=False)
    agent.reset(5)
    rows = np.repeat(np.arange(5), 4000)
    draws = agent.act(view.choose(rows))
    assert view.legal_mask[rows, draws].all()
    logits = np.where(view.legal_mask, agent.logits(view), -np.inf)
    expected = np.exp(logits - logits.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    for row in range(5):
        frequencies = np.bincount(draws[rows == row], minlength=len(expected[row])) / 4000
        np.testing.assert_allclose(frequencies, expected[row], atol=0.05)


def test_sampling_is_seeded(model):
    view = model.get_env().table.views()
    agent = PolicyAgent("classic_2p", network_weights(model.policy), observation=DERIVED, greedy=False)
    agent.reset(7)
    first = agent.act(view)
    agent.reset(7)
    np.testing.assert_array_equal(agent.act(view), first)


def test_the_description_holds_rules_options_and_facts_of_the_training(folder):
    description = read_description(folder)
    assert description["preset"] == "classic_2p"
    assert description["training"] == {"timesteps": 12, "seed": 3}
    rules = dataclasses.asdict(Rules.preset("classic_2p"))
    assert description["rules"] == {**rules, "boast_points": list(rules["boast_points"])}
    assert description["observation"]["options"] == {
        "derived": True,
        "showdown": False,
        "buried_pile": True,
        "outlook": False,
    }


def test_rules_with_every_kind_of_value_are_restored(tmp_path):
    rules = Rules.preset("biggin_2p", boast=True, boast_points=(5, 4, 3, 2, 1), limit_from_upcard=True)
    observation = ObservationOptions(buried_pile=False)
    save_policy(tmp_path, make_model(rules=rules, observation=observation).policy, rules, observation)
    agent = PolicyAgent.load(tmp_path)
    assert agent.rules == rules
    assert agent.encoder.options == observation
    with pytest.raises(ValueError, match=r"boast_points=\(5, 4, 3, 2, 1\) instead of \(20, 15, 10, 5, 0\)"):
        PolicyAgent.load(tmp_path, Rules.preset("biggin_2p", boast=True, limit_from_upcard=True))


def test_a_model_plays_under_another_dealer_rule(folder):
    assert PolicyAgent.load(folder).rules == Rules.preset("classic_2p")
    other = Rules.preset("classic_2p", dealer_rule="random")
    assert PolicyAgent.load(folder, other).rules == other


def test_a_folder_is_replaced_as_a_whole(folder):
    other = make_model(torch.nn.ReLU)
    save_policy(folder, other.policy, "classic_2p", DERIVED)
    assert PolicyAgent.load(folder).activation == "relu"
    assert sorted(path.name for path in folder.iterdir()) == ["model.json", "weights.npz"]


@pytest.mark.parametrize("number", [np.nan, np.inf])
def test_weights_that_are_not_finite_are_not_written(folder, number):
    before = (folder / "weights.npz").read_bytes()
    diverged = make_model()
    with torch.no_grad():
        diverged.policy.action_net.bias[0] = number
    with pytest.raises(ValueError, match=r"no longer finite numbers \(actor.2.bias\)"):
        save_policy(folder, diverged.policy, "classic_2p", DERIVED)
    assert (folder / "weights.npz").read_bytes() == before


def test_a_model_is_written_from_a_clone_that_is_not_installed(model, tmp_path, monkeypatch):
    def not_installed(name):
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "version", not_installed)
    save_policy(tmp_path, model.policy, "classic_2p", DERIVED)
    assert read_description(tmp_path)["package_version"] == gin_env.__version__


def change_description(folder, **changes):
    path = folder / "model.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), **changes}))


def damage_weights(folder):
    path = folder / "weights.npz"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 255
    path.write_bytes(content)


def forge_weights(folder, content):
    """Replace the weights by other bytes that the description vouches for."""
    (folder / "weights.npz").write_bytes(content)
    change_description(folder, weights_sha256=hashlib.sha256(content).hexdigest())


def bare_array(folder):
    packed = io.BytesIO()
    np.save(packed, np.zeros(3, np.float32))
    forge_weights(folder, packed.getvalue())


def foreign_archive(folder):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("readme.txt", "no array")
    forge_weights(folder, packed.getvalue())


def scalar_weights(folder):
    arrays = {name: np.float32(0.0) for name in np.load(folder / "weights.npz").files}
    packed = io.BytesIO()
    np.savez(packed, **arrays)
    forge_weights(folder, packed.getvalue())
    change_network(folder, shapes={name: [] for name in arrays})


def change_network(folder, **changes):
    change_description(folder, network={**read_description(folder)["network"], **changes})


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda folder: (folder / "model.json").unlink(), "not a model folder"),
        (lambda folder: (folder / "model.json").write_text("{"), "damaged"),
        (lambda folder: (folder / "model.json").write_text("[]"), "does not describe"),
        (lambda folder: (folder / "model.json").write_bytes(b"\xff\xfe\x00"), "damaged"),
        (lambda folder: change_description(folder, format="something else"), "does not describe"),
        (lambda folder: change_description(folder, format_version=99), "format version.*99"),
        (lambda folder: change_description(folder, rules={"knock_limit": 77}), "knock_limit=77"),
        (lambda folder: change_description(folder, rules={"no_such_rule": 1}), "no_such_rule"),
        (lambda folder: change_description(folder, network={}), "activation=None is not a name"),
        (lambda folder: change_network(folder, shapes={}), "other shapes"),
        (lambda folder: change_description(folder, network=7), "network"),
        (lambda folder: change_description(folder, observation={"options": {"colour": 1}}), "colour"),
        (lambda folder: (folder / "weights.npz").unlink(), "no weights.npz"),
        (damage_weights, "damaged"),
        (lambda folder: (folder / "weights.npz").write_bytes(b""), "damaged"),
        (lambda folder: forge_weights(folder, b"PK nothing"), "damaged"),
        (bare_array, "not an archive of arrays"),
        (foreign_archive, "not an archive of arrays"),
        (scalar_weights, "expected a matrix"),
        (lambda folder: change_network(folder, activation=[]), r"activation=\[\] is not a name"),
        (lambda folder: change_network(folder, activation="swish"), "activation='swish'"),
        (lambda folder: change_description(folder, num_actions=7), "num_actions=7"),
        (lambda folder: change_description(folder, num_actions="many"), "num_actions='many'"),
    ],
)
def test_a_damaged_folder_is_refused(folder, spoil, message):
    spoil(folder)
    with pytest.raises(ValueError, match=message):
        PolicyAgent.load(folder)


def test_a_missing_folder_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no model folder"):
        PolicyAgent.load(tmp_path / "nothing")


def test_a_model_for_another_preset_is_refused(folder):
    with pytest.raises(ValueError, match="trained for classic_2p, not for palace_4p"):
        PolicyAgent.load(folder, "palace_4p")
    with pytest.raises(ValueError, match="gin_bonus=25 instead of 20"):
        PolicyAgent.load(folder, Rules.preset("classic_2p", gin_bonus=20))


def test_a_network_of_another_size_is_refused(model):
    weights = network_weights(model.policy)
    with pytest.raises(ValueError, match="expected weights"):
        PolicyAgent("classic_2p", weights)  # trained with derived features
    five_outputs = {"actor.2.weight": np.zeros((5, 16), np.float32), "actor.2.bias": np.zeros(5, np.float32)}
    with pytest.raises(ValueError, match=r"expected .*actions.*got 5"):
        PolicyAgent("classic_2p", {**weights, **five_outputs}, observation=DERIVED)
    narrow = {"actor.skip.weight": np.zeros((5, 16), np.float32)}
    with pytest.raises(ValueError, match=r"skip connection: .*got \(5, 16\)"):
        PolicyAgent("classic_2p", {**weights, **narrow}, observation=DERIVED)
    with pytest.raises(ValueError, match=r"hold actor.skip.bias"):
        PolicyAgent("classic_2p", {**weights, "actor.skip.bias": np.zeros(5, np.float32)}, observation=DERIVED)
    del weights["actor.0.bias"]
    with pytest.raises(ValueError, match="lack"):
        PolicyAgent("classic_2p", weights, observation=DERIVED)
    with pytest.raises(ValueError, match="lack"):
        PolicyAgent("classic_2p", {}, observation=DERIVED)


def test_views_of_another_game_are_refused():
    """At a table of another preset a policy names both rules, instead of failing in a matrix product."""
    rules = Rules.preset("palace_4p")
    features = ObservationEncoder(rules).size
    actions = action_layout(rules).size
    weights = {
        "actor.0.weight": np.zeros((actions, features), np.float32),
        "actor.0.bias": np.zeros(actions, np.float32),
    }
    agent = PolicyAgent(rules, weights, "relu", ObservationOptions(), name="mine")
    engine = Engine("classic_2p", 2, seed=1)
    engine.reset()
    with pytest.raises(ValueError, match="'mine' was trained for palace_4p, not for classic_2p"):
        agent.act(player_view(engine.state))
