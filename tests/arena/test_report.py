"""The report: a self-contained page with everything that the results hold."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import pytest

from tests.helpers.reports import (
    AGENTS,
    Page,
    estimate,
    forfeited,
    page_of,
    sample_summary,
    small_summary,
    write_run,
    write_summary,
)

pytest.importorskip("matplotlib")

from agents.arena.report import REPORT_FILE, write_report
from agents.arena.report.page import NOTHING
from agents.arena.report.results import Match
from agents.arena.report.standings import result_between, standings
from agents.arena.report.training import read_run
from gin_env.rules import Rules


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, list[Path]]:
    folder = write_summary(tmp_path_factory.mktemp("sample"), sample_summary())
    return folder, write_report([folder])


def test_the_page_and_every_picture_are_written(sample):
    folder, paths = sample
    assert paths[0] == folder / REPORT_FILE
    assert {path.name for path in paths[1:]} == {
        *("matrix.png", "ratings-bradley_terry.png", "nash.png", "style.png", "deadwood.png"),
        *("section-1-matrix.png", "section-2-bars.png"),
    }
    for path in paths[1:]:
        assert path.read_bytes().startswith(b"\x89PNG")
    assert paths[0].stat().st_size < 2_000_000


def test_the_page_is_self_contained(sample):
    folder, _ = sample
    html = (folder / REPORT_FILE).read_text(encoding="utf-8")
    page = Page(html)
    assert all(source.startswith("data:image/png;base64,") for source in page.sources)
    assert "script" not in page.tags
    assert "link" not in page.tags
    assert "http://" not in html
    assert "https://" not in html
    assert "@import" not in html
    assert "url(" not in html
    assert len(set(page.identifiers)) == len(page.identifiers)
    assert {link.removeprefix("#") for link in page.links} == set(page.identifiers)


def test_the_page_shows_all_results(sample):
    text = page_of(sample[0]).text
    summary = sample_summary()
    for agent in AGENTS:
        assert agent in text
    assert "hasty forfeited against simple: illegal action: action 93 of row 0 is not legal" in text
    assert summary["command"] in text
    assert "Gin is never undercut; it scores the defender's deadwood plus 25 points." in text
    assert "The field is 2.3 % cyclic; noise alone would give 1.0 % on average and up to 3.0 %: " in text
    assert "the order is transitive." in text
    assert "Rows play with columns." in text
    assert "+1.25 ± 0.20" in text
    assert "21,000" in text  # deals for ±0.3: twice 10,678 pairs, to two digits
    assert "offers" not in text  # nobody trades here


def test_both_halves_of_the_matrix_are_filled():
    matches = [Match(match) for match in sample_summary()["matches"]]
    there, back = (result_between(matches, *sides, 2) for sides in (("best", "simple"), ("simple", "best")))
    assert back == (-there[0], -there[2], -there[1])
    assert result_between(matches, "hasty", "simple", 2) == "lost by\nforfeit"
    assert result_between(matches, "simple", "hasty", 2) == "won by\nforfeit"
    assert result_between(matches, "simple", "best", 3) is None  # of three teams the second side held two


def test_standings_count_clear_results_and_forfeits():
    table = {row.side: row for row in standings([Match(match) for match in sample_summary()["matches"]], 2)}
    assert next(iter(table)) == "search:best,worlds=64"
    assert (table["hasty"].forfeits, table["hasty"].worse) == (1, 7)
    assert table["simple"].better == 1  # by the forfeit
    assert all(row.better + row.level + row.worse == 7 for row in table.values())


def test_three_sides_have_figures_of_their_own(tmp_path):
    match = copy.deepcopy(sample_summary()["matches"][0])
    match["sides"] = [["best"], ["simple"], ["gold"]]
    for key in ("styles", "deadwood_by_turn", "events"):
        match[key] = [match[key][0]] * 3
    match["points_of_sides"] = [estimate(3, 0.5), estimate(-1, 0.5), estimate(-2, 0.5)]
    match["points_per_deal"] = match["points_of_sides"][0]
    match["win_rates"] = [estimate(share, 0.01) for share in (0.4, 0.3, 0.2)]
    assert [row[:3] for row in standings([Match(match)], 3)] == [
        ("best", 3, 0.4),
        ("simple", -1, 0.3),
        ("gold", -2, 0.2),
    ]
    rules = json.loads(json.dumps(dataclasses.asdict(Rules.preset("free_for_all_3p"))))
    forfeit = forfeited(match, 0, "slow", "more than 10 s") | {"sides": match["sides"]}
    forfeit["forfeit"] |= {"agent": "gold", "side": 2}
    summary = {**sample_summary(), "rules": rules, "matches": [match, forfeit], "ratings": None, "sections": []}
    write_report([write_summary(tmp_path, summary)])
    text = page_of(tmp_path).text
    assert "best beats simple and gold: +3.00 ± 0.50 net points per deal" in text
    assert "gold forfeited against best and simple: it took too long: more than 10 s" in text


def blank(value: Any) -> Any:
    """Replace every number in plain values by None."""
    if isinstance(value, dict):
        return {key: blank(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [blank(inner) for inner in value]
    return value if isinstance(value, str) else None


def test_unknown_figures_are_dashes(tmp_path):
    summary = small_summary()
    for key in ("matches", "sections"):
        summary[key] = [{**blank(entry), "forfeit": entry.get("forfeit")} for entry in summary[key]]
    summary["ratings"] = blank(summary["ratings"])
    write_report([write_summary(tmp_path, summary)])
    text = page_of(tmp_path).text
    assert "nan" not in text
    assert NOTHING in text


def test_a_page_may_have_sections_only(tmp_path):
    summary = {**sample_summary(), "kind": "ablations", "matches": [], "agents": [], "ratings": None}
    paths = write_report([write_summary(tmp_path, summary)])
    assert {path.name for path in paths} == {REPORT_FILE, "section-1-matrix.png", "section-2-bars.png"}
    assert "Standings" not in page_of(tmp_path).text


def test_one_agent_against_the_others_has_no_matrix(tmp_path):
    summary = {**sample_summary(), "kind": "match", "ratings": None, "sections": []}
    summary["matches"] = [match for match in summary["matches"] if match["first"] == ["best"]]
    paths = write_report([write_summary(tmp_path, summary)])
    assert {path.name for path in paths} == {REPORT_FILE, "points.png", "style.png", "deadwood.png"}
    text = page_of(tmp_path).text
    assert "best beats hasty, simple, gold-k4, gin-only, lookahead and runs/first; it is level with search:" in text
    assert "Standings" not in text  # the others have not met


def test_names_are_escaped(tmp_path):
    summary = json.loads(json.dumps(small_summary()).replace("gold-k4", "<b>&$x^$").replace("gin-only", "_under"))
    write_report([write_summary(tmp_path, summary)])
    page = page_of(tmp_path)
    assert "<b>&$x^$" in page.text
    assert "_under" in page.text
    assert "b" not in page.tags


def test_partners_are_listed_seat_by_seat(tmp_path):
    summary = {**sample_summary(), "sections": [], "ratings": None}
    match = copy.deepcopy(summary["matches"][0])
    match |= {"first": ["best", "simple"], "second": ["gold", "gold"]}
    match["events"] = [[{"offers": 0.5}, {"offers": 0.25}], [{"offers": 0.1}, {"offers": 0.2}]]
    summary |= {"matches": [match], "rules": {"mode": "partnership", "num_players": 4, "hand_size": 7}}
    summary["rules"] = json.loads(json.dumps(dataclasses.asdict(Rules.preset("palace_4p"))))
    write_report([write_summary(tmp_path, summary)])
    text = page_of(tmp_path).text
    for label in ("best+simple: best", "best+simple: simple", "gold, seat 1", "gold, seat 2"):
        assert label in text


def test_learning_curves_count_the_decisions_before_each_measurement(tmp_path):
    run = read_run(write_run(tmp_path / "run"))
    assert [(made, result.value) for made, result in run.curves["simple"]] == [(2000, 1.5), (4000, 2.5), (6000, 2.75)]
    assert run.curves["simple"][0][1] == (1.5, 1.0, 2.0)
    assert math.isnan(run.curves["gold"][0][1].low)


def test_several_folders_make_one_page(tmp_path):
    folders = [write_summary(tmp_path / "results", small_summary()), write_run(tmp_path / "run")]
    paths = write_report(folders, tmp_path / "page")
    assert paths[0] == tmp_path / "page" / REPORT_FILE
    assert {"1-matrix.png", "2-learning.png"} <= {path.name for path in paths}
    page = page_of(tmp_path / "page")
    assert "Eight agents at eaai_2p" in page.text
    assert "Training run: eaai_2p" in page.text
    assert sum(source.startswith("data:") for source in page.sources) == len(paths) - 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "summary.json is damaged"),
        ("[]", "summary.json.*format.*None"),
        (json.dumps({**sample_summary(), "format": "gin_env results 9"}), "format.*'gin_env results 9'"),
        (json.dumps({**sample_summary(), "matches": {}}), "summary.json.*matches.*list"),
        (
            json.dumps({**sample_summary(), "matches": [{"first": "a", "second": ["b"]}]}),
            "match 1 does not name its sides",
        ),
        (json.dumps({**sample_summary(), "rules": {"luck": 1}}), "summary.json.*luck"),
        (json.dumps({**sample_summary(), "sections": [{"text": []}]}), "the results are damaged"),
    ],
)
def test_damaged_results_are_refused(tmp_path, content, message):
    (tmp_path / "summary.json").write_text(content)
    with pytest.raises(ValueError, match="(?s)" + message):
        write_report([tmp_path])
    assert [path.name for path in tmp_path.iterdir()] == ["summary.json"]


def test_a_folder_without_results_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"neither summary\.json nor a training run"):
        write_report([tmp_path])
    with pytest.raises(ValueError, match="at least one folder"):
        write_report([])


def test_an_unfinished_folder_is_named_as_such(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match="unfinished"):
        write_report([tmp_path])
