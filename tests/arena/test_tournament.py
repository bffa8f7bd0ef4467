"""Tournaments: blocks add up to matches, and an interrupted tournament resumes with the same results."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from agents.arena import play_match
from agents.arena.match import referee
from agents.arena.match.tally import Tally
from agents.arena.tournament.blocks import block_sizes
from agents.arena.tournament.results_folder import JOURNAL_FILE, fingerprint
from agents.arena.tournament.tournament import Settings, play_tournament
from agents.registry import load_agent
from gin_env.rules import Rules
from tests.helpers.paths import ROOT
from tests.helpers.tournaments import (
    DUEL,
    FOREIGN,
    Failing,
    Interrupted,
    pairing,
    results_folder,
    summary,
    tournament,
    write_foreign,
)
from tests.helpers.waiting_agent import WAITING


@pytest.fixture
def foreign(tmp_path):
    return write_foreign(tmp_path)


@pytest.mark.parametrize(("num_pairs", "episode"), [(1, "deal"), (99, "deal"), (5_000, "deal"), (777, "game")])
def test_blocks_cover_every_pair_once(num_pairs, episode):
    blocks = list(block_sizes(num_pairs, episode, (("gold",), ("simple",))))
    pairs = [pair for first, size in blocks for pair in range(first, first + size)]
    assert pairs == list(range(num_pairs))
    searching = list(block_sizes(num_pairs, episode, (("search:gold",), ("simple",))))
    assert len(searching) >= len(blocks)  # agents that search have smaller blocks


@pytest.mark.parametrize("preset", ["eaai_2p", "palace_4p", "rotation_3p", "two_tables_4p"])
def test_blocks_add_up_to_the_match(preset):
    """Agents without chance play the same deals whether they come in one batch or in blocks."""
    rules = Rules.preset(preset)
    whole = play_match(rules, load_agent("gold", rules), load_agent("gold-k4", rules), 150, seed=5)
    (parts,) = tournament([pairing("gold", "gold-k4", rules)], Settings(rules, seed=5, num_pairs=150))
    np.testing.assert_array_equal(whole.pair_means, parts.pair_means)
    assert whole.to_dict() == parts.to_dict()


def test_a_tally_is_read_as_it_was_written():
    match = play_match(DUEL, load_agent("gold", DUEL), load_agent("simple", DUEL), 40)
    again = Tally.from_dict(json.loads(json.dumps(match.tally.to_dict())))
    for name, array in vars(match.tally).items():
        np.testing.assert_array_equal(getattr(again, name), array)
        assert getattr(again, name).dtype == array.dtype


def test_deadwood_by_turn_falls_and_counts_every_discard():
    match = play_match(DUEL, load_agent("gold", DUEL), load_agent("random", DUEL), 300, seed=1)
    curve = match.deadwood_by_turn(0)
    assert curve[0] > curve[3] > 0
    # Every turn ends with a discard, except a knock.
    tally, records = match.tally, match.records
    knocks = (records.knocker >= 0).sum()
    assert tally.discards.sum() == records.turns.sum() - knocks


def test_a_match_ends_at_the_requested_precision_with_any_workers():
    settings = Settings(DUEL, num_pairs=5_000, precision=2.0)
    pairings = [pairing("simple", "gold"), pairing("gold", "gold-k4")]
    alone, in_two = (tournament(pairings, settings, count=count) for count in (1, 2))
    for one, other in zip(alone, in_two, strict=True):
        assert one.points_per_deal.half_width <= 2.0
        assert one.num_pairs < 5_000
        assert one.to_dict() == other.to_dict()
    # One block less is not enough.
    first, size = [block for block in block_sizes(5_000, "deal", pairings[0].sides) if block[0] < alone[0].num_pairs][
        -1
    ]
    assert first + size == alone[0].num_pairs
    shorter = tournament(pairings[:1], Settings(DUEL, num_pairs=first))
    assert shorter[0].points_per_deal.half_width > 2.0


def test_an_interrupted_tournament_resumes_and_plays_nothing_twice(tmp_path):
    settings = Settings(DUEL, seed=3, num_pairs=250)
    pairings = [pairing("simple", "gold"), pairing("simple", "random"), pairing("gold", "random")]
    whole = summary(settings, pairings, tournament(pairings, settings))
    played = []
    for blocks in (2, 1, 100):
        workers = Failing(blocks)
        folder = results_folder(tmp_path / "results", settings, pairings)
        with contextlib.suppress(Interrupted):
            outcomes = play_tournament(pairings, settings, workers, folder)
        played += workers.played
    assert len(played) == len(set(played)) == 3 * 2
    assert summary(settings, pairings, outcomes) == whole


@pytest.mark.parametrize("damage", ["cut", "changed", "no line break"])
def test_truncated_or_changed_lines_are_played_again(tmp_path, damage):
    settings, pairings = Settings(DUEL, num_pairs=150), [pairing("simple", "gold")]
    folder = results_folder(tmp_path / "results", settings, pairings)
    whole = play_tournament(pairings, settings, Failing(100), folder)
    journal = tmp_path / "results" / JOURNAL_FILE
    lines = journal.read_text().splitlines()
    assert len(lines) == 2
    if damage == "cut":
        journal.write_text(lines[0] + "\n" + lines[1][:200])
    elif damage == "changed":
        journal.write_text(lines[0].replace('"pairs": 100', '"pairs": 101') + "\n" + lines[1] + "\n")
    else:
        journal.write_text(lines[0])
    workers = Failing(100)
    again = play_tournament(pairings, settings, workers, results_folder(tmp_path / "results", settings, pairings))
    assert len(workers.played) == 1
    assert again[0].to_dict() == whole[0].to_dict()
    # Now nothing is left to play.
    workers = Failing(0)
    play_tournament(pairings, settings, workers, results_folder(tmp_path / "results", settings, pairings))


def test_a_tournament_can_grow(tmp_path):
    settings = Settings(DUEL, num_pairs=100)
    first = [pairing("simple", "gold")]
    play_tournament(first, settings, Failing(100), results_folder(tmp_path / "r", settings, first))
    more, longer = [*first, pairing("simple", "random")], Settings(DUEL, num_pairs=150)
    workers = Failing(100)
    outcomes = play_tournament(more, longer, workers, results_folder(tmp_path / "r", longer, more))
    assert ("simple v gold", 0) not in workers.played
    assert [outcome.num_pairs for outcome in outcomes] == [150, 150]


def test_a_folder_of_other_results_is_refused(tmp_path, foreign):
    pairings = [pairing(f"{foreign}:Hasty", "gold")]
    settings = Settings(DUEL)
    results_folder(tmp_path / "r", settings, pairings)
    with pytest.raises(ValueError, match="seed 0, not 7"):
        results_folder(tmp_path / "r", Settings(DUEL, seed=7), pairings)
    results_folder(tmp_path / "old", settings, pairings, code="old")
    with pytest.raises(ValueError, match='code "old"'):
        results_folder(tmp_path / "old", settings, pairings)
    foreign.write_text(FOREIGN + "\n# changed\n")
    with pytest.raises(ValueError, match="its files have changed"):
        results_folder(tmp_path / "r", settings, pairings)
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("precious")
    with pytest.raises(ValueError, match=r"other.*has other files"):
        results_folder(tmp_path / "other", settings, pairings)


def test_a_slow_agent_gets_another_chance(tmp_path, foreign, monkeypatch):
    """Whether an agent is too slow depends on the machine: such forfeits are not kept."""
    pairings = [pairing(f"{foreign}:Slow", "simple")]
    settings = Settings(DUEL, num_pairs=10, time_limit=1e-6)
    monkeypatch.setattr(referee, "ALLOWANCE", 0.2)
    play_tournament(pairings, settings, Failing(9), results_folder(tmp_path / "r", settings, pairings))
    workers = Failing(9)
    play_tournament(pairings, settings, workers, results_folder(tmp_path / "r", settings, pairings))
    assert len(workers.played) == 1


def test_records_that_are_requested_later_are_made_later(tmp_path):
    pairings, none, everything = (
        [pairing("gold", "simple")],
        *(Settings(DUEL, num_pairs=120, record=r) for r in ("none", "all")),
    )
    path = tmp_path / "r"
    play_tournament(pairings, none, Failing(9), results_folder(path, none, pairings))
    assert not (path / "records").exists()
    play_tournament(pairings, everything, Failing(9), results_folder(path, everything, pairings))
    assert len(list((path / "records").iterdir())) == 2


def test_a_match_of_ties_does_not_end_early():
    """Two copies of a deterministic agent tie every pair: an interval of width 0 means nothing."""
    settings = Settings(DUEL, num_pairs=400, precision=0.5)
    (outcome,) = tournament([pairing("gold", "gold")], settings)
    assert outcome.num_pairs == 400


def test_an_agents_files_are_part_of_its_fingerprint(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    folder = tmp_path / "lr=0.1,a"
    folder.mkdir()
    (folder / "model.json").write_text("{}")
    (tmp_path / "solo.py").write_text("one = 1")
    for spec, file in (
        ("solo:A", "solo.py"),
        ("solo.py:A", "solo.py"),
        ("search:solo.py:A,worlds=4", "solo.py"),
        ("search:gold,rollout=solo.py:A", "solo.py"),
        ("ablate:search:solo.py:A,worlds=4,offers=none", "solo.py"),
        ("lr=0.1,a", "lr=0.1,a/model.json"),
        ("ablate:lr=0.1,a,offers=none", "lr=0.1,a/model.json"),
    ):
        before = fingerprint(spec)
        assert before, spec
        (tmp_path / file).write_text(f"{{}}  # {spec}")
        assert fingerprint(spec) != before, spec
    assert fingerprint("gold") == fingerprint("best") == ""


def run(folder, *arguments):
    command = [sys.executable, str(ROOT / "evaluate.py"), *map(str, arguments)]
    return subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_killed_and_restarted_it_ends_with_the_same_results(tmp_path):
    """``kill -9`` while a user's agent thinks, then the same command again."""
    agents = tmp_path / "elsewhere" / "waiting.py"
    agents.parent.mkdir()
    agents.write_text(WAITING)
    field = ("--agents", "gold", "simple", f"{agents}:Slow", "--all-pairs", "--preset", "eaai_2p", "--deals", 700)
    command = (*field, "--time-limit", 1000)

    # The agent waits for a file, so that the first match is stored and the second under way when the kill comes.
    killed = run(tmp_path, *command, "--output", "killed", "--workers", 2)
    journal = tmp_path / "killed" / JOURNAL_FILE
    while not (agents.with_name("waits").exists() and journal.exists() and journal.read_bytes().count(b"\n") >= 2):
        assert killed.poll() is None
        time.sleep(0.02)
    os.kill(killed.pid, signal.SIGKILL)
    killed.communicate()
    before = journal.read_bytes()
    assert not (tmp_path / "killed" / "summary.json").exists()

    agents.with_name("open").touch()
    for name in ("killed", "whole"):
        done = run(tmp_path, *command, "--output", name, "--workers", 1)
        out, error = done.communicate()
        assert done.returncode == 0, error
        assert " waiting.py:Slow" in out  # without the folders before it
    assert journal.read_bytes().startswith(before.rpartition(b"\n")[0])
    summaries = [(tmp_path / name / "summary.json").read_text() for name in ("killed", "whole")]
    assert summaries[0] == summaries[1]
    folders = [tmp_path / name / "records" for name in ("killed", "whole")]
    records = [{file.name: file.read_bytes() for file in folder.iterdir()} for folder in folders]
    assert records[0] == records[1]
    assert len(records[0]) == 3


@pytest.mark.slow
def test_a_ray_cluster_gives_the_same_results(tmp_path):
    pytest.importorskip("ray")
    field = ("--agents", "gold", "simple", "gin-only", "--all-pairs", "--preset", "eaai_2p", "--deals", 4000)
    for name, how in (("here", ("--workers", 1)), ("ray", ("--ray", "auto"))):
        done = run(tmp_path, *field, "--output", name, *how)
        _, error = done.communicate()
        assert done.returncode == 0, error
    assert (tmp_path / "here" / "summary.json").read_text() == (tmp_path / "ray" / "summary.json").read_text()
    for file in (tmp_path / "here" / "records").iterdir():
        assert file.read_bytes() == (tmp_path / "ray" / "records" / file.name).read_bytes()
