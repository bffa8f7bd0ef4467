"""Compare agents on duplicate deals: who is better, by how much, and how each of them plays.

python evaluate.py --agents simple gold --preset eaai_2p --deals 20000
python evaluate.py --agents runs/first simple gold gin-only --all-pairs --output results/ladder
python evaluate.py --seats best team-lookahead best simple --preset palace_4p
python evaluate.py --benchmark partnership-v1 runs/first

Other commands, each with its own --help: report, replay, cross-play, partners, ablations, trades.
"""

from __future__ import annotations

import difflib
import importlib
import itertools
import os
import sys
from dataclasses import dataclass
from typing import Annotated, Any

# A model's matrix products are small: several threads would make them slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from agents.cli.extras import needs

with needs("cli"):
    import tyro
    from rich.console import Console

    from agents.arena import MatchResult
    from agents.arena.benchmark import BENCHMARKS, run_benchmark
    from agents.arena.match.lineup import seats_per_team, sides_of_seats
    from agents.arena.tournament.options import PlayOptions
    from agents.arena.tournament.paired_comparison import compared_section
    from agents.arena.tournament.run import Played, play, print_results_folder
    from agents.arena.tournament.summary import Outcome
    from agents.arena.tournament.tables import (
        points_table,
        print_forfeits,
        ratings_table,
        section_tables,
        sides_table,
        style_table,
    )
    from agents.arena.tournament.tournament import ForfeitedMatch, Pairing
    from agents.cli import UserError, parse, run
    from agents.registry import AGENT_NAMES, SHIPPED
    from gin_env.rules import Rules

#: The other commands, and the modules that hold their ``main``.
COMMANDS = {
    "report": "agents.arena.report.command",
    "replay": "agents.replay.command",
    "cross-play": "agents.arena.research.cross_play",
    "partners": "agents.arena.research.partners",
    "ablations": "agents.arena.research.ablations",
    "trades": "agents.arena.research.trades",
}

_AGENTS_HELP = (
    f"two agents or more: {', '.join((*SHIPPED, *AGENT_NAMES))}, the folder of a saved model, "
    "package.module:ClassName, file.py:ClassName, search: with any of these (search:best,worlds=64), or ablate: with "
    "any of these (ablate:best,offers=none); the first agent plays each of the others"
)
_SEATS_HELP = "one agent for each seat, player_0 first: a single match between teams of your choice"
_BENCHMARK_HELP = f"a fixed benchmark ({', '.join(BENCHMARKS)}) and the agent to score; most other options are fixed"


@dataclass(frozen=True, kw_only=True)
class Contestants:
    """The options that choose who plays; a base class of its own, so that --help lists them first."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(help=_AGENTS_HELP)] = ()
    all_pairs: bool = False
    """a round robin: every agent plays every other, instead of only the first playing each of the others"""
    seats: Annotated[tuple[str, ...], tyro.conf.arg(help=_SEATS_HELP)] = ()
    benchmark: Annotated[tuple[str, ...], tyro.conf.arg(help=_BENCHMARK_HELP, metavar="NAME AGENT")] = ()


@dataclass(frozen=True, kw_only=True)
class Arguments(PlayOptions, Contestants):
    """Compare agents on duplicate deals: every deck is played once for each team, with the first agent as that team.

    Other commands, each with its own --help: evaluate.py report, replay, cross-play, partners, ablations, trades.
    """


def main() -> None:
    """Run another command, a benchmark, or the matches that the arguments ask for."""
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        run_command(sys.argv[1], sys.argv[2:])
        return

    arguments = parse(Arguments, prog="evaluate.py")
    check(arguments)
    if arguments.benchmark:
        name, agent = arguments.benchmark
        run_benchmark(name, agent, arguments)
        return

    rules = arguments.rules_for(arguments.agents or arguments.seats)
    played = play_matches(arguments, rules)
    print_results(played, rules, Console())
    print_results_folder(played, arguments)
    if all(isinstance(outcome, ForfeitedMatch) for outcome in played.outcomes):
        sys.exit(1)


def run_command(name: str, words: list[str]) -> None:
    """Run one of the other commands; raises ``UserError`` for an unknown name."""
    if name not in COMMANDS:
        close = difflib.get_close_matches(name, COMMANDS, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise UserError(
            f"unknown command {name!r}: {hint}expected one of {', '.join(COMMANDS)}, or options as --help shows them"
        )
    importlib.import_module(COMMANDS[name]).main(words)


def check(arguments: Arguments) -> None:
    """Raise ``UserError`` for invalid arguments, before anything is played."""
    arguments.check()

    chosen = [bool(arguments.agents), bool(arguments.seats), bool(arguments.benchmark)]
    if sum(chosen) != 1:
        raise UserError("give one of --agents (two or more), --seats (one for each seat) or --benchmark NAME AGENT")
    if arguments.benchmark and len(arguments.benchmark) != 2:
        raise UserError(f"--benchmark {' '.join(arguments.benchmark)}: give its name and one agent")
    if arguments.agents and len(arguments.agents) < 2:
        raise UserError(f"--agents {' '.join(arguments.agents)}: name at least two agents")
    if arguments.seats and arguments.all_pairs:
        raise UserError("--all-pairs is for --agents; --seats is a single match")

    opponents = arguments.agents if arguments.all_pairs else arguments.agents[1:]
    repeated = [agent for agent in opponents if opponents.count(agent) > 1]
    if repeated:
        raise UserError(f"--agents: {repeated[0]} is named twice among the opponents")


def play_matches(arguments: Arguments, rules: Rules) -> Played:
    """Play all matches into the results folder."""
    pairings = pairings_of(arguments, rules)
    kind = "tournament" if arguments.all_pairs else "match"
    title = " v ".join(pairings[0].names) if len(pairings) == 1 else f"{len(pairings)} matches"
    settings = arguments.settings(rules)
    return play(arguments, "evaluate.py", kind, f"{rules.name}: {title}", pairings, settings, comparison_sections)


def pairings_of(arguments: Arguments, rules: Rules) -> list[Pairing]:
    """Return the matches to play."""
    if arguments.seats:
        return [Pairing(tuple(sides_of_seats(rules, arguments.seats)))]

    size = seats_per_team(rules)
    sides = [(agent,) * size for agent in arguments.agents]
    if arguments.all_pairs:
        return [Pairing(pair) for pair in itertools.combinations(sides, 2)]
    return [Pairing((sides[0], other)) for other in sides[1:]]


def comparison_sections(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    """Return the summary's section that compares the opponents of one agent, unless a match was forfeited."""
    results = [outcome for outcome in outcomes if isinstance(outcome, MatchResult)]
    return compared_section(results) if len(results) == len(outcomes) else []


def print_results(played: Played, rules: Rules, console: Console) -> None:
    """Print forfeits, points, ratings, comparisons and styles."""
    forfeits = [outcome for outcome in played.outcomes if isinstance(outcome, ForfeitedMatch)]
    results = [outcome for outcome in played.outcomes if isinstance(outcome, MatchResult)]
    print_forfeits(played.outcomes, console)

    duels = [result for result in results if len(result.names) == 2]
    if duels:
        console.print(points_table(duels, rules))
    for result in results:
        if len(result.names) > 2:
            console.print(sides_table(result, rules))

    if played.summary["kind"] == "tournament" and played.summary["ratings"] is not None:
        console.print(ratings_table(played.summary["ratings"], forfeits))
    for section in played.summary["sections"]:
        for table in section_tables(section):
            console.print(table)

    if results:
        console.print(style_table(results, rules))


if __name__ == "__main__":
    run(main)
