"""A trained network as an ``Agent``, run by NumPy alone; ``agents/policy/model_files.py`` reads and writes its files.

>>> agent = PolicyAgent.load("runs/first", "palace_4p")
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.policy.model_files import Float32Array, Model, Weights, check_rules, read_model, write_model
from agents.thoughts import thoughts_of
from gin_env.engine import action_layout
from gin_env.episodes import Agent
from gin_env.notation.records import Thought
from gin_env.observation import ObservationEncoder, PlayerView
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import Rules, resolve_rules


class Network(NamedTuple):
    """The layers of an actor or a critic."""

    layers: list[tuple[Float32Array, Float32Array]]  #: weights (outputs, inputs) and biases (outputs,)
    skip: Float32Array | None  #: weights (A, F) from the features directly to the logits


def _relu(values: Float32Array) -> Float32Array:
    return np.maximum(values, np.float32(0.0))


#: The activations of training and play, by the lower-case name of PyTorch's class.
ACTIVATIONS: dict[str, Callable[[Float32Array], Float32Array]] = {"tanh": np.tanh, "relu": _relu}


class PolicyAgent(Agent):
    """Plays a feed-forward network's best legal action, or samples from its distribution.

    Parameters
    ----------
    rules : Rules or str
    weights : mapping of str to float32 array
        Named as in ``agents/policy/model_files.py``: one actor for all seats, or one for each seat of a team. The
        critic may be missing.
    activation : str
        A name of ``ACTIVATIONS``.
    observation : ObservationOptions, optional
    greedy : bool
        Whether to play the most probable action, rather than to sample one.
    name : str
    offers : bool
        Whether it may offer cards to its partner; a network that was trained without offers may not.

    Raises
    ------
    ValueError
        The activation is unknown, or the weights do not fit the rules and the observation.
    """

    def __init__(
        self,
        rules: Rules | str,
        weights: Weights,
        activation: str = "tanh",
        observation: ObservationOptions | None = None,
        greedy: bool = True,
        name: str = "policy",
        offers: bool = True,
    ) -> None:
        super().__init__()
        self.rules = resolve_rules(rules)
        self.encoder = ObservationEncoder(self.rules, observation)
        if activation not in ACTIVATIONS:
            raise ValueError(f"activation={activation!r}: expected one of {', '.join(ACTIVATIONS)}")
        self.activation = activation
        self.greedy = greedy
        self.name = name
        self.offers = offers
        self.set_weights(weights)

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        rules: Rules | str | None = None,
        greedy: bool = True,
        name: str | None = None,
    ) -> PolicyAgent:
        """Read a model folder.

        Parameters
        ----------
        path : path
            The folder.
        rules : Rules or str, optional
            The rules to play by; those of the training by default. They may differ only in
            ``model_files.HARMLESS_RULES``: any other rule changes what is observed, legal or good.
        greedy : bool
            As for the class.
        name : str, optional
            The folder's name by default.

        Raises
        ------
        ValueError
            The folder is missing, damaged, not a model, of another format version, or for other rules.
        """
        model = read_model(path)
        played_rules = model.rules if rules is None else resolve_rules(rules)
        check_rules(str(path), model.rules, played_rules)
        return cls(
            played_rules,
            model.weights,
            model.activation,
            model.observation,
            greedy=greedy,
            name=name or Path(path).resolve().name,
            offers=model.offers,
        )

    def set_weights(self, weights: Weights) -> None:
        """Replace the weights.

        Raises
        ------
        ValueError
            They do not fit the rules and the observation.
        """
        actors = _actors(weights)
        team_size = self.rules.num_players // self.rules.num_teams
        if len(actors) not in (1, team_size):
            raise ValueError(
                f"expected 1 actor, or {team_size} (one for each seat of a team), got {len(actors)} actors"
            )

        num_actions = action_layout(self.rules).size
        networks = [self._checked(_network(weights, actor), num_actions, "actions") for actor in actors]
        self.weights, self._networks = weights, networks

    def _checked(self, network: Network, num_outputs: int, meaning: str) -> Network:
        """Return a network; raises ``ValueError`` unless it leads from the features to ``num_outputs`` outputs."""
        num_features = self.encoder.size
        sizes = [num_features, *[len(bias) for _, bias in network.layers]]
        for (weight, bias), inputs, outputs in zip(network.layers, sizes[:-1], sizes[1:], strict=True):
            if weight.shape != (outputs, inputs) or bias.shape != (outputs,):
                raise ValueError(f"a layer: expected weights ({outputs}, {inputs}), got {weight.shape}")

        if sizes[-1] != num_outputs:
            raise ValueError(f"the network: expected {num_outputs} outputs ({meaning}), got {sizes[-1]}")
        if network.skip is not None and network.skip.shape != (num_outputs, num_features):
            raise ValueError(
                f"the skip connection: expected weights ({num_outputs}, {num_features}), got {network.skip.shape}"
            )
        return network

    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return the actions (M,); raises ``ValueError`` for a view of a game that the network was not trained for."""
        view = self._checked_view(view)
        logits, legal = self.logits(view), view.legal_mask
        if self.greedy:
            return np.where(legal, logits, -np.inf).argmax(axis=1)
        return _sample(logits, legal, self.generator)

    def thoughts(self, view: PlayerView) -> list[Thought]:
        """Return action probabilities and a value for each decision of a view (``agents/thoughts.py``).

        The probabilities are the softmax of the legal actions' logits, whether or not the agent plays greedily. The
        value is the critic's: the expected sum of rewards from here to the end of the episode, with the reward and the
        episode of the training (``training`` in model.json names them). It is None where the weights have no critic, as
        in the shipped networks, or a privileged one that sees more than the view holds, as train.py trains by default.

        Raises
        ------
        ValueError
            The view is of a game that the network was not trained for, or the critic is damaged.
        """
        view = self._checked_view(view)
        observations = self.encoder.encode(view)
        masked = np.where(view.legal_mask, self._logits(view, observations), -np.inf).astype(np.float64)
        odds = np.exp(masked - masked.max(axis=1, keepdims=True))
        probabilities = odds / odds.sum(axis=1, keepdims=True)

        critic = self._critic()
        values = None if critic is None else self._outputs(observations, critic)[:, 0]
        return thoughts_of(view, probabilities, values)

    def _critic(self) -> Network | None:
        """Return the critic; None where there is none, or a privileged one that sees more than an observation."""
        first = self.weights.get("critic.0.weight")
        if first is None or first.shape[1:] != (self.encoder.size,):
            return None
        return self._checked(_network(self.weights, "critic"), 1, "value")

    def _checked_view(self, view: PlayerView) -> PlayerView:
        """Return the view as the network sees it; raises ``ValueError`` unless it is of a game that it knows."""
        if view.rules is not self.rules:
            check_rules(self.name, self.rules, view.rules)
        return self.seen(view)

    def seen(self, view: PlayerView) -> PlayerView:
        """Return the view as the network sees it: without the offers that it may not make."""
        return view if self.offers else view.without_offers()

    def logits(self, view: PlayerView) -> Float32Array:
        """Return the network's outputs (M, A) for the decisions of a view, legal or not."""
        return self._logits(view, self.encoder.encode(self.seen(view)))

    def _logits(self, view: PlayerView, observations: Float32Array) -> Float32Array:
        """Return the logits (M, A) for the encoded decisions (M, F) of a view."""
        if len(self._networks) == 1:
            return self._outputs(observations, self._networks[0])

        # Each seat of a team has its own network.
        logits = np.empty((len(view), view.layout.size), dtype=np.float32)
        for seat_in_team, network in enumerate(self._networks):
            rows = np.flatnonzero(view.seat // self.rules.num_teams == seat_in_team)
            logits[rows] = self._outputs(observations[rows], network)
        return logits

    def _outputs(self, features: Float32Array, network: Network) -> Float32Array:
        """Return a network's outputs for features (M, F)."""
        activate, values = ACTIVATIONS[self.activation], features
        for weight, bias in network.layers[:-1]:
            values = activate(values @ weight.T + bias)
        weight, bias = network.layers[-1]
        outputs = values @ weight.T + bias
        return outputs if network.skip is None else outputs + features @ network.skip.T


def _sample(logits: Float32Array, legal: NDArray[np.bool_], generator: np.random.Generator) -> NDArray[np.intp]:
    """Sample a legal action in each row (M,) from the softmax of its legal logits."""
    masked = np.where(legal, logits, -np.inf)
    odds = np.exp(masked - masked.max(axis=1, keepdims=True))

    # Inverse transform sampling: the first action whose cumulated odds exceed a random point.
    cumulated = np.cumsum(odds, axis=1, dtype=np.float64)
    totals = cumulated[:, -1]
    points = generator.random(len(logits)) * totals
    points = np.minimum(points, np.nextafter(totals, 0.0))  # rounding must not lift a point to the total
    return (cumulated > points[:, None]).argmax(axis=1)


def _network(weights: Weights, part: str) -> Network:
    """Return the layers of an actor or a critic, whose names begin with ``part``.

    Raises
    ------
    ValueError
        A layer is missing or has another number of dimensions, or there is an array that no layer has.
    """
    skip_name = f"{part}.skip.weight"
    own_names = [name for name in weights if name.startswith(f"{part}.")]
    num_layers = sum(name.endswith(".weight") for name in own_names if name != skip_name)
    try:
        layers = [(weights[f"{part}.{layer}.weight"], weights[f"{part}.{layer}.bias"]) for layer in range(num_layers)]
    except KeyError as missing:
        raise ValueError(f"the weights lack {missing}") from None
    if not layers:
        raise ValueError(f"the weights lack '{part}.0.weight'")

    for number, (weight, bias) in enumerate(layers):
        if weight.ndim != 2 or bias.ndim != 1:
            raise ValueError(
                f"{part}.{number}: expected a matrix of weights and a vector of biases, "
                f"got shapes {weight.shape} and {bias.shape}"
            )

    layer_names = {f"{part}.{layer}.{kind}" for layer in range(num_layers) for kind in ("weight", "bias")}
    unknown = sorted(set(own_names) - layer_names - {skip_name})
    if unknown:
        raise ValueError(f"the weights hold {', '.join(unknown)}, which are not part of a network")

    return Network(layers, weights.get(skip_name))


def actor_weights(weights: Weights) -> dict[str, Float32Array]:
    """Return the weights without the critic, which playing does not need."""
    return {name: array for name, array in weights.items() if not name.startswith("critic.")}


def _actors(weights: Weights) -> list[str]:
    """Return the names of the actors: one for all seats, or one for each seat of a team."""
    num_seats = len({name.split(".")[0] for name in weights if name.startswith("seat_")})
    return [f"seat_{seat}.actor" for seat in range(num_seats)] or ["actor"]


def network_weights(policy: Any) -> dict[str, Float32Array]:
    """Return copies of the weights of an sb3-contrib ``MaskableActorCriticPolicy``, named as in a saved model.

    A policy that has a method ``weights`` (``SelfPlayPolicy``) names them itself.
    """
    if hasattr(policy, "weights"):
        return policy.weights()

    # sb3-contrib's names: hidden layers in the order of the state dict, then the output layer.
    state = {name: tensor.detach().cpu().numpy() for name, tensor in policy.state_dict().items()}
    weights = {}
    for part, prefix, output_layer in (
        ("actor", "mlp_extractor.policy_net.", "action_net"),
        ("critic", "mlp_extractor.value_net.", "value_net"),
    ):
        hidden = [
            name.removesuffix(".weight") for name in state if name.startswith(prefix) and name.endswith(".weight")
        ]
        for number, layer in enumerate([*hidden, output_layer]):
            for kind in ("weight", "bias"):
                weights[f"{part}.{number}.{kind}"] = state[f"{layer}.{kind}"].astype(np.float32)
    return weights


def save_policy(
    path: str | os.PathLike[str],
    policy: Any,
    rules: Rules | str,
    observation: ObservationOptions | None = None,
    training: Mapping[str, Any] | None = None,
    offers: bool = True,
) -> None:
    """Write a policy of sb3-contrib's ``MaskablePPO`` as a model folder.

    Parameters
    ----------
    path : path
        The folder; made where missing. A model that it holds is replaced.
    policy : MaskableActorCriticPolicy
        With a plain multi-layer network (``net_arch``) and tanh or relu.
    rules : Rules or str
    observation : ObservationOptions, optional
    training : mapping, optional
        Facts for the description: timesteps, seed, ... (JSON values).
    offers : bool
        As for :class:`PolicyAgent`.

    Raises
    ------
    ValueError
        A network that :class:`PolicyAgent` could not run, or weights that are not finite.
    """
    rules, observation = resolve_rules(rules), observation or ObservationOptions()
    model = Model(rules, observation, policy.activation_fn.__name__.lower(), network_weights(policy), offers)
    PolicyAgent(rules, model.weights, model.activation, observation)  # raises where the network does not fit
    write_model(path, model, training or {})
