"""evaluate.py replay as a user types it, including wrong input, and the contents of the page that it writes."""

from __future__ import annotations

import base64
import dataclasses
import json
import re
import subprocess
import sys
import webbrowser
import zlib
from html import unescape
from pathlib import Path

import pytest

from agents.cli import UserError
from agents.replay import command, replay_page
from agents.replay.scores import tables_of_scores
from agents.replay.story import DealStory, Story, replay_story
from gin_env.engine import Phase
from gin_env.notation.records import DealRecord, RecordError, Thought, read_records, write_records
from gin_env.notation.replay import replay
from gin_env.rendering.explanation import TOPICS, explain_deal
from gin_env.rules import PRESETS, Rules, resolve_rules, upcard_limits
from gin_env.rules.rulebook import rulebook
from tests.helpers.options import OPTION_SETS, swept
from tests.helpers.paths import ROOT
from tests.helpers.replays import deals_of_agents, lively_deals, played_game, swapped

RECORDS = ROOT / "tests" / "data" / "records.jsonl"
MEGABYTES = 1_000_000
#: Names that would end the script, the title or an attribute if they were not escaped.
NASTY = ("</script><script>alert(1)</script>", '"><img src=x onerror=alert(2)>', "&amp; <!-- ", "\ud800\x00 é ‮")


def content_of(page: str) -> dict:
    """Return the data of the page's script."""
    packed = re.findall(r'<script id="content" type="text/plain">([A-Za-z0-9+/=]*)</script>', page)
    assert len(packed) == 1
    return json.loads(zlib.decompress(base64.b64decode(packed[0])))


@pytest.mark.parametrize("name", swept([*PRESETS, *OPTION_SETS]))
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
        played: list[list[str]] = [[] for _ in range(rules.num_tables)]
        for seat, action, _ in deal["steps"]:
            played[seat // rules.num_seats].append(action)
        assert played == [list(table.actions) for table in record.tables]
        final = replay(record)
        explanations = [
            [[*line] for line in explain_deal(final, at, first_seat=at * rules.num_seats)]
            for at in range(rules.num_tables)
        ]
        assert deal["explanations"] == explanations


def test_a_seats_events_name_no_card_that_it_may_not_know() -> None:
    for deal in content_of(replay_page(lively_deals("palace_4p", 4)))["deals"]:
        everything = deal["views"][0]["events"]
        for view in deal["views"][1:]:
            partner = (view["seat"] + 2) % 4
            for (seat, action, _), full, seen in zip(deal["steps"], everything[1:], view["events"][1:], strict=True):
                hidden = action.split()[0] in ("draw", "give") and seat not in (view["seat"], partner)
                assert (re.search(r"\b[A2-9TJQK][SHDC]\b", seen) is None) if hidden else seen == full


def test_the_deadwood_shown_is_the_hands_own() -> None:
    record = lively_deals("free_for_all_4p", 1)[0]
    final = replay(record)
    deal = content_of(replay_page([record]))["deals"][0]
    assert [line[-1] for line in deal["views"][0]["deadwood"]] == final.deadwood[0].tolist()
    own = deal["views"][2]["deadwood"]
    assert all(points is not None for points in own[1])
    assert own[0][:-1] == [None] * (len(own[0]) - 1)


@pytest.fixture(scope="module")
def two_tables() -> tuple[list[DealRecord], dict]:
    """Deals at two tables, and the data of their page."""
    records = [deal for deal in lively_deals("two_tables_4p", 8, seed=2) if any(deal.points)]
    return records, content_of(replay_page(records))


def test_two_tables_alternate(two_tables: tuple[list[DealRecord], dict]) -> None:
    for deal in two_tables[1]["deals"]:
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


def test_texts_of_records_cannot_become_markup() -> None:
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
    files = [file for folder in ("pages", "replay") for file in (ROOT / "agents" / folder).glob("*.[cj]s*")]
    assert {file.name for file in files} >= {"page.css", "cards.js", "replay.css", "replay.js", "chart.js"}
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert text.isascii()
        assert "</" not in re.sub(r"</(path|g|svg|text)>", "", text)


def test_a_game_has_its_scores_and_deals_of_several_rules_share_a_page() -> None:
    records = [*lively_deals("classic_2p", 2), *lively_deals("two_tables_4p", 1), game := played_game()]
    content = content_of(replay_page(records, title="all of it"))
    assert [group["rules"] for group in content["groups"]] == ["classic_2p", "two_tables_4p", game.rules]
    assert not content["groups"][0]["running_score"]
    group = content["groups"][-1]
    assert group["running_score"]
    assert group["game"]["scores"] == list(game.final_scores)
    assert group["deals"] == [*range(3, 3 + len(game.deals))]
    assert len(game.deals) > 2
    scores = [content["deals"][number]["scores"] for number in group["deals"]]
    assert scores == [list(deal.after.scores) for deal in game.deals]


def scores_of(records: list[DealRecord]) -> list[dict]:
    """Return the tables of scores; they need no views of the deals."""
    rules = [resolve_rules(record.rules) for record in records]
    deals = [DealStory(record, own, [], [], [], [], []) for record, own in zip(records, rules, strict=True)]
    return tables_of_scores([Story(deal.record, [deal]) for deal in deals])


@pytest.mark.parametrize("rules", ["classic_2p", "palace_4p", "two_tables_4p"])
def test_points_of_a_match_are_summed_by_agent(rules: str) -> None:
    records = swapped(lively_deals(rules, 40), "best", "simple")
    tables = scores_of(records)
    assert len(tables) == 1
    table = tables[0]
    assert [side["short"] for side in table["sides"]] == ["best", "simple"]
    assert table["deals"] == [*range(40)]
    assert not table["running_score"]
    rows = zip(table["deals"], table["teams"], strict=True)
    points = [[records[number].points[team] for team in teams] for number, teams in rows]
    totals = [sum(column) for column in zip(*points, strict=True)]
    best = sum(record.points[number % 2] for number, record in enumerate(records))
    assert totals == [best, sum(sum(record.points) for record in records) - best]
    assert any(any(record.points) for record in records[1::2])


def test_columns_belong_to_seats_if_agents_do_not_distinguish_sides() -> None:
    records = lively_deals("palace_4p", 4)
    for agents, shown in (((), ""), (("best",) * 4, "best"), (("best", "best", "simple", "simple"), "best+simple")):
        table = scores_of([dataclasses.replace(record, agents=agents) for record in records])[0]
        assert [side["short"] for side in table["sides"]] == ["p0+p2", "p1+p3"]
        assert [side["agents"] for side in table["sides"]] == [shown] * 2
        assert table["teams"] == [[0, 1]] * 4


def test_a_single_deal_outside_a_game_has_points_and_no_scores() -> None:
    game, single = played_game(), lively_deals("palace_4p", 1)[0]
    assert not scores_of([single])[0]["running_score"]
    assert not scores_of([game.deals[0]])[0]["running_score"]  # as in a match: scores begin at 0
    assert scores_of([game.deals[1]])[0]["running_score"]
    assert not scores_of([game.deals[2], game.deals[1]])[0]["running_score"]
    partners = [dataclasses.replace(single, agents=agents) for agents in (("a", "b", "c", "d"), ("d", "c", "b", "a"))]
    tables = scores_of(partners)
    assert [side["short"] for side in tables[0]["sides"]] == ["a+c", "b+d"]
    assert [table["teams"] for table in tables] == [[[0, 1], [1, 0]]]


def test_each_table_has_its_own_knock_limit() -> None:
    rules = Rules.preset("two_tables_4p", limit_from_upcard=True)
    limits = upcard_limits(rules)
    differ = 0
    for record, deal in zip(records := lively_deals(rules, 3), content_of(replay_page(records))["deals"], strict=True):
        own = [int(limits[card]) for card in replay(record).first_upcard]
        assert deal["limits"] == own
        differ += own[0] != own[1]
    assert differ


def test_a_record_that_contradicts_its_rules_is_refused() -> None:
    record = lively_deals("classic_2p", 1)[0]
    with pytest.raises(RecordError, match="points"):
        replay_page([dataclasses.replace(record, points=(99, 0))])
    with pytest.raises(RecordError, match="no record"):
        replay_page([])


def test_a_page_is_written_next_to_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
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


def test_the_records_are_never_overwritten(tmp_path: Path) -> None:
    file, link, folder = tmp_path / "deals.jsonl", tmp_path / "link.html", tmp_path / "results"
    write_records(file, lively_deals("classic_2p", 1))
    link.symlink_to(file)
    (folder / "records").mkdir(parents=True)
    inner = folder / "records" / "match-0.jsonl"
    write_records(inner, lively_deals("classic_2p", 1))
    was = file.read_bytes(), inner.read_bytes()
    for words in (
        [str(file), "--output", str(tmp_path / "results" / ".." / "deals.jsonl")],
        [str(file), "--output", str(link)],
        [str(folder), "--output", str(inner)],
    ):
        with pytest.raises(UserError, match=r"--output .*: the page would overwrite the records"):
            command.main(words)
    summary = folder / "summary.json"
    summary.write_text("{}")
    with pytest.raises(UserError, match=r"summary.json: .*not a page"):
        command.main([str(folder), "--output", str(summary)])
    assert (file.read_bytes(), inner.read_bytes(), summary.read_text()) == (*was, "{}")
    for _ in range(2):  # an old page may be replaced
        command.main([str(folder)])


def test_an_agent_is_asked_only_about_rules_that_it_knows(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "deals.jsonl"
    write_records(file, [*lively_deals("classic_2p", 1), *lively_deals("oklahoma_2p", 1)])
    command.main([str(file), "--think", "best"])
    assert re.search("not asked: .*'best'.*oklahoma_2p", capsys.readouterr().err)
    known, unknown = content_of((tmp_path / "deals.html").read_text())["deals"]
    assert known["thoughts"]
    assert not unknown["thoughts"]


def test_a_waiting_table_does_not_reveal_the_final_points(two_tables: tuple[list[DealRecord], dict]) -> None:
    waited = 0
    for record in two_tables[0]:
        deal = replay_story(record).deals[0]
        for view in deal.views:
            *before, last = view.tables
            assert all(tuple(table.scores) == record.before.scores for tables in before for table in tables)
            assert all(tuple(table.scores) == record.after.scores for table in last)
        for tables in deal.views[0].tables:
            assert len({table.deal for table in tables}) == 1
            waited += len({table.phase is Phase.OVER for table in tables}) == 2
    assert waited


def test_columns_belong_to_seats_if_an_agent_has_no_name() -> None:
    one, other = (dataclasses.replace(deal, agents=("a", "")) for deal in lively_deals("classic_2p", 2))
    page = replay_page([one, dataclasses.replace(other, agents=("", "a"))])
    for group in content_of(page)["groups"]:
        assert [side["short"] for side in group["sides"]] == ["p0", "p1"]
    assert "<title>classic_2p</title>" in page


def test_points_of_two_tables_are_summed(two_tables: tuple[list[DealRecord], dict]) -> None:
    deals, content = two_tables
    for record, deal in zip(deals, content["deals"], strict=True):
        *tables, both = deal["results"]
        sums = [sum(table.points[team] for table in record.tables) for team in (0, 1)]
        winner, paid = int(record.points[1] > 0), max(record.points)
        side = ("player_0+player_2", "player_1+player_3")[winner]
        assert len(tables) == 2
        assert both == (
            f"Both tables together: player_0+player_2 {sums[0]}, player_1+player_3 {sums[1]}; "
            f"this pays {paid} points to {side}"
        )
        assert paid == abs(sums[0] - sums[1])
        assert deal["winners"] == [*(table.winner for table in record.tables), winner]


@pytest.mark.parametrize(("fault", "reason"), [("{}['x']", "KeyError: 'x'"), ("[1]", "Thoughts")])
def test_an_agent_that_fails_to_think_is_named(fault: str, reason: str, tmp_path: Path) -> None:
    file, agent = tmp_path / "deals.jsonl", tmp_path / "broken.py"
    write_records(file, lively_deals("classic_2p", 1))
    agent.write_text(
        "from agents.scripted.simple import SimpleAgent\n\n\nclass Broken(SimpleAgent):\n"
        f"    def thoughts(self, view):\n        return {fault}\n"
    )
    with pytest.raises(UserError, match=re.escape(f"--think {agent}:Broken: ") + f".*{reason}"):
        command.main([str(file), "--think", f"{agent}:Broken"])


def test_the_help_holds_a_glossary_and_the_rules_of_all_games() -> None:
    changed = Rules.preset("classic_2p", knock_limit=7)
    page = replay_page([*lively_deals("palace_4p", 1), *lively_deals(changed, 1)])
    shown = re.findall(r'<details class="rules"><summary>(.*?)</summary>(.*?)</details>', page, flags=re.DOTALL)
    assert [unescape(title) for title, _ in shown] == ["The rules of palace_4p", f"The rules of {changed.name}"]
    for rules, (_, text) in zip(("palace_4p", changed), shown, strict=True):
        sentences = [sentence.text for chapter in rulebook(rules) for sentence in chapter.sentences]
        assert len(sentences) > 20
        assert all(sentence in unescape(text) for sentence in sentences)
    assert "if you have 7 points of deadwood or less" in unescape(shown[1][1])
    help_text = page.split('<dialog id="help"')[1].split("</dialog>")[0]
    for word in ("meld", "run", "set", "deadwood", "knock", "gin", "lay off", "undercut", "box", "declined"):
        assert f"<dt>{word}</dt>" in help_text


def test_every_topic_of_an_explanation_has_its_heading() -> None:
    text = (ROOT / "agents" / "replay" / "panels.js").read_text()
    headings = re.findall(r"(\w+):", text.split("TOPICS = {")[1].split("}")[0])
    outcome = re.findall(r"\w+", text.split("OUTCOME = [")[1].split("]")[0])
    assert {*headings, *outcome} == set(TOPICS)


def test_a_range_of_deals_can_be_chosen(
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


def test_damaged_lines_are_reported_and_skipped(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "deals.jsonl"
    good, foul = lively_deals("classic_2p", 2)
    lines = [good.to_json(), good.to_json()[:-30], dataclasses.replace(foul, points=(77, 0)).to_json()]
    file.write_text("\n".join(lines))
    command.main([str(file)])
    reports = capsys.readouterr().err.splitlines()
    assert len(reports) == 2
    assert re.search(r"skipped .*deals.jsonl, line 2", reports[0])
    assert re.search(r"skipped record 2 .*points.*\(77, 0\)", reports[1])
    assert (tmp_path / "deals.html").read_text() == replay_page([good])


def test_agents_are_asked_only_where_nothing_is_recorded(tmp_path: Path) -> None:
    file, page = tmp_path / "deals.jsonl", tmp_path / "page.html"
    silent, thoughtful = lively_deals("classic_2p", 2)
    table = thoughtful.tables[0]
    own = Thought({table.actions[0]: 0.75}, 1.5)
    thoughts = (own, *[None] * (len(table.actions) - 1))
    thoughtful = dataclasses.replace(thoughtful, tables=(dataclasses.replace(table, thoughts=thoughts),))
    write_records(file, [silent, thoughtful])
    command.main([str(file), "--output", str(page), "--think", "best"])
    deals = content_of(page.read_text())["deals"]
    assert deals[1]["thoughts"][0] == {"actions": [[table.actions[0], 0.75]], "value": 1.5}
    for deal in deals:
        for thought in deal["thoughts"][deal is deals[1] :]:
            assert sum(probability for _, probability in thought["actions"]) == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--deals", "0"], "--deals 0: "),
        (["--deals", "5-2"], "--deals 5-2: "),
        (["--deals", "some"], "--deals some: "),
        (["--deals", "900-950"], "holds 3 deals"),
        (["--think", "simple"], "--think simple: "),
        (["--think", "best", "best", "best"], "expected one agent for all seats, or 2"),
        (["--think", "bset"], "unknown agent 'bset'"),
        (["--output", "."], "this is a folder"),
        (["--depp"], "--depp"),
    ],
)
def test_invalid_arguments_are_refused(
    words: list[str], reason: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write_records("deals.jsonl", lively_deals("classic_2p", 3))
    with pytest.raises(ValueError, match=re.escape(reason)):
        command.main(["deals.jsonl", *words])
    assert not Path("deals.html").exists()


def test_files_without_records_are_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    (tmp_path / "other.txt").write_text("hello\n")
    (tmp_path / "folder").mkdir()
    for name, reason in (
        ("empty.jsonl", "is empty"),
        ("other.txt", "line 1"),
        ("folder", "no .*jsonl"),
    ):
        with pytest.raises(UserError, match=reason):
            command.main([str(tmp_path / name)])


def test_the_command_is_one_of_evaluate_and_its_errors_are_one_line(tmp_path: Path) -> None:
    words = [sys.executable, str(ROOT / "evaluate.py"), "replay", str(tmp_path / "nowhere.jsonl")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert len(done.stderr.splitlines()) == 1
    assert "nowhere.jsonl" in done.stderr
