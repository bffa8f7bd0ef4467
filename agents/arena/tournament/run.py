"""Play a command's matches into its results folder, with a progress bar, and write the summary."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from agents.arena.tournament.blocks import block_sizes
from agents.arena.tournament.options import PlayOptions, ResultsOptions
from agents.arena.tournament.results_folder import ResultsFolder, digest, manifest_of
from agents.arena.tournament.summary import Outcome, summarise
from agents.arena.tournament.tournament import Pairing, Settings, play_tournament
from agents.arena.tournament.workers import num_cores, open_workers
from agents.cli import UserError
from agents.cli.folder_lock import hold
from agents.registry import load_agent

#: Where results folders go by default.
RESULTS = Path("results")

#: The folders in front of a Python file's name.
_FOLDERS = re.compile(r"[^,=:]*/(?=[^/,=:]+\.py:)")


class Played(NamedTuple):
    """What a command played: the outcomes of its matches, the results folder and the summary."""

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
    """Play matches, or what is left of them, into the results folder and write the summary.

    Parameters
    ----------
    options : PlayOptions
    name : str
        The command's name, for example ``"evaluate.py cross-play"``.
    kind, title : str
        For the summary.
    pairings, settings
        The matches to play.
    sections : callable
        Makes the summary's sections from the outcomes.
    """
    specs = list(dict.fromkeys(spec for pairing in pairings for side in pairing.sides for spec in side))
    for spec in specs:
        load_agent(spec, settings.rules)  # report a wrong name before anything is played
    display_names = _display_names(specs)
    pairings = [dataclasses.replace(pairing, shown=display_names) for pairing in pairings]
    blocks = sum(len(list(block_sizes(settings.num_pairs, settings.episode, pairing.sides))) for pairing in pairings)

    with _locked_folder(options, kind, settings, specs, [pairing.key for pairing in pairings]) as folder:
        num_processes = min(options.workers or num_cores(), blocks)
        with open_workers(num_processes, options.ray) as workers, _progress(pairings, settings) as on_progress:
            outcomes = play_tournament(pairings, settings, workers, folder, on_progress)

        command = options.command(name)
        shown_sections = _with_display_names(sections(outcomes), display_names)
        summary = summarise(kind, title, command, settings, pairings, outcomes, shown_sections)
        return _write_summary(options, folder, summary, outcomes)


def write_results(
    options: ResultsOptions, name: str, kind: str, title: str, settings: Settings, specs: Sequence[str], sections: Any
) -> Played:
    """Write the results of a command that plays no matches; arguments as for ``play``."""
    with _locked_folder(options, kind, settings, specs, list(specs)) as folder:
        summary = summarise(kind, title, options.command(name), settings, [], [], sections)
        return _write_summary(options, folder, summary, [])


def _display_names(specs: Sequence[str]) -> dict[str, str]:
    """Return the names of agents in tables: without folders, as long as the names stay distinct."""
    short = {spec: _FOLDERS.sub("", spec) for spec in specs}
    return {spec: name for spec, name in short.items() if list(short.values()).count(name) == 1}


def _with_display_names(value: Any, display_names: dict[str, str]) -> Any:
    """Return plain values in which agents have their display names."""
    if isinstance(value, str):
        for spec, name in display_names.items():
            value = value.replace(spec, name)
    elif isinstance(value, list):
        return [_with_display_names(item, display_names) for item in value]
    elif isinstance(value, dict):
        return {key: _with_display_names(item, display_names) for key, item in value.items()}
    return value


@contextlib.contextmanager
def _locked_folder(
    options: ResultsOptions, kind: str, settings: Settings, specs: Sequence[str], requested: list[str]
) -> Iterator[ResultsFolder]:
    """Open the results folder, created if missing, and keep other processes out of it."""
    manifest = manifest_of(
        {
            "kind": kind,
            "rules": settings.rules.name,
            "episode": settings.episode,
            "seed": settings.seed,
            "thoughts": settings.thoughts,  # all records of a folder hold thoughts, or none
        },
        specs,
    )

    path = options.output
    if path is None:
        name_digest = digest([manifest, requested, settings.num_pairs, settings.precision, settings.record])
        path = RESULTS / f"{settings.rules.name.partition('(')[0]}-{kind}-{name_digest}"
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UserError(f"--output {path}: cannot be written ({error.strerror})") from error

    with hold(path, "evaluate.py"):
        yield ResultsFolder(path, manifest)


def _write_summary(
    options: ResultsOptions, folder: ResultsFolder, summary: dict[str, Any], outcomes: list[Outcome]
) -> Played:
    folder.write_summary(summary)
    if options.json is not None:
        options.json.write_text(json.dumps(summary, indent=1) + "\n")
    return Played(outcomes, folder.path, summary)


def print_results_folder(played: Played, options: ResultsOptions) -> None:
    """Print where the results are and how to make a report of them."""
    console = Console()
    console.print(f"results in {escape(str(played.folder))}; a page with figures:", soft_wrap=True, highlight=False)
    console.print(f"python evaluate.py report {escape(str(played.folder))}", soft_wrap=True, highlight=False)
    if options.json is not None:
        console.print(f"written to {escape(str(options.json))}", soft_wrap=True)


@contextlib.contextmanager
def _progress(pairings: Sequence[Pairing], settings: Settings) -> Iterator[Callable[[int, str], None]]:
    """Show a progress bar; yields the callback that updates it."""
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

        def update(pairs: int, match: str) -> None:
            progress.update(task, completed=pairs * teams, description=escape(match))

        yield update
