"""The warm start: the learner's seats are played by a teacher, whose choices and results the network learns.

From scratch PPO settles on knocking at once, a local optimum; a network that begins as the clone of a
patient teacher leaves it. A rollout of the teacher fills the same buffer as one of the learner, so policy
and value network are taught together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from torch.nn.functional import mse_loss

from agents.cli import UserError
from agents.selfplay.rollout_buffer import LeanRolloutBuffer
from gin_env.envs.sb3 import GinVecEnv
from gin_env.episodes import Agent
from gin_env.episodes.agent import decide
from gin_env.observation.suit_symmetry import observation_columns, relabelled_actions, suit_orders


def clone_rollout(
    model: MaskablePPO, teacher: Agent, epochs: int, on_decisions: Callable[[int], None]
) -> tuple[float, float]:
    """Let a teacher play one rollout in the learner's seats and teach it to the network.

    Parameters
    ----------
    model : MaskablePPO
        On a ``GinVecEnv`` and with a ``LeanRolloutBuffer``; its learning rate and minibatch are used.
    teacher : Agent
    epochs : int
        Times that each decision is learnt from, every minibatch with its suits relabelled at random.
    on_decisions : callable
        Called after each step with the decisions that it brought.

    Returns
    -------
    float, float
        How often the network's best action was the teacher's in the last epoch, and its value loss.
    """
    _play(model, teacher, on_decisions)
    buffer, policy = model.rollout_buffer, model.policy
    policy.set_training_mode(True)
    model._update_learning_rate(policy.optimizer)
    relabelings = _relabelings(model)
    for _ in range(epochs):
        agreed, losses = [], []
        for batch in buffer.get(model.batch_size):
            columns, actions_before, actions_after = relabelings[int(buffer.generator.integers(len(relabelings)))]
            observations = batch.observations[:, columns]
            logits = policy.logits(observations).masked_fill(~batch.action_masks[:, actions_before], -torch.inf)
            values = policy.predict_values(observations)
            actions = actions_after[batch.actions.long().flatten()]
            value_loss = mse_loss(values.flatten(), batch.returns)
            loss = torch.nn.functional.cross_entropy(logits, actions) + model.vf_coef * value_loss
            policy.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), model.max_grad_norm)
            policy.optimizer.step()
            agreed.append((logits.argmax(dim=1) == actions).float().mean().item())
            losses.append(value_loss.item())
        model._n_updates += 1
    return float(np.mean(agreed)), float(np.mean(losses))


def _relabelings(model: MaskablePPO) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Return for each order of the suits the columns of observations and of masks, and what each action becomes."""
    env = model.env
    assert isinstance(env, GinVecEnv)
    sections = [*env.encoder.sections, *(env.hidden.sections if env.hidden else ())]
    relabelings = []
    for order in suit_orders(env.table.rules):
        actions = relabelled_actions(env.table.layout, order)
        parts = observation_columns(sections, order), np.argsort(actions), actions
        columns, before, after = (torch.as_tensor(part, device=model.device) for part in parts)
        relabelings.append((columns, before, after))
    return relabelings


def _play(model: MaskablePPO, teacher: Agent, on_decisions: Callable[[int], None]) -> None:
    """Fill the rollout buffer with what the teacher does."""
    env, buffer, policy = model.env, model.rollout_buffer, model.policy
    assert isinstance(env, GinVecEnv)
    assert isinstance(buffer, LeanRolloutBuffer)
    policy.set_training_mode(False)
    buffer.reset()
    if model._last_obs is None:
        model._last_obs = env.reset()
        model._last_episode_starts = np.ones(env.num_envs, dtype=bool)
    observations, starts = model._last_obs, model._last_episode_starts
    no_log_probs = torch.zeros(env.num_envs)

    def values_of(observations: np.ndarray) -> torch.Tensor:
        with torch.no_grad():
            return policy.predict_values(torch.as_tensor(observations, device=model.device))

    for _ in range(model.n_steps):
        actions = decide(teacher, env.table.views(history=teacher.needs_history))
        masks = env.action_masks()
        if not masks[np.arange(len(actions)), actions].all():
            raise UserError(f"--teacher {teacher.name}: offers cards, which --no-offers forbids")
        following, rewards, dones, _ = env.step(actions)
        buffer.add(
            observations,
            actions[:, None],
            rewards,
            starts,
            values_of(observations),
            no_log_probs,
            action_masks=masks,
        )
        observations, starts = following, dones
        model.num_timesteps += env.num_envs
        on_decisions(env.num_envs)
    model._last_obs, model._last_episode_starts = observations, starts
    buffer.compute_returns_and_advantage(last_values=values_of(observations), dones=starts)
