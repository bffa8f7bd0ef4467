"""Opening the runs that a command line asks for: new ones, one for each of several seeds, and resumed ones."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Iterator
from pathlib import Path
from types import UnionType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from agents.cli import UserError, parse
from agents.cli.folder_lock import hold
from agents.selfplay.arguments import DEFAULT_MINUTES, Arguments, check, shown
from agents.selfplay.budget import Budget
from agents.selfplay.run_folder import ARGUMENTS_FILE, TRAINING_FILE, new_run_folder, read_arguments, read_training

#: What a resumed run must share with the run it goes on from: otherwise the network would not fit, or
#: results against another panel would be compared with the best one so far.
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

#: A run to be made: its options, its folder (kept from every other train.py), and where it stood, if it is resumed.
Opened = tuple[Arguments, Path, dict[str, Any] | None]


def open_runs(description: str | None) -> Iterator[Opened]:
    """Read and check the command line and give one run after the other; each is over when the next is asked for."""
    arguments = parse(Arguments, prog="train.py", description=description)
    if arguments.resume is not None:
        with _resumed(arguments.resume, description) as opened:
            yield opened
        return
    arguments = with_minutes(arguments)
    check(arguments)
    if arguments.seeds == 1:
        with new_run_folder(arguments.output, arguments.preset) as folder:
            yield arguments, folder, None
        return
    parent = arguments.output or Path("runs", f"{arguments.preset}-seeds")
    for seed in range(arguments.seed, arguments.seed + arguments.seeds):
        one = dataclasses.replace(arguments, seed=seed, seeds=1, output=seed_folder(parent, seed))
        with contextlib.suppress(CompleteError), begun_or_resumed(one) as opened:
            yield opened


@contextlib.contextmanager
def begun_or_resumed(arguments: Arguments, may_be_complete: bool = False) -> Iterator[Opened]:
    """Begin a run in its folder, ``arguments.output``, or go on as it was with the one that stands there.

    Raises ``CompleteError`` where that one has used up its budget, unless it ``may_be_complete``.
    """
    folder = arguments.output
    assert folder is not None
    if (folder / TRAINING_FILE).exists():
        with _resumed(folder, None, may_be_complete) as opened:
            yield opened
        return
    with new_run_folder(folder, arguments.preset):
        yield arguments, folder, None


def seed_folder(parent: Path, seed: int) -> Path:
    """Return the folder of one of several seeds."""
    return parent / f"seed-{seed}"


class CompleteError(UserError):
    """A run that has used up its budget was asked to go on without another."""


@contextlib.contextmanager
def _resumed(folder: Path, description: str | None, may_be_complete: bool = False) -> Iterator[Opened]:
    """Open a run again, with the options of the command line in place of its own, or without description as it was."""
    before = revive(folder)
    minutes, timesteps = before.minutes, before.timesteps
    before = arguments = dataclasses.replace(before, minutes=None, timesteps=None)
    if description is not None:
        arguments = parse(Arguments, prog="train.py", description=description, default=before)
    if arguments.output is not None:
        raise UserError(f"--output {arguments.output}: a resumed run stays in its folder; copy it to begin another")
    for name in FIXED_ON_RESUME:
        was, now = getattr(before, name), getattr(arguments, name)
        if was != now:
            raise UserError(
                f"--{name} {shown(now)}: the run {arguments.resume} has {shown(was)}; begin a new run instead"
            )
    goes_on = arguments.minutes is None and arguments.timesteps is None
    if goes_on:
        arguments = dataclasses.replace(arguments, minutes=minutes, timesteps=timesteps)
    check(arguments)
    with hold(folder):
        training = read_training(folder)
        budget = Budget(arguments.minutes, arguments.timesteps, training["made"], training["seconds"])
        if goes_on and budget.is_spent and not may_be_complete:
            raise CompleteError(f"--resume {folder}: that training is complete; give --minutes or --timesteps for more")
        yield arguments, folder, training | {"leg_is_new": not goes_on}


def with_minutes(arguments: Arguments) -> Arguments:
    """Fill in the default length where none is given."""
    if arguments.minutes is None and arguments.timesteps is None:
        return dataclasses.replace(arguments, minutes=DEFAULT_MINUTES)
    return arguments


def stored(arguments: Arguments) -> dict[str, Any]:
    """Return the options that a resumed run takes over, as JSON values."""
    values = dataclasses.asdict(arguments)
    for name in ("output", "resume"):
        del values[name]
    return values | {"init": None if arguments.init is None else str(arguments.init)}


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
    kinds["init"] = str | None  # as it is stored
    for name, value in values.items():
        if not is_of_kind(value, kinds[name]):
            raise UserError(f"--resume {folder}: {ARGUMENTS_FILE} is damaged: {name} cannot be {value!r}")
    init = values.pop("init")
    return Arguments(**values, init=None if init is None else Path(init), resume=folder)


def is_of_kind(value: Any, kind: Any) -> bool:
    """Return whether a value is what the type of a stored option says."""
    inner = get_args(kind)
    if get_origin(kind) is Literal:
        return value in inner
    if get_origin(kind) is UnionType:
        return any(is_of_kind(value, one) for one in inner)
    if get_origin(kind) is tuple:
        if not isinstance(value, tuple):
            return False
        inner = inner[:1] * len(value) if inner[-1] is ... else inner
        return len(value) == len(inner) and all(map(is_of_kind, value, inner))
    return type(value) is kind or (kind is float and type(value) is int)
