"""Open the runs that a command line asks for: a new one, one for each of several seeds, or a resumed one."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, NamedTuple, get_args, get_origin, get_type_hints

from agents.cli import UserError, parse
from agents.cli.folder_lock import hold
from agents.selfplay.argument_checks import check
from agents.selfplay.arguments import DEFAULT_MINUTES, Arguments, as_typed
from agents.selfplay.budget import Budget
from agents.selfplay.run_folder import ARGUMENTS_FILE, TRAINING_FILE, new_run_folder, read_arguments, read_state
from agents.selfplay.training_agents import TrainingAgents, load_training_agents

#: Options that a resumed run cannot change: otherwise the network would not fit, or results against other
#: evaluation opponents would be compared with the best one so far.
FIXED_ON_RESUME = (
    "preset",
    "rule",
    "episode",
    "net",
    "activation",
    "offers",
    "per_seat",
    "hidden_critic",
    "derived",
    "outlook",
    "buried_pile",
    "panel",
    "rows",
    "steps",
)


class Run(NamedTuple):
    """A training to be carried out; its folder is locked as long as the run is open."""

    arguments: Arguments
    agents: TrainingAgents
    folder: Path
    state: dict[str, Any] | None = None  #: of a resumed run, as ``run_folder.read_state`` returns it
    is_extended: bool = False  #: whether a resumed run has a new budget, rather than the rest of its own


def open_runs(description: str | None) -> Iterator[Run]:
    """Read and check the command line, then yield one run after the other; each must be over before the next."""
    arguments = parse(Arguments, prog="train.py", description=description)
    if arguments.resume is not None:
        with _resumed(arguments.resume, description) as run:
            yield run
        return

    arguments = with_minutes(arguments)
    agents = _check_and_load(arguments)
    if arguments.seeds == 1:
        with new_run_folder(arguments.output, arguments.preset) as folder:
            yield Run(arguments, agents, folder)
        return

    # The agents above only showed that the options are valid: each run loads its own, with fresh random streams.
    parent = arguments.output or Path("runs", f"{arguments.preset}-seeds")
    for seed in range(arguments.seed, arguments.seed + arguments.seeds):
        one_seed = dataclasses.replace(arguments, seed=seed, seeds=1, output=seed_folder(parent, seed))
        with contextlib.suppress(CompleteError), begun_or_resumed(one_seed) as run:
            yield run


@contextlib.contextmanager
def begun_or_resumed(arguments: Arguments, may_be_complete: bool = False) -> Iterator[Run]:
    """Begin a run in its folder, ``arguments.output``, or resume the one that the folder holds, with its own options.

    Raises
    ------
    CompleteError
        That run has used up its budget, unless it ``may_be_complete``.
    ValueError
        An option cannot work, or the folder cannot be used.
    """
    folder = arguments.output
    assert folder is not None
    if (folder / TRAINING_FILE).exists():
        with _resumed(folder, None, may_be_complete) as run:
            yield run
        return

    agents = _check_and_load(arguments)
    with new_run_folder(folder, arguments.preset):
        yield Run(arguments, agents, folder)


def seed_folder(parent: Path, seed: int) -> Path:
    """Return the folder of one of several seeds."""
    return parent / f"seed-{seed}"


class CompleteError(UserError):
    """A run that has used up its budget was to be resumed without a new one."""


@contextlib.contextmanager
def _resumed(folder: Path, description: str | None, may_be_complete: bool = False) -> Iterator[Run]:
    """Open a saved run.

    The options of the command line replace the run's own; without ``description`` the command line is not read.
    """
    saved = read_options(folder)
    without_budget = arguments = dataclasses.replace(saved, minutes=None, timesteps=None)
    if description is not None:
        arguments = parse(Arguments, prog="train.py", description=description, default=without_budget)
    if arguments.output is not None:
        raise UserError(f"--output {arguments.output}: a resumed run stays in its folder; copy it to begin another")
    for name in FIXED_ON_RESUME:
        saved_value, value = getattr(saved, name), getattr(arguments, name)
        if value != saved_value:
            raise UserError(
                f"--{name} {as_typed(value)}: the run {folder} has {as_typed(saved_value)}; begin a new run instead"
            )

    # A new budget extends the run; without one it continues with the rest of its own.
    is_extended = arguments.minutes is not None or arguments.timesteps is not None
    if not is_extended:
        arguments = dataclasses.replace(arguments, minutes=saved.minutes, timesteps=saved.timesteps)
    agents = _check_and_load(arguments)

    with hold(folder):
        state = read_state(folder)
        budget = Budget(arguments.minutes, arguments.timesteps, state["made"], state["seconds"])
        if budget.is_spent and not is_extended and not may_be_complete:
            raise CompleteError(
                f"--resume {folder}: that training is complete; add --minutes or --timesteps to extend it"
            )
        yield Run(arguments, agents, folder, state, is_extended)


def _check_and_load(arguments: Arguments) -> TrainingAgents:
    """Check the options and load the agents that they name, before anything is written."""
    check(arguments)
    return load_training_agents(arguments)


def with_minutes(arguments: Arguments) -> Arguments:
    """Return the options with the default budget where none is given."""
    if arguments.minutes is None and arguments.timesteps is None:
        return dataclasses.replace(arguments, minutes=DEFAULT_MINUTES)
    return arguments


# options of a saved run


def stored(arguments: Arguments) -> dict[str, Any]:
    """Return the options that a resumed run takes over, as JSON values."""
    values = dataclasses.asdict(arguments)
    for name in ("output", "resume"):
        del values[name]
    return values | {"init": None if arguments.init is None else str(arguments.init)}


def read_options(folder: Path) -> Arguments:
    """Return the options of a saved run.

    Raises
    ------
    UserError
        The folder holds no run, or its options are damaged or those of another version.
    """
    values: dict[str, Any] = {  # JSON has lists only
        name: tuple(value) if isinstance(value, list) else value for name, value in read_arguments(folder).items()
    }
    differing = values.keys() ^ stored(Arguments()).keys()
    if differing:
        raise UserError(
            f"--resume {folder}: its options are not those of this train.py ({', '.join(sorted(differing))})"
        )

    types = get_type_hints(Arguments)
    types["init"] = str | None  # as it is stored
    for name, value in values.items():
        if not has_type(value, types[name]):
            raise UserError(f"--resume {folder}: {ARGUMENTS_FILE} is damaged: {name} cannot be {value!r}")

    init = values.pop("init")
    return Arguments(**values, init=None if init is None else Path(init), resume=folder)


def has_type(value: Any, type_hint: Any) -> bool:
    """Return whether a value has the type of a stored option."""
    inner = get_args(type_hint)
    if get_origin(type_hint) is Literal:
        return value in inner
    if get_origin(type_hint) is UnionType:
        return any(has_type(value, one) for one in inner)
    if get_origin(type_hint) is tuple:
        if not isinstance(value, tuple):
            return False
        item_types = inner[:1] * len(value) if inner[-1] is ... else inner
        return len(value) == len(item_types) and all(map(has_type, value, item_types))
    return type(value) is type_hint or (type_hint is float and type(value) is int)
