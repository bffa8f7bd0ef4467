"""Let agents play each other on duplicate deals; say who is better, by how much, and how each plays.

python evaluate.py --agents simple gold --preset eaai_2p --deals 20000
python evaluate.py --agents runs/first simple gold gin-only --all-pairs --output results/ladder
python evaluate.py --seats best team-lookahead best simple --preset palace_4p
python evaluate.py --benchmark partnership-v1 runs/first

More commands, each with its own --help: report, replay, cross-play, partners, ablations, trades.
"""

from __future__ import annotations

import difflib
import importlib
import itertools
import os
import sys
from dataclasses import dataclass
from typing import Annotated, Any

# A model's matrix products are small: threads that wait for each other would make them slower.
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

#: The other commands: the module whose ``main`` reads what follows.
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
    "package.module:ClassName, file.py:ClassName, search: and any of these, as in search:best,worlds=64, or ablate: "
    "and any of these, as in ablate:best,offers=none; the first plays each of the others"
)
_SEATS_HELP = "one agent for each seat, player_0 first: a single match of teams put together by hand"
_BENCHMARK_HELP = f"a fixed benchmark ({', '.join(BENCHMARKS)}) and the agent that takes it; other options stay fixed"


@dataclass(frozen=True, kw_only=True)
class Contestants:
    """Who plays: a base of its own, so that these options stand first."""

    agents: Annotated[tuple[str, ...], tyro.conf.arg(help=_AGENTS_HELP)] = ()
    all_pairs: bool = False
    """a round robin: let every agent play every other, instead of the first each of the others"""
    seats: Annotated[tuple[str, ...], tyro.conf.arg(help=_SEATS_HELP)] = ()
    benchmark: Annotated[tuple[str, ...], tyro.conf.arg(help=_BENCHMARK_HELP, metavar="NAME AGENT")] = ()


@dataclass(frozen=True, kw_only=True)
class Arguments(PlayOptions, Contestants):
    """Let agents play each other on duplicate deals: every deck is played once for each team, held by the first.

    More commands, each with its own --help: evaluate.py report, replay, cross-play, partners, ablations, trades.
    """


def main() -> None:
    """Read the arguments, play what they ask for, show the tables and keep the results."""
    if len(sys.argv) > 1 and not sys.argv[1].startswith("-"):
        _check_command(sys.argv[1])
        importlib.import_module(COMMANDS[sys.argv[1]]).main(sys.argv[2:])
        return
    arguments = parse(Arguments, prog="evaluate.py")
    _check(arguments)
    if arguments.benchmark:
        name, agent = arguments.benchmark
        run_benchmark(name, agent, arguments)
        return
    rules = arguments.rules_for(arguments.agents or arguments.seats)
    pairings = _pairings(arguments, rules)
    kind = "tournament" if arguments.all_pairs else "match"
    title = f"{' v '.join(pairings[0].names)}" if len(pairings) == 1 else f"{len(pairings)} matches"
    settings, title = arguments.settings(rules), f"{rules.name}: {title}"
    played = play(arguments, "evaluate.py", kind, title, pairings, settings, _sections)
    show(played, rules, Console())
    print_results_folder(played, arguments)
    if all(isinstance(outcome, ForfeitedMatch) for outcome in played.outcomes):
        sys.exit(1)


def _check_command(word: str) -> None:
    if word not in COMMANDS:
        close = difflib.get_close_matches(word, COMMANDS, n=1)
        hint = f"did you mean {close[0]}? " if close else ""
        raise UserError(
            f"unknown command {word!r}: {hint}one of {', '.join(COMMANDS)}, or options as --help shows them"
        )


def _check(arguments: Arguments) -> None:
    """Refuse what can be refused before anything is played."""
    arguments.check()
    chosen = [bool(arguments.agents), bool(arguments.seats), bool(arguments.benchmark)]
    if sum(chosen) != 1:
        raise UserError("give one of --agents (two or more), --seats (one for each seat) or --benchmark NAME AGENT")
    if arguments.benchmark and len(arguments.benchmark) != 2:
        raise UserError(f"--benchmark {' '.join(arguments.benchmark)}: give its name and one agent")
    if arguments.agents and len(arguments.agents) < 2:
        raise UserError(f"--agents {' '.join(arguments.agents)}: name at least two agents")
    opponents = arguments.agents if arguments.all_pairs else arguments.agents[1:]
    twice = [agent for agent in opponents if opponents.count(agent) > 1]
    if twice:
        raise UserError(f"--agents: {twice[0]} is named twice among the opponents")
    if arguments.seats and arguments.all_pairs:
        raise UserError("--all-pairs is for --agents; --seats is a single match")


def _pairings(arguments: Arguments, rules: Rules) -> list[Pairing]:
    if arguments.seats:
        return [Pairing(tuple(sides_of_seats(rules, arguments.seats)))]
    size = seats_per_team(rules)
    sides = [(agent,) * size for agent in arguments.agents]
    if arguments.all_pairs:
        return [Pairing(pair) for pair in itertools.combinations(sides, 2)]
    return [Pairing((sides[0], other)) for other in sides[1:]]


def _sections(outcomes: list[Outcome]) -> list[dict[str, Any]]:
    results = [outcome for outcome in outcomes if isinstance(outcome, MatchResult)]
    return compared_section(results) if len(results) == len(outcomes) else []


def show(played: Played, rules: Rules, console: Console) -> None:
    """Print the tables of what was played, forfeits first."""
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
