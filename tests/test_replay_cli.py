"""evaluate.py replay as a user types it, wrong input included, and what stands in the page that it writes."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import subprocess
import sys
import webbrowser
import zlib
from pathlib import Path

import numpy as np
import pytest

from agents.cli import UserError
from agents.registry import load_agent
from agents.replay import command, replay_page
from gin_env.agent import Agent, decide
from gin_env.engine import Engine
from gin_env.episodes import Episodes
from gin_env.explaining import explain_deal
from gin_env.notation.recorder import Recorder, record_deals
from gin_env.notation.records import DealRecord, GameRecord, RecordError, Thought, read_records, write_records
from gin_env.notation.replay import replay
from gin_env.rules import PRESETS, Rules, resolve_rules
from gin_env.view import player_view
from tests.options import OPTION_SETS
from tests.play import lively_actions, play_on, rich_engine

ROOT = Path(__file__).resolve().parent.parent
RECORDS = ROOT / "tests" / "data" / "records.jsonl"
MEGABYTES = 1_000_000
#: Names that would end the script, the title or an attribute if they were not escaped.
NASTY = ("</script><script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "&amp; <!-- ", "\ud800\x00 é ‮")


def content_of(page: str) -> dict:
    """Return what the page's script is told."""
    packed = re.findall(r'<script id="content" type="text/plain">([A-Za-z0-9+/=]*)</script>', page)
    assert len(packed) == 1
    return json.loads(zlib.decompress(base64.b64decode(packed[0])))


def lively_deals(rules: Rules | str, count: int, seed: int = 1) -> list[DealRecord]:
    engine = rich_engine(rules, count * resolve_rules(rules).num_tables, seed)
    for _ in play_on(engine, seed):
        pass
    return record_deals(engine.state)


def played_game() -> GameRecord:
    """A game of palace_4p, of several deals."""
    episodes = Episodes("palace_4p", episode="game", seed=3)
    recorder = Recorder("palace_4p", "game", agents=[f"agent {seat}" for seat in range(4)])
    episodes.watch, generator = recorder.note, np.random.default_rng(3)
    episodes.reset()
    while not episodes.over[0]:
        episodes.step(lively_actions(episodes.engine, generator, eagerness=0.9, sense=0.9))
    return recorder.records[0]


def deals_of_agents(rules: str, specs: tuple[str, ...], count: int) -> list[DealRecord]:
    engine = Engine(rules, count, seed=2)
    engine.reset()
    seated: list[Agent] = [load_agent(spec, engine.rules) for spec in specs]
    while not engine.over.all():
        for seat, agent in enumerate(seated):
            rows = np.flatnonzero(~engine.over & (engine.state.mover == seat))
            if len(rows):
                engine.step(decide(agent, player_view(engine.state, rows=rows, history=agent.needs_history)), rows)
    return record_deals(engine.state, agents=specs)


@pytest.mark.parametrize("name", [*PRESETS, *OPTION_SETS])
def test_all_rules_make_a_page(name: str) -> None:
    rules = OPTION_SETS[name] if name in OPTION_SETS else Rules.preset(name)
    records = lively_deals(rules, 2)
    content = content_of(replay_page(records))
    assert len(content["deals"]) == 2
    for record, deal in zip(records, content["deals"], strict=True):
        steps = sum(len(table.actions) for table in record.tables)
        assert [view["seat"] for view in deal["views"]] == [None, *range(rules.num_players)]
        for view in deal["views"]:
            assert len(view["frames"]) == len(view["events"]) == steps + 1
            assert {len(line) for line in view["deadwood"]} == {steps + 1}
        played = [[action for at, action in told if at == table] for table, told in _by_table(rules, deal["steps"])]
        assert played == [list(table.actions) for table in record.tables]
        final = replay(record)
        told = [
            [[*line] for line in explain_deal(final, at, first_seat=at * rules.num_seats)] for at in range(len(played))
        ]
        assert deal["explanations"] == told


def _by_table(rules: Rules, steps: list) -> list:
    at_tables = [(seat // rules.num_seats, action) for seat, action, _ in steps]
    return [(table, at_tables) for table in range(rules.num_tables)]


def test_a_seats_view_tells_no_card_that_it_may_not_know() -> None:
    for deal in content_of(replay_page(lively_deals("palace_4p", 8)))["deals"]:
        everything = deal["views"][0]["events"]
        for view in deal["views"][1:]:
            partner = (view["seat"] + 2) % 4
            for (seat, action, _), full, told in zip(deal["steps"], everything[1:], view["events"][1:], strict=True):
                hidden = action.split()[0] in ("draw", "give") and seat not in (view["seat"], partner)
                assert (re.search(r"\b[A2-9TJQK][SHDC]\b", told) is None) if hidden else told == full


def test_the_deadwood_shown_is_the_hands_own() -> None:
    record = lively_deals("free_for_all_4p", 1)[0]
    final = replay(record)
    deal = content_of(replay_page([record]))["deals"][0]
    assert [line[-1] for line in deal["views"][0]["deadwood"]] == final.deadwood[0].tolist()
    own = deal["views"][2]["deadwood"]
    assert all(points is not None for points in own[1])
    assert own[0][:-1] == [None] * (len(own[0]) - 1)


def test_two_tables_move_by_turns() -> None:
    for deal in content_of(replay_page(lively_deals("two_tables_4p", 4)))["deals"]:
        at = [seat // 2 for seat, *_ in deal["steps"]]
        both = 2 * min(at.count(0), at.count(1))
        assert at[:both] == [0, 1] * (both // 2)
        assert len(set(at[both:])) <= 1
        assert {text for text in deal["views"][1]["events"] if "other table" in text} == {"A move at the other table"}


@pytest.mark.parametrize(
    ("rules", "specs"),
    [
        ("palace_4p", ("simple", "random") * 2),
        pytest.param("palace_4p", ("random",) * 4, marks=pytest.mark.slow),
        pytest.param("free_for_all_5p", ("random",) * 5, marks=pytest.mark.slow),
    ],
)
def test_twenty_long_deals_stay_under_two_megabytes(rules: str, specs: tuple[str, ...]) -> None:
    records = deals_of_agents(rules, specs, 20)
    page = replay_page(records)
    assert len(content_of(page)["deals"]) == 20
    assert len(page.encode()) < 2 * MEGABYTES


def test_what_stands_in_records_cannot_become_markup() -> None:
    record = dataclasses.replace(lively_deals("palace_4p", 1)[0], agents=NASTY)
    page = replay_page([record])
    assert page.isascii()
    assert page.count("<script") == page.count("</script>") == 2
    assert "<img" not in page
    assert "alert(" not in re.sub(r"<title>.*?</title>|<h1>.*?</h1>", "", page)
    content = content_of(page)
    assert [seat["agent"] for seat in content["deals"][0]["seats"]] == list(NASTY)
    assert not [element for element in content["elements"] if "<script" in element or "<img" in element]


def test_the_page_needs_no_connection_and_runs_no_other_script() -> None:
    page = replay_page(read_records(RECORDS).records)
    assert not re.search(
        r"https?:|//[a-z]|@import|\burl\(|\bsrc=|fetch\(|XMLHttp|WebSocket", page.split('id="content"')[0]
    )
    script = page.rsplit("<script>", 1)[1]
    assert not re.search(r"https?:|import\(|fetch\(|XMLHttp|WebSocket|eval\(", script)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    assert policy[1].startswith("default-src 'none';")
    assert "unsafe" not in policy[1]


def test_the_assets_are_plain_ascii_and_end_no_element() -> None:
    for name in ("replay.css", "replay.js"):
        text = (ROOT / "agents" / "replay" / name).read_text(encoding="utf-8")
        assert text.isascii()
        assert "</" not in re.sub(r"</(path|g|svg|text)>", "", text)


def test_a_game_has_its_scores_and_deals_of_several_rules_share_a_page() -> None:
    records = [*lively_deals("classic_2p", 2), *lively_deals("two_tables_4p", 1), game := played_game()]
    content = content_of(replay_page(records, title="all of it"))
    assert [group["rules"] for group in content["groups"]] == ["classic_2p", "two_tables_4p", "palace_4p"]
    assert not content["groups"][0]["goes_on"]
    told = content["groups"][-1]
    assert told["goes_on"]
    assert told["game"]["scores"] == list(game.final_scores)
    assert told["count"] == len(game.deals) > 2
    scores = [deal["scores"] for deal in content["deals"][told["first"] :]]
    assert scores == [list(deal.after.scores) for deal in game.deals]


def test_a_record_that_does_not_play_is_refused() -> None:
    record = lively_deals("classic_2p", 1)[0]
    with pytest.raises(RecordError, match="points"):
        replay_page([dataclasses.replace(record, points=(99, 0))])
    with pytest.raises(RecordError, match="no record"):
        replay_page([])


# ------------------------------------------------------------------ the command


def test_a_file_becomes_a_page_beside_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "games.jsonl.gz"
    write_records(file, read_records(RECORDS).records)
    command.main([str(file)])
    page = tmp_path / "games.html"
    assert capsys.readouterr().out.strip() == str(page)
    assert page.read_text(encoding="ascii") == replay_page(read_records(RECORDS).records)


def test_a_results_folder_and_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "records").mkdir()
    for number in range(2):
        write_records(tmp_path / "records" / f"match-{number}.jsonl.gz", lively_deals("eaai_2p", 2, seed=number))
    opened: list[str] = []
    monkeypatch.setattr(webbrowser, "open", lambda url: opened.append(url) or True)
    command.main([str(tmp_path), "--open"])
    assert opened == [(tmp_path / "replay.html").as_uri()]
    assert len(content_of((tmp_path / "replay.html").read_text())["deals"]) == 4


def test_some_deals_of_many(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "DEALS_SHOWN", 2)
    file, page = tmp_path / "deals.jsonl", tmp_path / "page.html"
    game = played_game()
    records = [*lively_deals("classic_2p", 2), game]
    write_records(file, records)
    deals = 2 + len(game.deals)
    command.main([str(file), "--output", str(page)])
    assert f"2 of {deals} deals; --deals {deals} shows all, --deals 3-4 the next ones" in capsys.readouterr().out
    assert page.read_text() == replay_page(records[:2])
    command.main([str(file), "--output", str(page), "--deals", f"3-{deals}"])
    assert page.read_text() == replay_page([game])
    command.main([str(file), "--output", str(page), "--deals", "2-3"])
    assert page.read_text() == replay_page([records[1], game.deals[0]])


def test_damaged_lines_are_named_and_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "deals.jsonl"
    good, foul = lively_deals("classic_2p", 2)
    lines = [good.to_json(), good.to_json()[:-30], dataclasses.replace(foul, points=(77, 0)).to_json()]
    file.write_text("\n".join(lines))
    command.main([str(file)])
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert re.search(r"skipped .*deals.jsonl, line 2: no whole record", said[0])
    assert re.search(
        r"skipped record 2 does not play as it is written: .*points is .* but \(77, 0\) is recorded", said[1]
    )
    assert (tmp_path / "deals.html").read_text() == replay_page([good])


def test_agents_are_asked_only_where_nothing_is_recorded(tmp_path: Path) -> None:
    file, page = tmp_path / "deals.jsonl", tmp_path / "page.html"
    silent, told = lively_deals("classic_2p", 2)
    table = told.tables[0]
    own = Thought({table.actions[0]: 0.75}, 1.5)
    thoughts = (own, *[None] * (len(table.actions) - 1))
    told = dataclasses.replace(told, tables=(dataclasses.replace(table, thoughts=thoughts),))
    write_records(file, [silent, told])
    command.main([str(file), "--output", str(page), "--think", "best"])
    deals = content_of(page.read_text())["deals"]
    assert deals[1]["thoughts"][0] == {"actions": [[table.actions[0], 0.75]], "value": 1.5}
    for deal in deals:
        for thought in deal["thoughts"][deal is deals[1] :]:
            assert sum(probability for _, probability in thought["actions"]) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--deals", "0"], "--deals 0: give a count from 1"),
        (["--deals", "5-2"], "--deals 5-2: give a count from 1"),
        (["--deals", "some"], "--deals some: give a count"),
        (["--deals", "900-950"], "holds 3 deals"),
        (["--think", "simple"], "--think simple: no agent that can tell its thoughts"),
        (["--think", "best", "best", "best"], "needs one agent for all seats, or 2"),
        (["--think", "bset"], "unknown agent 'bset'"),
        (["--output", "."], "that is a folder"),
        (["--depp"], "--depp"),
    ],
)
def test_wrong_words_are_refused(
    words: list[str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_records("deals.jsonl", lively_deals("classic_2p", 3))
    with pytest.raises(ValueError, match=re.escape(reason)):
        command.main(["deals.jsonl", *words])
    assert not Path("deals.html").exists()


def test_files_without_a_record_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "other.txt").write_text("hello\n")
    (tmp_path / "folder").mkdir()
    for name, reason in (
        ("empty.jsonl", "is empty"),
        ("other.txt", "line 1: no whole record"),
        ("folder", "no .*jsonl"),
    ):
        with pytest.raises(UserError, match=reason):
            command.main([str(tmp_path / name)])


def test_the_command_is_one_of_evaluate_and_its_errors_are_one_line(tmp_path: Path) -> None:
    words = [sys.executable, str(ROOT / "evaluate.py"), "replay", str(tmp_path / "nowhere.jsonl")]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
    assert "nowhere.jsonl" in done.stderr
