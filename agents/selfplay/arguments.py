"""The options of train.py: what they are and what may be combined."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import torch
import tyro

from agents.cli import UserError
from agents.cli.rule_options import parse_rules
from agents.policy import ACTIVATIONS
from agents.policy.model_files import Model, read_model
from agents.registry import AGENT_NAMES, load_agent
from agents.selfplay.budget import Budget
from agents.selfplay.network import Precision
from agents.selfplay.opponent_pool import PAST, SELF, parse_shares
from agents.selfplay.run_folder import BEST_FOLDER
from gin_env.episodes import Agent
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import PRESETS, Rules

DEFAULT_MINUTES = 4.0
#: What --teacher may be beside an agent, and whom AUTO means.
AUTO, NOBODY = "auto", "none"
DUEL_TEACHER, TEAM_TEACHER, MUTE_TEACHER = "sharp", "team-lookahead", "no-trade-lookahead"
#: How many times as many deals the last measurement has.
FINAL_DEALS = 5
#: What the options that are real numbers may be (no comparison holds for nan), and how that is said.
FLOAT_RANGES: dict[str, tuple[Callable[[float], bool], str]] = {
    "learning_rate": (lambda value: 0 < value <= 1, "above 0 and at most 1"),
    "entropy": (lambda value: 0 <= value < math.inf, "at least 0 and finite"),
    "gae_lambda": (lambda value: 0 <= value <= 1, "from 0 to 1"),
    "clip": (lambda value: 0 < value < 1, "above 0 and below 1"),
    "teacher_rate": (lambda value: 0 < value <= 1, "above 0 and at most 1"),
    "average": (lambda value: 0 <= value < 1, "at least 0 and below 1"),
    "grad_norm": (lambda value: 0 < value < math.inf, "above 0 and finite"),
}


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Train an agent by self-play and measure it against scripted ones."""

    preset: Annotated[str, tyro.conf.arg(help=f"rules: {', '.join(PRESETS)}")] = "palace_4p"
    rule: tuple[str, ...] = ()
    """fields of the rules to replace, for example knock_limit=5 big_gin_bonus=none boast_points=20,15,10,5,0"""
    episode: Literal["deal", "game"] = "deal"
    """learn to play single deals, or whole games to the target score; measured in the same way"""
    reward: Literal["points", "scaled", "win"] = "scaled"
    """what is paid: net points, net points divided to a size that suits the network, or 1 and -1 for the episode's
    winner and the others; the best model is chosen by points whatever is paid"""
    minutes: Annotated[float | None, tyro.conf.arg(help=f"how long to train; default {DEFAULT_MINUTES:g}")] = None
    timesteps: int | None = None
    """how many decisions of the learner to train for, instead of minutes"""
    seed: int = 1
    """fixes the first weights, the deals and all chances (with --timesteps the whole run, on the same machine)"""
    seeds: int = 1
    """how many times to train, with this seed and those that follow it, each in a folder of its own within OUTPUT; the
    same command begins nothing twice and goes on where it was interrupted"""
    output: Path | None = None
    """folder for the model and its logs; by default runs/PRESET, or the first free runs/PRESET-2, -3, ..."""
    resume: Path | None = None
    """go on with the run in this folder, with its options unless others are given: up to its end, exactly as if it
    had not been interrupted, or, with --minutes or --timesteps, for so much more, with learning rate and entropy bonus
    moving anew from their start to their end"""

    init: Path | None = None
    """folder of a saved model whose network to begin with, instead of a random one"""
    teacher: Annotated[
        str,
        tyro.conf.arg(
            help="whom the network is taught to copy before it learns by itself: any agent that evaluate.py takes; "
            f"{AUTO} is {DUEL_TEACHER}, or {TEAM_TEACHER} where partners see each other's cards (with --no-offers "
            f"{MUTE_TEACHER}); {NOBODY} trains from scratch"
        ),
    ] = AUTO
    teacher_decisions: int = 300_000
    """decisions of the teacher to learn from; they count as decisions of the training"""
    teacher_epochs: int = 6
    """times that each of them is learnt from, with the suits relabelled at random"""
    teacher_rate: tuple[float, float] = (1e-3, 3e-5)
    """Adam's step size while learning from the teacher, at the start and at the end"""

    opponents: Annotated[
        tuple[str, ...],
        tyro.conf.arg(
            help=f"whom the learner meets, with shares: {SELF} (its present self), {PAST} (snapshots), "
            f"{', '.join(AGENT_NAMES)}, or any other agent that evaluate.py takes"
        ),
    ] = ("self:0.6", "past:0.1", "simple:0.2", "gold-k4:0.1")
    snapshot_every: int = 500_000
    """decisions between two snapshots for the opponent "past" """

    net: tuple[int, ...] = (256, 256)
    """sizes of the hidden layers, the same for the policy and the value network"""
    activation: Annotated[str, tyro.conf.arg(help=f"of the hidden layers: {', '.join(ACTIVATIONS)}")] = "relu"
    offers: bool = True
    """let the learner offer cards to its partner; --no-offers trains a network that does without trading"""
    per_seat: bool = False
    """give each seat of a partnership a policy network of its own, instead of one for both"""
    hidden_critic: bool = True
    """let the value network see the hidden hands and the next cards of the stock: it is not needed for playing, and
    the less of the luck of the cards it has to guess, the better it judges decisions"""
    derived: bool = False
    """observe computed features as well: deadwood, deadwood after each discard, cards in melds"""
    outlook: bool = True
    """observe what one more card would make of the hand, whom a thrown card serves and what a trade is worth"""
    buried_pile: bool = True
    """observe what lies under the pile's top card, who threw it and who declined it"""

    rows: int = 1024
    """deals played at once"""
    steps: int = 32
    """decisions in each row between two updates"""
    minibatch: int = 2048
    """decisions per gradient step; the last of a rollout may have fewer, but not a single one"""
    epochs: int = 3
    """times that each decision is learnt from"""
    learning_rate: tuple[float, float] = (2.5e-4, 5e-5)
    """Adam's step size at the start and at the end"""
    entropy: tuple[float, float] = (0.01, 0.001)
    """weight of the entropy bonus at the start and at the end; a clone is so sure of itself that with less it hardly
    learns any more, and from scratch 0.015 0.002 keeps it from knocking at once"""
    gae_lambda: float = 0.95
    """lambda of generalised advantage estimation; there is no discounting"""
    clip: float = 0.2
    """clip range of PPO"""
    grad_norm: float = 0.5
    """largest norm of a gradient"""
    average: float = 0.9
    """what is measured and saved are the weights averaged over the rollouts: the share that a rollout keeps of the
    average so far; 0 for the weights as they are"""

    panel: tuple[str, ...] = ("random", "simple")
    """agents to measure against"""
    eval_every: int = 500_000
    """decisions between two measurements"""
    eval_deals: Annotated[
        int,
        tyro.conf.arg(
            help="deals (with --episode game: games) against each of the panel in a measurement, rounded down to whole "
            f"sets of seats; {FINAL_DEALS} times as many at the end, where the mean counts for {BEST_FOLDER}/ like any "
            "other"
        ),
    ] = 2_000

    device: Literal["auto", "cpu", "cuda"] = "auto"
    """where the network learns; auto takes a graphics processor where there is one"""
    precision: Precision = "auto"
    """of the hidden layers while learning; auto takes bfloat16 where the processor computes in it"""
    threads: int = dataclasses.field(default_factory=lambda: min(os.cpu_count() or 1, 8))
    """processor threads of the network, at most as many as are idle"""

    @property
    def observation(self) -> ObservationOptions:
        """What the network sees."""
        return ObservationOptions(derived=self.derived, buried_pile=self.buried_pile, outlook=self.outlook)


def load_teacher(arguments: Arguments, rules: Rules) -> Agent | None:
    """Return the agent whom the network copies first, or None where it is trained from scratch."""
    if arguments.teacher == NOBODY:
        return None
    name = arguments.teacher
    if name == AUTO:
        in_team = TEAM_TEACHER if arguments.offers else MUTE_TEACHER
        name = in_team if rules.sees_partner else DUEL_TEACHER
    return load_agent(name, rules)


def network_options(model: Model) -> dict[str, Any]:
    """Return the options of train.py that describe a saved network, its sizes among them."""
    per_seat = "seat_0.actor.0.weight" in model.weights
    actor = "seat_0.actor" if per_seat else "actor"
    num_layers = sum(name.startswith(f"{actor}.") and name.endswith(".bias") for name in model.weights)
    seen = model.observation
    return {
        "net": tuple(len(model.weights[f"{actor}.{number}.bias"]) for number in range(num_layers - 1)),
        "activation": model.activation,
        "offers": model.offers,
        "per_seat": per_seat,
        "derived": seen.derived,
        "outlook": seen.outlook,
        "buried_pile": seen.buried_pile,
    }


def shown(value: Any) -> str:
    """Return an option's value as it is typed."""
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


def check(arguments: Arguments) -> None:
    """Refuse what cannot work before anything is written."""
    Budget(arguments.minutes, arguments.timesteps)
    rules = parse_rules(arguments.preset, arguments.rule)
    shares = parse_shares(arguments.opponents)
    for name in (shares.keys() - {SELF, PAST}) | {*arguments.panel}:
        load_agent(name, rules)
    load_teacher(arguments, rules)
    for name in (
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
    ):
        if getattr(arguments, name) < 1:
            raise UserError(f"--{name.replace('_', '-')} {getattr(arguments, name)}: at least 1")
    for name, (fits, wanted) in FLOAT_RANGES.items():
        values = getattr(arguments, name)
        if not all(map(fits, values if isinstance(values, tuple) else (values,))):
            raise UserError(f"--{name.replace('_', '-')} {shown(values)}: must be {wanted}")
    if arguments.activation not in ACTIVATIONS:
        raise UserError(f"--activation {arguments.activation}: must be one of {', '.join(ACTIVATIONS)}")
    if not arguments.net or min(arguments.net) < 1:
        raise UserError(f"--net {' '.join(map(str, arguments.net))}: sizes of at least 1 are needed")
    if arguments.outlook and not arguments.buried_pile:
        raise UserError("--no-buried-pile: the outlook counts the cards of the pile; give --no-outlook as well")
    if arguments.init is not None:
        read_model(arguments.init)
    if arguments.per_seat and not rules.has_partners:
        raise UserError(f"--per-seat: under {rules.name} no team has several seats at a table")
    if arguments.per_seat and not arguments.hidden_critic:
        raise UserError("--per-seat --no-hidden-critic: networks of their own need the hidden critic")
    if not arguments.panel:
        raise UserError("--panel: name at least one agent to measure against")
    if not 0 <= arguments.seed < 2**31:
        raise UserError(f"--seed {arguments.seed}: from 0 to {2**31 - 1}")
    decisions = arguments.rows * arguments.steps
    if decisions < 2:
        raise UserError("--rows and --steps: at least two decisions are needed for an update")
    # Advantages are divided by their spread, and a single one has none.
    if arguments.minibatch < 2:
        raise UserError(f"--minibatch {arguments.minibatch}: at least 2")
    if decisions % arguments.minibatch == 1:
        raise UserError(
            f"--minibatch {arguments.minibatch}: leaves a single one of the {decisions:,} decisions of a rollout "
            "(rows times steps), which cannot be learnt from; choose a --minibatch that divides them"
        )
    if arguments.device == "cuda" and not torch.cuda.is_available():
        raise UserError("--device cuda: PyTorch finds no graphics processor here")
