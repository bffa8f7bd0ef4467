"""The policy network of training: sb3-contrib's, its hidden layers in bfloat16 where the processor is built for it.

On processors with bfloat16 units (AMX, or AVX-512 BF16) training makes about 1.4 times as many decisions
a second. Measured on palace_4p over 360,000 decisions with two seeds, it ended 1 point per deal behind
float32 against random and 1 to 2 behind against simple: a little less per decision, for two thirds of
the time. On other processors bfloat16 is emulated and slower, so ``"auto"`` asks the processor. Weights,
optimizer, logits and values stay float32.
"""

from __future__ import annotations

from typing import Literal

import torch
from sb3_contrib.common.maskable.policies import MaskableActorCriticPolicy
from stable_baselines3.common.torch_layers import MlpExtractor

Precision = Literal["auto", "float32", "bfloat16"]


class _BFloat16Extractor(MlpExtractor):
    """Hidden layers that compute in bfloat16."""

    def forward_actor(self, features: torch.Tensor) -> torch.Tensor:
        with torch.autocast(features.device.type, dtype=torch.bfloat16):
            hidden = super().forward_actor(features)
        return hidden.float()

    def forward_critic(self, features: torch.Tensor) -> torch.Tensor:
        with torch.autocast(features.device.type, dtype=torch.bfloat16):
            hidden = super().forward_critic(features)
        return hidden.float()


class BFloat16Policy(MaskableActorCriticPolicy):
    """sb3-contrib's policy with hidden layers in bfloat16."""

    def _build_mlp_extractor(self) -> None:
        self.mlp_extractor = _BFloat16Extractor(
            self.features_dim, net_arch=self.net_arch, activation_fn=self.activation_fn, device=self.device
        )


def activation_class(name: str) -> type[torch.nn.Module]:
    """Return PyTorch's class of an activation that ``agents.policy.ACTIVATIONS`` names."""
    return next(kind for kind_name, kind in vars(torch.nn).items() if kind_name.lower() == name)


def policy_class(precision: Precision) -> type[MaskableActorCriticPolicy]:
    """Return the policy class of a precision; ``"auto"`` takes bfloat16 where the processor computes in it."""
    if precision == "auto":
        precision = "bfloat16" if _computes_bfloat16() else "float32"
    return BFloat16Policy if precision == "bfloat16" else MaskableActorCriticPolicy


def _computes_bfloat16() -> bool:
    # get_capabilities is newer than the oldest torch allowed; without it float32 is the safe answer.
    capabilities: dict[str, bool] = getattr(torch.cpu, "get_capabilities", dict)()
    return bool(capabilities.get("avx512_bf16") or capabilities.get("amx_bf16"))
