"""Records of deals and games: written and read back byte for byte, and replayed to the same state."""

from __future__ import annotations

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gin_env
from gin_env.engine import Engine, State
from gin_env.episodes import Episodes
from gin_env.notation.challenge_2021 import replay_challenge_deal
from gin_env.notation.checksums import unseal
from gin_env.notation.position import format_position, parse_position
from gin_env.notation.recorder import Recorder, record_deals
from gin_env.notation.records import DealRecord, GameRecord, RecordError, from_json, read_records, write_records
from gin_env.notation.replay import replay, replay_deals
from gin_env.rules import Rules, resolve_rules
from tests.helpers.options import swept
from tests.helpers.paths import DATA, ROOT
from tests.helpers.records import DEALS, GAMES, LINES, agent_names, recorded, shortened
from tests.helpers.sensible_play import ALL_RULES, play, sensible_actions

#: Lines written once, which every later version must read and replay to the same end.
KEPT = DATA / "records.jsonl"


def check_round_trip(record: DealRecord | GameRecord, states: list[State]) -> None:
    line = record.to_json()
    again = from_json(line)
    assert again == record
    assert again.to_json() == line
    assert line.isascii()
    assert "\n" not in line
    played = replay(again)
    played = [played] if isinstance(played, State) else played
    assert len(played) == len(states)
    for state, original in zip(played, states, strict=True):
        assert state.differences(original) == []


@pytest.mark.parametrize("rules", swept(ALL_RULES))
@pytest.mark.parametrize("episode", ["deal", "game"])
def test_records_are_written_read_and_replayed_to_the_same_state(rules: str, episode: str) -> None:
    count = 10 if episode == "deal" else 3
    records, states = recorded(rules if episode == "deal" else shortened(rules), episode, count, seed=4)
    assert len(records) == count
    for record, ended in zip(records, states, strict=True):
        check_round_trip(record, ended)
        assert record.version == gin_env.__version__
        assert record.seeds == {"seed": 4}
        assert len(record.agents) == resolve_rules(rules).num_players
    assert sorted(record.agents[0] for record in records) == sorted(
        agent_names(resolve_rules(rules), row)[0] for row in range(count)
    )


@pytest.mark.slow
@pytest.mark.parametrize("rules", swept(ALL_RULES))
def test_ten_thousand_games(rules: str) -> None:
    count = -(-10_000 // len(ALL_RULES))
    records, states = recorded(shortened(rules), "game", count, seed=12)
    assert len(records) == count
    for record, ended in zip(records, states, strict=True):
        check_round_trip(record, ended)


def test_games_that_end_in_every_way_are_recorded() -> None:
    records, _ = recorded(Rules.preset("classic_2p", target=20, max_deals=3), "game", 24, seed=5)
    assert {record.truncated for record in records} == {True, False}
    assert {record.winner for record in records} == {0, 1, None}
    for record in records:
        assert record.truncated == (max(record.deals[-1].after.scores) < 20)
        assert any(record.bonuses) != record.truncated
        assert record.winner is not None or record.truncated
        assert [deal.after.deals_played for deal in record.deals] == list(range(1, len(record.deals) + 1))


def test_an_engines_deals_are_recorded_without_a_game() -> None:
    engine = list(play("palace_4p", 6, seed=9))[-1]
    records = record_deals(engine.state, agents=("a", "b", "c", "d"))
    assert all(record.before == record.after for record in records)
    assert replay_deals(records).equals(engine.state)
    for row, record in enumerate(records):
        check_round_trip(record, [engine.state.take([row])])


def test_what_cannot_be_recorded_raises_its_reason() -> None:
    engine = next(play("classic_2p", 2, seed=9))
    with pytest.raises(ValueError, match="not over"):
        record_deals(engine.state)
    engine = list(play("classic_2p", 2, seed=9))[-1]
    with pytest.raises(ValueError, match=r"agents=.*expected 2 names"):
        record_deals(engine.state, agents=("a",))
    loaded = Engine("classic_2p")
    loaded.load(parse_position(format_position(next(play("classic_2p", 1, seed=9)).state)))
    while not loaded.over[0]:
        loaded.step(sensible_actions(loaded, np.random.default_rng(1)))
    with pytest.raises(ValueError, match=r"log of row 0.*from a position"):
        record_deals(loaded.state)
    engine.state.deals_played[:] = 3
    with pytest.raises(ValueError, match=r"number 3 of its game.*before="):
        record_deals(engine.state)
    with pytest.raises(ValueError, match="unknown episode 'match'"):
        Recorder("classic_2p", "match")


def changed(record: DealRecord, **table: Any) -> DealRecord:
    return dataclasses.replace(record, tables=(dataclasses.replace(record.tables[0], **table),))


def test_replay_names_what_differs() -> None:
    record: DealRecord = DEALS["classic_2p"][0]
    table = record.tables[0]
    shuffled = table.deck[2:] + table.deck[:2]
    for wrong, message in (
        (changed(record, indices=table.indices[:-1]), "not over after its"),
        (changed(record, indices=(*table.indices, 0)), "the deal is over before action"),
        (changed(record, indices=(7, *table.indices[1:])), "action 1: .* is not legal for seat"),
        (changed(record, indices=(999, *table.indices[1:])), "action 1: action 999 is not legal"),
        (changed(record, deck=shuffled), "action"),
        (changed(record, deck="AS" * 52), "AS.* twice"),
        (changed(record, dealer=2), "dealer.*2"),
        (changed(record, stream_key=2**64), "stream|int|large|bounds"),
        (changed(record, kind="gin"), "table 0: kind is"),
        (changed(record, points=(1, 2)), r"table 0: points is .*, but \(1, 2\) is recorded"),
        (dataclasses.replace(record, points=(1, 2)), r"deal 0: points is .*, but \(1, 2\) is recorded"),
        (dataclasses.replace(record, tables=()), "expected 1 tables for 1 deals of classic_2p, got 0"),
    ):
        with pytest.raises(RecordError, match=message):
            replay(wrong)


def test_replay_checks_how_deals_make_a_game() -> None:
    record: GameRecord = GAMES["classic_2p"][0]
    first, *others = record.deals
    for wrong, message in (
        (dataclasses.replace(record, deals=(*others, first)), "deal 0 does not follow"),
        (dataclasses.replace(record, deals=(first, *record.deals)), "deal 1 does not follow|ends the game"),
        (dataclasses.replace(record, deals=()), "no deal"),
        (dataclasses.replace(record, bonuses=(1, 1)), "bonuses is"),
        (dataclasses.replace(record, final_scores=(1, 1)), "final_scores is"),
        (dataclasses.replace(record, winner=None if record.winner is not None else 0), "winner is"),
        (dataclasses.replace(record, truncated=not record.truncated), "truncated is"),
    ):
        with pytest.raises(RecordError, match=message):
            replay(wrong)
    with pytest.raises(RecordError, match="several rules"):
        replay_deals([first, DEALS["palace_4p"][0]])


@pytest.mark.parametrize("name", ["records.jsonl", "records.jsonl.gz"])
def test_files_are_written_read_and_appended_to(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    records = [from_json(line) for line in LINES]
    write_records(path, records[:3])
    write_records(path, records[3:5], append=True)
    assert read_records(path) == (records[:5], [])
    write_records(path, records)
    assert read_records(path) == (records, [])
    assert [file.name for file in tmp_path.iterdir()] == [name]
    with pytest.raises(FileNotFoundError):
        read_records(tmp_path / "none.jsonl")


def test_the_recorder_writes_to_its_sink_and_leaves_out_games_it_has_not_seen_whole(tmp_path: Path) -> None:
    rules = Rules.preset("palace_2p", target=60, max_deals=12)
    episodes = Episodes(rules, 3, "game", seed=6)
    episodes.reset()
    path, taken = tmp_path / "games.jsonl", []
    recorders = [
        Recorder(rules, "game", sink=path),
        Recorder(rules, "game", sink=taken.append),
        Recorder(rules, "game"),
    ]
    generator, deals, restarted = np.random.default_rng(6), np.zeros(3, dtype=int), False
    while not episodes.over.all():
        rows = np.flatnonzero(~episodes.over)
        followed_by = recorders if (deals > 0).all() else recorders[:2]
        transition = episodes.step(sensible_actions(episodes.engine, generator)[rows], rows)
        deals[transition.finished_rows] += 1
        for recorder in followed_by:
            recorder.note(transition)
        if (deals > 0).all() and not restarted:
            episodes.reset([0])  # the game so far is given up
            restarted = True
    assert read_records(path) == (taken, [])
    assert len(taken) == 3
    for record in taken:
        replay(record)
    # The last recorder came when every row had played a deal: it has seen only the restarted game from its start.
    assert len(recorders[2].records) == 1
    assert recorders[2].records[0] in taken


def test_kept_lines_still_read_and_replay() -> None:
    records, problems = read_records(KEPT)
    assert problems == []
    assert [type(record) for record in records] == [DealRecord, DealRecord, GameRecord]
    assert "".join(f"{record.to_json()}\n" for record in records) == KEPT.read_text(encoding="ascii")
    for record in records:
        replay(record)


def test_the_page_on_records_names_every_key_and_its_code_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (ROOT / "docs" / "records.md").read_text(encoding="utf-8")
    first, _, last = KEPT.read_text(encoding="ascii").splitlines()
    game = json.loads(unseal(last))
    deal = game["deals"][0]
    for key in {*game, *deal, *deal["tables"][0], *deal["before"], "checksum"}:
        assert f"`{key}`" in page, key
    assert first[-len('"0123456789abcdef"}') :] in page
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.DOTALL):
        exec(block, names)
    assert len(read_records("episodes.jsonl").records) == 4
    assert replay(names["record"]).equals(replay_challenge_deal(names["deals"][0]))


def test_replay_does_not_need_the_streams() -> None:
    """Records hold the decks, so that a deal dealt by hand is recorded and replayed like any other."""
    engine = Engine("classic_2p")
    engine.reset(decks=np.arange(52), dealers=1)
    generator = np.random.default_rng(2)
    while not engine.over[0]:
        engine.step(sensible_actions(engine, generator))
    (record,) = record_deals(engine.state)
    assert record.tables[0].deck.startswith("AS2S3S")
    assert replay(record).equals(engine.state)
