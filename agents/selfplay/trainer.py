"""A training as it stands: the learner, whom it meets, what it has reached, and how all of it is kept and restored.

What is kept after every rollout suffices to go on as if nothing had happened: weights, optimizer, opponents,
counters, the deals on the tables and every random stream. On the same machine with as many threads, a
run that was killed and resumed ends with the weights of one that was not (the rollout under way is played anew).
"""

from __future__ import annotations

import datetime
import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from sb3_contrib import MaskablePPO
from stable_baselines3.common import logger as sb3_logger

from agents.arena import MatchResult
from agents.cli import UserError
from agents.cli.rule_options import parse_rules
from agents.policy import PolicyAgent, network_weights
from agents.policy.model_files import Model, check_finite, write_model
from agents.registry import load_agent
from agents.selfplay.arguments import Arguments, load_teacher
from agents.selfplay.behaviour_cloning import clone_rollout
from agents.selfplay.budget import Budget
from agents.selfplay.curve_plots import CurveDrawing
from agents.selfplay.evaluation import log_matches, play_panel, worst_points
from agents.selfplay.network import SelfPlayPolicy, activation_class, begin_with, uses_bfloat16
from agents.selfplay.opponent_pool import PAST, SELF, OpponentPool, parse_shares
from agents.selfplay.rollout_buffer import LeanRolloutBuffer
from agents.selfplay.rollout_stats import DealWatcher
from agents.selfplay.run_folder import (
    BEST_FOLDER,
    LOGS_FOLDER,
    TRAINING_FILE,
    log_suffix,
    write_arguments,
    write_training,
)
from agents.selfplay.runs import stored
from gin_env.envs.sb3 import GinVecEnv
from gin_env.episodes import Agent
from gin_env.rules import Rules


class Session:
    """One training in its folder.

    Parameters
    ----------
    arguments : Arguments
    folder : Path
    training : dict or None
        Where a resumed run stood, as ``run_folder.read_training`` returns it.
    prog : str
        The program whose command line this is.

    Attributes
    ----------
    budget : Budget
        How long the training goes on, and how far it has come.
    num_decisions : int
        Decisions of the learner so far, those of its teacher included.
    pictures : list of Path
        The curves as they were drawn last; none before, or where they could not be drawn.
    """

    def __init__(
        self, arguments: Arguments, folder: Path, training: dict[str, Any] | None, prog: str = "train.py"
    ) -> None:
        self.arguments, self.folder = arguments, folder
        so_far = {} if training is None or training["leg_is_new"] else training
        self.budget = Budget(arguments.minutes, arguments.timesteps, so_far.get("made", 0), so_far.get("seconds", 0.0))
        self.rules = parse_rules(arguments.preset, arguments.rule)
        torch.set_num_threads(arguments.threads)
        torch.distributions.Distribution.set_default_validate_args(False)  # never fires here

        self.env = GinVecEnv(
            self.rules,
            arguments.rows,
            episode=arguments.episode,
            reward=arguments.reward,
            observation=arguments.observation,
            seed=arguments.seed,
            show_hidden=arguments.hidden_critic,
            offers=arguments.offers,
        )
        self.model = _make_model(arguments, self.env)
        if arguments.init is not None:
            begin_with(self.model.policy, arguments.init, self.env.encoder, arguments.activation)
        self.teacher = load_teacher(arguments, self.rules)
        self.weights = network_weights(self.model.policy)
        #: What is measured and saved: the weights, averaged over the last rollouts.
        self.average = dict(self.weights)
        self.pool = _make_pool(arguments, self.rules, self.weights)
        self.panel = [load_agent(name, self.rules) for name in arguments.panel]
        self.student = PolicyAgent(
            self.rules,
            self.weights,
            arguments.activation,
            arguments.observation,
            name=folder.name,
            offers=arguments.offers,
        )
        self.best = float("-inf")
        self._results: dict[str, float] = {}  # of the last measurement
        self._last_snapshot = self._last_measure = 0
        self._drawing = CurveDrawing(folder, self.budget)
        self.model._last_episode_starts = np.ones(arguments.rows, dtype=bool)
        if training is None:
            self.env.reset()
        else:
            self._restore(training)
        self.model._last_obs = self.env.observe()
        #: The commands that made the network.
        self.command = f"{prog} {shlex.join(sys.argv[1:])}"
        if training is not None:
            more = f" && {self.command}" if training["leg_is_new"] else ""
            self.command = training["command"] + more
        #: Decisions after which a resume would go on; None where nothing was kept so far.
        self.kept: int | None = None if training is None else self.num_decisions

        write_arguments(folder, stored(arguments))
        logs, suffix = str(folder / LOGS_FOLDER), "" if training is None else log_suffix(folder)
        writers = [sb3_logger.make_output_format(kind, logs, suffix) for kind in ("tensorboard", "csv")]
        self.model.set_logger(sb3_logger.Logger(logs, writers))

    # ------------------------------------------------------------------ going on

    @property
    def num_decisions(self) -> int:
        """Decisions of the learner so far, those of its teacher included."""
        return self.model.num_timesteps

    @property
    def pictures(self) -> list[Path]:
        """The curves as they were drawn last; none before, or where they could not be drawn."""
        return self._drawing.pictures

    def train(self, on_decisions: Callable[[int], None], on_matches: Callable[[list[MatchResult]], None]) -> None:
        """Train until the budget is spent, measuring and drawing now and then; all is kept after each rollout.

        ``on_decisions`` is as for ``rollout``; ``on_matches`` is called with what each measurement came to.
        """
        while not self.budget.is_spent:
            if self.measurement_is_due:
                on_matches(self.measure(self.arguments.eval_deals))
            self.rollout(on_decisions)
            self.keep()
            self._write_log()
            if self._drawing.is_due:
                self._drawing.draw()

    def rollout(self, on_decisions: Callable[[int], None]) -> None:
        """Play one rollout and learn from it, from the teacher at first, then by self-play.

        ``on_decisions`` is called after each step with the decisions that it brought.
        """
        model, arguments, budget = self.model, self.arguments, self.budget

        def count(decisions: int) -> None:
            budget.made += decisions
            on_decisions(decisions)

        # The schedules follow the budget, which may be minutes, instead of Stable-Baselines3's count of steps.
        if self.teacher is not None and self.num_decisions < arguments.teacher_decisions:
            first, last = arguments.teacher_rate
            rate = first + (last - first) * self.num_decisions / arguments.teacher_decisions
            model.lr_schedule = lambda _: rate
            self.env.set_opponents(*self.pool.seat(self.weights, stand_in=self.teacher))
            keeping = 0.0
            agreement, value_loss = clone_rollout(model, self.teacher, arguments.teacher_epochs, count)
            model.logger.record("clone/agreement", agreement)
            model.logger.record("clone/value_loss", value_loss)
        else:
            rate = budget.between(*arguments.learning_rate)
            model.lr_schedule = lambda _: rate
            model.ent_coef = budget.between(*arguments.entropy)
            self.env.set_opponents(*self.pool.seat(self.weights))
            watcher = DealWatcher(self.pool, count)
            model.learn(arguments.rows * arguments.steps, watcher, log_interval=None, reset_num_timesteps=False)
            keeping = arguments.average
        self.weights = network_weights(model.policy)
        check_finite(self.weights)
        for name, array in self.weights.items():
            self.average[name] = keeping * self.average[name] + (1 - keeping) * array
        if self.num_decisions - self._last_snapshot >= arguments.snapshot_every:
            self._last_snapshot = self.num_decisions
            self.pool.add_snapshot(self.weights)

    @property
    def measurement_is_due(self) -> bool:
        """Whether so many decisions were made since the last measurement that another is due."""
        return self.num_decisions - self._last_measure >= self.arguments.eval_every

    def measure(self, num_deals: int) -> list[MatchResult]:
        """Play against the panel, log results and style, and save the model as the best where it is."""
        self._last_measure = self.num_decisions
        self._drawing.note_measurement()
        self.student.set_weights(self.average)
        with self.budget.paused():
            matches = play_panel(self.student, self.panel, num_deals, self.arguments.episode)
        self._results = {match.names[1]: match.points_per_deal.value for match in matches}
        log_matches(self.model.logger, matches, self.rules)
        points = worst_points(matches)
        if points > self.best:
            self.best = points
            self._save_model(self.folder / BEST_FOLDER)
        return matches

    def log(self) -> None:
        """Write what was recorded since the last call, and draw the curves anew."""
        self._write_log()
        self._drawing.draw()

    def _write_log(self) -> None:
        self.model.logger.record("time/decisions_per_second", self.budget.speed)
        self.model.logger.dump(self.num_decisions)

    # ------------------------------------------------------------------ keeping

    def keep(self) -> None:
        """Save the model and everything that a resume needs."""
        self._save_model(self.folder)
        policy = self.model.policy
        write_training(
            self.folder,
            {
                "policy": policy.state_dict(),
                "optimizer": policy.optimizer.state_dict(),
                "average": {name: torch.from_numpy(array) for name, array in self.average.items()},
                "decisions": self.num_decisions,
                "updates": self.model._n_updates,
                "made": self.budget.made,
                "seconds": self.budget.seconds,
                "best": self.best,
                "last_snapshot": self._last_snapshot,
                "last_measure": self._last_measure,
                "results": self._results,
                "command": self.command,
                "snapshots": [
                    {name: torch.from_numpy(array) for name, array in weights.items()}
                    for weights in self.pool.snapshots
                ],
                "snapshot_results": self.pool.snapshot_results,
                "tables": {name: torch.from_numpy(array) for name, array in self._arrays().items()},
                "streams": json.dumps(
                    {name: generator.bit_generator.state for name, generator in self._generators().items()}
                ),
                "torch_stream": torch.get_rng_state(),
            },
        )
        self.kept = self.num_decisions

    def _save_model(self, folder: Path) -> None:
        facts = training_facts(self.arguments, self.teacher, self.num_decisions, self.budget, self._results)
        facts["command"] = self.command
        arguments = self.arguments
        model = Model(self.rules, arguments.observation, arguments.activation, self.average, arguments.offers)
        write_model(folder, model, facts)

    def _restore(self, training: dict[str, Any]) -> None:
        """Bring everything to where a run stood."""
        model, policy = self.model, self.model.policy
        try:
            policy.load_state_dict(training["policy"])
            self.weights = network_weights(policy)
            check_finite(self.weights)
            self.average = {name: tensor.numpy() for name, tensor in training["average"].items()}
            check_finite(self.average)
            self.student.set_weights(self.average)
            policy.optimizer.load_state_dict(training["optimizer"])
            for parameter, moments in policy.optimizer.state.items():
                if {moments[name].shape for name in ("exp_avg", "exp_avg_sq")} != {parameter.shape}:
                    raise ValueError("the optimizer's moments have other shapes than the network")
            for snapshot, (won, played) in zip(training["snapshots"], training["snapshot_results"], strict=True):
                weights = {name: tensor.numpy() for name, tensor in snapshot.items()}
                check_finite(weights)
                self.pool.add_snapshot(weights, float(won), float(played))
            for name, array in self._arrays().items():
                array[...] = training["tables"][name].numpy()
            streams = json.loads(training["streams"])
            for name, generator in self._generators().items():
                if name in streams:  # an opponent that the resume brings along has none yet
                    generator.bit_generator.state = streams[name]
            torch.set_rng_state(training["torch_stream"])
        except Exception as error:  # PyTorch's and Python's complaints about what does not fit are of many kinds
            raise UserError(
                f"--resume {self.folder}: {TRAINING_FILE} is damaged or of another run: {type(error).__name__}: {error}"
            ) from error
        model.num_timesteps, model._n_updates = training["decisions"], training["updates"]
        self.best, self._results = training["best"], training["results"]
        self._last_snapshot, self._last_measure = training["last_snapshot"], training["last_measure"]

    def _arrays(self) -> dict[str, np.ndarray]:
        return self.env.arrays() | {"starts": self.model._last_episode_starts}

    def _generators(self) -> dict[str, np.random.Generator]:
        """Return the random streams by name; agents of other people may have none that could be kept."""
        agents = self.pool.agents | {"teacher": self.teacher}
        found = {"pool": self.pool.generator, "minibatches": self.model.rollout_buffer.generator}
        for name, agent in agents.items():
            generator = getattr(agent, "generator", None)
            if isinstance(generator, np.random.Generator):
                found[f"agent {name}"] = generator
        return found


def _make_model(arguments: Arguments, env: GinVecEnv) -> MaskablePPO:
    return MaskablePPO(
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
            "num_actors": env.table.rules.num_players // env.table.rules.num_teams if arguments.per_seat else 1,
            "in_bfloat16": uses_bfloat16(arguments.precision),
        },
        seed=arguments.seed,
        device=arguments.device,
    )


def _make_pool(arguments: Arguments, rules: Rules, weights: dict[str, np.ndarray]) -> OpponentPool:
    shares = parse_shares(arguments.opponents)
    scripted = {name: load_agent(name, rules) for name in shares if name not in (SELF, PAST)}
    current = PolicyAgent(
        rules,
        weights,
        arguments.activation,
        arguments.observation,
        greedy=False,
        name=SELF,
        offers=arguments.offers,
    )
    return OpponentPool(shares, scripted, current, arguments.rows, rules.num_players, arguments.seed)


def training_facts(
    arguments: Arguments, teacher: Agent | None, num_decisions: int, budget: Budget, results: dict[str, float]
) -> dict[str, Any]:
    """Return what a model's description tells about its training; ``results`` are points per deal by opponent."""
    copied = 0 if teacher is None else min(num_decisions, arguments.teacher_decisions)
    return {
        "method": _method(arguments, teacher),
        "decisions": num_decisions,
        "decisions_of_teacher": copied,
        "minutes": round(budget.seconds / 60, 1),
        "seed": arguments.seed,
        "opponents": list(arguments.opponents),
        "episode": arguments.episode,
        "reward": arguments.reward,
        "results": results,
        "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
    }


def _method(arguments: Arguments, teacher: Agent | None) -> str:
    """Return in a few words how a training begins and goes on."""
    if teacher is not None:
        return f"clone of {teacher.name}, then self-play"
    return "from scratch" if arguments.init is None else f"from the network {arguments.init}, then self-play"
