"""``evaluate.py replay``: recorded deals and games as one page to step through."""

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
from agents.replay.story import Story, tell
from agents.thoughts import HasThoughts, annotate, think
from gin_env.episodes import Agent
from gin_env.errors import AgentError
from gin_env.notation.records import DealRecord, GameRecord, RecordError, TableRecord, Thought, read_records
from gin_env.observation import PlayerView
from gin_env.rules import Rules, resolve_rules

#: Deals that a page shows unless more are asked for: long deals of five hands then make a page of about 1 MB.
DEALS_SHOWN = 50
#: How many bad lines are told one by one.
_TOLD = 5
#: How every page begins.
_BEGINNING = b"<!doctype html"
_PAGE_IN_FOLDER = "replay.html"
_ENDINGS = (".jsonl", ".json")

_FILE_HELP = "a file of recorded deals or games, plain or .gz, or a results folder that evaluate.py wrote"
_DEALS_HELP = f"how many deals to show, from the first on, or which ones, as in 21-40; by default {DEALS_SHOWN}"
_THINK_HELP = (
    "an agent for all seats, or one for each: where no thoughts are recorded the page shows how likely it would play "
    "each action (for agents that can tell: saved networks, and your own with a method thoughts)"
)

Record = TypeVar("Record", bound=DealRecord | GameRecord)


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Make recorded deals and games into one self-contained page: step by step, by keys, for all hands or one seat."""

    file: Annotated[Path, tyro.conf.Positional, tyro.conf.arg(help=_FILE_HELP, metavar="FILE")]
    open: bool = False
    """show the page in the browser when it is written"""
    output: Path | None = None
    """the page; by default it lies beside the records: FILE with .html, or replay.html in a results folder"""
    deals: Annotated[str | None, tyro.conf.arg(help=_DEALS_HELP, metavar="COUNT|FIRST-LAST")] = None
    think: Annotated[tuple[str, ...], tyro.conf.arg(help=_THINK_HELP, metavar="AGENT")] = ()


def main(words: Sequence[str]) -> None:
    """Read the records, play them again, write the page and say where it is."""
    arguments = parse(Arguments, prog="evaluate.py replay", args=words)
    first, last = _span(arguments.deals)
    files = _files(arguments.file)
    output = arguments.output or _beside(arguments.file)
    if output.is_dir():
        raise UserError(f"--output {output}: that is a folder; name a file, for example {output / _PAGE_IN_FOLDER}")
    if any(_are_one(output, file) for file in files):
        raise UserError(f"--output {output}: the page would overwrite the records; name another file")
    if output.exists() and not output.read_bytes()[: len(_BEGINNING)].lower().startswith(_BEGINNING):
        raise UserError(f"--output {output}: this file is there already and is no page; name another one")
    records = _read(files)
    chosen = _choose(records, first, last)
    deals = sum(map(_num_deals, records))
    if not chosen:
        raise UserError(f"--deals {arguments.deals}: {arguments.file} holds {deals} deals")
    stories = _tell(_with_thoughts(chosen, arguments.think))
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
        _tell_problem(f"no browser could be opened: open {output} yourself")


def _span(text: str | None) -> tuple[int, int]:
    """Return the first and the last deal to show, counted from 1."""
    if text is None:
        return 1, DEALS_SHOWN
    found = re.fullmatch(r"(?:(\d{1,9})-)?(\d{1,9})", text)
    first, last = (int(found[1] or 1), int(found[2])) if found else (0, 0)
    if not 1 <= first <= last:
        raise UserError(f"--deals {text}: give a count from 1, or the first and the last deal, for example 21-40")
    return first, last


def _files(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    folder = path / RECORDS_FOLDER if (path / RECORDS_FOLDER).is_dir() else path
    found = sorted(file for file in folder.iterdir() if file.name.endswith((".jsonl", ".jsonl.gz")))
    if not found:
        raise UserError(f"{path}: no *.jsonl or *.jsonl.gz in this folder; evaluate.py --record all writes records")
    return found


def _are_one(one: Path, other: Path) -> bool:
    """Whether two paths lead to one file, by links, too."""
    return one.resolve() == other.resolve() or (one.exists() and other.exists() and one.samefile(other))


def _beside(path: Path) -> Path:
    """Return where a page goes by itself: ``deals.jsonl.gz`` becomes ``deals.html``."""
    if path.is_dir():
        return path / _PAGE_IN_FOLDER
    plain = path.with_suffix("") if path.suffix == ".gz" else path
    return plain.with_suffix(".html") if plain.suffix in _ENDINGS else plain.with_name(f"{plain.name}.html")


def _read(files: Sequence[Path]) -> list[DealRecord | GameRecord]:
    """Return the records of some files; lines that are none are named and skipped."""
    records: list[DealRecord | GameRecord] = []
    problems = []
    for file in files:
        found = read_records(file)
        records += found.records
        problems += [f"{file}, line {number}: {reason}" for number, reason in found.problems]
    if not records:
        told = problems[0] if problems else f"{files[0]} is empty"
        raise UserError(f"no recorded deal or game, as gin_env.Recorder and evaluate.py write them: {told}")
    _tell_skipped(problems)
    return records


def _num_deals(record: DealRecord | GameRecord) -> int:
    return len(record.deals) if isinstance(record, GameRecord) else 1


def _choose(records: Sequence[DealRecord | GameRecord], first: int, last: int) -> list[DealRecord | GameRecord]:
    """Return the deals from the first to the last; a game of which only some are chosen falls into its deals."""
    chosen: list[DealRecord | GameRecord] = []
    number = 1
    for record in records:
        deals = record.deals if isinstance(record, GameRecord) else (record,)
        own = [deal for place, deal in enumerate(deals, number) if first <= place <= last]
        chosen += [record] if len(own) == len(deals) else own
        number += len(deals)
    return chosen


def _tell(records: Sequence[DealRecord | GameRecord]) -> list[Story]:
    """Play the records again; one that cannot be is refused with its reason."""
    stories: list[Story] = []
    refused: list[str] = []
    for number, record in enumerate(_progress(records, "playing the deals again"), 1):
        try:
            stories.append(tell(record))
        except RecordError as error:
            refused.append(f"record {number} does not play as it is written: {error}")
    if not stories:
        raise UserError(f"no record can be shown: {refused[0]}")
    _tell_skipped(refused)
    return stories


def _with_thoughts(records: Sequence[Record], specs: Sequence[str]) -> Sequence[Record]:
    """Return records with what some agents think where none of it is recorded."""
    if not specs:
        return records
    agents: dict[str, list[Agent | None]] = {}
    names: dict[int, str] = {}
    unknown: list[ValueError] = []
    for rules_name in dict.fromkeys(record.rules for record in records):
        try:
            by_seat = _thinkers(specs, resolve_rules(rules_name))
        except UserError:
            raise
        except ValueError as error:  # a network for one game need not know another one
            unknown.append(error)
            by_seat = [None] * resolve_rules(rules_name).num_players
        names |= {id(agent): spec for agent, spec in zip(by_seat, _seated(specs, len(by_seat)), strict=True) if agent}
        agents[rules_name] = by_seat
    if len(unknown) == len(agents):
        raise unknown[0]
    for reason in unknown:
        _tell_problem(f"not asked: {reason}")

    def ask(agent: HasThoughts, view: PlayerView) -> list[Thought]:
        try:
            return think(agent, view)
        except Exception as error:  # an agent is somebody's code: whatever it raises, its name is to be told
            told = str(error) if isinstance(error, AgentError) else f"it raised {type(error).__name__}: {error}"
            raise UserError(f"--think {names[id(agent)]}: {told}") from error

    thoughtful = []
    for record in _progress(records, "asking the agents"):
        try:
            thoughtful.append(_kept(record, annotate(record, agents[record.rules], ask)))
        except RecordError:
            thoughtful.append(record)  # refused below, with its reason
    return thoughtful


def _thinkers(specs: Sequence[str], rules: Rules) -> list[Agent | None]:
    """Return the agent to ask for each seat; raises ``ValueError`` where one cannot play by these rules."""
    if len(specs) not in (1, rules.num_players):
        raise UserError(
            f"--think {' '.join(specs)}: {rules.name} needs one agent for all seats, or {rules.num_players}"
        )
    by_spec = {spec: load_agent(spec, rules) for spec in dict.fromkeys(specs)}
    if not any(isinstance(agent, HasThoughts) for agent in by_spec.values()):
        raise UserError(f"--think {' '.join(specs)}: no agent that can tell its thoughts; networks can, as best does")
    return [by_spec[spec] for spec in _seated(specs, rules.num_players)]


def _seated(specs: Sequence[str], num_players: int) -> list[str]:
    return [*specs] * num_players if len(specs) == 1 else [*specs]


def _kept(recorded: Record, asked: Record) -> Record:
    """Return the record with thoughts that were asked for, but its own where it has some."""
    if isinstance(recorded, GameRecord) and isinstance(asked, GameRecord):
        deals = tuple(_kept(was, now) for was, now in zip(recorded.deals, asked.deals, strict=True))
        return dataclasses.replace(recorded, deals=deals)
    assert isinstance(recorded, DealRecord)
    assert isinstance(asked, DealRecord)
    tables = tuple(_kept_thoughts(was, now) for was, now in zip(recorded.tables, asked.tables, strict=True))
    return dataclasses.replace(recorded, tables=tables)


def _kept_thoughts(recorded: TableRecord, asked: TableRecord) -> TableRecord:
    if not (recorded.thoughts and asked.thoughts):
        return asked if asked.thoughts else recorded
    thoughts = tuple(was or now for was, now in zip(recorded.thoughts, asked.thoughts, strict=True))
    return dataclasses.replace(recorded, thoughts=thoughts)


def _progress(records: Sequence[Record], what: str) -> Iterable[Record]:
    console = Console(stderr=True)
    return track(records, what, console=console, transient=True, disable=not console.is_terminal)


def _tell_skipped(problems: Sequence[str]) -> None:
    for problem in problems[:_TOLD]:
        _tell_problem(f"skipped {problem}")
    if len(problems) > _TOLD:
        _tell_problem(f"skipped {len(problems) - _TOLD} more")


def _tell_problem(text: str) -> None:
    print(" ".join(text.split()), file=sys.stderr)
