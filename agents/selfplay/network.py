"""The networks of training: sb3-contrib's policy, whose critic may see more than its actor, in bfloat16 where it pays.

On processors with bfloat16 units (AMX, or AVX-512 BF16) training makes about 1.4 times as many decisions
a second. Measured on palace_4p over 360,000 decisions with two seeds, it ended 1 point per deal behind
float32 against random and 1 to 2 behind against simple: a little less per decision, for two thirds of
the time. On other processors bfloat16 is emulated and slower, so ``"auto"`` asks the processor. Weights,
optimizer, logits and values stay float32.

Beside its hidden layers an actor has a skip connection, one linear layer from the features straight to the logits:
features that already say what a throw is worth need not squeeze through the hidden layers.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import nn

from agents.policy.model_files import Model, read_model
from gin_env.observation import ObservationEncoder

Precision = Literal["auto", "float32", "bfloat16"]


class _Extractor(nn.Module):
    """Hidden layers of the actors, which see the first features only, and of the critic, which sees all.

    What the actors return is the last hidden layer with what the skip connection adds to the logits beside it. With
    several actors the last feature says whose decision it is; their hidden layers stand side by side, those of the
    others as zeros.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        activation: type[nn.Module],
        num_features: int,
        num_seen: int,
        num_actions: int,
        num_actors: int,
        in_bfloat16: bool,
    ) -> None:
        super().__init__()
        self.num_seen, self.num_actors, self._in_bfloat16 = num_seen, num_actors, in_bfloat16
        self.actors = nn.ModuleList(_layers([num_seen, *sizes], activation) for _ in range(num_actors))
        self.skips = nn.ModuleList(nn.Linear(num_seen, num_actions, bias=False) for _ in range(num_actors))
        self.critic = _layers([num_features, *sizes], activation)
        self.latent_dim_pi, self.latent_dim_vf = sizes[-1] * num_actors, sizes[-1]

    def forward(self, features: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return self.forward_actor(features), self.forward_critic(features)

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        seen = features[:, : self.num_seen]
        with self._computing(features):
            hidden = [actor(seen).float() for actor in self.actors]
        added = [skip(seen) for skip in self.skips]
        if len(hidden) > 1:
            own = [features[:, -1:] == number for number in range(len(hidden))]
            hidden = [values * mine for values, mine in zip(hidden, own, strict=True)]
            added = [sum(values * mine for values, mine in zip(added, own, strict=True))]
        return torch.cat([*hidden, *added], dim=1)

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        with self._computing(features):
            hidden = self.critic(features)
        return hidden.float()

    def _computing(self, features: torch.Tensor) -> AbstractContextManager[Any]:
        return torch.autocast(features.device.type, dtype=torch.bfloat16) if self._in_bfloat16 else nullcontext()


def _layers(sizes: Sequence[int], activation: type[nn.Module]) -> nn.Sequential:
    pairs = itertools.pairwise(sizes)
    return nn.Sequential(*[layer for inputs, outputs in pairs for layer in (nn.Linear(inputs, outputs), activation())])


class SelfPlayPolicy(MaskableActorCriticPolicy):
    """sb3-contrib's policy with its own hidden layers.

    Parameters
    ----------
    num_seen : int
        How many features the actors see, the first ones; the critic sees all.
    num_actors : int
        1, or one for each of a team's seats; then the last feature is the number of the deciding seat in its team.
    in_bfloat16 : bool
        Whether the hidden layers compute in bfloat16.
    *args, **options
        Of sb3-contrib's policy; ``net_arch`` holds the sizes of the hidden layers of actors and critic.
    """

    mlp_extractor: _Extractor

    def __init__(
        self, *args: Any, num_seen: int, num_actors: int = 1, in_bfloat16: bool = False, **options: Any
    ) -> None:
        self._own = (num_seen, num_actors, in_bfloat16)
        super().__init__(*args, **options)

    def _build_mlp_extractor(self) -> None:
        sizes: Any = self.net_arch
        num_seen, num_actors, in_bfloat16 = self._own
        actions = self.action_space.n
        self.mlp_extractor = _Extractor(
            sizes, self.activation_fn, self.features_dim, num_seen, actions, num_actors, in_bfloat16
        )

    def _build(self, lr_schedule: Schedule) -> None:
        super()._build(lr_schedule)
        for skip in self.mlp_extractor.skips:
            nn.init.zeros_(skip.weight)
        if self.mlp_extractor.num_actors > 1:  # it would be shared
            self.action_net.bias.requires_grad_(False)

    def logits(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the logits (M, A) of all actions, legal or not."""
        return self._logits(self.mlp_extractor.forward_actor(self.extract_features(observations)))

    def _logits(self, latent: torch.Tensor) -> torch.Tensor:
        size = self.mlp_extractor.latent_dim_pi
        return self.action_net(latent[:, :size]) + latent[:, size:]

    def _get_action_dist_from_latent(self, latent_pi: torch.Tensor) -> MaskableDistribution:
        return self.action_dist.proba_distribution(action_logits=self._logits(latent_pi))

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return copies of the weights, named as in a saved model (agents/policy/model_files.py)."""
        named: dict[str, torch.Tensor] = {}
        for number, actor in enumerate(self._actors()):
            named |= _prefixed("actor" if self.mlp_extractor.num_actors == 1 else f"seat_{number}.actor", actor)
        named |= _prefixed("critic", self._critic())
        return {name: tensor.detach().cpu().numpy().astype(np.float32) for name, tensor in named.items()}

    def set_weights(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """Take over weights named as in a saved model; a critic that is missing or of other sizes is left alone.

        Raises ``ValueError`` where a part of an actor is missing or has another shape; only the skip connection may
        be missing, and is then without effect.
        """
        with torch.no_grad():
            for number, actor in enumerate(self._actors()):
                own = f"seat_{number}.actor"
                for name, tensor in _prefixed(own if f"{own}.0.weight" in weights else "actor", actor).items():
                    if name not in weights and name.endswith(".skip.weight"):
                        tensor.zero_()
                        continue
                    if name not in weights or weights[name].shape != tuple(tensor.shape):
                        there = "none" if name not in weights else weights[name].shape
                        raise ValueError(f"{name} is {there}: {tuple(tensor.shape)} is needed")
                    tensor.copy_(torch.from_numpy(weights[name]))
            critic = _prefixed("critic", self._critic())
            if all(name in weights and weights[name].shape == tuple(tensor.shape) for name, tensor in critic.items()):
                for name, tensor in critic.items():
                    tensor.copy_(torch.from_numpy(weights[name]))

    def _actors(self) -> list[dict[str, torch.Tensor]]:
        """Return for each actor its tensors by their names in a saved model, without prefix."""
        extractor, bias = self.mlp_extractor, self.action_net.bias
        heads = self.action_net.weight.chunk(extractor.num_actors, dim=1)
        return [
            _layer_tensors(actor, head, bias) | {"skip.weight": skip.weight}
            for actor, head, skip in zip(extractor.actors, heads, extractor.skips, strict=True)
        ]

    def _critic(self) -> dict[str, torch.Tensor]:
        return _layer_tensors(self.mlp_extractor.critic, self.value_net.weight, self.value_net.bias)


def _layer_tensors(body: nn.Module, head: torch.Tensor, bias: torch.Tensor) -> dict[str, torch.Tensor]:
    layers = [layer for layer in body.children() if isinstance(layer, nn.Linear)]
    pairs = [*((layer.weight, layer.bias) for layer in layers), (head, bias)]
    return {
        f"{number}.{kind}": tensor
        for number, pair in enumerate(pairs)
        for kind, tensor in zip(("weight", "bias"), pair, strict=True)
    }


def _prefixed(prefix: str, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def activation_class(name: str) -> type[nn.Module]:
    """Return PyTorch's class of an activation that ``agents.policy.policy_agent.ACTIVATIONS`` names."""
    return next(kind for kind_name, kind in vars(nn).items() if kind_name.lower() == name)


def uses_bfloat16(precision: Precision) -> bool:
    """Return whether a precision means bfloat16; ``"auto"`` does where the processor computes in it."""
    return _computes_bfloat16() if precision == "auto" else precision == "bfloat16"


def _computes_bfloat16() -> bool:
    # get_capabilities is newer than the oldest torch allowed; without it float32 is the safe answer.
    capabilities: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))


def read_init(folder: Path, encoder: ObservationEncoder) -> Model:
    """Return a saved model to begin with; raises ``ValueError`` where it sees other features."""
    model = read_model(folder)
    seen = [(section.name, section.width) for section in ObservationEncoder(model.rules, model.observation).sections]
    if seen != [(section.name, section.width) for section in encoder.sections]:
        raise ValueError(f"--init {folder}: that network sees other features; train with the same observation options")
    return model


def begin_with(policy: SelfPlayPolicy, folder: Path, encoder: ObservationEncoder, activation: str) -> None:
    """Give a policy the network of a saved model, also of other rules, if only it sees and may do the same things.

    Raises ``ValueError`` where it does not, or where its network has other sizes.
    """
    model = read_init(folder, encoder)
    if model.activation != activation:
        raise ValueError(f"--init {folder}: that network has --activation {model.activation}")
    num_actors = len({name.split(".")[0] for name in model.weights if name.startswith("seat_")})
    if num_actors > policy.mlp_extractor.num_actors:
        raise ValueError(f"--init {folder}: that network has {num_actors} actors, one for each seat; give --per-seat")
    try:
        policy.set_weights(model.weights)
    except ValueError as error:
        raise ValueError(f"--init {folder}: {error}; give the --net of that model") from None
