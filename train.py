"""Train an agent by self-play: MaskablePPO on a thousand deals at once.

python train.py                                             # palace_4p for a few minutes
python train.py --preset eaai_2p --minutes 60 --net 512 512
python train.py --resume runs/palace_4p --minutes 30        # go on

Ends in a table of results against scripted agents and leaves the model in its output folder, whose
name is an agent's name for evaluate.py.
"""

from __future__ import annotations

import contextlib
import dataclasses
import datetime
import math
import os
import shlex
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

# Threads that wait for each other must sleep: where another program has a core, spinning ones are ten times slower.
# PyTorch's obey the first line; NumPy's cannot, and its products here are small.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import torch
import tyro
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn
from sb3_contrib import MaskablePPO
from stable_baselines3.common import logger as sb3_logger

from agents.arena import MatchResult
from agents.cli import UserError, parse, run
from agents.model_files import check_finite
from agents.policy import ACTIVATIONS, PolicyAgent, network_weights, save_policy
from agents.registry import AGENT_NAMES, load_agent
from agents.rule_options import parse_rules
from agents.selfplay.budget import Budget
from agents.selfplay.buffer import LeanRolloutBuffer
from agents.selfplay.callbacks import DealWatcher
from agents.selfplay.network import Precision, activation_class, policy_class
from agents.selfplay.panel import panel_line, panel_table, play_panel, worst_points
from agents.selfplay.pool import PAST, SELF, OpponentPool, parse_shares
from agents.selfplay.run_folder import (
    ARGUMENTS_FILE,
    BEST_FOLDER,
    LOGS_FOLDER,
    TRAINING_FILE,
    hold,
    log_suffix,
    new_run_folder,
    read_arguments,
    read_training,
    write_arguments,
    write_training,
)
from gin_env.observation import ObservationOptions
from gin_env.rules import PRESETS, Rules
from gin_env.sb3 import GinVecEnv

DEFAULT_MINUTES = 4.0
#: How many times as many deals the last measurement has.
FINAL_DEALS = 5
#: What a resumed run must share with the run it goes on from: otherwise the network would not fit, or
#: results against another panel would be compared with the best one so far.
FIXED_ON_RESUME = ("preset", "rule", "net", "activation", "derived", "panel")
#: What the options that are real numbers may be (no comparison holds for nan), and how that is said.
FLOAT_RANGES: dict[str, tuple[Callable[[float], bool], str]] = {
    "learning_rate": (lambda value: 0 < value <= 1, "above 0 and at most 1"),
    "entropy": (lambda value: 0 <= value < math.inf, "at least 0 and finite"),
    "gae_lambda": (lambda value: 0 <= value <= 1, "from 0 to 1"),
    "clip": (lambda value: 0 < value < 1, "above 0 and below 1"),
    "grad_norm": (lambda value: 0 < value < math.inf, "above 0 and finite"),
}


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Train an agent by self-play and measure it against scripted ones."""

    preset: Annotated[str, tyro.conf.arg(help=f"rules: {', '.join(PRESETS)}")] = "palace_4p"
    rule: tuple[str, ...] = ()
    """fields of the rules to replace, for example knock_limit=5 undercut_bonus=10"""
    minutes: Annotated[float | None, tyro.conf.arg(help=f"how long to train; default {DEFAULT_MINUTES:g}")] = None
    timesteps: int | None = None
    """how many decisions of the learner to train for, instead of minutes"""
    seed: int = 1
    """fixes the first weights, the deals and all chances (with --timesteps the whole run, on the same machine)"""
    output: Path | None = None
    """folder for the model and its logs; by default runs/PRESET, or the first free runs/PRESET-2, -3, ..."""
    resume: Path | None = None
    """go on with the run in this folder, with its options unless others are given; minutes or timesteps are added,
    and the learning rate and the entropy bonus move anew from their start to their end"""

    opponents: Annotated[
        tuple[str, ...],
        tyro.conf.arg(
            help=f"whom the learner meets, with shares: {SELF} (its present self), {PAST} (snapshots), "
            f"{', '.join(AGENT_NAMES)}, or any other agent that evaluate.py takes"
        ),
    ] = ("self:0.6", "simple:0.3", "random:0.1")
    snapshot_every: int = 500_000
    """decisions between two snapshots for the opponent "past" """

    net: tuple[int, ...] = (256, 256)
    """sizes of the hidden layers, the same for the policy and the value network"""
    activation: Annotated[str, tyro.conf.arg(help=f"of the hidden layers: {', '.join(ACTIVATIONS)}")] = "relu"
    derived: bool = True
    """observe computed features as well: deadwood, deadwood after each discard, cards in melds"""

    rows: int = 1024
    """deals played at once"""
    steps: int = 32
    """decisions in each row between two updates"""
    minibatch: int = 2048
    """decisions per gradient step; the last of a rollout may have fewer, but not a single one"""
    epochs: int = 3
    """times that each decision is learnt from"""
    learning_rate: tuple[float, float] = (1e-3, 5e-5)
    """Adam's step size at the start and at the end"""
    entropy: tuple[float, float] = (0.015, 0.002)
    """weight of the entropy bonus at the start and at the end"""
    gae_lambda: float = 0.95
    """lambda of generalised advantage estimation; there is no discounting"""
    clip: float = 0.2
    """clip range of PPO"""
    grad_norm: float = 0.5
    """largest norm of a gradient"""

    panel: tuple[str, ...] = ("random", "simple")
    """agents to measure against"""
    eval_every: int = 500_000
    """decisions between two measurements"""
    eval_deals: Annotated[
        int,
        tyro.conf.arg(
            help=f"deals against each of the panel in a measurement; {FINAL_DEALS} times as many at the end, where "
            f"the mean counts for {BEST_FOLDER}/ like any other"
        ),
    ] = 2_000

    device: Literal["auto", "cpu", "cuda"] = "auto"
    """where the network learns; auto takes a graphics processor where there is one"""
    precision: Precision = "auto"
    """of the hidden layers while learning; auto takes bfloat16 where the processor computes in it"""
    threads: int = dataclasses.field(default_factory=lambda: min(os.cpu_count() or 1, 8))
    """processor threads of the network, at most as many as are idle"""


def main() -> None:
    """Read the arguments, train, measure, save."""
    with open_run() as (arguments, folder, training):
        train(arguments, folder, training)


def train(arguments: Arguments, folder: Path, training: dict[str, Any] | None) -> None:
    """Train, measure and save in a folder; ``training`` is where a resumed run stood."""
    budget = Budget(arguments.minutes, arguments.timesteps)
    rules = parse_rules(arguments.preset, arguments.rule)
    console = Console()

    torch.set_num_threads(arguments.threads)
    torch.distributions.Distribution.set_default_validate_args(False)  # never fires here

    observation = ObservationOptions(derived=arguments.derived)
    env = GinVecEnv(rules, arguments.rows, reward="scaled", observation=observation, seed=arguments.seed)
    model = MaskablePPO(
        policy_class(arguments.precision),
        env,
        # The schedules follow the budget, which may be minutes, instead of Stable-Baselines3's count of steps.
        learning_rate=lambda _: budget.between(*arguments.learning_rate),
        n_steps=arguments.steps,
        batch_size=arguments.minibatch,
        n_epochs=arguments.epochs,
        gamma=1.0,
        gae_lambda=arguments.gae_lambda,
        clip_range=arguments.clip,
        max_grad_norm=arguments.grad_norm,
        rollout_buffer_class=LeanRolloutBuffer,
        policy_kwargs={"net_arch": list(arguments.net), "activation_fn": activation_class(arguments.activation)},
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

    def measure(num_deals: int) -> list[MatchResult]:
        """Play against the panel, log it, and save the model, also as the best where it is."""
        nonlocal best
        student.set_weights(weights)
        with budget.paused():
            matches = play_panel(student, panel, num_deals)
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
                env.set_opponents(*pool.seat(weights))
                model.ent_coef = budget.between(*arguments.entropy)
                # One rollout and the updates that follow from it.
                model.learn(arguments.rows * arguments.steps, watcher, log_interval=None, reset_num_timesteps=False)
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

        with console.status("measuring"):
            matches = measure(FINAL_DEALS * arguments.eval_deals)
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
    console.print(f"python evaluate.py --agents {agents}", style="bold", soft_wrap=True, markup=False)


@contextlib.contextmanager
def open_run() -> Iterator[tuple[Arguments, Path, dict[str, Any] | None]]:
    """Read and check the command line; give it, the run's folder and, for a resumed run, where it stood."""
    arguments = parse(Arguments, prog="train.py", description=__doc__)
    if arguments.resume is None:
        arguments = with_minutes(arguments)
        check(arguments)
        with new_run_folder(arguments.output, arguments.preset) as folder:
            yield arguments, folder, None
        return
    before = revive(arguments.resume)
    arguments = parse(Arguments, prog="train.py", description=__doc__, default=before)
    assert arguments.resume is not None
    if arguments.output is not None:
        raise UserError(f"--output {arguments.output}: a resumed run stays in its folder; copy it to begin another")
    for name in FIXED_ON_RESUME:
        was, now = getattr(before, name), getattr(arguments, name)
        if was != now:
            raise UserError(
                f"--{name} {shown(now)}: the run {arguments.resume} has {shown(was)}; begin a new run instead"
            )
    arguments = with_minutes(arguments)
    check(arguments)
    with hold(arguments.resume):
        yield arguments, arguments.resume, read_training(arguments.resume)


def shown(value: Any) -> str:
    """Return an option's value as it is typed."""
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def with_minutes(arguments: Arguments) -> Arguments:
    """Fill in the default length where none is given."""
    if arguments.minutes is None and arguments.timesteps is None:
        return dataclasses.replace(arguments, minutes=DEFAULT_MINUTES)
    return arguments


def check(arguments: Arguments) -> None:
    """Refuse what cannot work before anything is written."""
    Budget(arguments.minutes, arguments.timesteps)
    rules = parse_rules(arguments.preset, arguments.rule)
    shares = parse_shares(arguments.opponents)
    for name in (shares.keys() - {SELF, PAST}) | {*arguments.panel}:
        load_agent(name, rules)
    for name in ("rows", "steps", "epochs", "eval_every", "eval_deals", "snapshot_every", "threads"):
        if getattr(arguments, name) < 1:
            raise UserError(f"--{name.replace('_', '-')} {getattr(arguments, name)}: at least 1")
    for name, (fits, wanted) in FLOAT_RANGES.items():
        values = getattr(arguments, name)
        if not all(map(fits, values if isinstance(values, tuple) else (values,))):
            raise UserError(f"--{name.replace('_', '-')} {shown(values)}: must be {wanted}")
    if arguments.activation not in ACTIVATIONS:
        raise UserError(f"--activation {arguments.activation}: must be one of {', '.join(ACTIVATIONS)}")
    if not arguments.net or min(arguments.net) < 1:
        raise UserError(f"--net {' '.join(map(str, arguments.net))}: sizes of at least 1 are needed")
    if not arguments.panel:
        raise UserError("--panel: name at least one agent to measure against")
    if not 0 <= arguments.seed < 2**31:
        raise UserError(f"--seed {arguments.seed}: from 0 to {2**31 - 1}")
    decisions = arguments.rows * arguments.steps
    if decisions < 2:
        raise UserError("--rows and --steps: at least two decisions are needed for an update")
    # Advantages are divided by their spread, and a single one has none.
    if arguments.minibatch < 2:
        raise UserError(f"--minibatch {arguments.minibatch}: at least 2")
    if decisions % arguments.minibatch == 1:
        raise UserError(
            f"--minibatch {arguments.minibatch}: leaves a single one of the {decisions:,} decisions of a rollout "
            "(rows times steps), which cannot be learnt from; choose a --minibatch that divides them"
        )
    if arguments.device == "cuda" and not torch.cuda.is_available():
        raise UserError("--device cuda: PyTorch finds no graphics processor here")


def stored(arguments: Arguments) -> dict[str, Any]:
    """Return the options that a resumed run takes over, as JSON values."""
    values = dataclasses.asdict(arguments)
    for name in ("minutes", "timesteps", "output", "resume", "threads"):
        del values[name]
    return values


def revive(folder: Path) -> Arguments:
    """Return the options of a saved run."""
    values: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in read_arguments(folder).items()
    }
    differing = values.keys() ^ stored(Arguments()).keys()
    if differing:
        raise UserError(
            f"--resume {folder}: its options are not those of this train.py ({', '.join(sorted(differing))})"
        )
    kinds = get_type_hints(Arguments)
    for name, value in values.items():
        if not is_of_kind(value, kinds[name]):
            raise UserError(f"--resume {folder}: {ARGUMENTS_FILE} is damaged: {name} cannot be {value!r}")
    return Arguments(**values, resume=folder)


def is_of_kind(value: Any, kind: Any) -> bool:
    """Return whether a value is what the type of a stored option says."""
    inner = get_args(kind)
    if get_origin(kind) is Literal:
        return value in inner
    if get_origin(kind) is tuple:
        if not isinstance(value, tuple):
            return False
        inner = inner[:1] * len(value) if inner[-1] is ... else inner
        return len(value) == len(inner) and all(map(is_of_kind, value, inner))
    return type(value) is kind or (kind is float and type(value) is int)


def make_pool(arguments: Arguments, rules: Rules, model: MaskablePPO) -> OpponentPool:
    """Return the opponents."""
    shares = parse_shares(arguments.opponents)
    scripted = {name: load_agent(name, rules) for name in shares if name not in (SELF, PAST)}
    options = ObservationOptions(derived=arguments.derived)
    current = PolicyAgent(rules, network_weights(model.policy), arguments.activation, options, greedy=False, name=SELF)
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
    observation = ObservationOptions(derived=arguments.derived)
    save_policy(folder, model.policy, rules, observation, facts(arguments, model, points))
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
