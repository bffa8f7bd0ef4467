"""Train an agent by self-play: MaskablePPO on a thousand deals at once.

python train.py                                             # palace_4p for a few minutes
python train.py --preset eaai_2p --minutes 60 --net 512 512
python train.py --preset rotation_3p --episode game --reward win
python train.py --resume runs/palace_4p --minutes 30        # go on

Ends in a table of results against scripted agents and leaves the model in its output folder, whose
name is an agent's name for evaluate.py.
"""

from __future__ import annotations

import datetime
import os
import shlex
import sys
from pathlib import Path
from typing import Any

# Threads that wait for each other must sleep: where another program has a core, spinning ones are ten times slower.
# PyTorch's obey the first line; NumPy's cannot, and its products here are small.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import torch
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common import logger as sb3_logger

from agents.arena import MatchResult
from agents.cli import UserError, run
from agents.model_files import check_finite
from agents.policy import PolicyAgent, network_weights, save_policy
from agents.registry import load_agent
from agents.rule_options import parse_rules
from agents.selfplay.budget import Budget
from agents.selfplay.buffer import LeanRolloutBuffer
from agents.selfplay.callbacks import DealWatcher
from agents.selfplay.cloning import clone_rollout
from agents.selfplay.network import SelfPlayPolicy, activation_class, uses_bfloat16
from agents.selfplay.options import FINAL_DEALS, Arguments, open_run, stored
from agents.selfplay.panel import panel_line, panel_table, play_panel, worst_points
from agents.selfplay.pool import PAST, SELF, OpponentPool, parse_shares
from agents.selfplay.run_folder import (
    BEST_FOLDER,
    LOGS_FOLDER,
    TRAINING_FILE,
    log_suffix,
    write_arguments,
    write_training,
)
from gin_env.rules import Rules
from gin_env.sb3 import GinVecEnv


def main() -> None:
    """Read the arguments, train, measure, save."""
    with open_run(__doc__) as (arguments, folder, training):
        train(arguments, folder, training)


def train(arguments: Arguments, folder: Path, training: dict[str, Any] | None) -> None:
    """Train, measure and save in a folder; ``training`` is where a resumed run stood."""
    budget = Budget(arguments.minutes, arguments.timesteps)
    rules = parse_rules(arguments.preset, arguments.rule)
    console = Console()

    torch.set_num_threads(arguments.threads)
    torch.distributions.Distribution.set_default_validate_args(False)  # never fires here

    observation = arguments.observation
    env = GinVecEnv(
        rules,
        arguments.rows,
        episode=arguments.episode,
        reward=arguments.reward,
        observation=observation,
        seed=arguments.seed,
        show_hidden=arguments.hidden_critic,
    )
    teacher = None if arguments.teacher is None else load_agent(arguments.teacher, rules)
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
        policy_kwargs={
            "net_arch": list(arguments.net),
            "activation_fn": activation_class(arguments.activation),
            "num_seen": env.encoder.size,
            "in_bfloat16": uses_bfloat16(arguments.precision),
        },
        seed=arguments.seed,
        device=arguments.device,
    )
    pool = make_pool(arguments, rules, model)
    if training is not None:
        restore(folder, model, pool, training)
        env.seed(arguments.seed + training["timesteps"])  # other deals than those already played
    write_arguments(folder, stored(arguments))
    logs, suffix = str(folder / LOGS_FOLDER), "" if training is None else log_suffix(folder)
    writers = [sb3_logger.make_output_format(kind, logs, suffix) for kind in ("tensorboard", "csv")]
    model.set_logger(sb3_logger.Logger(logs, writers))

    panel = [load_agent(name, rules) for name in arguments.panel]
    weights = network_weights(model.policy)
    student = PolicyAgent(rules, weights, arguments.activation, observation, name=folder.name)
    best = training["best"] if training is not None else float("-inf")
    last_snapshot = last_measure = model.num_timesteps
    updates_before = model._n_updates
    rollout = arguments.rows * arguments.steps

    def measure(num_deals: int) -> list[MatchResult]:
        """Play against the panel, log it, and save the model, also as the best where it is."""
        nonlocal best
        student.set_weights(weights)
        with budget.paused():
            matches = play_panel(student, panel, num_deals, arguments.episode)
        for match in matches:
            model.logger.record(f"eval/{match.names[1]}", match.points_per_deal.value)
        points = worst_points(matches)
        if points > best:
            best = points
            save_policy(folder / BEST_FOLDER, model.policy, rules, observation, facts(arguments, model, points))
        save(folder, arguments, model, pool, best, points)
        return matches

    console.print(
        f"{rules.name}: {env.encoder.size} features, {env.action_space.n} actions, into {folder}/", markup=False
    )
    try:
        with progress_bar(console) as progress:
            task = progress.add_task("training", total=1.0, decisions=model.num_timesteps, speed=0.0)

            def on_decisions(count: int) -> None:
                budget.made += count
                progress.update(task, completed=budget.fraction, decisions=model.num_timesteps, speed=budget.speed)

            watcher = DealWatcher(pool, on_decisions)
            while not budget.is_spent:
                # One rollout and the updates that follow from it.
                # The schedules follow the budget, which may be minutes, instead of Stable-Baselines3's count of steps.
                if teacher is not None and model.num_timesteps < arguments.teacher_decisions:
                    model.lr_schedule = lambda _: arguments.teacher_rate
                    env.set_opponents(*pool.seat(weights, stand_in=teacher))
                    agreement, value_loss = clone_rollout(model, teacher, on_decisions)
                    model.logger.record("clone/agreement", agreement)
                    model.logger.record("clone/value_loss", value_loss)
                else:
                    model.lr_schedule = lambda _: budget.between(*arguments.learning_rate)
                    env.set_opponents(*pool.seat(weights))
                    model.ent_coef = budget.between(*arguments.entropy)
                    model.learn(rollout, watcher, log_interval=None, reset_num_timesteps=False)
                weights = network_weights(model.policy)
                check_finite(weights)

                if model.num_timesteps - last_snapshot >= arguments.snapshot_every:
                    pool.add_snapshot(weights)
                    last_snapshot = model.num_timesteps
                if model.num_timesteps - last_measure >= arguments.eval_every and not budget.is_spent:
                    last_measure = model.num_timesteps
                    line = panel_line(measure(arguments.eval_deals))
                    progress.console.print(f"{model.num_timesteps:>11,}   {line}", highlight=False, markup=False)
                model.logger.record("time/decisions_per_second", budget.speed)
                model.logger.dump(model.num_timesteps)

        save(folder, arguments, model, pool, best, None)  # before a measurement that may be cut off
        num_final = FINAL_DEALS * arguments.eval_deals
        console.print(f"measuring against {', '.join(arguments.panel)}", highlight=False, markup=False)
        with console.status("measuring"):
            matches = measure(num_final)
    except KeyboardInterrupt:
        if model._n_updates == updates_before:  # nothing was learnt that a resume could use
            raise
        save(folder, arguments, model, pool, best, None)
        sys.exit(
            f"interrupted after {model.num_timesteps:,} decisions; go on with: "
            f"python train.py --resume {shlex.quote(str(folder))}"
        )
    model.logger.dump(model.num_timesteps)
    title = f"{folder}: {rules.name} after {model.num_timesteps:,} decisions, {budget.speed:,.0f} a second"
    console.print(panel_table(matches, title))
    agents = shlex.join([str(folder), *arguments.panel])
    episode = "" if arguments.episode == "deal" else f" --episode {arguments.episode}"
    console.print(f"python evaluate.py --agents {agents}{episode}", style="bold", soft_wrap=True, markup=False)


def make_pool(arguments: Arguments, rules: Rules, model: MaskablePPO) -> OpponentPool:
    """Return the opponents."""
    shares = parse_shares(arguments.opponents)
    scripted = {name: load_agent(name, rules) for name in shares if name not in (SELF, PAST)}
    weights = network_weights(model.policy)
    current = PolicyAgent(rules, weights, arguments.activation, arguments.observation, greedy=False, name=SELF)
    return OpponentPool(shares, scripted, current, arguments.rows, rules.num_players, arguments.seed)


def restore(folder: Path, model: MaskablePPO, pool: OpponentPool, training: dict[str, Any]) -> None:
    """Bring the model and the opponents to where a run stood."""
    try:
        model.policy.load_state_dict(training["policy"])
        check_finite(network_weights(model.policy))
        optimizer = model.policy.optimizer
        optimizer.load_state_dict(training["optimizer"])
        for parameter, moments in optimizer.state.items():
            if {moments[name].shape for name in ("exp_avg", "exp_avg_sq")} != {parameter.shape}:
                raise ValueError("the optimizer's moments have other shapes than the network")
        for snapshot, (won, played) in zip(training["snapshots"], training["snapshot_results"], strict=True):
            weights = {name: tensor.numpy() for name, tensor in snapshot.items()}
            check_finite(weights)
            pool.add_snapshot(weights, float(won), float(played))
    except Exception as error:  # PyTorch's and Python's complaints about what does not fit are of many kinds
        raise UserError(
            f"--resume {folder}: {TRAINING_FILE} is damaged or of another run: {type(error).__name__}: {error}"
        ) from error
    model.num_timesteps = training["timesteps"]
    model._n_updates = training["updates"]


def save(
    folder: Path, arguments: Arguments, model: MaskablePPO, pool: OpponentPool, best: float, points: float | None
) -> None:
    """Write the model, whose worst result is ``points`` (None: not measured), and what a resume needs."""
    rules = parse_rules(arguments.preset, arguments.rule)
    save_policy(folder, model.policy, rules, arguments.observation, facts(arguments, model, points))
    write_training(
        folder,
        {
            "policy": model.policy.state_dict(),
            "optimizer": model.policy.optimizer.state_dict(),
            "timesteps": model.num_timesteps,
            "updates": model._n_updates,
            "best": best,
            "snapshots": [
                {name: torch.from_numpy(array) for name, array in weights.items()} for weights in pool.snapshots
            ],
            "snapshot_results": pool.snapshot_results,
        },
    )


def facts(arguments: Arguments, model: MaskablePPO, points: float | None) -> dict[str, Any]:
    """Return what a model's description tells about its training."""
    return {
        "timesteps": model.num_timesteps,
        "seed": arguments.seed,
        "opponents": list(arguments.opponents),
        "episode": arguments.episode,
        "reward": arguments.reward,
        "worst_points": points,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
        "command": "train.py " + shlex.join(sys.argv[1:]),
    }


def progress_bar(console: Console) -> Progress:
    """Return the bar with decisions and their speed."""
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%  {task.fields[decisions]:,} decisions  {task.fields[speed]:,.0f}/s"),
        TimeElapsedColumn(),
        console=console,
    )


if __name__ == "__main__":
    run(main)
