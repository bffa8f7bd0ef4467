"""A training that begins with a saved network: which one fits, and its weights given to the learner."""

from __future__ import annotations

from pathlib import Path

from agents.model_files import Model, read_model
from agents.selfplay.network import SelfPlayPolicy
from gin_env.observation import ObservationEncoder


def read_init(folder: Path, encoder: ObservationEncoder) -> Model:
    """Return a saved model to begin with; raises ``ValueError`` where it sees other features."""
    model = read_model(folder)
    seen = [(section.name, section.width) for section in ObservationEncoder(model.rules, model.observation).sections]
    if seen != [(section.name, section.width) for section in encoder.sections]:
        raise ValueError(f"--init {folder}: that network sees other features; train with the same observation options")
    return model


def begin_with(policy: SelfPlayPolicy, folder: Path, encoder: ObservationEncoder, activation: str) -> None:
    """Give a policy the network of a saved model, also of other rules, if only it sees and may do the same things.

    Raises ``ValueError`` where it does not, or where its network has other sizes.
    """
    model = read_init(folder, encoder)
    if model.activation != activation:
        raise ValueError(f"--init {folder}: that network has --activation {model.activation}")
    num_actors = len({name.split(".")[0] for name in model.weights if name.startswith("seat_")})
    if num_actors > policy.mlp_extractor.num_actors:
        raise ValueError(f"--init {folder}: that network has {num_actors} actors, one for each seat; give --per-seat")
    try:
        policy.set_weights(model.weights)
    except ValueError as error:
        raise ValueError(f"--init {folder}: {error}; give the --net of that model") from None
