"""How fast the environment is, with random legal play: ``python benchmarks/speed.py``.

Prints decisions per second on one core: of the engine at several batch sizes (legal masks and new deals included, with
and without the time of choosing random actions), with observations encoded, and through the PettingZoo environments.
Then of MaskablePPO next to an environment that costs nothing, on as many cores as train.py uses. Peers are measured in
the same way if they are installed (``pip install open_spiel rlcard``).

Options: ``--quick`` measures a tenth as long; ``--no-training`` leaves out MaskablePPO.
"""

from __future__ import annotations

import os

# One thread for NumPy; PyTorch's are set where training is measured, and must not spin while they wait.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")

import importlib.util
import random
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

# As a script too, find the packages next to this folder.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

import gin_env
from gin_env import Engine, random_actions
from gin_env.observation import ObservationEncoder, player_view
from gin_env.observation.encoder import ObservationOptions

SECONDS = 0.3 if "--quick" in sys.argv else 3.0
BATCHES = (1, 64, 1024, 4096, 8192)
#: Batch size at which all other presets are measured.
COMPARED = 4096
#: Batch size for the figures with observations.
OBSERVED = 1024
PRESETS = ("classic_2p", "palace_4p")


class Speed(NamedTuple):
    """Decisions per second, with and without the time of choosing random actions."""

    with_choice: float
    without: float


def engine_speed(preset: str, num_deals: int, observe: ObservationOptions | None = None) -> Speed:
    """Measure random legal play with masks and new deals, and optionally with every mover's observation."""
    engine = Engine(preset, num_deals, seed=1)
    engine.reset()
    encoder = ObservationEncoder(engine.rules, observe)
    buffer = np.empty((num_deals, encoder.size), dtype=np.float32)
    generator = np.random.default_rng(0)
    decisions, choosing, start = 0, 0.0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < SECONDS:
        if observe is not None:
            encoder.encode(player_view(engine.state), out=buffer)
        engine.legal_mask()
        before = time.perf_counter()
        actions = random_actions(engine.state.legal, engine.layout, generator)
        choosing += time.perf_counter() - before
        engine.step(actions)
        decisions += num_deals
        over = engine.over.nonzero()[0]
        if len(over):
            engine.reset(over)
    return Speed(decisions / elapsed, decisions / (elapsed - choosing))


def aec_speed(make: Callable[..., object], preset: str) -> float:
    """Decisions per second through a PettingZoo environment, ``last()`` with its observation included."""
    env = make(preset)
    rng = random.Random(0)
    decisions, seed, start = 0, 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < SECONDS:
        env.reset(seed=seed)
        seed += 1
        for _ in env.agent_iter():
            observation, _, termination, truncation, _ = env.last()
            if termination or truncation:
                break
            env.step(rng.choice(observation["action_mask"].nonzero()[0]))
            decisions += 1
    return decisions / elapsed


def open_spiel_speed() -> float:
    """Decisions per second of OpenSpiel's gin rummy from Python; its chance nodes are not counted."""
    import pyspiel

    game = pyspiel.load_game("gin_rummy")
    rng = random.Random(0)
    decisions, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < SECONDS:
        state = game.new_initial_state()
        while not state.is_terminal():
            decisions += not state.is_chance_node()
            state.apply_action(rng.choice(state.legal_actions()))
    return decisions / elapsed


def rlcard_speed() -> float:
    """Decisions per second of RLCard's gin rummy."""
    import rlcard

    env = rlcard.make("gin-rummy")
    rng = random.Random(0)
    decisions, start = 0, time.perf_counter()
    while (elapsed := time.perf_counter() - start) < SECONDS:
        state, _ = env.reset()
        while not env.is_over():
            state, _ = env.step(rng.choice(list(state["legal_actions"])))
            decisions += 1
    return decisions / elapsed


def main() -> None:
    """Print every figure."""
    print(f"gin_env {gin_env.__version__}, numpy {np.__version__}, decisions per second on one core\n")
    print(f"{'engine, masks and new deals included':44s} {'with random choice':>20s} {'without it':>12s}")
    for preset in PRESETS:
        for num_deals in BATCHES:
            speed = engine_speed(preset, num_deals)
            print(f"  {preset:12s} N = {num_deals:<25,d} {speed.with_choice:20,.0f} {speed.without:12,.0f}")
        print(f"  {preset:12s} memory: {Engine(preset).state.nbytes_per_deal:,d} bytes a deal")
    for preset in sorted(set(gin_env.PRESETS) - set(PRESETS)):
        speed = engine_speed(preset, COMPARED)
        print(f"  {preset:15s} N = {COMPARED:<22,d} {speed.with_choice:20,.0f} {speed.without:12,.0f}")
    print("\nwith observations encoded, too")
    for preset in PRESETS:
        for name, options in (("plain", ObservationOptions()), ("derived features", ObservationOptions(derived=True))):
            speed = engine_speed(preset, OBSERVED, options)
            print(f"  {preset:12s} N = {OBSERVED:<6,d} {name:18s} {speed.with_choice:20,.0f} {speed.without:12,.0f}")
    print("\nPettingZoo AEC, last() with its observation included")
    for preset in PRESETS:
        for name, make in (("env()", gin_env.env), ("raw_env()", gin_env.raw_env)):
            print(f"  {preset:12s} {name:29s} {aec_speed(make, preset):20,.0f}")
    peers = [("pyspiel", "OpenSpiel, one deal", open_spiel_speed), ("rlcard", "RLCard, one deal", rlcard_speed)]
    for module, name, measure in peers:
        if importlib.util.find_spec(module):
            print(f"  {name:42s} {measure():20,.0f}")
    if "--no-training" not in sys.argv:
        from benchmarks import training

        print()
        training.main()


if __name__ == "__main__":
    main()
