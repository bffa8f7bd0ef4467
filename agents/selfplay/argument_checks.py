"""Which values the options of train.py may have, and which of them may be combined."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch

from agents.cli import UserError
from agents.policy import ACTIVATIONS
from agents.policy.model_files import read_model
from agents.selfplay.arguments import Arguments, as_typed
from agents.selfplay.budget import Budget

#: Options that are counts: at least 1.
COUNTS = (
    "seeds",
    "rows",
    "steps",
    "epochs",
    "teacher_decisions",
    "teacher_epochs",
    "eval_every",
    "eval_deals",
    "snapshot_every",
    "threads",
)

#: Options that are real numbers: what they may be (no comparison holds for nan), in code and in words.
FLOAT_RANGES: dict[str, tuple[Callable[[float], bool], str]] = {
    "learning_rate": (lambda value: 0 < value <= 1, "above 0 and at most 1"),
    "entropy": (lambda value: 0 <= value < math.inf, "at least 0 and finite"),
    "gae_lambda": (lambda value: 0 <= value <= 1, "from 0 to 1"),
    "clip": (lambda value: 0 < value < 1, "above 0 and below 1"),
    "teacher_rate": (lambda value: 0 < value <= 1, "above 0 and at most 1"),
    "average": (lambda value: 0 <= value < 1, "at least 0 and below 1"),
    "grad_norm": (lambda value: 0 < value < math.inf, "above 0 and finite"),
}


def check(arguments: Arguments) -> None:
    """Refuse options that cannot work, before anything is written; the agents are checked when they are loaded.

    Raises
    ------
    ValueError
        An option has a value that it may not have, or contradicts another one; the message names it.
    """
    Budget(arguments.minutes, arguments.timesteps)
    _check_numbers(arguments)
    _check_network(arguments)
    _check_rollout(arguments)
    if arguments.init is not None:
        read_model(arguments.init)
    if not arguments.panel:
        raise UserError("--panel: expected at least one agent to measure against, got none")
    if arguments.device == "cuda" and not torch.cuda.is_available():
        raise UserError("--device cuda: PyTorch finds no CUDA device on this machine")


def _check_numbers(arguments: Arguments) -> None:
    """Check the options that are single numbers or pairs of them."""
    for name in COUNTS:
        value = getattr(arguments, name)
        if value < 1:
            raise UserError(f"--{name.replace('_', '-')}: expected at least 1, got {value}")

    for name, (is_allowed, description) in FLOAT_RANGES.items():
        value = getattr(arguments, name)
        if not all(map(is_allowed, value if isinstance(value, tuple) else (value,))):
            raise UserError(f"--{name.replace('_', '-')}: expected {description}, got {as_typed(value)}")

    if not 0 <= arguments.seed < 2**31:
        raise UserError(f"--seed: expected 0 to {2**31 - 1}, got {arguments.seed}")


def _check_network(arguments: Arguments) -> None:
    """Check the options that describe the networks and what they observe."""
    if arguments.activation not in ACTIVATIONS:
        raise UserError(f"--activation: expected one of {', '.join(ACTIVATIONS)}, got {arguments.activation}")
    if not arguments.net or min(arguments.net) < 1:
        raise UserError(f"--net: expected sizes of at least 1, got {as_typed(arguments.net) or 'none'}")
    if arguments.outlook and not arguments.buried_pile:
        raise UserError(
            "--no-buried-pile: the lookahead features count the cards of the discard pile; add --no-outlook"
        )
    if arguments.per_seat and not arguments.rules.has_partners:
        raise UserError(f"--per-seat: under {arguments.rules.name} no team has several seats at a table")
    if arguments.per_seat and not arguments.hidden_critic:
        raise UserError("--per-seat --no-hidden-critic: one network per seat needs the privileged critic")


def _check_rollout(arguments: Arguments) -> None:
    """Check that a rollout can be cut into minibatches: advantages are divided by their spread, and one has none."""
    num_decisions = arguments.rows * arguments.steps
    if num_decisions < 2:
        raise UserError(f"--rows and --steps: expected at least 2 decisions per rollout, got {num_decisions}")
    if arguments.minibatch < 2:
        raise UserError(f"--minibatch: expected at least 2, got {arguments.minibatch}")
    if num_decisions % arguments.minibatch == 1:
        raise UserError(
            f"--minibatch {arguments.minibatch}: leaves a last minibatch of a single decision, which cannot be learnt "
            f"from; choose a --minibatch that divides the {num_decisions:,} decisions of a rollout (rows times steps)"
        )
