"""Agents at fault forfeit their match, are reported with the reason, and stop no other match."""

import json

import numpy as np
import pytest

from agents.arena.match import referee
from agents.arena.tournament.blocks import Block, play_block
from agents.arena.tournament.results_folder import fingerprint
from agents.arena.tournament.tournament import ForfeitedMatch, Pairing, Settings
from gin_env.rules import Rules
from tests.helpers.tournaments import DUEL, FOREIGN, pairing, summary, tournament, write_foreign

#: Few pairs, but enough for intervals and ratings: a single block.
PAIRS = 60


@pytest.fixture
def foreign(tmp_path):
    return write_foreign(tmp_path)


@pytest.fixture(scope="module")
def faultless(tmp_path_factory):
    """Two matches without faults: the pairings, with a user's agent in the second, and their outcomes."""
    path = write_foreign(tmp_path_factory.mktemp("faultless"))
    pairings = [pairing("simple", "gold"), pairing(f"{path}:Hasty", "gold")]
    return pairings, tournament(pairings, Settings(DUEL, num_pairs=PAIRS))


@pytest.mark.parametrize(
    ("name", "reason", "text"),
    [
        ("Raises", "raised", "RuntimeError: lost <b>track</b>"),
        ("Illegal", "illegal", "'knock AS'"),
        ("Slow", "slow", "more than 0.2 s for"),
        ("Exits", "raised", "SystemExit: bye"),
        ("Cancelled", "raised", "CancelledError"),
        ("Forger", "illegal", "'knock AS'"),
        ("NoReset", "raised", "KeyError: 'seed'"),
    ],
)
def test_a_fault_forfeits_the_match_with_a_reason(foreign, monkeypatch, name, reason, text):
    bad = f"{foreign}:{name}"
    settings = Settings(DUEL, num_pairs=PAIRS)
    if reason == "slow":
        monkeypatch.setattr(referee, "ALLOWANCE", 0.2)
        settings = Settings(DUEL, num_pairs=PAIRS, time_limit=1e-6)
    (fault,) = tournament([pairing("simple", bad)], settings)
    assert isinstance(fault, ForfeitedMatch)
    assert (fault.agent, fault.side, fault.reason, fault.pair) == (bad, 1, reason, 0)
    assert text in fault.text
    if reason == "raised":
        assert "mine.py:" in fault.text  # the line, for its author


def test_an_agent_with_a_forfeit_is_reported_but_not_rated(foreign, faultless):
    pairings, outcomes = faultless
    settings = Settings(DUEL, num_pairs=PAIRS)
    bad = pairing("simple", f"{foreign}:Raises")
    (fault,) = tournament([bad], settings)
    content = summary(settings, [bad, *pairings], [fault, *outcomes])
    assert content["matches"][0]["forfeit"]["text"] == fault.text
    assert content["matches"][0]["points_per_deal"] is None
    rated = {row["agent"] for row in content["ratings"]["bradley_terry"]}
    assert rated == {name for one in pairings for name in one.names}
    json.dumps(content, allow_nan=False)


def test_faults_do_not_stop_the_matches_after_them(foreign):
    bad = f"{foreign}:Raises"
    pairings = [pairing("simple", bad), pairing(bad, "gold"), pairing("simple", "gold")]
    outcomes = tournament(pairings, Settings(DUEL, num_pairs=PAIRS))
    assert [outcome.side for outcome in outcomes[:2]] == [1, 0]
    assert outcomes[2].num_pairs == PAIRS


def test_an_agent_that_catches_its_alarm_is_interrupted_again(foreign, monkeypatch):
    monkeypatch.setattr(referee, "ALLOWANCE", 0.2)
    monkeypatch.setattr(referee, "_ALARM_INTERVAL", 0.2)
    (fault,) = tournament([pairing(f"{foreign}:Stubborn", "simple")], Settings(DUEL, num_pairs=10, time_limit=1e-6))
    assert fault.reason == "slow"
    assert not foreign.with_name("not interrupted").exists()


def test_an_agent_that_ends_its_process_forfeits(foreign):
    """As after a segmentation fault: the whole pool breaks, and with it the blocks of other matches."""
    bad = f"{foreign}:Dies"
    pairings = [pairing("simple", bad), pairing("simple", "gold"), pairing(bad, "gold")]
    outcomes = tournament(pairings, Settings(DUEL, num_pairs=PAIRS), count=2)
    for fault, side in ((outcomes[0], 1), (outcomes[2], 0)):
        assert (fault.agent, fault.side, fault.reason) == (bad, side, "died")
        assert "exit status 3" in fault.text
    assert outcomes[1].to_dict() == tournament(pairings[1:2], Settings(DUEL, num_pairs=PAIRS))[0].to_dict()


def test_the_member_at_fault_is_named(foreign):
    rules = Rules.preset("palace_4p")
    mixed = Pairing((("gold", f"{foreign}:Illegal"), ("simple", "simple")))
    (fault,) = tournament([mixed], Settings(rules, num_pairs=10))
    assert (fault.agent, fault.side, fault.place) == (f"{foreign}:Illegal", 0, 1)


def test_an_agent_that_can_no_longer_be_loaded_forfeits(foreign):
    block = Block("m", ((f"{foreign}:Hasty",), ("gold",)), ("h", "g"), DUEL, "deal", 0, 0, 10, 0.1, record=False)
    foreign.unlink()
    fault = play_block(block).forfeit
    assert (fault["agent"], fault["side"], fault["reason"]) == (f"{foreign}:Hasty", 0, "raised")
    assert "no file" in fault["text"]


def test_global_random_generators_are_seeded_for_each_block(foreign):
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


def test_an_illegal_action_is_reported_with_its_pair(foreign):
    """Only the tenth row of a call is illegal: the forfeit names its pair."""
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
    # The tenth row of the first call, with about half of the rows, is in pair 9 or 18.
    assert 5 <= fault.pair <= 30


def test_an_agent_may_import_modules_next_to_it(foreign):
    (foreign.parent / "modules_of_mine.py").write_text("SIGN = 1\n")
    foreign.write_text(FOREIGN + "\nfrom modules_of_mine import SIGN\n")
    (match,) = tournament([pairing(f"{foreign}:Hasty", "gold")], Settings(DUEL, num_pairs=PAIRS), count=2)
    assert match.num_pairs == PAIRS
    before = fingerprint(f"{foreign}:Hasty")
    (foreign.parent / "modules_of_mine.py").write_text("SIGN = -1\n")
    assert fingerprint(f"{foreign}:Hasty") != before
