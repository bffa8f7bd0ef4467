"""Fixed public benchmarks: the same decks, opponents and rules for everybody, and one line to quote.

The definition of a benchmark, given by its name and version, never changes. Before it is run, hashes verify that this
copy of the project deals the same decks under the same rules, and that the opponents play as they did when the
benchmark was fixed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from rich.console import Console

import gin_env
from agents.arena.match.lineup import seats_per_team
from agents.arena.match.referee import TIME_LIMIT
from agents.arena.match.result import MatchResult
from agents.arena.tournament.blocks import Block, play_block
from agents.arena.tournament.options import PlayOptions
from agents.arena.tournament.paired_comparison import mean_over
from agents.arena.tournament.run import play, print_results_folder
from agents.arena.tournament.summary import Outcome
from agents.arena.tournament.tables import points_table, print_forfeits
from agents.arena.tournament.tournament import ForfeitedMatch, Pairing, Settings
from agents.cli import UserError
from gin_env.episodes import Episodes
from gin_env.rules import Rules

#: Each opponent's play is hashed over this many pairs against the reference agent.
_HASHED_PAIRS = 50
_REFERENCE_AGENT = "gold"
#: The options that a benchmark does not fix.
_FREE_OPTIONS = ("output", "json", "workers", "ray", "benchmark")


@dataclass(frozen=True)
class Benchmark:
    """A fixed set of matches.

    Attributes
    ----------
    preset : str
    seed, num_pairs : int
        The seed of the decks, and the number of decks against each opponent (each deck is played once for each team).
        The shipped models were neither trained nor selected on these decks.
    rules_hash, decks_hash : str
        Hashes of all fields of the rules, and of decks and dealers.
    panel : dict
        The opponents, each with a hash of how it plays (``play_hash``).
    """

    preset: str
    seed: int
    num_pairs: int
    rules_hash: str
    decks_hash: str
    panel: dict[str, str]

    @property
    def rules(self) -> Rules:
        """The rules of the preset."""
        return Rules.preset(self.preset)


BENCHMARKS = {
    "two-player-v1": Benchmark(
        preset="eaai_2p",
        seed=910_111_213,
        num_pairs=10_000,
        rules_hash="70d2ffcd27f6e806",
        decks_hash="9e89371c63c6cebc",
        panel={
            "simple": "fcf9471f436aab1c",
            "gold-k4": "28950b8308ada4e4",
            "gin-only": "2253719d65dc133a",
            "lookahead": "c3558671d5df1a14",
            "sharp": "b22043d9247de918",
        },
    ),
    "partnership-v1": Benchmark(
        preset="palace_4p",
        seed=910_111_213,
        num_pairs=10_000,
        rules_hash="b30bba0ef99f3234",
        decks_hash="e441eb91aa73e8f5",
        panel={
            "simple": "a912e5d31edcde3b",
            "gin-only": "a942e4dd67067b1e",
            "trade-greedy": "5fedd2c94c668fd3",
            "no-trade-lookahead": "48b37f522ce5470e",
            "team-lookahead": "b5f55871b5044c09",
        },
    ),
}


def run_benchmark(name: str, agent: str, options: PlayOptions) -> None:
    """Play a benchmark, print its table and the line to quote, and store the results.

    Raises ``UserError`` for an unknown name, for options that a benchmark fixes, and if this copy of the project does
    not deal or play as the benchmark requires.
    """
    if name not in BENCHMARKS:
        raise UserError(f"--benchmark {name}: expected one of {', '.join(BENCHMARKS)}")
    for field in dataclasses.fields(options):
        if getattr(options, field.name) != field.default and field.name not in _FREE_OPTIONS:
            raise UserError(f"--{field.name.replace('_', '-')}: a benchmark fixes this option; leave it out")

    benchmark, console = BENCHMARKS[name], Console()
    check_unchanged(name, benchmark)

    rules, size = benchmark.rules, seats_per_team(benchmark.rules)
    settings = Settings(rules, seed=benchmark.seed, num_pairs=benchmark.num_pairs, time_limit=TIME_LIMIT)
    pairings = [Pairing(((agent,) * size, (opponent,) * size)) for opponent in benchmark.panel]
    played = play(
        options,
        "evaluate.py",
        "benchmark",
        f"{name}: {agent}",
        pairings,
        settings,
        lambda outcomes: [_section(name, benchmark, agent, outcomes)],
    )

    print_forfeits(played.outcomes, console)
    results = [outcome for outcome in played.outcomes if isinstance(outcome, MatchResult)]
    if results:
        console.print(points_table(results, rules))
    console.print(quote(name, benchmark, agent, played.outcomes), soft_wrap=True, markup=False, highlight=False)

    print_results_folder(played, options)
    if len(results) < len(played.outcomes):
        sys.exit(1)


def quote(name: str, benchmark: Benchmark, agent: str, outcomes: list[Outcome]) -> str:
    """Return the line to quote: the mean over the opponents, with an interval resampled by their common decks."""
    version = f"gin_env {gin_env.__version__}, decks {benchmark.decks_hash[:8]}"
    forfeits = [outcome for outcome in outcomes if isinstance(outcome, ForfeitedMatch)]
    if any(forfeit.side == 0 for forfeit in forfeits):
        return f"{name}: {agent} forfeited ({version})"
    if forfeits:
        return f"{name}: no score, because the opponent {forfeits[0].agent} could not play here ({forfeits[0].text})"

    matches = [outcome for outcome in outcomes if isinstance(outcome, MatchResult)]
    worst = min(matches, key=lambda match: match.points_per_deal.value)
    deals = f"{benchmark.rules.num_teams * benchmark.num_pairs:,} duplicate deals v each of {len(matches)} opponents"
    lowest = f"worst {worst.points_per_deal.text(sign=True)} v {worst.names[1]}"
    result = mean_over(matches).text(sign=True)
    return f"{name}: {agent} {result} points per deal, {lowest} ({deals}, 95 %; {version})"


def _section(name: str, benchmark: Benchmark, agent: str, outcomes: list[Outcome]) -> dict[str, Any]:
    frozen = {**dataclasses.asdict(benchmark), "name": name}
    return {"title": "Benchmark", "text": [quote(name, benchmark, agent, outcomes)], "benchmark": frozen}


def check_unchanged(name: str, benchmark: Benchmark) -> None:
    """Raise ``UserError`` unless this copy of the project deals and plays as the benchmark requires."""
    measured = measure(benchmark)
    for field in ("rules_hash", "decks_hash"):
        if getattr(measured, field) != getattr(benchmark, field):
            raise UserError(
                f"{name}: {field}: expected {getattr(benchmark, field)}, got {getattr(measured, field)}; use an "
                "unchanged copy of the project"
            )

    for spec, expected in benchmark.panel.items():
        if measured.panel[spec] != expected:
            raise UserError(
                f"{name}: {spec!r} plays differently here: expected hash {expected}, got {measured.panel[spec]}; use "
                "an unchanged copy of the project"
            )


def measure(benchmark: Benchmark) -> Benchmark:
    """Return a benchmark with the hashes that it has in this copy of the project."""
    rules = benchmark.rules
    fields = json.dumps(dataclasses.asdict(rules), sort_keys=True)
    return dataclasses.replace(
        benchmark,
        rules_hash=_digest(fields.encode()),
        decks_hash=_decks_hash(rules, benchmark.seed, benchmark.num_pairs),
        panel={spec: play_hash(spec, rules, benchmark.seed) for spec in benchmark.panel},
    )


def play_hash(spec: str, rules: Rules, seed: int) -> str:
    """Return a hash of how an agent plays: the counts of some deals against the reference agent."""
    size = seats_per_team(rules)
    sides = ((spec,) * size, (_REFERENCE_AGENT,) * size)
    names = (spec, _REFERENCE_AGENT)
    block = Block("hash", sides, names, rules, "deal", seed, 0, _HASHED_PAIRS, TIME_LIMIT, record=False)
    tally = play_block(block).tally
    if tally is None:
        raise ValueError(f"{spec!r} forfeits against {_REFERENCE_AGENT!r}")
    return _digest(tally.points.tobytes() + tally.style.tobytes() + tally.deadwood.tobytes())


def _decks_hash(rules: Rules, seed: int, num_pairs: int) -> str:
    episodes = Episodes(rules, num_pairs)
    episodes.seed(seed, streams=np.arange(num_pairs))
    episodes.reset()
    state = episodes.state
    return _digest(np.ascontiguousarray(state.deck).tobytes() + np.ascontiguousarray(state.dealer).tobytes())


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()[:16]


def main() -> None:
    """Print the hashes of every benchmark in this copy, to define a new one."""
    for name, benchmark in BENCHMARKS.items():
        print(name, measure(benchmark))


if __name__ == "__main__":
    main()
