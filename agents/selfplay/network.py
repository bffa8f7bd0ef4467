"""The network that is trained: sb3-contrib's policy with a privileged critic, in bfloat16 where that is faster.

On processors with bfloat16 units (AMX, or AVX-512 BF16) training makes about 1.4 times as many decisions per second.
Measured on palace_4p over 360,000 decisions with two seeds, it ended 1 point per deal behind float32 against random and
1 to 2 points behind against simple: slightly worse per decision, in two thirds of the time. On other processors
bfloat16 is emulated and slower, so ``"auto"`` asks the processor. Weights, optimizer, logits and values stay float32.

Next to its hidden layers an actor has a skip connection, one linear layer from the features directly to the logits:
features that already say what a discard is worth need not pass through the hidden layers.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from sb3_contrib.common.maskable.distributions import MaskableDistribution
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.type_aliases import Schedule
from torch import nn

Precision = Literal["auto", "float32", "bfloat16"]


class _Extractor(nn.Module):
    """Hidden layers of the actors, which see the first features only, and of the critic, which sees all of them.

    ``forward_actor`` returns the last hidden layer, followed by the output of the skip connection (one number per
    action). With several actors the last feature is the number of the deciding actor; the hidden layers of all actors
    are concatenated, and those of the actors that do not decide are zeros.
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
        with self._precision(features):
            hidden = [actor(seen).float() for actor in self.actors]
        skipped = [skip(seen) for skip in self.skips]

        # Only the actor whose seat decides counts: the others' values are multiplied by zero.
        if len(hidden) > 1:
            decides = [features[:, -1:] == number for number in range(len(hidden))]
            hidden = [values * mask for values, mask in zip(hidden, decides, strict=True)]
            skipped = [sum(values * mask for values, mask in zip(skipped, decides, strict=True))]

        return torch.cat([*hidden, *skipped], dim=1)

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        with self._precision(features):
            hidden = self.critic(features)
        return hidden.float()

    def _precision(self, features: torch.Tensor) -> AbstractContextManager[Any]:
        """Return the context in which the hidden layers are computed."""
        return torch.autocast(features.device.type, dtype=torch.bfloat16) if self._in_bfloat16 else nullcontext()


def _layers(sizes: Sequence[int], activation: type[nn.Module]) -> nn.Sequential:
    """Return fully connected layers of the given sizes, each followed by the activation."""
    layers: list[nn.Module] = []
    for inputs, outputs in itertools.pairwise(sizes):
        layers += [nn.Linear(inputs, outputs), activation()]
    return nn.Sequential(*layers)


class SelfPlayPolicy(MaskableActorCriticPolicy):
    """sb3-contrib's policy with a privileged critic, skip connections and, if wanted, one actor per seat.

    Parameters
    ----------
    num_seen : int
        Number of features that the actors see: the first ones. The critic sees all.
    num_actors : int
        1, or one for each of a team's seats; then the last feature is the number of the deciding seat in its team.
    in_bfloat16 : bool
        Whether the hidden layers compute in bfloat16.
    *args, **options
        Passed on to sb3-contrib's policy; ``net_arch`` holds the sizes of the hidden layers of actors and critic.
    """

    mlp_extractor: _Extractor

    def __init__(
        self, *args: Any, num_seen: int, num_actors: int = 1, in_bfloat16: bool = False, **options: Any
    ) -> None:
        # Set first: the base class calls _build_mlp_extractor.
        self._num_seen, self._num_actors, self._in_bfloat16 = num_seen, num_actors, in_bfloat16
        super().__init__(*args, **options)

    def _build_mlp_extractor(self) -> None:
        sizes: Any = self.net_arch
        self.mlp_extractor = _Extractor(
            sizes,
            self.activation_fn,
            num_features=self.features_dim,
            num_seen=self._num_seen,
            num_actions=self.action_space.n,
            num_actors=self._num_actors,
            in_bfloat16=self._in_bfloat16,
        )

    def _build(self, lr_schedule: Schedule) -> None:
        super()._build(lr_schedule)
        for skip in self.mlp_extractor.skips:
            nn.init.zeros_(skip.weight)
        if self.mlp_extractor.num_actors > 1:  # the actors would share this bias
            self.action_net.bias.requires_grad_(False)

    def logits(self, observations: torch.Tensor) -> torch.Tensor:
        """Return the logits (M, A) of all actions, legal or not."""
        return self._logits(self.mlp_extractor.forward_actor(self.extract_features(observations)))

    def _logits(self, latent: torch.Tensor) -> torch.Tensor:
        """Return the logits from what ``forward_actor`` returned: the output layer plus the skip connection."""
        size = self.mlp_extractor.latent_dim_pi
        return self.action_net(latent[:, :size]) + latent[:, size:]

    def _get_action_dist_from_latent(self, latent_pi: torch.Tensor) -> MaskableDistribution:
        return self.action_dist.proba_distribution(action_logits=self._logits(latent_pi))

    def weights(self) -> dict[str, NDArray[np.float32]]:
        """Return copies of the weights, named as in a saved model (agents/policy/model_files.py)."""
        tensors: dict[str, torch.Tensor] = {}
        for number, actor in enumerate(self._actors()):
            prefix = "actor" if self.mlp_extractor.num_actors == 1 else f"seat_{number}.actor"
            tensors |= _prefixed(prefix, actor)
        tensors |= _prefixed("critic", self._critic())
        return {name: tensor.detach().cpu().numpy().astype(np.float32) for name, tensor in tensors.items()}

    def set_weights(self, weights: Mapping[str, NDArray[np.float32]]) -> None:
        """Copy weights named as in a saved model into the policy.

        One actor fills every actor of the policy. A missing skip connection becomes zero, that is, without effect. A
        critic that is missing or of other sizes leaves the policy's critic as it is.

        Raises
        ------
        ValueError
            A part of an actor is missing or has another shape.
        """
        with torch.no_grad():
            for number, actor in enumerate(self._actors()):
                has_own = f"seat_{number}.actor.0.weight" in weights
                for name, tensor in _prefixed(f"seat_{number}.actor" if has_own else "actor", actor).items():
                    _copy_actor_weight(weights, name, tensor)

            critic = _prefixed("critic", self._critic())
            if all(name in weights and weights[name].shape == tuple(tensor.shape) for name, tensor in critic.items()):
                for name, tensor in critic.items():
                    tensor.copy_(torch.from_numpy(weights[name]))

    def _actors(self) -> list[dict[str, torch.Tensor]]:
        """Return the tensors of each actor by their names in a saved model, without the prefix."""
        extractor, bias = self.mlp_extractor, self.action_net.bias
        heads = self.action_net.weight.chunk(extractor.num_actors, dim=1)
        return [
            _layer_tensors(actor, head, bias) | {"skip.weight": skip.weight}
            for actor, head, skip in zip(extractor.actors, heads, extractor.skips, strict=True)
        ]

    def _critic(self) -> dict[str, torch.Tensor]:
        """Return the tensors of the critic by their names in a saved model, without the prefix."""
        return _layer_tensors(self.mlp_extractor.critic, self.value_net.weight, self.value_net.bias)


def _copy_actor_weight(weights: Mapping[str, NDArray[np.float32]], name: str, tensor: torch.Tensor) -> None:
    """Copy one array of a saved actor into its tensor; raises ``ValueError`` where it does not fit."""
    if name not in weights and name.endswith(".skip.weight"):
        tensor.zero_()
        return
    if name not in weights or weights[name].shape != tuple(tensor.shape):
        shape = weights[name].shape if name in weights else "nothing"
        raise ValueError(f"{name}: expected shape {tuple(tensor.shape)}, got {shape}")
    tensor.copy_(torch.from_numpy(weights[name]))


def _layer_tensors(hidden: nn.Module, head: torch.Tensor, bias: torch.Tensor) -> dict[str, torch.Tensor]:
    """Return the weights and biases of the hidden layers and of the output layer, numbered from 0."""
    layers = [(layer.weight, layer.bias) for layer in hidden.children() if isinstance(layer, nn.Linear)]
    tensors = {}
    for number, (layer_weight, layer_bias) in enumerate([*layers, (head, bias)]):
        tensors[f"{number}.weight"] = layer_weight
        tensors[f"{number}.bias"] = layer_bias
    return tensors


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
