"""A trained network as an ``Agent``, run by NumPy alone (the files: ``agents/policy/model_files.py``).

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
    """An actor, or a critic, as it is computed."""

    layers: list[tuple[Float32Array, Float32Array]]  #: weights (outputs, inputs) and biases (outputs,)
    skip: Float32Array | None  #: weights (A, F) from the features straight to the logits


def _relu(values: Float32Array) -> Float32Array:
    return np.maximum(values, np.float32(0.0))


#: The activations known to training and play, each by the name of PyTorch's class in lower case.
ACTIVATIONS: dict[str, Callable[[Float32Array], Float32Array]] = {"tanh": np.tanh, "relu": _relu}


class PolicyAgent(Agent):
    """Plays a feed-forward network's best legal action, or samples from its distribution.

    Parameters
    ----------
    rules : Rules or str
    weights : mapping of str to float32 array
        As ``agents/policy/model_files.py`` names them; the critic may be missing. There is one actor for all seats, or
        one for each seat of a team.
    activation : str
        A name of ``ACTIVATIONS``.
    observation : ObservationOptions, optional
    greedy : bool
        Whether to play the likeliest action rather than a random one by its probability.
    name : str
    offers : bool
        Whether it may offer cards to its partner; a network trained without trading does not.
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
            raise ValueError(f"activation={activation!r}: must be one of {', '.join(ACTIVATIONS)}")
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
            The rules to play by; those of the training by default. They must be the same but for
            ``model_files.HARMLESS_RULES``, since any other rule changes what is seen, allowed or good.
        greedy, name
            As for the class; the folder's name by default.

        Raises
        ------
        ValueError
            The folder is missing, foreign, damaged, of another format version, or for other rules.
        """
        model = read_model(path)
        played = model.rules if rules is None else resolve_rules(rules)
        check_rules(str(path), model.rules, played)
        name = name or Path(path).resolve().name
        return cls(played, model.weights, model.activation, model.observation, greedy, name, model.offers)

    def set_weights(self, weights: Weights) -> None:
        """Replace the weights; raises ``ValueError`` where they do not fit this game."""
        names = _actors(weights)
        team_size = self.rules.num_players // self.rules.num_teams
        if len(names) not in (1, team_size):
            raise ValueError(f"{len(names)} actors: 1 is needed, or {team_size} (one for each seat of a team)")
        num_actions = action_layout(self.rules).size
        networks = [self._checked(_network(weights, name), num_actions, "actions") for name in names]
        self.weights, self._networks = weights, networks

    def _checked(self, network: Network, num_outputs: int, what: str) -> Network:
        sizes = [self.encoder.size, *[len(bias) for _, bias in network.layers]]
        for (weight, bias), inputs, outputs in zip(network.layers, sizes[:-1], sizes[1:], strict=True):
            if weight.shape != (outputs, inputs) or bias.shape != (outputs,):
                raise ValueError(f"a layer has weights {weight.shape}: ({outputs}, {inputs}) is needed")
        if sizes[-1] != num_outputs:
            raise ValueError(f"the network has {sizes[-1]} outputs: {num_outputs} {what} are needed")
        if network.skip is not None and network.skip.shape != (num_outputs, self.encoder.size):
            raise ValueError(
                f"the skip connection has weights {network.skip.shape}: ({num_outputs}, {self.encoder.size}) is needed"
            )
        return network

    def act(self, view: PlayerView) -> NDArray[np.intp]:
        """Return the actions (M,); raises ``ValueError`` for views of a game that the network does not know."""
        view = self._known(view)
        logits, legal = self.logits(view), view.legal_mask
        if self.greedy:
            return np.where(legal, logits, -np.inf).argmax(axis=1)
        return _sample(logits, legal, self.generator)

    def thoughts(self, view: PlayerView) -> list[Thought]:
        """Return what the network thinks of each decision of a view (``agents/thoughts.py``).

        The probabilities are the softmax of the legal actions' logits, whether or not it plays greedily. The value is
        the critic's: the reward that it expects from here to the end of an episode as in training, in units of the
        training's rewards (``training`` in model.json names the reward and the episode). It is None where the weights
        have no critic, as in the networks that are shipped, or one that sees more than the view holds: the hidden
        cards, as train.py trains it by default.

        Raises ``ValueError`` for views of a game that the network does not know, and for a critic that is damaged.
        """
        view = self._known(view)
        observations = self.encoder.encode(view)
        masked = np.where(view.legal_mask, self._logits(view, observations), -np.inf).astype(np.float64)
        odds = np.exp(masked - masked.max(axis=1, keepdims=True))
        critic = self._critic()
        values = None if critic is None else self._outputs(observations, critic)[:, 0]
        return thoughts_of(view, odds / odds.sum(axis=1, keepdims=True), values)

    def _critic(self) -> Network | None:
        """Return the critic, None where there is none or where it sees more than an observation."""
        first = self.weights.get("critic.0.weight")
        if first is None or first.shape[1:] != (self.encoder.size,):
            return None
        return self._checked(_network(self.weights, "critic"), 1, "value")

    def _known(self, view: PlayerView) -> PlayerView:
        """Return the view as the network takes it; raises ``ValueError`` for a game that it does not know."""
        if view.rules is not self.rules:
            check_rules(self.name, self.rules, view.rules)
        return self.seen(view)

    def seen(self, view: PlayerView) -> PlayerView:
        """Return the view as the network takes it: without the offers that it may not make."""
        return view if self.offers else view.without_offers()

    def logits(self, view: PlayerView) -> Float32Array:
        """Return the network's outputs (M, A) for the decisions of a view, legal or not."""
        return self._logits(view, self.encoder.encode(self.seen(view)))

    def _logits(self, view: PlayerView, observations: Float32Array) -> Float32Array:
        if len(self._networks) == 1:
            return self._outputs(observations, self._networks[0])
        outputs = np.empty((len(view), view.layout.size), dtype=np.float32)
        for place, network in enumerate(self._networks):
            rows = np.flatnonzero(view.seat // self.rules.num_teams == place)
            outputs[rows] = self._outputs(observations[rows], network)
        return outputs

    def _outputs(self, features: Float32Array, network: Network) -> Float32Array:
        activate, values = ACTIVATIONS[self.activation], features
        for weight, bias in network.layers[:-1]:
            values = activate(values @ weight.T + bias)
        weight, bias = network.layers[-1]
        logits = values @ weight.T + bias
        return logits if network.skip is None else logits + features @ network.skip.T


def _sample(logits: Float32Array, legal: NDArray[np.bool_], generator: np.random.Generator) -> NDArray[np.intp]:
    """Return one random legal action for each row by the softmax of its legal logits."""
    masked = np.where(legal, logits, -np.inf)
    ends = np.cumsum(np.exp(masked - masked.max(axis=1, keepdims=True)), axis=1, dtype=np.float64)
    picks = generator.random(len(logits)) * ends[:, -1]
    below_the_end = np.nextafter(ends[:, -1], 0.0)  # rounding must not lift a pick over every end
    return (ends > np.minimum(picks, below_the_end)[:, None]).argmax(axis=1)


def _network(weights: Weights, part: str) -> Network:
    skip_name = f"{part}.skip.weight"
    count = sum(name.startswith(f"{part}.") and name.endswith(".weight") for name in weights.keys() - {skip_name})
    try:
        layers = [(weights[f"{part}.{number}.weight"], weights[f"{part}.{number}.bias"]) for number in range(count)]
    except KeyError as missing:
        raise ValueError(f"the weights lack {missing}") from None
    if not layers:
        raise ValueError(f"the weights lack '{part}.0.weight'")
    for number, (weight, bias) in enumerate(layers):
        if weight.ndim != 2 or bias.ndim != 1:
            raise ValueError(
                f"{part}.{number} has weights {weight.shape} and biases {bias.shape}: a matrix and a vector are needed"
            )
    names = {f"{part}.{number}.{kind}" for number in range(count) for kind in ("weight", "bias")} | {skip_name}
    foreign = sorted(name for name in weights if name.startswith(f"{part}.") and name not in names)
    if foreign:
        raise ValueError(f"the weights hold {', '.join(foreign)}, which no network here has")
    return Network(layers, weights.get(skip_name))


def actor_weights(weights: Weights) -> dict[str, Float32Array]:
    """Return the weights of the actors, all that playing needs."""
    return {name: array for name, array in weights.items() if not name.startswith("critic.")}


def _actors(weights: Weights) -> list[str]:
    """Return the names of the actors: one for all seats, or one for each seat of a team."""
    by_seat = {name.split(".")[0] for name in weights if name.startswith("seat_")}
    return [f"seat_{number}.actor" for number in range(len(by_seat))] or ["actor"]


def network_weights(policy: Any) -> dict[str, Float32Array]:
    """Return copies of the weights of an sb3-contrib ``MaskableActorCriticPolicy``, named as in a saved model.

    A policy that names its own weights (``SelfPlayPolicy``) has a method ``weights``.
    """
    if hasattr(policy, "weights"):
        return policy.weights()
    state = {name: tensor.detach().cpu().numpy() for name, tensor in policy.state_dict().items()}
    weights = {}
    for part, body, head in (
        ("actor", "mlp_extractor.policy_net.", "action_net"),
        ("critic", "mlp_extractor.value_net.", "value_net"),
    ):
        hidden = [name.removesuffix(".weight") for name in state if name.startswith(body) and name.endswith(".weight")]
        for number, source in enumerate([*hidden, head]):
            for kind in ("weight", "bias"):
                weights[f"{part}.{number}.{kind}"] = state[f"{source}.{kind}"].astype(np.float32)
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
        The folder; made where missing, and its model replaced where there is one.
    policy : MaskableActorCriticPolicy
        With a plain multi-layer network (``net_arch``) of tanh or relu.
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
