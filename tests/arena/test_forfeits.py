"""Agents at fault: they forfeit a match, are named with the reason, and stop nobody else."""

import json
import time

import numpy as np
import pytest

from agents.arena.match import referee
from agents.arena.tournament.blocks import Block, play_block
from agents.arena.tournament.results_folder import fingerprint
from agents.arena.tournament.tournament import ForfeitedMatch, Pairing, Settings
from gin_env.rules import Rules
from tests.helpers.tournaments import DUEL, FOREIGN, pairing, summary, tournament, write_foreign


@pytest.fixture
def foreign(tmp_path):
    return write_foreign(tmp_path)


@pytest.mark.parametrize(
    ("name", "reason", "words"),
    [
        ("Raises", "raised", "RuntimeError: lost <b>track</b>"),
        ("Illegal", "illegal", "'knock AS', which is not legal there"),
        ("Slow", "slow", "more than 0.2 s for"),
        ("Exits", "raised", "SystemExit: bye"),
        ("Cancelled", "raised", "CancelledError"),
        ("Forger", "illegal", "'knock AS', which is not legal there"),
        ("NoReset", "raised", "KeyError: 'seed'"),
    ],
)
def test_a_fault_forfeits_one_match_and_stops_no_other(foreign, monkeypatch, name, reason, words):
    bad = f"{foreign}:{name}"
    pairings = [pairing("simple", bad), pairing("simple", "gold"), pairing(f"{foreign}:Hasty", "gold")]
    settings = Settings(DUEL, num_pairs=200)
    if reason == "slow":
        monkeypatch.setattr(referee, "ALLOWANCE", 0.2)
    outcomes = tournament(
        pairings[:1], settings if reason != "slow" else Settings(DUEL, num_pairs=200, time_limit=1e-6)
    )
    monkeypatch.undo()
    outcomes += tournament(pairings[1:], settings)
    fault = outcomes[0]
    assert isinstance(fault, ForfeitedMatch)
    assert (fault.agent, fault.side, fault.reason, fault.pair) == (bad, 1, reason, 0)
    assert words in fault.text
    if reason == "raised":
        assert "mine.py:" in fault.text  # the line, for its author
    assert [outcome.num_pairs for outcome in outcomes[1:]] == [200, 200]
    told = summary(settings, pairings, outcomes)
    assert told["matches"][0]["forfeit"]["text"] == fault.text
    assert told["matches"][0]["points_per_deal"] is None
    rated = {row["agent"] for row in told["ratings"]["bradley_terry"]}
    assert rated == {"simple", "gold", f"{foreign}:Hasty"}
    json.dumps(told, allow_nan=False)


def test_faults_do_not_stop_the_matches_after_them(foreign):
    bad = f"{foreign}:Raises"
    pairings = [pairing("simple", bad), pairing(bad, "gold"), pairing("simple", "gold")]
    outcomes = tournament(pairings, Settings(DUEL, num_pairs=200))
    assert [outcome.side for outcome in outcomes[:2]] == [1, 0]
    assert outcomes[2].num_pairs == 200


def test_an_agent_that_swallows_its_alarm_gets_another(foreign, monkeypatch):
    monkeypatch.setattr(referee, "ALLOWANCE", 0.2)
    monkeypatch.setattr(referee, "_ALARM_INTERVAL", 0.2)
    started = time.monotonic()
    (fault,) = tournament([pairing(f"{foreign}:Stubborn", "simple")], Settings(DUEL, num_pairs=10, time_limit=1e-6))
    assert fault.reason == "slow"
    assert time.monotonic() - started < 10


def test_an_agent_that_ends_its_process_forfeits(foreign):
    """Segmentation faults and memory kills look like this: the pool is gone, and the others' blocks with it."""
    bad = f"{foreign}:Dies"
    pairings = [pairing("simple", bad), pairing("simple", "gold"), pairing(bad, "gold")]
    outcomes = tournament(pairings, Settings(DUEL, num_pairs=200), count=2)
    for fault, side in ((outcomes[0], 1), (outcomes[2], 0)):
        assert (fault.agent, fault.side, fault.reason) == (bad, side, "died")
        assert "exit status 3" in fault.text
    assert outcomes[1].to_dict() == tournament(pairings[1:2], Settings(DUEL, num_pairs=200))[0].to_dict()


def test_the_member_at_fault_is_named(foreign):
    rules = Rules.preset("palace_4p")
    mixed = Pairing((("gold", f"{foreign}:Illegal"), ("simple", "simple")))
    (fault,) = tournament([mixed], Settings(rules, num_pairs=10))
    assert (fault.agent, fault.side, fault.place) == (f"{foreign}:Illegal", 0, 1)


def test_an_agent_that_cannot_be_loaded_any_more_forfeits(foreign):
    block = Block("m", ((f"{foreign}:Hasty",), ("gold",)), ("h", "g"), DUEL, "deal", 0, 0, 10, 0.1, record=False)
    foreign.unlink()
    fault = play_block(block).forfeit
    assert (fault["agent"], fault["side"], fault["reason"]) == (f"{foreign}:Hasty", 0, "raised")
    assert "no file" in fault["text"]


def test_common_random_streams_are_the_blocks_own(foreign):
    foreign.write_text(
        FOREIGN
        + """
class Common(Hasty):
    name = "common"
    def act(self, view):
        mask = view.legal_mask
        return (mask * np.random.random(mask.shape)).argmax(axis=1)
"""
    )
    pairings = [pairing(f"{foreign}:Common", "gold")]
    one, other = (tournament(pairings, Settings(DUEL, num_pairs=50))[0] for _ in range(2))
    np.testing.assert_array_equal(one.pair_means, other.pair_means)


def test_an_illegal_action_is_told_with_the_deal_it_came_in(foreign):
    """Legal until the fifth pair's deck: the forfeit names that pair."""
    foreign.write_text(
        FOREIGN
        + """
class Late(Hasty):
    name = "late"
    def act(self, view):
        if len(view) > 9:
            actions = super().act(view)
            actions[9] = view.layout.knock
            return actions
        return super().act(view)
"""
    )
    (fault,) = tournament([pairing(f"{foreign}:Late", "gold")], Settings(DUEL, num_pairs=50))
    # Half of the first decisions are its own: the tenth of them is in pair 9 or 18.
    assert 5 <= fault.pair <= 30


def test_an_agent_may_import_its_neighbours(foreign):
    (foreign.parent / "pears_of_mine.py").write_text("SIGN = 1\n")
    foreign.write_text(FOREIGN + "\nfrom pears_of_mine import SIGN\n")
    (match,) = tournament([pairing(f"{foreign}:Hasty", "gold")], Settings(DUEL, num_pairs=100), count=2)
    assert match.num_pairs == 100
    before = fingerprint(f"{foreign}:Hasty")
    (foreign.parent / "pears_of_mine.py").write_text("SIGN = -1\n")
    assert fingerprint(f"{foreign}:Hasty") != before
