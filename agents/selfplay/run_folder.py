"""The folder of a training run: the model, the best model, what a resume needs, and the logs.

::

    runs/NAME/model.json, weights.npz   the model as it is now: an agent's name for evaluate.py
    runs/NAME/best/                     the model whose worst result against the panel was best
    runs/NAME/arguments.json            the command line
    runs/NAME/training.pt               optimizer, weights and counters, read with weights_only=True
    runs/NAME/logs/                     TensorBoard events and progress.csv
"""

from __future__ import annotations

import io
import json
import pickle
from pathlib import Path
from typing import Any

import torch

from agents.cli import UserError
from agents.model_files import DESCRIPTION_FILE, replace_file

ARGUMENTS_FILE = "arguments.json"
TRAINING_FILE = "training.pt"
BEST_FOLDER = "best"
LOGS_FOLDER = "logs"

#: Version of what stands in training.pt and arguments.json.
RUN_VERSION = 1


def new_run_folder(output: Path | None, preset: str) -> Path:
    """Make the folder of a new run and return it; the first free ``runs/PRESET``, ``runs/PRESET-2``, ... by default.

    Raises ``UserError`` where it cannot be written or already holds a run.
    """
    if output is None:
        output = Path("runs", preset)
        number = 2
        while output.exists():
            output = Path("runs", f"{preset}-{number}")
            number += 1
    elif (output / DESCRIPTION_FILE).exists() or (output / ARGUMENTS_FILE).exists():
        raise UserError(f"--output {output}: already holds a run; name another folder, or go on with --resume {output}")
    try:
        output.mkdir(parents=True, exist_ok=True)
        probe = output / (ARGUMENTS_FILE + ".new")
        probe.write_text("")
        probe.unlink()
    except OSError as error:
        raise UserError(f"--output {output}: cannot be written ({error.strerror})") from error
    return output


def write_arguments(folder: Path, arguments: dict[str, Any]) -> None:
    """Keep the command line of a run."""
    content = {"run_version": RUN_VERSION, **arguments}
    replace_file(folder / ARGUMENTS_FILE, (json.dumps(content, indent=2) + "\n").encode())


def read_arguments(folder: Path) -> dict[str, Any]:
    """Return the command line of a run; raises ``UserError`` where the folder holds none that can be resumed."""
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
        raise UserError(f"--resume {folder}: run version {version!r}; this train.py goes on with {RUN_VERSION}")
    return arguments


def write_training(folder: Path, training: dict[str, Any]) -> None:
    """Keep what a resume needs: tensors, numbers, texts, lists and dicts of them."""
    packed = io.BytesIO()
    torch.save(training, packed)
    replace_file(folder / TRAINING_FILE, packed.getvalue())


def read_training(folder: Path) -> dict[str, Any]:
    """Return what ``write_training`` kept, without running any code from the file."""
    try:
        return torch.load(folder / TRAINING_FILE, map_location="cpu", weights_only=True)
    except (pickle.UnpicklingError, RuntimeError, EOFError, ValueError, KeyError) as error:
        raise UserError(f"--resume {folder}: {TRAINING_FILE} is damaged") from error
