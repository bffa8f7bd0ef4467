"""Fixed benchmarks: their hashes are unchanged, deviations are refused, and the line to quote is reproducible."""

import dataclasses
import json

import numpy as np
import pytest

from agents.arena import benchmark
from agents.arena.tournament.options import PlayOptions
from agents.arena.tournament.tournament import ForfeitedMatch
from agents.cli import UserError


@pytest.fixture(scope="module")
def measured():
    """The benchmarks with the hashes of this copy."""
    return {name: benchmark.measure(fixed) for name, fixed in benchmark.BENCHMARKS.items()}


def test_decks_rules_and_opponents_are_unchanged(measured, monkeypatch):
    assert measured == benchmark.BENCHMARKS
    for name, fixed in benchmark.BENCHMARKS.items():
        monkeypatch.setattr(benchmark, "measure", lambda _, name=name: measured[name])
        benchmark.check_unchanged(name, fixed)


def test_a_changed_benchmark_is_refused(measured, monkeypatch):
    fixed = benchmark.BENCHMARKS["two-player-v1"]
    monkeypatch.setattr(benchmark, "measure", lambda _: measured["two-player-v1"])
    for changes, message in (
        ({"rules_hash": "0"}, f"rules_hash.* 0, got {fixed.rules_hash}"),
        ({"decks_hash": "0"}, f"decks_hash.* 0, got {fixed.decks_hash}"),
        ({"panel": {**fixed.panel, "sharp": "0"}}, f"'sharp'.* 0, got {fixed.panel['sharp']}"),
    ):
        with pytest.raises(UserError, match=message):
            benchmark.check_unchanged("two-player-v1", dataclasses.replace(fixed, **changes))


def test_other_decks_have_another_hash():
    fixed = benchmark.BENCHMARKS["two-player-v1"]
    assert benchmark._decks_hash(fixed.rules, fixed.seed, fixed.num_pairs) == fixed.decks_hash
    assert benchmark._decks_hash(fixed.rules, 1, fixed.num_pairs) != fixed.decks_hash


def test_a_forfeit_of_an_opponent_gives_no_score():
    fixed = benchmark.BENCHMARKS["two-player-v1"]
    names = ("mine", "sharp")
    for side, text in ((0, "mine forfeited"), (1, "no score, because the opponent sharp")):
        fault = ForfeitedMatch(names, names[side], side, 0, "slow", "more than 10 s", 0)
        assert text in benchmark.quote("two-player-v1", fixed, "mine", [fault])


def test_a_benchmark_prints_the_line_to_quote_and_is_reproducible(tmp_path, monkeypatch, capsys):
    fixed = benchmark.BENCHMARKS["two-player-v1"]
    small = benchmark.measure(dataclasses.replace(fixed, num_pairs=60, panel=dict(list(fixed.panel.items())[:2])))
    monkeypatch.setitem(benchmark.BENCHMARKS, "small-v1", small)
    files = []
    for name in ("a", "b"):
        options = PlayOptions(output=tmp_path / name, workers=1)
        benchmark.run_benchmark("small-v1", "gold", options)
        files.append((tmp_path / name / "summary.json").read_text())
    assert files[0] == files[1]

    summary = json.loads(files[0])
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("small-v1: gold")][:1]
    assert summary["sections"][0]["text"] == [line]
    points = np.mean([match["points_per_deal"]["value"] for match in summary["matches"]])
    assert f"{points:+.2f} ± " in line
    assert small.decks_hash[:8] in line
