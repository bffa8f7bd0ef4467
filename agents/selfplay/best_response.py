"""Train a best response: a learner that meets one frozen agent and nobody else, to see how much that agent can lose.

python -m agents.selfplay.best_response simple --preset eaai_2p --minutes 10
python -m agents.selfplay.best_response runs/mine --preset palace_4p --init best --minutes 60

How much an agent can be exploited can only be bounded from below, by a player made for it, and that is only as good as
its training. Here it is train.py's, with AGENT as the only opponent and alone on the panel. The learner begins with a
network that plays well already, which is itself the first that is measured and kept. What is reported comes from
fresh decks, on which nothing was trained and nothing chosen; there the network of the beginning plays as well.

The same command goes on where it was killed, and measures anew where it was complete.
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

# As in train.py: waiting threads sleep, and NumPy's products are small.
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
import tyro
from rich.console import Console
from rich.progress import Progress

import gin_env
from agents.arena import MatchResult, play_match
from agents.arena.statistics.intervals import CONFIDENCE, MIN_PAIRS, Estimate, paired_difference
from agents.checkpoints import SHIPPED, shipped_folder
from agents.cli import UserError, parse, run
from agents.cli.rule_options import parse_rules
from agents.policy import PolicyAgent
from agents.policy.model_files import Model, read_description, read_model, replace_file
from agents.registry import is_model, load_agent
from agents.selfplay.arguments import AUTO, NOBODY, Arguments, check, load_teacher, network_options
from agents.selfplay.evaluation import panel_line
from agents.selfplay.network import read_init
from agents.selfplay.run_folder import BEST_FOLDER, TRAINING_FILE, read_arguments
from agents.selfplay.runs import begun_or_resumed, stored
from agents.selfplay.trainer import Session
from gin_env.episodes import Agent
from gin_env.observation import ObservationEncoder
from gin_env.rules import PRESETS, Rules

PROG = "-m agents.selfplay.best_response"
REPORT_FILE = "best_response.json"
DEFAULT_MINUTES = 10.0
#: Added to --seed it seeds the decks of the report: no training has so large a seed, nor has the panel.
FRESH_DECKS = 2**31
#: Of the options of train.py, those that stand here under the same name.
SHARED = (
    *("preset", "rule", "minutes", "timesteps", "seed", "rows", "steps", "learning_rate", "entropy"),
    *("eval_every", "eval_deals", "threads"),
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Options:
    """What a best response is made of."""

    agent: Annotated[str, tyro.conf.Positional]
    """whom to exploit: any agent that evaluate.py takes; it stays as it is"""
    preset: Annotated[str, tyro.conf.arg(help=f"rules: {', '.join(PRESETS)}")] = Arguments.preset
    rule: tuple[str, ...] = ()
    """fields of the rules to replace, for example knock_limit=5"""
    minutes: Annotated[float | None, tyro.conf.arg(help=f"how long to train; default {DEFAULT_MINUTES:g}")] = None
    timesteps: int | None = None
    """how many decisions of the learner to train for, instead of minutes"""
    init: str | None = None
    """network to begin with: the folder of a saved model, or best; by default a copy of AGENT where that is a network
    (one that does without trading is no start), else the one that comes with the project for these rules"""
    teacher: str | None = None
    """agent whose clone to begin with, instead of a network; by default, and only where there is no network, sharp or
    team-lookahead, as in train.py"""
    deals: int = 20_000
    """duplicate deals of the report, rounded down to whole sets of seats; fresh ones for each --seed"""
    seed: int = Arguments.seed
    """fixes the deals and all chances (with --timesteps the whole run, on the same machine)"""
    output: Path | None = None
    """folder for the models, the logs and the report, by default runs/exploits-AGENT; the same command goes on with a
    training that was killed there, and measures anew one that is complete"""

    rows: int = Arguments.rows
    """deals played at once"""
    steps: int = Arguments.steps
    """decisions in each row between two updates"""
    learning_rate: tuple[float, float] = Arguments.learning_rate
    """Adam's step size at the start and at the end"""
    entropy: tuple[float, float] = Arguments.entropy
    """weight of the entropy bonus at the start and at the end"""
    eval_every: int = 250_000
    """decisions between two measurements, by which the best model is chosen"""
    eval_deals: int = 4_000
    """duplicate deals of each of them, always the same"""
    threads: int = dataclasses.field(default_factory=lambda: Arguments().threads)
    """processor threads of the network, at most as many as are idle"""


class WarmStart(NamedTuple):
    """What the learner begins as."""

    name: str
    model: Model | None  #: None where a teacher is cloned
    agent: Agent  #: plays as the learner does before it learns anything about its opponent

    @property
    def text(self) -> str:
        """How the learner begins, in a few words."""
        return f"warm-started from {self.name if self.model else f'a clone of {self.name}'}"


def main() -> None:
    """Read the options, train, measure on fresh decks, report."""
    options = parse(Options, prog=PROG, description=__doc__)
    rules = parse_rules(options.preset, options.rule)
    agent = load_agent(options.agent, rules)
    if options.deals < MIN_PAIRS * rules.num_teams:
        raise UserError(f"--deals {options.deals}: at least {MIN_PAIRS * rules.num_teams} are needed for an interval")
    start, arguments = prepare(options, rules, agent)
    output, console = arguments.output, Console()
    assert output is not None
    if (output / TRAINING_FILE).exists():
        _check_is_same(arguments, output)
    with begun_or_resumed(arguments, may_be_complete=True) as (arguments, folder, training):
        session = Session(arguments, folder, training, PROG)
        console.print(f"a best response to {options.agent}, {start.text}, into {folder}/", markup=False, soft_wrap=True)
        _train(session, start, console)
        with console.status("measuring on fresh decks"):
            report = measure(options, session, start, agent)
        report["statement"] = statement(report, start, rules.num_teams == 2)
        replace_file(folder / REPORT_FILE, (json.dumps(report, indent=1) + "\n").encode())
    for line in (*report["statement"], f"written to {folder / REPORT_FILE}; anew: {report['again']}"):
        console.print(line, highlight=False, markup=False, soft_wrap=True)


# ---------------------------------------------------------------------- the start


def prepare(options: Options, rules: Rules, agent: Agent) -> tuple[WarmStart, Arguments]:
    """Return what the learner begins as and the options of its training, checked.

    Raises ``ValueError`` for a network that does not fit the rules and for options that cannot work.
    """
    if options.init is not None and options.teacher is not None:
        raise UserError("--init and --teacher: give one of them, not both")
    if options.teacher in (AUTO, NOBODY):
        raise UserError(f"--teacher {options.teacher}: name an agent, or leave it out")
    values = {name: getattr(options, name) for name in SHARED}
    if options.minutes is None and options.timesteps is None:
        values["minutes"] = DEFAULT_MINUTES
    arguments = Arguments(
        **values,
        opponents=(f"{options.agent}:1",),
        panel=(options.agent,),
        snapshot_every=sys.maxsize,  # nobody meets the learner's past
        output=options.output or Path("runs", "exploits-" + re.sub(r"[^\w.,=-]+", "-", options.agent).strip("-")),
    )
    init = options.init
    if init is None and options.teacher is None:
        init = _default_init(options.agent, rules, agent)
    if init is None:
        arguments = dataclasses.replace(arguments, teacher=options.teacher or AUTO)
        check(arguments)
        teacher = load_teacher(arguments, rules)
        assert teacher is not None
        return WarmStart(options.teacher or teacher.name, None, teacher), arguments
    folder = shipped_folder(init, rules) if init in SHIPPED else Path(init)
    arguments = dataclasses.replace(arguments, init=folder, teacher=NOBODY, **network_options(read_model(folder)))
    check(arguments)
    model = read_init(folder, ObservationEncoder(rules, arguments.observation))
    try:
        player = PolicyAgent(rules, model.weights, model.activation, model.observation, name=init, offers=model.offers)
    except ValueError as error:
        raise UserError(f"--init {init}: a network for {model.rules.name}, not for {rules.name}: {error}") from None
    return WarmStart(init, model, player), arguments


def _default_init(name: str, rules: Rules, agent: Agent) -> str | None:
    """Return the network to begin with where none is named: the agent's own, a shipped one, or None."""
    its_own = name if isinstance(agent, PolicyAgent) and (name in SHIPPED or is_model(name)) else None
    if isinstance(agent, PolicyAgent) and its_own is not None and agent.offers:
        return its_own
    with contextlib.suppress(ValueError):
        shipped_folder("best", rules)
        return "best"
    return its_own


def _check_is_same(arguments: Arguments, folder: Path) -> None:
    """Refuse to go on with a training that another command began."""
    now = json.loads(json.dumps(stored(arguments)))
    before = read_arguments(folder)
    differing = [name for name in now if before.get(name) != now[name]]
    if differing:
        told = ", ".join(f"{name} {before.get(name)!r}" for name in differing)
        raise UserError(f"--output {folder}: holds a training with {told}; name another folder for another training")


# ---------------------------------------------------------------------- training and measuring


def _train(session: Session, start: WarmStart, console: Console) -> None:
    """Train to the end of the budget, with the warm start as the first candidate for the best model."""
    budget, eval_deals = session.budget, session.arguments.eval_deals
    try:
        with Progress(console=console, transient=True) as progress:
            task = progress.add_task("training", total=1.0)

            def tell(matches: list[MatchResult]) -> None:
                line = panel_line(matches)
                progress.console.print(f"{session.num_decisions:>11,}   {line}", highlight=False, markup=False)

            def show(_: int) -> None:
                progress.update(task, completed=budget.fraction)

            if session.num_decisions == 0 and start.model is not None:
                tell(session.measure(eval_deals))
            session.train(show, tell)
            tell(session.measure(eval_deals))
    except KeyboardInterrupt:
        if session.kept is None:
            raise
        sys.exit(f"interrupted; {session.kept:,} decisions are kept; the same command goes on with them")
    session.keep()
    session.log()


def measure(options: Options, session: Session, start: WarmStart, agent: Agent) -> dict[str, Any]:
    """Play the best model and the warm start against the agent on the same fresh decks; return the report."""
    rules, folder = session.rules, session.folder
    num_pairs, seed = options.deals // rules.num_teams, FRESH_DECKS + options.seed

    def met(player: Agent, name: str) -> MatchResult:
        return play_match(rules, player, agent, num_pairs, seed, names=(name, options.agent))

    after = met(PolicyAgent.load(folder / BEST_FOLDER, rules), "best response")
    before = met(start.agent, start.name)
    deals = np.ones(num_pairs)
    gain = paired_difference(after.pair_means, deals, before.pair_means, deals, seed)
    training, chosen = (read_description(place)["training"] for place in (folder, folder / BEST_FOLDER))
    again = ["--agents", str(folder / BEST_FOLDER), options.agent, "--preset", rules.name]
    again += ["--deals", str(after.num_plays), "--seed", str(seed)]
    return {
        "agent": options.agent,
        "rules_name": rules.name,
        "rules": dataclasses.asdict(rules),
        "version": gin_env.__version__,
        "seed": options.seed,
        "warm_start": {"name": start.name, "is_clone": start.model is None},
        "budget": {
            **{name: training[name] for name in ("decisions", "decisions_of_teacher", "minutes")},
            "threads": session.arguments.threads,
            "command": session.command,
        },
        "best_after_decisions": chosen["decisions"],
        "decks": {"seed": seed, "pairs": num_pairs, "deals": after.num_plays},
        "confidence": CONFIDENCE,
        "after": after.points_per_deal._asdict(),
        "before": before.points_per_deal._asdict(),
        "gain": gain._asdict(),
        "exploit_found": after.points_per_deal.low > 0,
        "again": f"python evaluate.py {shlex.join(again)}",
    }


def statement(report: dict[str, Any], start: WarmStart, is_duel_of_teams: bool) -> list[str]:
    """Return a report in three sentences: the bound, what training added to the warm start, what a bound is."""
    name, budget = report["agent"], report["budget"]
    after, before, gain = (Estimate(**report[part]) for part in ("after", "before", "gain"))
    level = f"{100 * report['confidence']:.0f} %"
    loses = f"{name} loses" if is_duel_of_teams else f"a table of {name} loses"
    found = (
        f"{loses} at least {after.low:.2f} ({level}) to a player made for it"
        if report["exploit_found"]
        else "no exploit was found with this budget"
    )
    if report["best_after_decisions"] == 0:
        added = "training found nothing better"
    elif gain.low > 0:
        added = f"training found {gain.text(sign=True)} more"
    elif gain.high < 0:
        added = f"training fell short of it ({gain.text(sign=True)})"
    else:
        added = f"what training found does not stand out of the noise ({gain.text(sign=True)})"
    itself = "the warm start alone" if start.model is not None else f"{start.name} itself"
    return [
        f"best response to {name} ({report['rules_name']}): {after.text(sign=True)} points a deal, after "
        f"{budget['decisions']:,} decisions, {budget['minutes']:g} minutes on "
        f"{budget['threads']} {'thread' if budget['threads'] == 1 else 'threads'}, {start.text}: {found}",
        f"{itself}: {before.text(sign=True)} on the same {report['decks']['deals']:,} fresh deals; {added}",
        f"This is a lower bound on how much {name} can be exploited, for this budget: a longer training, or one that "
        "begins with another network, may find more.",
    ]


if __name__ == "__main__":
    run(main)
