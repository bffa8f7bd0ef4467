"""Let agents play each other on duplicate deals; say who is better, by how much, and how each plays.

python evaluate.py --agents simple gold --preset eaai_2p --deals 20000
python evaluate.py --agents runs/first simple gold gin-only --json results.json
"""

from __future__ import annotations

import dataclasses
import importlib.metadata
import itertools
import json
from pathlib import Path
from typing import Annotated, Any, Literal

import tyro
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

from agents.arena import MatchResult, Style, play_match
from agents.cli import UserError, run
from agents.registry import AGENT_NAMES, is_model, load_agent
from agents.rule_options import parse_rules
from gin_env.rules import PRESETS, Rules

DEFAULT_PRESET = "palace_4p"
#: Episodes per pairing where none are asked for: about ±0.3 points a deal, in seconds.
DEFAULT_EPISODES = {"deal": 20_000, "game": 2_000}

_AGENTS_HELP = (
    f"two agents or more: {', '.join(AGENT_NAMES)}, the folder of a saved model, package.module:ClassName or "
    "file.py:ClassName; the first plays each of the others"
)
_PRESET_HELP = f"rules: {', '.join(PRESETS)}; by default those of the first model named, else {DEFAULT_PRESET}"
_DEALS_HELP = (
    "deals (with --episode game: games) of each pairing, an even number, as every deck is played twice; "
    f"by default {DEFAULT_EPISODES['deal']} deals or {DEFAULT_EPISODES['game']} games"
)


@dataclasses.dataclass(frozen=True, kw_only=True)
class Arguments:
    """Let agents play each other on duplicate deals: every deck is played twice, with the seats swapped."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(help=_AGENTS_HELP)]
    preset: Annotated[str | None, tyro.conf.arg(help=_PRESET_HELP)] = None
    rule: tuple[str, ...] = ()
    """fields of the rules to replace, for example knock_limit=5 undercut_bonus=10"""
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


def main() -> None:
    """Read the arguments, play every pairing, show the tables and write the file."""
    arguments = tyro.cli(Arguments, prog="evaluate.py")
    _check(arguments)
    rules = _rules(arguments)
    agents = [load_agent(spec, rules) for spec in arguments.agents]
    others = range(len(agents))
    pairings = list(itertools.combinations(others, 2)) if arguments.all_pairs else [(0, other) for other in others[1:]]
    num_pairs = (arguments.deals or DEFAULT_EPISODES[arguments.episode]) // 2

    results = []
    with _progress() as progress:
        for first, second in pairings:
            names = (arguments.agents[first], arguments.agents[second])
            task = progress.add_task(f"{names[0]} v {names[1]}", total=2 * num_pairs)
            result = play_match(
                rules,
                agents[first],
                agents[second],
                num_pairs,
                seed=arguments.seed,
                batch_rows=arguments.batch,
                episode=arguments.episode,
                on_progress=lambda done, total, task=task: progress.update(task, completed=done),  # type: ignore[misc]
            )
            results.append(dataclasses.replace(result, names=names))

    console = Console()
    console.print(points_table(results))
    console.print(style_table(results))
    if arguments.json is not None:
        arguments.json.write_text(json.dumps(_report(rules, arguments, results), indent=1) + "\n")
        console.print(f"written to {arguments.json}")


def _check(arguments: Arguments) -> None:
    """Refuse what can be refused before anything is played."""
    if len(arguments.agents) < 2:
        raise UserError(f"--agents {' '.join(arguments.agents)}: name at least two agents")
    if arguments.deals is not None and (arguments.deals < 2 or arguments.deals % 2):
        raise UserError(f"--deals {arguments.deals}: give an even number of at least 2, as every deck is played twice")
    if arguments.batch < 1:
        raise UserError(f"--batch {arguments.batch}: at least 1")
    if arguments.json is not None:
        if arguments.json.is_dir():
            raise UserError(f"--json {arguments.json}: is a folder, name a file")
        with arguments.json.open("a"):  # an unwritable place is told now, not after the match
            pass


def _rules(arguments: Arguments) -> Rules:
    """Return the rules to play: the preset named, else those of the first model, with the fields replaced."""
    models = [spec for spec in arguments.agents if is_model(spec)]
    if arguments.preset is None and models:
        from agents.policy import read_description  # torch is needed for models only

        return parse_rules(Rules(**read_description(models[0])["rules"]), arguments.rule)
    return parse_rules(arguments.preset or DEFAULT_PRESET, arguments.rule)


def _progress() -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=Console(stderr=True), transient=True)


def points_table(results: list[MatchResult]) -> Table:
    """Return the table of who is better."""
    games = results[0].episode == "game"
    table = Table(title=f"{results[0].rules_name}: net points per deal for the first agent, 95 % over whole pairs")
    table.add_column("first")
    table.add_column("second")
    unit = "games" if games else "deals"
    columns = ["points", f"first wins {unit} %", f"second wins {unit} %", *(["games"] if games else []), "deals", "s"]
    for column in [*columns, "decisions/s"]:
        table.add_column(column, justify="right")
    for result in results:
        cells = [result.points_per_deal.text(sign=True)]
        cells += [rate.text(digits=1, scale=100) for rate in result.win_rates]
        cells += [f"{2 * result.num_pairs:,}"] if games else []
        cells += [f"{result.num_deals:,}", f"{result.seconds:.1f}", f"{result.decisions_per_second:,.0f}"]
        table.add_row(*result.names, *cells)
    return table


def style_table(results: list[MatchResult]) -> Table:
    """Return the table of how each side of each match played."""
    table = Table(title="how they play (shares of all deals; deadwood in points)")
    table.add_column("agent")
    table.add_column("against")
    for column in _style_cells(results[0].styles[0]):
        table.add_column(column, justify="right")
    for result in results:
        for side, style in enumerate(result.styles):
            table.add_row(result.names[side], result.names[1 - side], *_style_cells(style).values())
    return table


def _style_cells(style: Style) -> dict[str, str]:
    return {
        "gin %": f"{100 * style.gin:.1f}",
        "knock won %": f"{100 * style.knock_won:.1f}",
        "undercut %": f"{100 * style.undercut:.1f}",
        "dead %": f"{100 * style.dead:.1f}",
        "deadwood at knock": f"{style.knock_deadwood:.1f}",
        "its team's": f"{style.team_deadwood:.1f}",
        "turns": f"{style.turns:.1f}",
        "from pile %": f"{100 * style.pile_share:.1f}",
        "trades offered": f"{style.offers:.2f}",
        "exchanged": f"{style.exchanges:.2f}",
    }


def _report(rules: Rules, arguments: Arguments, results: list[MatchResult]) -> dict[str, Any]:
    return {
        "version": importlib.metadata.version("gin-env"),
        "rules_name": rules.name,
        "rules": dataclasses.asdict(rules),
        "episode": arguments.episode,
        "seed": arguments.seed,
        "matches": [result.to_dict() for result in results],
    }


if __name__ == "__main__":
    run(main)
