"""The warm start: a teacher plays the learner's seats, and the network learns its choices and results.

From scratch, PPO settles on knocking at once, which is a local optimum. A network that starts as the clone of a
patient teacher leaves it. A rollout of the teacher fills the same buffer as a rollout of the learner, so the policy
and the value network are taught together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from torch.nn.functional import cross_entropy, mse_loss

from agents.cli import UserError
from agents.selfplay.rollout_buffer import LeanRolloutBuffer
from gin_env.envs.sb3 import GinVecEnv
from gin_env.episodes import Agent
from gin_env.episodes.agent import decide
from gin_env.observation.suit_symmetry import observation_columns, relabelled_actions, suit_orders


def collect_from_teacher(model: MaskablePPO, teacher: Agent, on_decisions: Callable[[int], None]) -> None:
    """Fill the rollout buffer with the decisions that a teacher makes in the learner's seats.

    Parameters
    ----------
    model : MaskablePPO
        On a ``GinVecEnv`` and with a ``LeanRolloutBuffer``. Its value network estimates the values.
    teacher : Agent
    on_decisions : callable
        Called after each step with the number of decisions made in it.

    Raises
    ------
    UserError
        The teacher offers a card where the environment forbids offers.
    """
    env, buffer, policy = model.env, model.rollout_buffer, model.policy
    assert isinstance(env, GinVecEnv)
    assert isinstance(buffer, LeanRolloutBuffer)

    policy.set_training_mode(False)
    buffer.reset()
    if model._last_obs is None:
        model._last_obs = env.reset()
        model._last_episode_starts = np.ones(env.num_envs, dtype=bool)
    observations, starts = model._last_obs, model._last_episode_starts
    no_log_probs = torch.zeros(env.num_envs)  # PPO needs them, behaviour cloning does not

    for _ in range(model.n_steps):
        actions = decide(teacher, env.table.views(history=teacher.needs_history))
        masks = env.action_masks()
        if not masks[np.arange(len(actions)), actions].all():
            raise UserError(f"--teacher {teacher.name}: this agent offers cards, which --no-offers forbids")

        next_observations, rewards, dones, _ = env.step(actions)
        values = _values(model, observations)
        buffer.add(observations, actions[:, None], rewards, starts, values, no_log_probs, action_masks=masks)

        observations, starts = next_observations, dones
        model.num_timesteps += env.num_envs
        on_decisions(env.num_envs)

    # The next rollout, of the teacher or of the learner, continues with these observations.
    model._last_obs, model._last_episode_starts = observations, starts
    buffer.compute_returns_and_advantage(last_values=_values(model, observations), dones=starts)


def clone_teacher(model: MaskablePPO, epochs: int) -> tuple[float, float]:
    """Fit the network to the teacher's decisions in the rollout buffer.

    Parameters
    ----------
    model : MaskablePPO
        Its learning rate and minibatch size are used.
    epochs : int
        Passes over the buffer. Every minibatch has its suits relabelled at random.

    Returns
    -------
    agreement : float
        Share of the decisions in the last epoch in which the network's best action was the teacher's.
    value_loss : float
        Mean value loss of the last epoch.
    """
    buffer, policy = model.rollout_buffer, model.policy
    policy.set_training_mode(True)
    model._update_learning_rate(policy.optimizer)
    relabelings = _relabelings(model)

    for _ in range(epochs):
        agreements, value_losses = [], []
        for batch in buffer.get(model.batch_size):
            # The rules do not distinguish the suits, so a decision with its suits swapped is as good an example.
            columns, old_actions, new_actions = relabelings[int(buffer.generator.integers(len(relabelings)))]
            observations = batch.observations[:, columns]
            masks = batch.action_masks[:, old_actions]
            actions = new_actions[batch.actions.long().flatten()]

            logits = policy.logits(observations).masked_fill(~masks, -torch.inf)
            value_loss = mse_loss(policy.predict_values(observations).flatten(), batch.returns)
            loss = cross_entropy(logits, actions) + model.vf_coef * value_loss

            policy.optimizer.zero_grad()
            loss.backward()
            torch.nn.utils.clip_grad_norm_(policy.parameters(), model.max_grad_norm)
            policy.optimizer.step()

            agreements.append((logits.argmax(dim=1) == actions).float().mean().item())
            value_losses.append(value_loss.item())
        model._n_updates += 1

    return float(np.mean(agreements)), float(np.mean(value_losses))


def _values(model: MaskablePPO, observations: np.ndarray) -> torch.Tensor:
    """Return the value network's estimates (N, 1)."""
    with torch.no_grad():
        return model.policy.predict_values(torch.as_tensor(observations, device=model.device))


def _relabelings(model: MaskablePPO) -> list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]]:
    """Return index tensors for each order of the suits.

    They are the columns of the relabelled observations (F,), the columns of the relabelled masks (A,), and the
    relabelled action of each action (A,).
    """
    env = model.env
    assert isinstance(env, GinVecEnv)
    sections = [*env.encoder.sections, *(env.hidden.sections if env.hidden else ())]

    relabelings = []
    for order in suit_orders(env.table.rules):
        new_actions = relabelled_actions(env.table.layout, order)
        old_actions = np.argsort(new_actions)  # the inverse permutation
        columns = observation_columns(sections, order)
        on_device = [torch.as_tensor(array, device=model.device) for array in (columns, old_actions, new_actions)]
        relabelings.append((on_device[0], on_device[1], on_device[2]))
    return relabelings
