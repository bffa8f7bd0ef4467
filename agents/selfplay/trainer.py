"""The steps of a training: collect a rollout, update the network, measure, save. ``train.py`` has the loop over them.

What is saved after every rollout suffices to continue as if nothing had happened: weights, optimizer, opponents,
counters, the deals in progress and every random stream. On the same machine, with the same number of threads, a run
that was killed and resumed ends with the same weights as one that was not; the rollout that was under way is repeated.
"""

from __future__ import annotations

import datetime
import json
import shlex
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3.common import logger as sb3_logger

from agents.arena import MatchResult
from agents.cli import UserError
from agents.policy import network_weights
from agents.policy.model_files import Float32Array, Model, check_finite, write_model
from agents.selfplay.arguments import Arguments
from agents.selfplay.behaviour_cloning import clone_teacher, collect_from_teacher
from agents.selfplay.budget import Budget
from agents.selfplay.components import make_env, make_learner, make_opponent_pool, make_policy_agent
from agents.selfplay.curve_plots import CurvePlotter
from agents.selfplay.evaluation import log_matches, play_evaluation, worst_points
from agents.selfplay.rollout_stats import RolloutStats
from agents.selfplay.run_folder import (
    BEST_FOLDER,
    LOGS_FOLDER,
    TRAINING_FILE,
    log_suffix,
    write_arguments,
    write_state,
)
from agents.selfplay.runs import Run, stored


def _nothing() -> None:
    """Do nothing: the callback of a rollout that nobody watches."""


class Trainer:
    """A training in its folder, as the steps that a loop calls.

    >>> while not trainer.budget.is_spent:
    ...     trainer.collect()
    ...     trainer.update()
    ...     trainer.save()

    Parameters
    ----------
    run : Run
        The options, the agents and the folder; for a resumed run also the state that was saved.
    prog : str
        The program whose command line this is.

    Attributes
    ----------
    budget : Budget
        How long the training lasts, and how much of it is used up.
    env : GinVecEnv
        The rows in which the learner plays.
    model : MaskablePPO
        The learner: its network, optimizer and rollout buffer.
    pool : OpponentPool
        Chooses the opponents of each rollout.
    weights, average : dict of str to float32 array
        The learner's weights, and their moving average over the rollouts, which is what is measured and saved.
    best : float
        The best of the worst results of all measurements, in points per deal.
    command : str
        The commands that made the network.
    saved_decisions : int or None
        The number of decisions from which a resume would continue; None before the first save.
    """

    def __init__(self, run: Run, prog: str = "train.py") -> None:
        arguments, state = run.arguments, run.state
        self.arguments, self.folder, self.agents = arguments, run.folder, run.agents
        self.rules = arguments.rules

        # A run that is extended gets a new budget; any other resumed run continues with the rest of its own.
        used = {} if state is None or run.is_extended else state
        self.budget = Budget(arguments.minutes, arguments.timesteps, used.get("made", 0), used.get("seconds", 0.0))

        self.env = make_env(arguments)
        self.model = make_learner(arguments, self.env)
        self.weights: dict[str, Float32Array] = network_weights(self.model.policy)
        self.average = dict(self.weights)
        self.pool = make_opponent_pool(arguments, self.agents, self.weights)

        # The measurements: who plays them, and the results so far.
        self.best = float("-inf")
        self._player = make_policy_agent(arguments, self.weights, self.folder.name, greedy=True)
        self._results: dict[str, float] = {}  # points per deal by opponent, of the last measurement
        self._last_snapshot = self._last_measure = 0  # in decisions
        self._plotter = CurvePlotter(self.folder, self.budget)

        self.command = f"{prog} {shlex.join(sys.argv[1:])}"
        self.saved_decisions: int | None = None
        self.model._last_episode_starts = np.ones(arguments.rows, dtype=bool)
        if state is None:
            self.env.reset()
        else:
            self._restore(state)
            self.saved_decisions = self.num_decisions
            self.command = f"{state['command']} && {self.command}" if run.is_extended else state["command"]
        self.model._last_obs = self.env.observe()

        write_arguments(self.folder, stored(arguments))
        self._open_logs("" if state is None else log_suffix(self.folder))

    def _open_logs(self, suffix: str) -> None:
        folder = str(self.folder / LOGS_FOLDER)
        writers = [sb3_logger.make_output_format(kind, folder, suffix) for kind in ("tensorboard", "csv")]
        self.model.set_logger(sb3_logger.Logger(folder, writers))

    @property
    def num_decisions(self) -> int:
        """Decisions of the learner so far, including those that the teacher made in its seats."""
        return self.model.num_timesteps

    # the warm start

    @property
    def is_warm_start(self) -> bool:
        """Whether the teacher is still being copied; afterwards PPO runs."""
        return self.agents.teacher is not None and self.num_decisions < self.arguments.teacher_decisions

    def collect_from_teacher(self, on_step: Callable[[], None] = _nothing) -> None:
        """Fill the rollout buffer: the teacher plays the learner's seats, and those of "self" and "past".

        ``on_step`` is called after each step.
        """
        teacher = self.agents.teacher
        assert teacher is not None
        arguments = self.arguments
        first, last = arguments.teacher_rate
        self._set_learning_rate(first + (last - first) * self.num_decisions / arguments.teacher_decisions)
        self.env.set_opponents(*self.pool.choose_opponents(self.weights, stand_in=teacher))
        collect_from_teacher(self.model, teacher, self._counting(on_step))

    def clone_teacher(self) -> None:
        """Fit the network to the teacher's decisions in the rollout buffer, by behaviour cloning."""
        agreement, value_loss = clone_teacher(self.model, self.arguments.teacher_epochs)
        self.model.logger.record("clone/agreement", agreement)
        self.model.logger.record("clone/value_loss", value_loss)
        self._take_over_weights(decay=0.0)

    # self-play

    def collect(self, on_step: Callable[[], None] = _nothing) -> None:
        """Fill the rollout buffer: the learner plays ``steps`` decisions in each row, against opponents of the pool.

        ``on_step`` is called after each step.
        """
        model, arguments, budget = self.model, self.arguments, self.budget

        # The schedules follow the budget at the start of the rollout, not SB3's count of steps: it may be minutes.
        self._set_learning_rate(budget.between(*arguments.learning_rate))
        model.ent_coef = budget.between(*arguments.entropy)

        self.env.set_opponents(*self.pool.choose_opponents(self.weights))
        stats = RolloutStats(self.pool, self._counting(on_step))
        stats.init_callback(model)
        model.collect_rollouts(self.env, stats, model.rollout_buffer, model.n_steps)

    def update(self) -> None:
        """Run PPO's epochs over the rollout buffer."""
        self.model.train()
        self._take_over_weights(decay=self.arguments.average)

    def _set_learning_rate(self, rate: float) -> None:
        self.model.lr_schedule = lambda _: rate

    def _counting(self, on_step: Callable[[], None]) -> Callable[[int], None]:
        """Return a callback that adds a step's decisions to the budget before it calls ``on_step``."""

        def count(num_decisions: int) -> None:
            self.budget.decisions_made += num_decisions
            on_step()

        return count

    def _take_over_weights(self, decay: float) -> None:
        """Read the updated weights, move the average towards them, and add a snapshot where one is due."""
        self.weights = network_weights(self.model.policy)
        check_finite(self.weights)
        for name, array in self.weights.items():
            self.average[name] = decay * self.average[name] + (1 - decay) * array

        if self.num_decisions - self._last_snapshot >= self.arguments.snapshot_every:
            self._last_snapshot = self.num_decisions
            self.pool.add_snapshot(self.weights)

    # measuring

    @property
    def is_due_to_measure(self) -> bool:
        """Whether ``eval_every`` decisions were made since the last measurement."""
        return self.num_decisions - self._last_measure >= self.arguments.eval_every

    def measure(self, num_deals: int) -> list[MatchResult]:
        """Play ``num_deals`` deals against each evaluation opponent, and record results and style for the log.

        The model is also saved as the best one if its worst result is better than that of all measurements before.
        """
        self._last_measure = self.num_decisions
        self._plotter.note_measurement()

        self._player.set_weights(self.average)
        with self.budget.paused():
            matches = play_evaluation(self._player, self.agents.evaluation_opponents, num_deals, self.arguments.episode)
        self._results = {match.names[1]: match.points_per_deal.value for match in matches}
        log_matches(self.model.logger, matches, self.rules)

        points = worst_points(matches)
        if points > self.best:
            self.best = points
            self._save_model(self.folder / BEST_FOLDER)
        return matches

    # logs and curves

    def write_log(self) -> None:
        """Write what was recorded since the last call as one line of the log."""
        self.model.logger.record("time/decisions_per_second", self.budget.speed)
        self.model.logger.dump(self.num_decisions)

    @property
    def is_due_to_draw(self) -> bool:
        """Whether the curves have new results to show, and were not drawn just now."""
        return self._plotter.is_due

    def draw_curves(self) -> list[Path]:
        """Draw the learning curves and return the pictures; none where they cannot be drawn."""
        self._plotter.draw()
        return self._plotter.pictures

    # saving and restoring

    def save(self) -> None:
        """Save the model and everything that a resume needs."""
        self._save_model(self.folder)
        policy = self.model.policy
        streams = {name: generator.bit_generator.state for name, generator in self._generators().items()}
        write_state(
            self.folder,
            {
                "policy": policy.state_dict(),
                "optimizer": policy.optimizer.state_dict(),
                "average": _as_tensors(self.average),
                "decisions": self.num_decisions,
                "updates": self.model._n_updates,
                "made": self.budget.decisions_made,
                "seconds": self.budget.seconds,
                "best": self.best,
                "last_snapshot": self._last_snapshot,
                "last_measure": self._last_measure,
                "results": self._results,
                "command": self.command,
                "snapshots": [_as_tensors(weights) for weights in self.pool.snapshots],
                "snapshot_results": self.pool.snapshot_results,
                "tables": _as_tensors(self._arrays()),
                "streams": json.dumps(streams),
                "torch_stream": torch.get_rng_state(),
            },
        )
        self.saved_decisions = self.num_decisions

    def _save_model(self, folder: Path) -> None:
        """Write the averaged weights as a model folder."""
        arguments = self.arguments
        model = Model(self.rules, arguments.observation, arguments.activation, self.average, arguments.offers)
        write_model(folder, model, self._training_facts())

    def _training_facts(self) -> dict[str, Any]:
        """Return what a model's description says about its training."""
        arguments, teacher = self.arguments, self.agents.teacher
        return {
            "method": _method(arguments, None if teacher is None else teacher.name),
            "decisions": self.num_decisions,
            "decisions_of_teacher": 0 if teacher is None else min(self.num_decisions, arguments.teacher_decisions),
            "minutes": round(self.budget.seconds / 60, 1),
            "seed": arguments.seed,
            "opponents": list(arguments.opponents),
            "episode": arguments.episode,
            "reward": arguments.reward,
            "results": self._results,
            "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "command": self.command,
        }

    def _restore(self, state: Mapping[str, Any]) -> None:
        """Restore everything that ``save`` saved.

        Raises
        ------
        UserError
            The state does not fit the options of the run.
        """
        try:
            self._restore_network(state)
            for snapshot, (won, played) in zip(state["snapshots"], state["snapshot_results"], strict=True):
                self.pool.add_snapshot(_as_finite_arrays(snapshot), float(won), float(played))
            for name, array in self._arrays().items():
                array[...] = state["tables"][name].numpy()
            self._restore_streams(state)
        except Exception as error:  # PyTorch and Python raise many kinds of errors for what does not fit
            raise UserError(
                f"--resume {self.folder}: {TRAINING_FILE} is damaged or of another run: {type(error).__name__}: {error}"
            ) from error

        self.model.num_timesteps, self.model._n_updates = state["decisions"], state["updates"]
        self.best, self._results = state["best"], state["results"]
        self._last_snapshot, self._last_measure = state["last_snapshot"], state["last_measure"]

    def _restore_network(self, state: Mapping[str, Any]) -> None:
        """Restore weights, their average and the optimizer."""
        policy = self.model.policy
        policy.load_state_dict(state["policy"])
        self.weights = network_weights(policy)
        check_finite(self.weights)
        self.average = _as_finite_arrays(state["average"])
        self._player.set_weights(self.average)

        # Unlike load_state_dict of the policy, that of the optimizer accepts moments of any shape.
        policy.optimizer.load_state_dict(state["optimizer"])
        for parameter, moments in policy.optimizer.state.items():
            if {moments[name].shape for name in ("exp_avg", "exp_avg_sq")} != {parameter.shape}:
                raise ValueError("the optimizer's moments have other shapes than the network")

    def _restore_streams(self, state: Mapping[str, Any]) -> None:
        """Restore all random streams; an opponent that is new in the resumed run keeps its fresh one."""
        streams = json.loads(state["streams"])
        for name, generator in self._generators().items():
            if name in streams:
                generator.bit_generator.state = streams[name]
        torch.set_rng_state(state["torch_stream"])

    def _arrays(self) -> dict[str, np.ndarray]:
        """Return the arrays of the deals in progress by name."""
        return self.env.arrays() | {"starts": self.model._last_episode_starts}

    def _generators(self) -> dict[str, np.random.Generator]:
        """Return the random streams by name; an agent's is its ``generator``, where it has one."""
        generators = {"pool": self.pool.generator, "minibatches": self.model.rollout_buffer.generator}
        agents = self.pool.agents | {"teacher": self.agents.teacher}
        for name, agent in agents.items():
            generator = getattr(agent, "generator", None)
            if isinstance(generator, np.random.Generator):
                generators[f"agent {name}"] = generator
        return generators


def _as_tensors(arrays: Mapping[str, np.ndarray]) -> dict[str, torch.Tensor]:
    return {name: torch.from_numpy(array) for name, array in arrays.items()}


def _as_finite_arrays(tensors: Mapping[str, torch.Tensor]) -> dict[str, Float32Array]:
    """Return saved weights as arrays; raises ``ValueError`` unless all of them are finite."""
    arrays = {name: tensor.numpy() for name, tensor in tensors.items()}
    check_finite(arrays)
    return arrays


def _method(arguments: Arguments, teacher: str | None) -> str:
    """Return in a few words how the network was trained."""
    if teacher is not None:
        return f"clone of {teacher}, then self-play"
    return "from scratch" if arguments.init is None else f"from the network {arguments.init}, then self-play"
