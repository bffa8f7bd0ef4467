"""What a training is assembled from: its environment, its learner and its opponent pool, made from the options."""

from __future__ import annotations

from collections import deque

import torch
from sb3_contrib import MaskablePPO

from agents.policy import PolicyAgent
from agents.policy.model_files import Weights
from agents.selfplay.arguments import Arguments
from agents.selfplay.initial_network import load_initial_network
from agents.selfplay.network import SelfPlayPolicy, activation_class, uses_bfloat16
from agents.selfplay.opponent_pool import SELF, OpponentPool
from agents.selfplay.rollout_buffer import LeanRolloutBuffer
from agents.selfplay.training_agents import TrainingAgents
from gin_env.envs.sb3 import GinVecEnv


def make_env(arguments: Arguments) -> GinVecEnv:
    """Return the rows of the learner; the trainer sets their opponents before each rollout."""
    return GinVecEnv(
        arguments.rules,
        arguments.rows,
        episode=arguments.episode,
        reward=arguments.reward,
        observation=arguments.observation,
        seed=arguments.seed,
        show_hidden=arguments.hidden_critic,
        offers=arguments.offers,
    )


def make_learner(arguments: Arguments, env: GinVecEnv) -> MaskablePPO:
    """Return MaskablePPO with its network, which is random or that of ``--init``.

    Raises
    ------
    ValueError
        The network of ``--init`` does not fit the options.
    """
    torch.set_num_threads(arguments.threads)
    torch.distributions.Distribution.set_default_validate_args(False)  # costs time and never finds anything here

    rules = env.table.rules
    model = MaskablePPO(
        SelfPlayPolicy,
        env,
        n_steps=arguments.steps,
        batch_size=arguments.minibatch,
        n_epochs=arguments.epochs,
        gamma=1.0,
        gae_lambda=arguments.gae_lambda,
        clip_range=arguments.clip,
        max_grad_norm=arguments.grad_norm,
        rollout_buffer_class=LeanRolloutBuffer,
        rollout_buffer_kwargs={"seed": arguments.seed},
        policy_kwargs={
            "net_arch": list(arguments.net),
            "activation_fn": activation_class(arguments.activation),
            "num_seen": env.encoder.size,
            "num_actors": rules.num_players // rules.num_teams if arguments.per_seat else 1,
            "in_bfloat16": uses_bfloat16(arguments.precision),
        },
        seed=arguments.seed,
        device=arguments.device,
    )
    # MaskablePPO.learn would make these; collect_rollouts, which the trainer calls by itself, needs them.
    model.ep_info_buffer, model.ep_success_buffer = deque(maxlen=100), deque(maxlen=100)

    if arguments.init is not None:
        load_initial_network(model.policy, arguments.init, env.encoder, arguments.activation)
    return model


def make_policy_agent(arguments: Arguments, weights: Weights, name: str, greedy: bool) -> PolicyAgent:
    """Return an agent that plays the learner's weights."""
    return PolicyAgent(
        arguments.rules,
        weights,
        arguments.activation,
        arguments.observation,
        greedy=greedy,
        name=name,
        offers=arguments.offers,
    )


def make_opponent_pool(arguments: Arguments, agents: TrainingAgents, weights: Weights) -> OpponentPool:
    """Return the pool of ``--opponents``; the learner is spread over all seats, so its blocks have a row per seat."""
    current = make_policy_agent(arguments, weights, SELF, greedy=False)
    return OpponentPool(
        agents.shares,
        agents.opponents,
        current,
        num_rows=arguments.rows,
        row_block=arguments.rules.num_players,
        seed=arguments.seed,
    )
