"""Let agents play each other on duplicate deals; say who is better, by how much, and how each plays.

python evaluate.py --agents simple gold --preset eaai_2p --deals 20000
python evaluate.py --agents runs/first simple gold gin-only --json results.json
python evaluate.py --agents gold simple --preset rotation_3p --episode game --deals 30 --record games.jsonl.gz
"""

from __future__ import annotations

import contextlib
import dataclasses
import gzip
import itertools
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

# A model's matrix products are small: threads that wait for each other would make them slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import tyro
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import gin_env
from agents.arena import MatchResult, Style, play_match
from agents.cli import UserError, parse, run
from agents.model_files import read_model
from agents.registry import AGENT_NAMES, SHIPPED, is_model, load_agent
from agents.rule_options import parse_rules
from gin_env.notation.records import DealRecord, GameRecord
from gin_env.rules import PRESETS, Rules

DEFAULT_PRESET = "palace_4p"
DEFAULT_DEALS = 20_000
_EPISODES = {"deal": "deals", "game": "games"}

_AGENTS_HELP = (
    f"two agents or more: {', '.join((*SHIPPED, *AGENT_NAMES))}, the folder of a saved model, "
    "package.module:ClassName, file.py:ClassName, or search: and any of these, as in search:best,worlds=64; the first "
    "plays each of the others"
)
_DEALS_HELP = (
    "deals of each pairing (with --episode game: games), a multiple of the number of teams, as every deck is played "
    f"once for each; default {DEFAULT_DEALS:,} or the next multiple below; where three rotate, those that the first "
    "agent sits out are played but count for nothing"
)
_PRESET_HELP = f"rules: {', '.join(PRESETS)}; by default those of the first model named, else {DEFAULT_PRESET}"


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arguments:
    """Let agents play each other on duplicate deals: every deck is played once for each team, held by the first."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(help=_AGENTS_HELP)]
    preset: Annotated[str | None, tyro.conf.arg(help=_PRESET_HELP)] = None
    rule: tuple[str, ...] = ()
    """fields of the rules to replace, for example knock_limit=5 big_gin_bonus=none boast_points=20,15,10,5,0"""
    deals: Annotated[int | None, tyro.conf.arg(help=_DEALS_HELP)] = None
    episode: Literal["deal", "game"] = "deal"
    """play single deals, or whole games to the target score"""
    all_pairs: bool = False
    """let every agent play every other, instead of the first each of the others"""
    seed: int = 0
    """fixes the decks, the dealers and the agents' chances; the same decks for every pairing"""
    batch: int = 4096
    """deals played at once; more is faster up to a point and takes more memory"""
    json: Path | None = None
    """write all results to this file"""
    record: Path | None = None
    """write every deal (or game) to this file as it ends, a line of JSON each; a name that ends with .gz compresses"""


def main() -> None:
    """Read the arguments, play every pairing, show the tables and write the file."""
    arguments = parse(Arguments, prog="evaluate.py")
    _check(arguments)
    rules = _rules(arguments)
    num_pairs = _num_pairs(arguments, rules)
    agents = [load_agent(spec, rules) for spec in arguments.agents]
    if arguments.json is not None:
        _check_writable("--json", arguments.json)
    if arguments.record is not None:
        _check_writable("--record", arguments.record)
    pairings = list(itertools.combinations(range(len(agents)), 2))
    if not arguments.all_pairs:
        pairings = [pairing for pairing in pairings if pairing[0] == 0]

    results = []
    with _progress() as progress, _record_file(arguments.record) as on_record:
        for first, second in pairings:
            names = (arguments.agents[first], arguments.agents[second])
            task = progress.add_task(escape(f"{names[0]} v {names[1]}"), total=num_pairs * rules.num_teams)
            result = play_match(
                rules,
                agents[first],
                agents[second],
                num_pairs,
                seed=arguments.seed,
                batch_rows=arguments.batch,
                episode=arguments.episode,
                names=names,
                on_record=on_record,
                on_progress=lambda done, total, task=task: progress.update(task, completed=done),  # type: ignore[misc]
            )
            results.append(result)

    console = Console()
    console.print(points_table(results, rules))
    console.print(style_table(results, rules))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(_report(rules, arguments, results), indent=1) + "\n")
    for path in (arguments.json, arguments.record):
        if path is not None:
            console.print(f"written to {escape(str(path))}", soft_wrap=True)


def _check(arguments: Arguments) -> None:
    """Refuse what can be refused before anything is played."""
    if len(arguments.agents) < 2:
        raise UserError(f"--agents {' '.join(arguments.agents)}: name at least two agents")
    if arguments.seed < 0:
        raise UserError(f"--seed {arguments.seed}: at least 0")
    if arguments.batch < 1:
        raise UserError(f"--batch {arguments.batch}: at least 1")


def _check_writable(option: str, path: Path) -> None:
    """Tell before the match, not after it, that the results cannot be written."""
    try:
        with path.open("a"):
            pass
    except OSError as error:
        raise UserError(f"{option} {path}: cannot be written ({error.strerror})") from error


def _num_pairs(arguments: Arguments, rules: Rules) -> int:
    """Return how many decks are played, each once for each team."""
    teams = rules.num_teams
    if arguments.deals is None:
        return DEFAULT_DEALS // teams
    if arguments.deals < teams or arguments.deals % teams:
        kind = "an even number" if teams == 2 else f"a multiple of {teams}"
        times = "twice" if teams == 2 else f"{teams} times"
        raise UserError(f"--deals {arguments.deals}: give {kind} of at least {teams}, as every deck is played {times}")
    return arguments.deals // teams


@contextlib.contextmanager
def _record_file(path: Path | None) -> Iterator[Callable[[DealRecord | GameRecord], object] | None]:
    """Open the file of records and give what writes one, or None where none is wanted."""
    if path is None:
        yield None
        return
    with gzip.open(path, "wt") if path.suffix == ".gz" else path.open("w") as file:
        yield lambda record: file.write(record.to_json() + "\n")


def _rules(arguments: Arguments) -> Rules:
    """Return the rules to play: the preset named, else those of the first model, with the fields replaced."""
    models = [spec for spec in arguments.agents if is_model(spec)]
    if arguments.preset is None and models:
        return parse_rules(read_model(models[0]).rules, arguments.rule)
    return parse_rules(arguments.preset or DEFAULT_PRESET, arguments.rule)


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def points_table(results: list[MatchResult], rules: Rules) -> Table:
    """Return the table of who is better."""
    unit = _EPISODES[results[0].episode]
    title = f"{results[0].rules_name}, duplicate {unit}; net points per deal for the first agent (95 %)"
    table = _table(title, "first", "second")
    table.caption = _reading(rules, results[0].episode)
    table.caption_justify = "left"
    for heading in ("points", f"{unit} won %", "lost %", unit, "decisions/s"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        won, lost = (rate.text(digits=1, scale=100) for rate in result.win_rates)
        speed = f"{result.decisions_per_second:,.0f}"
        names = map(escape, result.names)
        table.add_row(*names, result.points_per_deal.text(sign=True), won, lost, f"{result.num_plays:,}", speed)
    return table


def _reading(rules: Rules, episode: str) -> str | None:
    """Return how to read the figures where more than two teams play."""
    if rules.num_teams == 2:
        return None
    if rules.mode != "rotation":
        return f"The second holds all other seats: of equal players the first wins one in {rules.num_teams}."
    if episode == "deal":
        return "Deals that the first sits out do not count."
    return (
        "The second holds both other seats: of equal players the first wins one in 3.\n"
        "Deals that a side sits out count in none of its figures per deal."
    )


def style_table(results: list[MatchResult], rules: Rules) -> Table:
    """Return the table of how each side of each match played."""
    per = "deal and table" if rules.num_tables > 1 else "deal" if rules.num_teams == 2 else "deal and seat"
    table = _table(f"How they play, per {per}; deadwood is that at the knock", "agent")
    trades = rules.has_partners
    for heading in _style_cells(results[0].styles[0], trades):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        table.add_row(f"[bold]{escape(' v '.join(result.names))}[/bold]")
        for name, style in zip(result.names, result.styles, strict=True):
            table.add_row(escape(name), *_style_cells(style, trades).values())
    return table


def _table(title: str, *name_columns: str) -> Table:
    """Return an empty table that leaves room for names on a narrow screen."""
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, padding=(0, 0), pad_edge=False)
    for heading in name_columns:
        table.add_column(heading, overflow="fold", min_width=9)
    return table


def _style_cells(style: Style, trades: bool) -> dict[str, str]:
    cells = {
        "gin\n%": f"{100 * style.gin:.1f}",
        "knock\nwon %": f"{100 * style.knock_won:.1f}",
        "under\ncut %": f"{100 * style.undercut:.1f}",
        "dead\n%": f"{100 * style.dead:.1f}",
        "dead\nwood": f"{style.knock_deadwood:.1f}",
        "turns": f"{style.turns:.1f}",
        "pile\n%": f"{100 * style.pile_share:.1f}",
    }
    if trades:
        cells["team\nwood"] = f"{style.team_deadwood:.1f}"
        cells["offers"] = f"{style.offers:.2f}"
        cells["swaps"] = f"{style.exchanges:.2f}"
    return cells


def _report(rules: Rules, arguments: Arguments, results: list[MatchResult]) -> dict[str, Any]:
    return {
        "version": gin_env.__version__,
        "rules_name": rules.name,
        "rules": dataclasses.asdict(rules),
        "episode": arguments.episode,
        "seed": arguments.seed,
        "matches": [result.to_dict() for result in results],
    }


if __name__ == "__main__":
    run(main)
