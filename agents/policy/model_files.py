"""The files of a saved model: what stands in them, how they are written, and every way they can be wrong.

A model is a folder with two files. ``model.json`` says what the network is for (rules, observation
layout, action count, layer shapes, how it was trained), ``weights.npz`` holds its arrays. Reading one runs
no code from it: no pickle, no torch. Layers are named ``actor.0 ... actor.H`` and ``critic.0 ...
critic.H``, hidden layers first; ``y = activation(x @ weight.T + bias)``, the last layer without activation. An
actor may have a skip connection, ``actor.skip.weight``: ``features @ skip.weight.T`` is added to its last layer. Where
each seat of a team has its own network, they are ``seat_0.actor.0 ...`` and ``seat_1.actor.0 ...``.
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

#: Rules that no decision within a deal depends on: a model may be used where only these differ.
HARMLESS_RULES = ("dealer_rule", "dead_redeal", "rotation")

Float32Array = NDArray[np.float32]
Weights = Mapping[str, Float32Array]


class Model(NamedTuple):
    """What a model folder holds."""

    rules: Rules  #: what it was trained for
    observation: ObservationOptions
    activation: str
    weights: dict[str, Float32Array]
    offers: bool = True  #: whether it may offer cards to its partner


def write_model(
    path: str | os.PathLike[str], model: Model, training: Mapping[str, Any], dtype: DTypeLike = np.float32
) -> None:
    """Write a model folder (made where missing; a model that stands there is replaced).

    ``training`` holds facts for the description (timesteps, seed, ...; JSON values). The weights are stored as
    ``dtype``, float32 or float16 (half as large, 3 decimal digits). Raises ``ValueError``,
    before anything is written, for weights that no network should have.
    """
    check_finite(model.weights)
    encoder = ObservationEncoder(model.rules, model.observation)
    packed = io.BytesIO()
    np.savez(packed, **{name: array.astype(dtype) for name, array in model.weights.items()})  # type: ignore[arg-type]  # numpy's stub takes the names for its own options
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
        "weights_sha256": hashlib.sha256(packed.getvalue()).hexdigest(),
        "training": dict(training),
    }
    folder = Path(path)
    folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / WEIGHTS_FILE, packed.getvalue())
    replace_file(folder / DESCRIPTION_FILE, (json.dumps(description, indent=2) + "\n").encode())


def check_finite(weights: Weights) -> None:
    """Raise ``ValueError`` where a weight is infinite or not a number, as a training leaves them that diverged."""
    spoilt = [name for name, array in weights.items() if not np.isfinite(array).all()]
    if spoilt:
        raise ValueError(
            f"the network's weights are no longer finite numbers ({', '.join(spoilt)}): the training diverged; "
            "begin it again with a smaller learning rate"
        )


def replace_file(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old content or the new one, never half of it."""
    temporary = path.with_name(path.name + ".new")
    temporary.write_bytes(content)
    temporary.replace(path)


def _layout_digest(encoder: ObservationEncoder) -> str:
    text = "\n".join(f"{section.name} {section.width}" for section in encoder.sections)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def read_model(path: str | os.PathLike[str]) -> Model:
    """Return what a model folder holds; raises ``ValueError`` where it is missing, foreign or damaged."""
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

    Raises ``ValueError`` where there is none, or where it is not a description of this format version.
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
            f"{str(folder)!r} has format version {description.get('format_version')!r}: "
            f"this version of gin_env reads {FORMAT_VERSION}"
        )
    for key, kind in (("rules", dict), ("observation", dict), ("network", dict), ("weights_sha256", str)):
        if not isinstance(description.get(key), kind):
            raise ValueError(f"{folder / DESCRIPTION_FILE} is damaged: {key} is missing or no {kind.__name__}")
    return description


def _trained_rules(folder: Path, description: dict[str, Any]) -> Rules:
    fields: dict[str, Any] = {  # JSON has lists only
        name: tuple(value) if isinstance(value, list) else value for name, value in description["rules"].items()
    }
    try:
        return Rules(**fields)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{str(folder)!r} was trained under rules unknown here: {error}") from None


def check_rules(model: str, trained: Rules, played: Rules) -> None:
    """Raise ``ValueError`` where a model was trained for rules that differ in more than ``HARMLESS_RULES``."""
    values = dataclasses.asdict(played)
    differing = [
        f"{name}={value!r} instead of {values[name]!r}"
        for name, value in dataclasses.asdict(trained).items()
        if value != values[name] and name not in HARMLESS_RULES
    ]
    if differing:
        raise ValueError(
            f"the model {model!r} was trained for {trained.name}, not for {played.name}: {', '.join(differing)}"
        )


def _observation_options(folder: Path, description: dict[str, Any]) -> ObservationOptions:
    try:
        return ObservationOptions(**description["observation"]["options"])
    except (TypeError, ValueError, KeyError) as error:
        raise ValueError(f"{str(folder)!r} needs observation options unknown here: {error}") from None


def _check_layout(folder: Path, description: dict[str, Any], rules: Rules, observation: ObservationOptions) -> None:
    encoder = ObservationEncoder(rules, observation)
    if description["observation"].get("layout") != _layout_digest(encoder):
        raise ValueError(
            f"the model {str(folder)!r} was trained on another observation layout "
            f"({description['observation'].get('size')} features; here they are {encoder.size})"
        )
    actions = action_layout(rules).size
    if description.get("num_actions") != actions:
        raise ValueError(
            f"the model {str(folder)!r} has num_actions={description.get('num_actions')!r}: "
            f"{rules.name} has {actions} actions here"
        )


def _read_weights(folder: Path, description: dict[str, Any]) -> dict[str, Float32Array]:
    path = folder / WEIGHTS_FILE
    if not path.is_file():
        raise ValueError(f"{str(folder)!r} has no {WEIGHTS_FILE}")
    content = path.read_bytes()
    if hashlib.sha256(content).hexdigest() != description["weights_sha256"]:
        raise ValueError(f"{path} is damaged or belongs to another {DESCRIPTION_FILE}")
    try:
        arrays = np.load(io.BytesIO(content), allow_pickle=False)
        weights = {name: arrays[name] for name in arrays.files} if isinstance(arrays, np.lib.npyio.NpzFile) else None
    except Exception as error:  # zip, zlib and the array headers each fail in their own ways
        raise ValueError(f"{path} is damaged: {error}") from None
    if weights is None or not all(isinstance(array, np.ndarray) for array in weights.values()):
        raise ValueError(f"{path} is damaged: it is not an archive of arrays")
    shapes = {name: list(array.shape) for name, array in weights.items()}
    if shapes != description["network"].get("shapes"):
        raise ValueError(f"{path} holds other shapes than {DESCRIPTION_FILE} says")
    for name, array in weights.items():
        if array.dtype not in (np.float16, np.float32) or not np.isfinite(array).all():
            raise ValueError(f"{path} is damaged: {name} is not made of finite float32 or float16 numbers")
    return {name: array.astype(np.float32) for name, array in weights.items()}
