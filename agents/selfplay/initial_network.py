"""Begin a training with the network of a saved model (``--init``)."""

from __future__ import annotations

from pathlib import Path

from agents.policy.model_files import Model, read_model
from agents.selfplay.network import SelfPlayPolicy
from gin_env.observation import ObservationEncoder


def read_initial_model(folder: Path, encoder: ObservationEncoder) -> Model:
    """Return the saved model to begin with.

    Raises
    ------
    ValueError
        The model is missing or damaged, or it observes other features than ``encoder`` writes.
    """
    model = read_model(folder)
    model_encoder = ObservationEncoder(model.rules, model.observation)
    if _widths(model_encoder) != _widths(encoder):
        raise ValueError(
            f"--init {folder}: that network observes other features; train with the same observation options"
        )
    return model


def load_initial_network(policy: SelfPlayPolicy, folder: Path, encoder: ObservationEncoder, activation: str) -> None:
    """Copy the network of a saved model into a policy.

    The model may be for other rules, provided that it observes the same features and has the same actions.

    Raises
    ------
    ValueError
        It observes other features, or its network has another activation, other sizes or more actors.
    """
    model = read_initial_model(folder, encoder)
    if model.activation != activation:
        raise ValueError(f"--init {folder}: that network has --activation {model.activation}")

    num_actors = len({name.split(".")[0] for name in model.weights if name.startswith("seat_")})
    if num_actors > policy.mlp_extractor.num_actors:
        raise ValueError(f"--init {folder}: that network has {num_actors} actors, one for each seat; add --per-seat")

    try:
        policy.set_weights(model.weights)
    except ValueError as error:
        raise ValueError(f"--init {folder}: {error}; choose the --net of that model") from None


def _widths(encoder: ObservationEncoder) -> list[tuple[str, int]]:
    """Return the name and the number of features of each section."""
    return [(section.name, section.width) for section in encoder.sections]
