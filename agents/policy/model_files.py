"""The files of a saved model: how they are written and read, and every way in which they can be wrong.

A model is a folder with two files. ``model.json`` describes the network (rules, observation layout, number of actions,
layer shapes, how it was trained); ``weights.npz`` holds its arrays. Reading a model runs no code from it: no pickle, no
torch. Layers are named ``actor.0 ... actor.H`` and ``critic.0 ... critic.H``, hidden layers first;
``y = activation(x @ weight.T + bias)``, and the last layer has no activation. An actor may have a skip connection,
``actor.skip.weight``: ``features @ skip.weight.T`` is added to the output of its last layer. Where each seat of a team
has its own network, the layers are named ``seat_0.actor.0 ...`` and ``seat_1.actor.0 ...``.
"""

from __future__ import annotations

import dataclasses
import hashlib
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gin_env import __version__
from gin_env.engine import action_layout
from gin_env.observation import ObservationEncoder
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import PRESETS, Rules

FORMAT = "gin_env.policy"
FORMAT_VERSION = 1
DESCRIPTION_FILE = "model.json"
WEIGHTS_FILE = "weights.npz"

#: Fields of the rules on which no decision within a deal depends: a model may play rules that differ only in these.
HARMLESS_RULES = ("dealer_rule", "dead_redeal", "rotation")

Float32Array = NDArray[np.float32]
Weights = Mapping[str, Float32Array]


class Model(NamedTuple):
    """The contents of a model folder."""

    rules: Rules  #: the rules that it was trained for
    observation: ObservationOptions
    activation: str
    weights: dict[str, Float32Array]
    offers: bool = True  #: whether it may offer cards to its partner


def write_model(
    path: str | os.PathLike[str], model: Model, training: Mapping[str, Any], dtype: DTypeLike = np.float32
) -> None:
    """Write a model folder; a model that it holds is replaced.

    Parameters
    ----------
    path : path
        The folder; made where missing.
    model : Model
    training : mapping of str
        Facts about the training for the description (timesteps, seed, ...), as JSON values.
    dtype : dtype
        How the weights are stored: float32, or float16 (half the size, 3 decimal digits).

    Raises
    ------
    ValueError
        A weight is not finite; nothing is written then.
    """
    check_finite(model.weights)
    encoder = ObservationEncoder(model.rules, model.observation)

    weights = {name: array.astype(dtype) for name, array in model.weights.items()}
    content = io.BytesIO()
    np.savez(content, **weights)  # type: ignore[arg-type]  # numpy's stub takes the names for its own options

    description = {
        "format": FORMAT,
        "format_version": FORMAT_VERSION,
        "package_version": __version__,
        "preset": next((name for name, preset in PRESETS.items() if preset == model.rules), None),
        "rules": dataclasses.asdict(model.rules),
        "observation": {
            "options": dataclasses.asdict(model.observation),
            "size": encoder.size,
            "layout": _layout_digest(encoder),
        },
        "num_actions": action_layout(model.rules).size,
        "network": {
            "activation": model.activation,
            "offers": model.offers,
            "shapes": {name: list(array.shape) for name, array in model.weights.items()},
        },
        "weights_sha256": hashlib.sha256(content.getvalue()).hexdigest(),
        "training": dict(training),
    }

    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / WEIGHTS_FILE, content.getvalue())
    replace_file(folder / DESCRIPTION_FILE, (json.dumps(description, indent=2) + "\n").encode())


def check_finite(weights: Weights) -> None:
    """Raise ``ValueError`` where a weight is infinite or not a number, as after a training that diverged."""
    not_finite = [name for name, array in weights.items() if not np.isfinite(array).all()]
    if not_finite:
        raise ValueError(
            f"the network's weights are no longer finite numbers ({', '.join(not_finite)}): the training diverged; "
            "start it again with a smaller learning rate"
        )


def replace_file(path: Path, content: bytes) -> None:
    """Write a file atomically: a reader sees either the old or the new content, never half of it."""
    temporary = path.with_name(path.name + ".new")
    temporary.write_bytes(content)
    temporary.replace(path)


def _layout_digest(encoder: ObservationEncoder) -> str:
    """Return a digest of the names and widths of the feature vector's sections."""
    text = "\n".join(f"{section.name} {section.width}" for section in encoder.sections)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_model(path: str | os.PathLike[str]) -> Model:
    """Return the contents of a model folder.

    Raises
    ------
    ValueError
        The folder is missing, damaged, not a model, or a model that this version cannot run.
    """
    folder = Path(path)
    description = read_description(folder)
    rules = _trained_rules(folder, description)
    observation = _observation_options(folder, description)
    _check_layout(folder, description, rules, observation)

    activation = description["network"].get("activation")
    if not isinstance(activation, str):
        raise ValueError(f"{folder / DESCRIPTION_FILE} is damaged: activation={activation!r} is not a name")
    offers = description["network"].get("offers", True)
    if not isinstance(offers, bool):
        raise ValueError(f"{folder / DESCRIPTION_FILE} is damaged: offers={offers!r} is not true or false")
    return Model(rules, observation, activation, _read_weights(folder, description), offers)


def read_description(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the content of a folder's ``model.json``.

    Raises
    ------
    ValueError
        There is none, or it is not a description of this format version.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise ValueError(f"no model folder {str(folder)!r}")
    if not (folder / DESCRIPTION_FILE).is_file():
        raise ValueError(f"{str(folder)!r} is not a model folder: it has no {DESCRIPTION_FILE}")

    try:
        description = json.loads((folder / DESCRIPTION_FILE).read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(f"{folder / DESCRIPTION_FILE} is damaged: {error}") from None

    if not isinstance(description, dict) or description.get("format") != FORMAT:
        raise ValueError(f"{folder / DESCRIPTION_FILE} does not describe a model of this project")
    if description.get("format_version") != FORMAT_VERSION:
        raise ValueError(
            f"{str(folder)!r}: expected format version {FORMAT_VERSION}, got {description.get('format_version')!r}; "
            "use the version of gin_env that wrote it"
        )
    for key, kind in (("rules", dict), ("observation", dict), ("network", dict), ("weights_sha256", str)):
        if not isinstance(description.get(key), kind):
            raise ValueError(f"{folder / DESCRIPTION_FILE} is damaged: {key} is missing or not of type {kind.__name__}")
    return description


def _trained_rules(folder: Path, description: dict[str, Any]) -> Rules:
    """Return the rules that a model was trained for; raises ``ValueError`` for fields or values unknown here."""
    fields: dict[str, Any] = {  # JSON has lists only
        name: tuple(value) if isinstance(value, list) else value for name, value in description["rules"].items()
    }
    try:
        return Rules(**fields)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{str(folder)!r} was trained for rules unknown here: {error}") from None


def check_rules(model: str, trained: Rules, played: Rules) -> None:
    """Raise ``ValueError`` where a model was trained for rules that differ in more than ``HARMLESS_RULES``."""
    trained_values, played_values = dataclasses.asdict(trained), dataclasses.asdict(played)
    differing = [
        f"{name}={value!r} instead of {played_values[name]!r}"
        for name, value in trained_values.items()
        if value != played_values[name] and name not in HARMLESS_RULES
    ]
    if differing:
        raise ValueError(
            f"the model {model!r} was trained for {trained.name}, not for {played.name}: {', '.join(differing)}"
        )


def _observation_options(folder: Path, description: dict[str, Any]) -> ObservationOptions:
    """Return what a model observes; raises ``ValueError`` for options unknown here."""
    try:
        return ObservationOptions(**description["observation"]["options"])
    except (TypeError, ValueError, KeyError) as error:
        raise ValueError(f"{str(folder)!r} needs observation options unknown here: {error}") from None


def _check_layout(folder: Path, description: dict[str, Any], rules: Rules, observation: ObservationOptions) -> None:
    """Raise ``ValueError`` where the features or the actions are not those of the training."""
    encoder = ObservationEncoder(rules, observation)
    if description["observation"].get("layout") != _layout_digest(encoder):
        raise ValueError(
            f"the model {str(folder)!r} was trained on another observation layout: "
            f"expected {encoder.size} features, got {description['observation'].get('size')}"
        )

    num_actions = action_layout(rules).size
    if description.get("num_actions") != num_actions:
        raise ValueError(
            f"the model {str(folder)!r} has num_actions={description.get('num_actions')!r}: "
            f"expected {num_actions} for {rules.name}"
        )


def _read_weights(folder: Path, description: dict[str, Any]) -> dict[str, Float32Array]:
    """Return the arrays of a model as float32; raises ``ValueError`` unless they are those that are described."""
    path = folder / WEIGHTS_FILE
    if not path.is_file():
        raise ValueError(f"{str(folder)!r} has no {WEIGHTS_FILE}")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != description["weights_sha256"]:
        raise ValueError(f"{path} is damaged or belongs to another {DESCRIPTION_FILE}")

    try:
        archive = np.load(io.BytesIO(content), allow_pickle=False)
        is_archive = isinstance(archive, np.lib.npyio.NpzFile)
        weights = {name: archive[name] for name in archive.files} if is_archive else None
    except Exception as error:  # zip, zlib and the array headers each fail in their own ways
        raise ValueError(f"{path} is damaged: {error}") from None

    if weights is None or not all(isinstance(array, np.ndarray) for array in weights.values()):
        raise ValueError(f"{path} is damaged: it is not an archive of arrays")
    shapes = {name: list(array.shape) for name, array in weights.items()}
    if shapes != description["network"].get("shapes"):
        raise ValueError(f"{path} holds other shapes than {DESCRIPTION_FILE} says")
    for name, array in weights.items():
        if array.dtype not in (np.float16, np.float32) or not np.isfinite(array).all():
            raise ValueError(f"{path} is damaged: {name}: expected finite float32 or float16 numbers")

    return {name: array.astype(np.float32) for name, array in weights.items()}
