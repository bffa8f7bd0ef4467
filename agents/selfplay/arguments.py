"""The options of train.py: their types, defaults and help texts."""

from __future__ import annotations

import dataclasses
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro

from agents.cli.rule_options import parse_rules
from agents.policy import ACTIVATIONS
from agents.policy.model_files import Model
from agents.registry import AGENT_NAMES
from agents.selfplay.network import Precision
from agents.selfplay.opponent_pool import PAST, SELF
from agents.selfplay.run_folder import BEST_FOLDER
from gin_env.observation.encoder import ObservationOptions
from gin_env.rules import PRESETS, Rules

DEFAULT_MINUTES = 4.0
#: Values of --teacher that are not agents.
AUTO, NOBODY = "auto", "none"
#: The teachers that AUTO stands for: without partners whose cards are visible, with them, and with --no-offers.
DUEL_TEACHER, TEAM_TEACHER, NO_TRADE_TEACHER = "sharp", "team-lookahead", "no-trade-lookahead"
#: How many times as many deals the last measurement has.
FINAL_DEALS = 5


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Train an agent by self-play and measure it against other agents."""

    preset: Annotated[str, tyro.conf.arg(help=f"rules: {', '.join(PRESETS)}")] = "palace_4p"
    rule: tuple[str, ...] = ()
    """fields of the rules to replace, for example knock_limit=5 big_gin_bonus=none boast_points=20,15,10,5,0"""
    episode: Literal["deal", "game"] = "deal"
    """play single deals, or whole games to the target score; results are measured in the same way"""
    reward: Literal["points", "scaled", "win"] = "scaled"
    """reward of an episode: net points, net points scaled to a size that suits the network, or 1 for the winner and -1
    for the others; whatever the reward, the best model is chosen by points"""
    minutes: Annotated[float | None, tyro.conf.arg(help=f"how long to train; default {DEFAULT_MINUTES:g}")] = None
    timesteps: int | None = None
    """train for this number of the learner's decisions, instead of minutes"""
    seed: int = 1
    """fixes the initial weights, the deals and all random streams (with --timesteps the whole run, on one machine)"""
    seeds: int = 1
    """number of trainings, with this seed and the ones after it, each in its own folder within OUTPUT; run the same
    command again to continue where it was interrupted"""
    output: Path | None = None
    """folder for the model and its logs; by default the first free one of runs/PRESET, runs/PRESET-2, ..."""
    resume: Path | None = None
    """continue the run in this folder, with its options unless others are given: to its end, exactly as if it had not
    been interrupted, or, with --minutes or --timesteps, for that much longer, with learning rate and entropy bonus
    moving from start to end once more"""

    init: Path | None = None
    """folder of a saved model whose network to start from, instead of a random one"""
    teacher: Annotated[
        str,
        tyro.conf.arg(
            help="agent that the network is taught to copy before self-play (behaviour cloning): any agent that "
            f"evaluate.py takes; {AUTO} is {DUEL_TEACHER}, or {TEAM_TEACHER} where partners see each other's cards "
            f"(with --no-offers {NO_TRADE_TEACHER}); {NOBODY} trains without a teacher"
        ),
    ] = AUTO
    teacher_decisions: int = 300_000
    """number of the teacher's decisions to learn from; they count as decisions of the training"""
    teacher_epochs: int = 6
    """passes over each rollout of the teacher, with the suits relabelled at random"""
    teacher_rate: tuple[float, float] = (1e-3, 3e-5)
    """learning rate while copying the teacher, at the start and at the end"""

    opponents: Annotated[
        tuple[str, ...],
        tyro.conf.arg(
            help=f"the learner's opponents and their shares: {SELF} (its present self), {PAST} (snapshots of it), "
            f"{', '.join(AGENT_NAMES)}, or any other agent that evaluate.py takes"
        ),
    ] = ("self:0.6", "past:0.1", "simple:0.2", "gold-k4:0.1")
    snapshot_every: int = 500_000
    """number of decisions between two snapshots for the opponent "past" """

    net: tuple[int, ...] = (256, 256)
    """sizes of the hidden layers, the same for the policy and the value network"""
    activation: Annotated[str, tyro.conf.arg(help=f"of the hidden layers: {', '.join(ACTIVATIONS)}")] = "relu"
    offers: bool = True
    """let the learner offer cards to its partner; --no-offers trains a network that never offers a trade"""
    per_seat: bool = False
    """train a policy network for each seat of a partnership, instead of one for both"""
    hidden_critic: bool = True
    """privileged critic: the value network sees the hidden hands and the next cards of the stock. It is not needed for
    playing, and it judges decisions better because it need not guess hidden cards"""
    derived: bool = False
    """observe computed features, too: deadwood, deadwood after each discard, cards in melds"""
    outlook: bool = True
    """observe lookahead features: what the next card may do for the hand, which opponents a discard helps and what a
    trade is worth"""
    buried_pile: bool = True
    """observe the whole discard pile, not only its top card: who discarded each card and who declined it"""

    rows: int = 1024
    """deals played at once"""
    steps: int = 32
    """decisions per row and rollout; an update follows each rollout"""
    minibatch: int = 2048
    """decisions per gradient step; the last one of an epoch may have fewer, but at least 2"""
    epochs: int = 3
    """passes over each rollout"""
    learning_rate: tuple[float, float] = (2.5e-4, 5e-5)
    """learning rate (Adam) at the start and at the end"""
    entropy: tuple[float, float] = (0.01, 0.001)
    """entropy coefficient at the start and at the end; with less, a cloned network is too certain to learn much more;
    without a teacher, 0.015 0.002 keeps it from knocking at once"""
    gae_lambda: float = 0.95
    """lambda of generalized advantage estimation; rewards are not discounted"""
    clip: float = 0.2
    """clip range of PPO"""
    grad_norm: float = 0.5
    """maximum norm of the gradient; longer ones are clipped"""
    average: float = 0.9
    """decay of the moving average of the weights, updated after each rollout; the average is what is measured and
    saved; 0 for the weights themselves"""

    panel: tuple[str, ...] = ("random", "simple")
    """evaluation opponents: the agents to measure against"""
    eval_every: int = 500_000
    """number of decisions between two measurements"""
    eval_deals: Annotated[
        int,
        tyro.conf.arg(
            help="deals (with --episode game: games) per measurement against each evaluation opponent, rounded down to "
            f"a multiple of the number of sides; the last measurement has {FINAL_DEALS} times as many, and counts for "
            f"{BEST_FOLDER}/ like any other"
        ),
    ] = 2_000

    device: Literal["auto", "cpu", "cuda"] = "auto"
    """where the network is trained; auto uses a CUDA device if there is one"""
    precision: Precision = "auto"
    """precision of the hidden layers in training; auto is bfloat16 where the processor supports it"""
    threads: int = dataclasses.field(default_factory=lambda: min(os.cpu_count() or 1, 8))
    """CPU threads of the network; use no more than are idle"""

    @property
    def rules(self) -> Rules:
        """The rules of the training: the preset with the fields of ``rule`` replaced."""
        return parse_rules(self.preset, self.rule)

    @property
    def observation(self) -> ObservationOptions:
        """What the policy network sees."""
        return ObservationOptions(derived=self.derived, buried_pile=self.buried_pile, outlook=self.outlook)


def network_options(model: Model) -> dict[str, Any]:
    """Return the options of train.py that describe a saved network: its sizes and what it observes."""
    has_seats = "seat_0.actor.0.weight" in model.weights
    actor = "seat_0.actor" if has_seats else "actor"
    num_layers = sum(name.startswith(f"{actor}.") and name.endswith(".bias") for name in model.weights)
    hidden_sizes = tuple(len(model.weights[f"{actor}.{layer}.bias"]) for layer in range(num_layers - 1))

    return {
        "net": hidden_sizes,
        "activation": model.activation,
        "offers": model.offers,
        "per_seat": has_seats,
        "derived": model.observation.derived,
        "outlook": model.observation.outlook,
        "buried_pile": model.observation.buried_pile,
    }


def as_typed(value: Any) -> str:
    """Return an option's value as it is typed on the command line."""
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)
