"""``evaluate.py replay``: write recorded deals and games as a page to step through."""

from __future__ import annotations

import dataclasses
import re
import sys
import webbrowser
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, TypeVar

import tyro
from rich.console import Console
from rich.markup import escape
from rich.progress import track

from agents.arena.tournament.results_folder import RECORDS_FOLDER
from agents.cli import UserError, parse
from agents.policy.model_files import replace_file
from agents.registry import load_agent
from agents.replay.page import page_of
from agents.replay.story import Story, replay_story
from agents.thoughts import HasThoughts, annotate, think
from gin_env.episodes import Agent
from gin_env.errors import AgentError
from gin_env.notation.records import DealRecord, GameRecord, RecordError, TableRecord, Thought, read_records
from gin_env.observation import PlayerView
from gin_env.rules import Rules, resolve_rules

#: The default number of deals of a page: long deals of five hands then make a page of about 1 MB.
DEALS_SHOWN = 50
#: The number of bad lines that are reported one by one.
_MOST_REPORTED = 5
#: The beginning of every page.
_PAGE_PREFIX = b"<!doctype html"
_PAGE_IN_FOLDER = "replay.html"
_ENDINGS = (".jsonl", ".json")

_FILE_HELP = "a file of recorded deals or games, plain or .gz, or a results folder of evaluate.py"
_DEALS_HELP = f"the number of deals to show, or a range such as 21-40; by default the first {DEALS_SHOWN}"
_THINK_HELP = (
    "an agent for all seats, or one for each seat: where no thoughts are recorded, the page shows its probability of "
    "each action (for agents that report it: saved networks, and your own agents with a method thoughts)"
)

Record = TypeVar("Record", bound=DealRecord | GameRecord)


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Write recorded deals and games as one self-contained page, to step through for all hands or as one seat."""

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(help=_FILE_HELP, metavar="FILE")]
    open: bool = False
    """open the page in the browser"""
    output: Path | None = None
    """the page; by default next to the records: FILE with .html, or replay.html in a results folder"""
    deals: Annotated[str | None, tyro.conf.arg(help=_DEALS_HELP, metavar="COUNT|FIRST-LAST")] = None
    think: Annotated[tuple[str, ...], tyro.conf.arg(help=_THINK_HELP, metavar="AGENT")] = ()


def main(words: Sequence[str]) -> None:
    """Read the records, replay them, write the page and print its name."""
    arguments = parse(Arguments, prog="evaluate.py replay", args=words)
    first, last = _span(arguments.deals)
    files = _files(arguments.file)
    output = arguments.output or _default_output(arguments.file)
    _check_output(output, files)

    records = _read(files)
    chosen = _choose(records, first, last)
    deals = sum(map(_num_deals, records))
    if not chosen:
        raise UserError(f"--deals {arguments.deals}: {arguments.file} holds {deals} deals")

    stories = _replay_all(_with_thoughts(chosen, arguments.think))
    output.parent.mkdir(parents=True, exist_ok=True)
    replace_file(output, page_of(stories).encode("ascii"))

    console = Console()
    console.print(escape(str(output)), soft_wrap=True, highlight=False)
    shown = sum(len(story.deals) for story in stories)
    if arguments.deals is None and deals > last:
        console.print(
            f"{shown} of {deals} deals; --deals {deals} shows all, --deals {last + 1}-{min(last + DEALS_SHOWN, deals)} "
            "the next ones",
            soft_wrap=True,
            highlight=False,
        )

    if arguments.open and not webbrowser.open(output.resolve().as_uri()):
        _report_problem(f"could not open a browser: open {output} yourself")


def _span(text: str | None) -> tuple[int, int]:
    """Return the first and the last deal to show, counted from 1."""
    if text is None:
        return 1, DEALS_SHOWN
    match = re.fullmatch(r"(?:(\d{1,9})-)?(\d{1,9})", text)
    first, last = (int(match[1] or 1), int(match[2])) if match else (0, 0)
    if not 1 <= first <= last:
        raise UserError(f"--deals {text}: expected a number of at least 1, or a range such as 21-40")
    return first, last


def _files(path: Path) -> list[Path]:
    """Return the files of records: the file itself, or those of a folder."""
    if not path.is_dir():
        return [path]
    folder = path / RECORDS_FOLDER if (path / RECORDS_FOLDER).is_dir() else path
    files = sorted(file for file in folder.iterdir() if file.name.endswith((".jsonl", ".jsonl.gz")))
    if not files:
        raise UserError(f"{path}: no *.jsonl or *.jsonl.gz in this folder; evaluate.py --record all writes records")
    return files


def _check_output(output: Path, files: Sequence[Path]) -> None:
    """Raise ``UserError`` if the page would overwrite anything but an earlier page."""
    if output.is_dir():
        raise UserError(f"--output {output}: this is a folder; name a file, for example {output / _PAGE_IN_FOLDER}")
    if any(_is_same_file(output, file) for file in files):
        raise UserError(f"--output {output}: the page would overwrite the records; name another file")
    if output.exists() and not output.read_bytes()[: len(_PAGE_PREFIX)].lower().startswith(_PAGE_PREFIX):
        raise UserError(f"--output {output}: this file exists and is not a page; name another one")


def _is_same_file(path: Path, other: Path) -> bool:
    """Whether two paths lead to the same file, also by links."""
    return path.resolve() == other.resolve() or (path.exists() and other.exists() and path.samefile(other))


def _default_output(path: Path) -> Path:
    """Return the default name of the page: ``deals.jsonl.gz`` becomes ``deals.html``."""
    if path.is_dir():
        return path / _PAGE_IN_FOLDER
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    return plain.with_suffix(".html") if plain.suffix in _ENDINGS else plain.with_name(f"{plain.name}.html")


def _read(files: Sequence[Path]) -> list[DealRecord | GameRecord]:
    """Return the records of the files; lines that are not records are reported and skipped."""
    records: list[DealRecord | GameRecord] = []
    problems = []
    for file in files:
        content = read_records(file)
        records += content.records
        problems += [f"{file}, line {number}: {reason}" for number, reason in content.problems]

    if not records:
        reason = problems[0] if problems else f"{files[0]} is empty"
        raise UserError(f"expected deals or games recorded by gin_env.Recorder or evaluate.py, got none: {reason}")
    _report_skipped(problems)
    return records


def _num_deals(record: DealRecord | GameRecord) -> int:
    return len(record.deals) if isinstance(record, GameRecord) else 1


def _choose(records: Sequence[DealRecord | GameRecord], first: int, last: int) -> list[DealRecord | GameRecord]:
    """Return the deals from the first to the last; a game that is not chosen whole is split into its deals."""
    chosen: list[DealRecord | GameRecord] = []
    number = 1
    for record in records:
        deals = record.deals if isinstance(record, GameRecord) else (record,)
        in_range = [deal for deal_number, deal in enumerate(deals, number) if first <= deal_number <= last]
        chosen += [record] if len(in_range) == len(deals) else in_range
        number += len(deals)
    return chosen


def _replay_all(records: Sequence[DealRecord | GameRecord]) -> list[Story]:
    """Replay the records; those that contradict their rules are reported and skipped."""
    stories: list[Story] = []
    refused: list[str] = []
    for number, record in enumerate(_progress(records, "replaying the deals"), 1):
        try:
            stories.append(replay_story(record))
        except RecordError as error:
            refused.append(f"record {number} contradicts its rules: {error}")

    if not stories:
        raise UserError(f"no record can be shown: {refused[0]}")
    _report_skipped(refused)
    return stories


def _with_thoughts(records: Sequence[Record], specs: Sequence[str]) -> Sequence[Record]:
    """Return records with agents' thoughts added where none are recorded."""
    if not specs:
        return records

    # Load the agents once for each of the rules.
    agents: dict[str, list[Agent | None]] = {}
    names: dict[int, str] = {}
    unknown: list[ValueError] = []
    for rules_name in dict.fromkeys(record.rules for record in records):
        try:
            by_seat = _thinkers(specs, resolve_rules(rules_name))
        except UserError:
            raise
        except ValueError as error:  # a network plays the rules that it was trained for
            unknown.append(error)
            by_seat = [None] * resolve_rules(rules_name).num_players
        by_spec = zip(by_seat, _one_for_each_seat(specs, len(by_seat)), strict=True)
        names |= {id(agent): spec for agent, spec in by_spec if agent}
        agents[rules_name] = by_seat

    if len(unknown) == len(agents):
        raise unknown[0]
    for reason in unknown:
        _report_problem(f"not asked: {reason}")

    def ask(agent: HasThoughts, view: PlayerView) -> list[Thought]:
        try:
            return think(agent, view)
        except Exception as error:  # agents are users' code and may raise anything
            reason = str(error) if isinstance(error, AgentError) else f"it raised {type(error).__name__}: {error}"
            raise UserError(f"--think {names[id(agent)]}: {reason}") from error

    thoughtful = []
    for record in _progress(records, "asking the agents"):
        try:
            thoughtful.append(_keep_recorded(record, annotate(record, agents[record.rules], ask)))
        except RecordError:
            thoughtful.append(record)  # _replay_all reports the reason
    return thoughtful


def _thinkers(specs: Sequence[str], rules: Rules) -> list[Agent | None]:
    """Return the agent to ask for each seat; raises ``ValueError`` if an agent does not know these rules."""
    if len(specs) not in (1, rules.num_players):
        raise UserError(
            f"--think {' '.join(specs)}: {rules.name}: expected one agent for all seats, or {rules.num_players}"
        )
    by_spec = {spec: load_agent(spec, rules) for spec in dict.fromkeys(specs)}
    if not any(isinstance(agent, HasThoughts) for agent in by_spec.values()):
        raise UserError(f"--think {' '.join(specs)}: no agent here reports its thoughts; networks do, e.g. best")
    return [by_spec[spec] for spec in _one_for_each_seat(specs, rules.num_players)]


def _one_for_each_seat(specs: Sequence[str], num_players: int) -> list[str]:
    return [*specs] * num_players if len(specs) == 1 else [*specs]


def _keep_recorded(recorded: Record, asked: Record) -> Record:
    """Return the annotated record, but with the thoughts of the recorded one where it has any."""
    if isinstance(recorded, GameRecord) and isinstance(asked, GameRecord):
        deals = tuple(map(_keep_recorded, recorded.deals, asked.deals))
        return dataclasses.replace(recorded, deals=deals)
    assert isinstance(recorded, DealRecord)
    assert isinstance(asked, DealRecord)
    tables = tuple(map(_keep_recorded_thoughts, recorded.tables, asked.tables))
    return dataclasses.replace(recorded, tables=tables)


def _keep_recorded_thoughts(recorded: TableRecord, asked: TableRecord) -> TableRecord:
    if not (recorded.thoughts and asked.thoughts):
        return asked if asked.thoughts else recorded
    thoughts = tuple(own or other for own, other in zip(recorded.thoughts, asked.thoughts, strict=True))
    return dataclasses.replace(recorded, thoughts=thoughts)


def _progress(records: Sequence[Record], description: str) -> Iterable[Record]:
    console = Console(stderr=True)
    return track(records, description, console=console, transient=True, disable=not console.is_terminal)


def _report_skipped(problems: Sequence[str]) -> None:
    for problem in problems[:_MOST_REPORTED]:
        _report_problem(f"skipped {problem}")
    if len(problems) > _MOST_REPORTED:
        _report_problem(f"skipped {len(problems) - _MOST_REPORTED} more")


def _report_problem(text: str) -> None:
    print(" ".join(text.split()), file=sys.stderr)
