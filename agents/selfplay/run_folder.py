"""The folder of a training run: the model, the best model, what a resume needs, and the logs.

::

    runs/NAME/model.json, weights.npz   the model as of the last rollout: an agent's name for evaluate.py
    runs/NAME/best/                     the model with the best worst result against the evaluation opponents
    runs/NAME/arguments.json            the options, as given last
    runs/NAME/training.pt               optimizer, weights and counters, read with weights_only=True
    runs/NAME/logs/                     TensorBoard events, and progress.csv, progress-2.csv, ... for each resume
    runs/NAME/learning.png, style.png   results against the evaluation opponents and how the learner plays, by decisions

A folder holds a run once something was saved, that is, once it has a training.pt.
"""

from __future__ import annotations

import contextlib
import io
import itertools
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from agents.cli import UserError
from agents.cli.folder_lock import FolderInUseError, hold
from agents.policy.model_files import DESCRIPTION_FILE, replace_file

ARGUMENTS_FILE = "arguments.json"
TRAINING_FILE = "training.pt"
BEST_FOLDER = "best"
LOGS_FOLDER = "logs"

#: Version of the contents of training.pt and arguments.json.
RUN_VERSION = 5

#: The entries of training.pt and their types.
_STATE_TYPES = {
    "policy": dict,
    "optimizer": dict,
    "average": dict,
    "decisions": int,
    "updates": int,
    "made": int,
    "seconds": float,
    "best": float,
    "last_snapshot": int,
    "last_measure": int,
    "results": dict,
    "command": str,
    "tables": dict,
    "streams": str,
    "torch_stream": torch.Tensor,
    "snapshots": list,
    "snapshot_results": list,
}


@contextlib.contextmanager
def new_run_folder(output: Path | None, preset: str) -> Iterator[Path]:
    """Make and lock the folder of a new run; by default the first free of ``runs/PRESET``, ``runs/PRESET-2``, ...

    Raises
    ------
    UserError
        The folder cannot be written, another process uses it, or it already holds a run or a model.
    """
    if output is not None:
        if (output / TRAINING_FILE).exists():
            raise UserError(
                f"--output {output}: already holds a run; choose another folder, or continue it with --resume {output}"
            )
        if (output / DESCRIPTION_FILE).exists():
            raise UserError(f"--output {output}: already holds a model; choose another folder")
        _make(output)
        with hold(output):
            yield output
        return

    for number in itertools.count(1):
        folder = Path("runs", preset if number == 1 else f"{preset}-{number}")
        if (folder / TRAINING_FILE).exists() or (folder / DESCRIPTION_FILE).exists():
            continue

        # A folder without a run may belong to a training that has not saved anything yet: then take the next one.
        _make(folder)
        with contextlib.ExitStack() as lock:
            try:
                lock.enter_context(hold(folder))
            except FolderInUseError:
                continue
            yield folder
            return


def _make(folder: Path) -> None:
    """Make a folder where it is missing; raises ``UserError`` unless files can be written into it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / (ARGUMENTS_FILE + ".new")
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        raise UserError(f"--output {folder}: cannot be written ({error.strerror})") from error


def write_arguments(folder: Path, arguments: dict[str, Any]) -> None:
    """Save the options of a run."""
    content = {"run_version": RUN_VERSION, **arguments}
    replace_file(folder / ARGUMENTS_FILE, (json.dumps(content, indent=2) + "\n").encode())


def read_arguments(folder: Path) -> dict[str, Any]:
    """Return the options of a saved run; raises ``UserError`` unless the folder holds one that can be resumed."""
    if not folder.is_dir():
        raise UserError(f"--resume {folder}: no such folder")
    for name in (ARGUMENTS_FILE, TRAINING_FILE):
        if not (folder / name).is_file():
            raise UserError(f"--resume {folder}: not the folder of a run that train.py saved (no {name})")

    try:
        arguments = json.loads((folder / ARGUMENTS_FILE).read_text(encoding="utf-8"))
        version = arguments.pop("run_version")
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise UserError(f"--resume {folder}: {ARGUMENTS_FILE} is damaged") from error
    if version != RUN_VERSION:
        raise UserError(f"--resume {folder}: expected run version {RUN_VERSION}, got {version!r}")
    return arguments


def write_state(folder: Path, state: dict[str, Any]) -> None:
    """Save what a resume needs: tensors, numbers, texts, lists and dicts of them, but no objects of our classes."""
    content = io.BytesIO()
    torch.save(state, content)
    replace_file(folder / TRAINING_FILE, content.getvalue())


def read_state(folder: Path) -> dict[str, Any]:
    """Return what ``write_state`` saved, without running any code from the file.

    Raises
    ------
    UserError
        The file is damaged: it cannot be read, or an entry is missing or of another type.
    """
    try:
        state = torch.load(folder / TRAINING_FILE, map_location="cpu", weights_only=True)
    except Exception as error:  # zip, pickle and torch each fail in their own ways
        raise UserError(f"--resume {folder}: {TRAINING_FILE} is damaged") from error

    if not isinstance(state, dict):
        raise UserError(f"--resume {folder}: {TRAINING_FILE} is damaged: expected a dict, got {type(state).__name__}")
    for name, kind in _STATE_TYPES.items():
        if not isinstance(state.get(name), kind):
            raise UserError(
                f"--resume {folder}: {TRAINING_FILE} is damaged: {name} is missing or not of type {kind.__name__}"
            )
    return state


def log_suffix(folder: Path) -> str:
    """Return the suffix of the next log, progress.csv: ``""`` for a new run, then ``"-2"``, ``"-3"``, ..."""
    suffixes = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
    return next(suffix for suffix in suffixes if not (folder / LOGS_FOLDER / f"progress{suffix}.csv").exists())
