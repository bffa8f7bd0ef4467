"""Train a best response: a learner whose only opponent is one frozen agent, to see how much that agent can lose.

python -m agents.selfplay.best_response simple --preset eaai_2p --minutes 10
python -m agents.selfplay.best_response runs/mine --preset palace_4p --init best --minutes 60

How exploitable an agent is can only be bounded from below, by a player trained against it, and the bound is only as
good as that training. It is train.py's, with AGENT as the only opponent and the only evaluation opponent. The learner
starts from a network that already plays well, which is itself the first candidate for the best model. The report comes
from fresh decks, on which nothing was trained or selected; the initial network plays them, too.

The same command continues where it was interrupted, and measures again if the training is complete.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Annotated, Any, NamedTuple

# As in train.py: waiting threads sleep, and NumPy needs only one.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import tyro
from rich.console import Console

import gin_env
from agents.arena import MatchResult, play_match
from agents.arena.statistics.intervals import CONFIDENCE, MIN_PAIRS, Estimate, paired_difference
from agents.checkpoints import SHIPPED, shipped_folder
from agents.cli import UserError, parse, run
from agents.cli.rule_options import parse_rules
from agents.policy import PolicyAgent
from agents.policy.model_files import Model, read_description, read_model, replace_file
from agents.registry import is_model, load_agent
from agents.selfplay.arguments import AUTO, NOBODY, Arguments, network_options
from agents.selfplay.initial_network import read_initial_model
from agents.selfplay.progress import ProgressDisplay, explained_interruption
from agents.selfplay.run_folder import BEST_FOLDER, TRAINING_FILE, read_arguments
from agents.selfplay.runs import begun_or_resumed, stored
from agents.selfplay.trainer import Trainer
from agents.selfplay.training_agents import load_teacher
from gin_env.episodes import Agent
from gin_env.observation import ObservationEncoder
from gin_env.rules import PRESETS, Rules

PROG = "-m agents.selfplay.best_response"
REPORT_FILE = "best_response.json"
DEFAULT_MINUTES = 10.0
#: Added to --seed, it seeds the decks of the report: no training and no measurement has so large a seed.
FRESH_DECKS = 2**31
#: The options of train.py that are options here, too, under the same name.
SHARED_OPTIONS = (
    *("preset", "rule", "minutes", "timesteps", "seed", "rows", "steps", "learning_rate", "entropy"),
    *("eval_every", "eval_deals", "threads"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """The options of a best response."""

    agent: Annotated[str, tyro.conf.Positional]
    """the agent to exploit: any that evaluate.py takes; it does not learn"""
    preset: Annotated[str, tyro.conf.arg(help=f"rules: {', '.join(PRESETS)}")] = Arguments.preset
    rule: tuple[str, ...] = ()
    """fields of the rules to replace, for example knock_limit=5"""
    minutes: Annotated[float | None, tyro.conf.arg(help=f"how long to train; default {DEFAULT_MINUTES:g}")] = None
    timesteps: int | None = None
    """train for this number of the learner's decisions, instead of minutes"""
    init: str | None = None
    """network to start from: the folder of a saved model, or best; by default a copy of AGENT if it is a network (but
    not one that never offers a trade), else the network that is shipped for these rules"""
    teacher: str | None = None
    """agent whose clone to start from, instead of a network; by default, and only where there is no network, sharp or
    team-lookahead, as in train.py"""
    deals: int = 20_000
    """duplicate deals of the report, rounded down to a multiple of the number of sides; other ones for each --seed"""
    seed: int = Arguments.seed
    """fixes the deals and all random streams (with --timesteps the whole run, on one machine)"""
    output: Path | None = None
    """folder for the models, the logs and the report, by default runs/exploits-AGENT; the same command continues a
    training that was interrupted there, and measures one again that is complete"""

    rows: int = Arguments.rows
    """deals played at once"""
    steps: int = Arguments.steps
    """decisions per row and rollout; an update follows each rollout"""
    learning_rate: tuple[float, float] = Arguments.learning_rate
    """learning rate (Adam) at the start and at the end"""
    entropy: tuple[float, float] = Arguments.entropy
    """entropy coefficient at the start and at the end"""
    eval_every: int = 250_000
    """number of decisions between two measurements, by which the best model is chosen"""
    eval_deals: int = 4_000
    """duplicate deals per measurement, always the same ones"""
    threads: int = dataclasses.field(default_factory=lambda: Arguments().threads)
    """CPU threads of the network; use no more than are idle"""


class WarmStart(NamedTuple):
    """What the learner starts from: a saved network, or a teacher that it clones first."""

    name: str
    model: Model | None  #: None where a teacher is cloned
    agent: Agent  #: plays as the learner does before it learns anything about its opponent

    @property
    def text(self) -> str:
        """The warm start in a few words."""
        return f"warm-started from {self.name if self.model else f'a clone of {self.name}'}"


def main() -> None:
    """Read the options, train, measure on fresh decks, report."""
    options = parse(Options, prog=PROG, description=__doc__)
    rules = parse_rules(options.preset, options.rule)
    agent = load_agent(options.agent, rules)
    fewest_deals = MIN_PAIRS * rules.num_teams
    if options.deals < fewest_deals:
        raise UserError(f"--deals: expected at least {fewest_deals}, for an interval, got {options.deals}")

    start, arguments = prepare(options, rules, agent)
    output, console = arguments.output, Console()
    assert output is not None
    if (output / TRAINING_FILE).exists():
        _check_is_same(arguments, output)

    with begun_or_resumed(arguments, may_be_complete=True) as training_run:
        trainer = Trainer(training_run, PROG)
        folder = trainer.folder
        console.print(f"a best response to {options.agent}, {start.text}, into {folder}/", markup=False, soft_wrap=True)
        train(trainer, start, console)
        with console.status("measuring on fresh decks"):
            report = measure(options, trainer, start, agent)
        report["statement"] = statement(report, start, rules.num_teams == 2)
        replace_file(folder / REPORT_FILE, (json.dumps(report, indent=1) + "\n").encode())

    for line in (*report["statement"], f"written to {folder / REPORT_FILE}; to repeat the match: {report['again']}"):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


# the warm start


def prepare(options: Options, rules: Rules, agent: Agent) -> tuple[WarmStart, Arguments]:
    """Return what the learner starts from, and the options of its training.

    Raises
    ------
    ValueError
        The options contradict each other, or the network or the teacher to start from does not fit the rules.
    """
    if options.init is not None and options.teacher is not None:
        raise UserError("--init and --teacher: give one of them, not both")
    if options.teacher in (AUTO, NOBODY):
        raise UserError(f"--teacher: expected the name of an agent, got {options.teacher}")

    arguments = _training_arguments(options)
    init = options.init
    if init is None and options.teacher is None:
        init = _default_init(options.agent, rules, agent)

    # Start from the clone of a teacher.
    if init is None:
        arguments = dataclasses.replace(arguments, teacher=options.teacher or AUTO)
        teacher = load_teacher(arguments, rules)
        assert teacher is not None
        return WarmStart(options.teacher or teacher.name, None, teacher), arguments

    # Start from a saved network, whose sizes and features the learner takes over.
    folder = shipped_folder(init, rules) if init in SHIPPED else Path(init)
    arguments = dataclasses.replace(arguments, init=folder, teacher=NOBODY, **network_options(read_model(folder)))
    model = read_initial_model(folder, ObservationEncoder(rules, arguments.observation))
    try:
        player = PolicyAgent(rules, model.weights, model.activation, model.observation, name=init, offers=model.offers)
    except ValueError as error:
        raise UserError(f"--init {init}: a network for {model.rules.name}, not for {rules.name}: {error}") from None
    return WarmStart(init, model, player), arguments


def _training_arguments(options: Options) -> Arguments:
    """Return the options of the training but for its warm start: the agent is the only opponent."""
    shared = {name: getattr(options, name) for name in SHARED_OPTIONS}
    if options.minutes is None and options.timesteps is None:
        shared["minutes"] = DEFAULT_MINUTES
    folder_name = "exploits-" + re.sub(r"[^\w.,=-]+", "-", options.agent).strip("-")
    return Arguments(
        **shared,
        opponents=(f"{options.agent}:1",),
        panel=(options.agent,),
        snapshot_every=sys.maxsize,  # no snapshots: the learner never plays against its past
        output=options.output or Path("runs", folder_name),
    )


def _default_init(name: str, rules: Rules, agent: Agent) -> str | None:
    """Return the network to start from where none is named: the agent's own, a shipped one, or None."""
    own = name if isinstance(agent, PolicyAgent) and (name in SHIPPED or is_model(name)) else None
    if isinstance(agent, PolicyAgent) and own is not None and agent.offers:
        return own
    with contextlib.suppress(ValueError):
        shipped_folder("best", rules)
        return "best"
    return own


def _check_is_same(arguments: Arguments, folder: Path) -> None:
    """Refuse to continue a training that another command began."""
    options = json.loads(json.dumps(stored(arguments)))
    saved_options = read_arguments(folder)
    differing = [name for name in options if saved_options.get(name) != options[name]]
    if differing:
        differences = ", ".join(f"{name} {saved_options.get(name)!r}" for name in differing)
        raise UserError(
            f"--output {folder}: holds a training with {differences}; choose another folder for another training"
        )


# training and measuring


def train(trainer: Trainer, start: WarmStart, console: Console) -> None:
    """Train to the end of the budget, with the initial network as the first candidate for the best model."""
    eval_deals = trainer.arguments.eval_deals
    how_to_continue = "run the same command again to continue"
    with explained_interruption(trainer, how_to_continue), ProgressDisplay(trainer, console) as display:
        if trainer.num_decisions == 0 and start.model is not None:
            display.show_results(trainer.measure(eval_deals))

        # The loop of train.py.
        while not trainer.budget.is_spent:
            if trainer.is_due_to_measure:
                display.show_results(trainer.measure(eval_deals))
            if trainer.is_warm_start:
                trainer.collect_from_teacher(display.update)
                trainer.clone_teacher()
            else:
                trainer.collect(display.update)
                trainer.update()
            trainer.save()
            trainer.write_log()
            if trainer.is_due_to_draw:
                trainer.draw_curves()

        display.show_results(trainer.measure(eval_deals))

    trainer.save()
    trainer.write_log()
    trainer.draw_curves()


def measure(options: Options, trainer: Trainer, start: WarmStart, agent: Agent) -> dict[str, Any]:
    """Play the best model and the warm start against the agent on the same fresh decks, and return the report."""
    rules, folder = trainer.rules, trainer.folder
    num_pairs, seed = options.deals // rules.num_teams, FRESH_DECKS + options.seed

    def play(player: Agent, name: str) -> MatchResult:
        return play_match(rules, player, agent, num_pairs, seed, names=(name, options.agent))

    after = play(PolicyAgent.load(folder / BEST_FOLDER, rules), "best response")
    before = play(start.agent, start.name)
    num_deals = np.ones(num_pairs)
    gain = paired_difference(after.pair_means, num_deals, before.pair_means, num_deals, seed)

    last, best = (read_description(model)["training"] for model in (folder, folder / BEST_FOLDER))
    agents = ["--agents", str(folder / BEST_FOLDER), options.agent, "--preset", rules.name]
    decks = ["--deals", str(after.num_plays), "--seed", str(seed)]
    return {
        "agent": options.agent,
        "rules_name": rules.name,
        "rules": dataclasses.asdict(rules),
        "version": gin_env.__version__,
        "seed": options.seed,
        "warm_start": {"name": start.name, "is_clone": start.model is None},
        "budget": {
            **{name: last[name] for name in ("decisions", "decisions_of_teacher", "minutes")},
            "threads": trainer.arguments.threads,
            "command": trainer.command,
        },
        "best_after_decisions": best["decisions"],
        "decks": {"seed": seed, "pairs": num_pairs, "deals": after.num_plays},
        "confidence": CONFIDENCE,
        "after": after.points_per_deal._asdict(),
        "before": before.points_per_deal._asdict(),
        "gain": gain._asdict(),
        "exploit_found": after.points_per_deal.low > 0,
        "again": f"python evaluate.py {shlex.join([*agents, *decks])}",
    }


def statement(report: dict[str, Any], start: WarmStart, has_two_teams: bool) -> list[str]:
    """Return a report in three sentences: the bound, what training added to the warm start, and what a bound means."""
    name, budget = report["agent"], report["budget"]
    after, before, gain = (Estimate(**report[key]) for key in ("after", "before", "gain"))

    if report["exploit_found"]:
        loser = name if has_two_teams else f"a table of {name}"
        level = f"{100 * report['confidence']:.0f} %"
        result = f"{loser} loses at least {after.low:.2f} ({level}) to a player trained against it"
    else:
        result = "no exploit was found with this budget"

    if report["best_after_decisions"] == 0:
        added = "training found nothing better"
    elif gain.low > 0:
        added = f"training gained {gain.text(sign=True)}"
    elif gain.high < 0:
        added = f"training made it worse ({gain.text(sign=True)})"
    else:
        added = f"what training gained is within the noise ({gain.text(sign=True)})"

    baseline = "the warm start alone" if start.model is not None else f"{start.name} itself"
    threads = f"{budget['threads']} {'thread' if budget['threads'] == 1 else 'threads'}"
    return [
        f"best response to {name} ({report['rules_name']}): {after.text(sign=True)} points a deal, after "
        f"{budget['decisions']:,} decisions, {budget['minutes']:g} minutes on {threads}, {start.text}: {result}",
        f"{baseline}: {before.text(sign=True)} on the same {report['decks']['deals']:,} fresh deals; {added}",
        f"This is a lower bound on how exploitable {name} is, for this budget: a longer training, or one that starts "
        "from another network, may find more.",
    ]


if __name__ == "__main__":
    run(main)
