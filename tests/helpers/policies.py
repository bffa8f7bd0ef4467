"""Policies of training with random weights, on an environment that shows hidden cards to the critic."""

from __future__ import annotations

import torch
from sb3_contrib import MaskablePPO

from agents.selfplay.network import SelfPlayPolicy
from gin_env.envs.sb3 import GinVecEnv
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
