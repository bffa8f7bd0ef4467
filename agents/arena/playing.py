"""What every command that plays shares: its options, and playing matches into a results folder with a progress bar."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import math
import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple

import tyro
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from agents.arena.blocks import block_sizes
from agents.arena.referee import TIME_LIMIT
from agents.arena.results_folder import ResultsFolder, digest, manifest_of
from agents.arena.summary import Outcome, summarise
from agents.arena.tournament import Pairing, Settings, play_tournament
from agents.arena.workers import RAY_DEFAULT, num_cores, open_workers
from agents.cli import UserError
from agents.folder_lock import hold
from agents.model_files import read_model
from agents.registry import is_model, load_agent, parts_of
from agents.rule_options import parse_rules
from gin_env.rules import PRESETS, Rules

DEFAULT_PRESET = "palace_4p"
DEFAULT_DEALS = 20_000
#: Where results go that have no other place.
RESULTS = Path("results")

_PRESET_HELP = f"rules: {', '.join(PRESETS)}; by default those of the first model named, else {DEFAULT_PRESET}"
_DEALS_HELP = (
    "deals of each match (with --episode game: games), a multiple of the number of teams, as every deck is played "
    f"once for each; default {DEFAULT_DEALS:,} or the next multiple below; where three rotate, those that the first "
    "agent sits out are played but count for nothing"
)
_RAY_HELP = (
    f"play on a Ray cluster at this address ({RAY_DEFAULT}: the one that RAY_ADDRESS names, or a Ray of its own on "
    "this machine); the results are the same; needs pip install -e '.[scale]'"
)

#: The folders before a file of Python.
_FOLDERS = re.compile(r"[^,=:]*/(?=[^/,=:]+\.py:)")

#: Options that change how matches are played, not what they come to: they are no part of the command that repeats.
_NOT_REPEATED = ("output", "json", "workers", "ray")


@dataclasses.dataclass(frozen=True, kw_only=True)
class ResultsOptions:
    """The options of every command that leaves results."""

    preset: Annotated[str | None, tyro.conf.arg(help=_PRESET_HELP)] = None
    rule: tuple[str, ...] = ()
    """fields of the rules to replace, for example knock_limit=5 big_gin_bonus=none boast_points=20,15,10,5,0"""
    seed: int = 0
    """fixes the decks, the dealers and the agents' chances; the same decks for every match"""
    output: Path | None = None
    """results folder; the same command goes on there where it was interrupted and plays nothing twice; by default a
    folder in results/ that is named after the rules and a digest of all that the results depend on"""
    json: Path | None = None
    """write the figures (summary.json of the results folder) to this file as well"""

    def check(self) -> None:
        """Refuse what can be refused before anything is played."""
        if self.seed < 0:
            raise UserError(f"--seed {self.seed}: at least 0")
        if self.json is not None:
            _check_writable("--json", self.json)

    def rules_for(self, specs: Sequence[str]) -> Rules:
        """Return the rules to play: the preset named, else those of the first model, with the fields replaced."""
        models = [part for spec in specs for part in parts_of(spec) if is_model(part)]
        if self.preset is None and models:
            return parse_rules(read_model(models[0]).rules, self.rule)
        return parse_rules(self.preset or DEFAULT_PRESET, self.rule)

    def command(self, name: str) -> str:
        """Return the command line that repeats the results, wherever and however they are played."""
        words = ["python", *name.split()]
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if value == field.default or field.name in _NOT_REPEATED:
                continue
            option = f"--{field.name.replace('_', '-')}"
            values = value if isinstance(value, tuple) else () if value is True else (value,)
            words += [option, *map(str, values)]
        return shlex.join(words)


@dataclasses.dataclass(frozen=True, kw_only=True)
class PlayOptions(ResultsOptions):
    """The options of every command that plays matches."""

    deals: Annotated[int | None, tyro.conf.arg(help=_DEALS_HELP)] = None
    episode: Literal["deal", "game"] = "deal"
    """play single deals, or whole games to the target score"""
    precision: float | None = None
    """end a match as soon as its 95 % interval is no wider than ± this many points per deal"""
    time_limit: float = TIME_LIMIT
    """seconds for each decision of an agent (on average over those it is asked for at once, and 10 seconds more for
    each time it is asked); who takes longer forfeits the match, as one that raises or answers illegally does"""
    record: Literal["first", "all", "none"] = "first"
    """deals that are written down card by card in OUTPUT/records: those of each match's first block, all, or none"""
    thoughts: bool = False
    """let these deals hold what the agents thought: how likely each action was to them and what they expected, for
    agents that can tell (saved networks, and your own with a method thoughts)"""
    workers: int | None = None
    """processes that play, by default one for each core; with 1 all is played in this process, where an agent that ends
    it ends everything"""
    ray: Annotated[str | None, tyro.conf.arg(help=_RAY_HELP)] = None

    def check(self) -> None:
        """Refuse what can be refused before anything is played."""
        super().check()
        if self.workers is not None and self.workers < 1:
            raise UserError(f"--workers {self.workers}: at least 1")
        if not self.time_limit > 0:
            raise UserError(f"--time-limit {self.time_limit}: seconds above 0")
        if self.precision is not None and not (self.precision > 0 and math.isfinite(self.precision)):
            raise UserError(f"--precision {self.precision}: points per deal above 0")
        if self.thoughts and self.record == "none":
            raise UserError("--thoughts: they stand in recorded deals, and --record none records none; leave one out")

    def settings(self, rules: Rules) -> Settings:
        """Return what all matches share."""
        return Settings(
            rules=rules,
            episode=self.episode,
            seed=self.seed,
            num_pairs=self._num_pairs(rules),
            precision=self.precision,
            time_limit=self.time_limit,
            record=self.record,
            thoughts=self.thoughts,
        )

    def _num_pairs(self, rules: Rules) -> int:
        """Return how many decks are played, each once for each team."""
        teams = rules.num_teams
        if self.deals is None:
            return DEFAULT_DEALS // teams
        if self.deals < teams or self.deals % teams:
            kind = "an even number" if teams == 2 else f"a multiple of {teams}"
            times = "twice" if teams == 2 else f"{teams} times"
            raise UserError(f"--deals {self.deals}: give {kind} of at least {teams}, as every deck is played {times}")
        return self.deals // teams


class Played(NamedTuple):
    """What a command played."""

    outcomes: list[Outcome]
    folder: Path
    summary: dict[str, Any]


def play(
    options: PlayOptions,
    name: str,
    kind: str,
    title: str,
    pairings: Sequence[Pairing],
    settings: Settings,
    sections: Callable[[list[Outcome]], list[dict[str, Any]]] = lambda outcomes: [],
) -> Played:
    """Play matches into the results folder and write the summary.

    Parameters
    ----------
    options : PlayOptions
    name : str
        The command's, for example ``"evaluate.py cross-play"``.
    kind, title : str
        For the summary.
    pairings, settings
        What to play.
    sections : callable
        Makes the summary's sections from the outcomes.
    """
    specs = list(dict.fromkeys(spec for pairing in pairings for side in pairing.sides for spec in side))
    for spec in specs:
        load_agent(spec, settings.rules)  # a wrong name is told before anything is played
    shown = _shown(specs)
    pairings = [dataclasses.replace(pairing, shown=shown) for pairing in pairings]
    blocks = sum(len(list(block_sizes(settings.num_pairs, settings.episode, pairing.sides))) for pairing in pairings)
    with _folder(options, kind, settings, specs, [pairing.key for pairing in pairings]) as folder:
        # No more processes than there is work for.
        count = min(options.workers or num_cores(), blocks)
        with open_workers(count, options.ray) as workers, _progress(pairings, settings) as on_progress:
            outcomes = play_tournament(pairings, settings, workers, folder, on_progress)
        summary = summarise(
            kind, title, options.command(name), settings, pairings, outcomes, _renamed(sections(outcomes), shown)
        )
        return _written(options, folder, summary, outcomes)


def write_results(
    options: ResultsOptions, name: str, kind: str, title: str, settings: Settings, specs: Sequence[str], sections: Any
) -> Played:
    """Write the results of a command that plays no matches of its own; arguments as for ``play``."""
    with _folder(options, kind, settings, specs, list(specs)) as folder:
        summary = summarise(kind, title, options.command(name), settings, [], [], sections)
        return _written(options, folder, summary, [])


def _shown(specs: Sequence[str]) -> dict[str, str]:
    """Return what agents from files are called: without the folders, where that leaves them apart."""
    short = {spec: _FOLDERS.sub("", spec) for spec in specs}
    return {spec: name for spec, name in short.items() if list(short.values()).count(name) == 1}


def _renamed(value: Any, shown: dict[str, str]) -> Any:
    """Return plain values with the agents' names as they are shown."""
    if isinstance(value, str):
        for spec, name in shown.items():
            value = value.replace(spec, name)
    elif isinstance(value, list):
        return [_renamed(one, shown) for one in value]
    elif isinstance(value, dict):
        return {key: _renamed(one, shown) for key, one in value.items()}
    return value


@contextlib.contextmanager
def _folder(
    options: ResultsOptions, kind: str, settings: Settings, specs: Sequence[str], asked: list[str]
) -> Iterator[ResultsFolder]:
    """Make the results folder and hold it."""
    manifest = manifest_of(
        {
            "kind": kind,
            "rules": settings.rules.name,
            "episode": settings.episode,
            "seed": settings.seed,
            "thoughts": settings.thoughts,  # a folder's records are of one kind
        },
        specs,
    )
    path = options.output
    if path is None:
        mark = digest([manifest, asked, settings.num_pairs, settings.precision, settings.record])
        path = RESULTS / f"{settings.rules.name.partition('(')[0]}-{kind}-{mark}"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--output {path}: cannot be written ({error.strerror})") from error
    with hold(path, "evaluate.py"):
        yield ResultsFolder(path, manifest)


def _written(
    options: ResultsOptions, folder: ResultsFolder, summary: dict[str, Any], outcomes: list[Outcome]
) -> Played:
    folder.write_summary(summary)
    if options.json is not None:
        options.json.write_text(json.dumps(summary, indent=1) + "\n")
    return Played(outcomes, folder.path, summary)


def tell_where(played: Played, options: ResultsOptions) -> None:
    """Say where the results are, and what to do with them."""
    console = Console()
    console.print(f"results in {escape(str(played.folder))}; a page with figures:", soft_wrap=True, highlight=False)
    console.print(f"python evaluate.py report {escape(str(played.folder))}", soft_wrap=True, highlight=False)
    if options.json is not None:
        console.print(f"written to {escape(str(options.json))}", soft_wrap=True)


@contextlib.contextmanager
def _progress(pairings: Sequence[Pairing], settings: Settings) -> Iterator[Callable[[int, str], None]]:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    teams = settings.rules.num_teams
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        task = progress.add_task("", total=settings.num_pairs * teams * len(pairings))

        def tell(pairs: int, match: str) -> None:
            progress.update(task, completed=pairs * teams, description=escape(match))

        yield tell


def _check_writable(option: str, path: Path) -> None:
    """Tell before the match, not after it, that a file cannot be written."""
    try:
        with path.open("a"):
            pass
    except OSError as error:
        raise UserError(f"{option} {path}: cannot be written ({error.strerror})") from error
