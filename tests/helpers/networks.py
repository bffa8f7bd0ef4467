"""Small networks with random weights, as saved models hold them."""

from __future__ import annotations

import itertools

import numpy as np

from gin_env.engine import action_layout
from gin_env.observation import ObservationEncoder, ObservationOptions
from gin_env.rules import Rules

HIDDEN_SIZES = (16, 12)  # not the default of --net


def random_weights(
    rules: Rules, observation: ObservationOptions, actors: tuple[str, ...] = ("actor",)
) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(1)
    sizes = [ObservationEncoder(rules, observation).size, *HIDDEN_SIZES, action_layout(rules).size]
    weights = {}
    for actor in actors:
        for layer, (inputs, outputs) in enumerate(itertools.pairwise(sizes)):
            weights[f"{actor}.{layer}.weight"] = generator.normal(0, 0.05, (outputs, inputs)).astype(np.float32)
            weights[f"{actor}.{layer}.bias"] = np.zeros(outputs, np.float32)
    return weights
