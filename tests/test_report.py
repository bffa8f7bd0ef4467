"""The report: a page that stands alone, with everything in it that the results hold."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from agents.arena.report import REPORT_FILE, write_report
from agents.arena.report.folders import Match, result_between, standings
from agents.arena.report.page import NOTHING
from agents.arena.report.training import read_run
from agents.arena.results_folder import FORMAT
from gin_env.rules import Rules

AGENTS = ("best", "search:best,worlds=64", "runs/first", "lookahead", "gin-only", "gold-k4", "simple", "hasty")
#: Points of each agent against an average one; the last forfeits its match against the last but one.
STRENGTHS = (4.0, 4.3, 3.1, 2.2, 0.8, -1.5, -1.9, -11.0)
VOID_TAGS = {"meta", "img", "br", "link"}


def estimate(value: float, half_width: float) -> dict[str, float]:
    return {"value": value, "low": value - half_width, "high": value + half_width}


def sample_style(strength: float) -> dict[str, float | None]:
    gin = 0.2 + 0.01 * strength
    shares = {"gin": gin, "knock_won": 0.22, "undercut": 0.03, "won": gin + 0.24, "dead": 0.02}
    deadwood = {"knock_deadwood": 6.1 - 0.3 * strength, "team_deadwood": 6.1 - 0.3 * strength, "defence_deadwood": 25.4}
    rest = {"turns": 14.5 + 0.2 * strength, "pile_share": 0.31, "offers": 0.0, "exchanges": 0.0, "decisions": 15.2}
    return {**shares, **deadwood, **rest}


def sample_match(first: int, second: int, generator: np.random.Generator) -> dict[str, Any]:
    points = STRENGTHS[first] - STRENGTHS[second] + generator.normal(0, 0.3)
    won = 0.48 + 0.015 * points
    turns = np.arange(25)
    curves = [(48 * np.exp(-turns / (7 + 0.4 * STRENGTHS[side])) + 5).tolist() for side in (first, second)]
    for curve in curves:
        curve[22:] = [None] * 3
    counters = {"decisions": 15.2, "draws": 5.1, "takes": 2.2, "offers": 0.0, "answers": 0.0, "exchanges": 0.0}
    counters |= {"trade_melds": 0.0, "knocks": 0.47, "gins": 0.21}
    return {
        "first": [AGENTS[first]],
        "second": [AGENTS[second]],
        "pairs": 10_000,
        "plays": 20_000,
        "deals": 20_000,
        "points_per_deal": estimate(points, 0.31),
        "win_rates": [estimate(won, 0.007), estimate(0.98 - won, 0.007)],
        "sign_test": {"won": 4800, "lost": 4100, "tied": 1100, "p": 1.2e-13},
        "duplicate_factor": 1.31,
        "pairs_for_0.3": 10_678,
        "styles": [sample_style(STRENGTHS[first]), sample_style(STRENGTHS[second])],
        "deadwood_by_turn": curves,
        "events": [[dict(counters)], [dict(counters)]],
        "forfeit": None,
    }


def forfeited(match: dict[str, Any], side: int, reason: str, text: str) -> dict[str, Any]:
    """Return a match without figures, given away by a side."""
    agent = match["first" if side == 0 else "second"][0]
    forfeit = {"agent": agent, "side": side, "reason": reason, "text": text, "pair": 120}
    names = {key: match[key] for key in ("first", "second", "pairs", "plays", "deals")}
    return {**dict.fromkeys(match), **names, "forfeit": forfeit}


def sample_summary() -> dict[str, Any]:
    """Return a tournament of eight agents with one forfeit, all ratings and two research sections."""
    generator = np.random.default_rng(0)
    matches = [sample_match(i, j, generator) for i in range(len(AGENTS)) for j in range(i + 1, len(AGENTS))]
    matches[-1] = forfeited(matches[-1], 1, "illegal", "action 93 of row 0 is not legal: knock with 12 points")
    rules = Rules.preset("eaai_2p")
    ranked = sorted(zip(STRENGTHS, AGENTS, strict=True), reverse=True)
    rating = [{"agent": name, "rating": estimate(25 * strength, 6.0)} for strength, name in ranked]
    nash = [
        {"agent": name, "share": estimate(share, 0.08 * (share > 0)), "rating": estimate(value, 0.2)}
        for name, share, value in zip(
            AGENTS, (0.2, 0.8, 0, 0, 0, 0, 0, 0), (0, 0, -1, -2, -3, -6, -6, -15), strict=True
        )
    ]
    matrix = {
        "rows": ["seed 1", "seed 2", "seed 3"],
        "columns": ["seed 1", "seed 2", "seed 3", "team-lookahead"],
        "unit": "points per deal",
        "values": [[estimate(generator.normal(0, 2), 0.5) for _ in range(4)] for _ in range(3)],
    }
    matrix["values"][1][1] = None
    bars = {
        "unit": "points per deal lost without it",
        "items": [
            {"label": "sees the partner's hand", "estimate": estimate(12.4, 0.6)},
            {"label": "trades", "estimate": estimate(36.7, 0.5)},
            {"label": "counts the cards that were thrown", "estimate": estimate(-0.1, 0.4)},
        ],
    }
    table = {
        "headings": ["what", "deals", "gain"],
        "rows": [["with search", 20_000, estimate(1.25, 0.2)], ["x", 3, None]],
    }
    return {
        "format": FORMAT,
        "kind": "tournament",
        "title": "Eight agents at eaai_2p",
        "version": "0.2.0",
        "command": "python evaluate.py tournament --agents " + " ".join(AGENTS) + " --preset eaai_2p --pairs 10000",
        "rules_name": "eaai_2p",
        "rules": json.loads(json.dumps(dataclasses.asdict(rules))),
        "episode": "deal",
        "seed": 0,
        "pairs": 10_000,
        "confidence": 0.95,
        "agents": list(AGENTS),
        "matches": matches,
        "ratings": {
            "bradley_terry": rating,
            "nash": nash,
            "cyclicity": {
                "share": estimate(0.023, 0.01),
                "noise": 0.01,
                "noise_high": 0.03,
                "cycle": None,
                "edges": None,
            },
        },
        "sections": [
            {"title": "Partners from other seeds", "text": ["Rows sit with columns.", "Few do."], "matrix": matrix},
            {"title": "What each sense is worth", "text": [], "bars": bars, "table": table},
        ],
    }


def write_summary(folder: Path, summary: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    return folder


def write_run(folder: Path) -> Path:
    """Write what a report reads of a training run: two rollouts with the teacher, four alone, three measurements."""
    (folder / "logs").mkdir(parents=True)
    training = {"decisions": 6000, "decisions_of_teacher": 2000, "method": "clone of simple, then self-play", "seed": 1}
    description = {
        "format": "gin_env.policy",
        "format_version": 1,
        "preset": "eaai_2p",
        "rules": {},
        "observation": {},
        "network": {},
        "weights_sha256": "",
        "training": training,
    }
    (folder / "model.json").write_text(json.dumps(description))
    head = "clone/agreement,train/loss,eval/simple,eval_low/simple,eval_high/simple,eval/gold\n"
    (folder / "logs" / "progress.csv").write_text(head + "0.9,,,,,\n0.95,,,,,\n,0.5,1.5,1.0,2.0,3.0\n,0.5,,,,\n")
    (folder / "logs" / "progress-2.csv").write_text(head + ",0.5,2.5,,,4.0\n,0.4,,,,\n,,2.75,2.5,3.0,4.5\n")
    return folder


class Page(HTMLParser):
    """Reads a page: its text, what it loads, and whether every element is closed."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.sources: list[str] = []
        self.tags: list[str] = []
        self.identifiers: list[str] = []
        self.links: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert not self._open, self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name in ("src", "href", "srcset", "data"):
                (self.links if name == "href" else self.sources).append(value or "")
            if name == "id":
                self.identifiers.append(value or "")
            assert not name.startswith("on")
        if tag not in VOID_TAGS:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self) -> str:
        return "".join(self.texts)


def page_of(folder: Path) -> Page:
    return Page((folder / REPORT_FILE).read_text(encoding="utf-8"))


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


def test_the_page_stands_alone(sample):
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


def test_everything_is_told(sample):
    text = page_of(sample[0]).text
    summary = sample_summary()
    for agent in AGENTS:
        assert agent in text
    assert "hasty forfeited against simple: illegal action: action 93 of row 0 is not legal" in text
    assert summary["command"] in text
    assert "Gin is never undercut; it pays the defender's deadwood and 25 points more." in text
    assert "The field is 2.3 % cyclic; noise alone would give 1.0 %, 3.0 % at most: the order is transitive." in text
    assert "Rows sit with columns." in text
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


def test_three_sides_are_told_each_for_itself(tmp_path):
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
    given_away = forfeited(match, 0, "slow", "more than 10 s") | {"sides": match["sides"]}
    given_away["forfeit"] |= {"agent": "gold", "side": 2}
    summary = {**sample_summary(), "rules": rules, "matches": [match, given_away], "ratings": None, "sections": []}
    write_report([write_summary(tmp_path, summary)])
    text = page_of(tmp_path).text
    assert "best beats simple and gold: +3.00 ± 0.50 net points per deal" in text
    assert "gold forfeited against best and simple: it took too long: more than 10 s" in text


def blank(value: Any) -> Any:
    """Return plain values with every number unknown."""
    if isinstance(value, dict):
        return {key: blank(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [blank(inner) for inner in value]
    return value if isinstance(value, str) else None


def test_unknown_figures_break_nothing(tmp_path):
    summary = sample_summary()
    for key in ("matches", "sections"):
        summary[key] = [{**blank(entry), "forfeit": entry.get("forfeit")} for entry in summary[key]]
    summary["ratings"] = blank(summary["ratings"])
    write_report([write_summary(tmp_path, summary)])
    text = page_of(tmp_path).text
    assert "nan" not in text
    assert NOTHING in text


def test_a_page_may_have_sections_alone(tmp_path):
    summary = {**sample_summary(), "kind": "ablations", "matches": [], "agents": [], "ratings": None}
    paths = write_report([write_summary(tmp_path, summary)])
    assert {path.name for path in paths} == {REPORT_FILE, "section-1-matrix.png", "section-2-bars.png"}
    assert "Standings" not in page_of(tmp_path).text


def test_one_against_the_others_is_no_matrix(tmp_path):
    summary = {**sample_summary(), "kind": "match", "ratings": None, "sections": []}
    summary["matches"] = [match for match in summary["matches"] if match["first"] == ["best"]]
    paths = write_report([write_summary(tmp_path, summary)])
    assert {path.name for path in paths} == {REPORT_FILE, "points.png", "style.png", "deadwood.png"}
    text = page_of(tmp_path).text
    assert "best beats hasty, simple, gold-k4, gin-only, lookahead and runs/first; it is level with search:" in text
    assert "Standings" not in text  # the others have not met


def test_names_are_escaped(tmp_path):
    summary = json.loads(json.dumps(sample_summary()).replace("gold-k4", "<b>&$x^$").replace("gin-only", "_under"))
    write_report([write_summary(tmp_path, summary)])
    page = page_of(tmp_path)
    assert "<b>&$x^$" in page.text
    assert "_under" in page.text
    assert "b" not in page.tags


def test_partners_are_told_seat_by_seat(tmp_path):
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


def test_learning_curves_stand_at_the_decisions_made_before_each_measurement(tmp_path):
    run = read_run(write_run(tmp_path / "run"))
    assert [(made, result.value) for made, result in run.curves["simple"]] == [(2000, 1.5), (4000, 2.5), (6000, 2.75)]
    assert run.curves["simple"][0][1] == (1.5, 1.0, 2.0)
    assert math.isnan(run.curves["gold"][0][1].low)


def test_several_folders_come_into_one_page(tmp_path):
    folders = [write_summary(tmp_path / "results", sample_summary()), write_run(tmp_path / "run")]
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
        ("[]", "format None; this version reads"),
        (json.dumps({**sample_summary(), "format": "gin_env results 9"}), "format 'gin_env results 9'"),
        (json.dumps({**sample_summary(), "matches": {}}), "matches is missing or no list"),
        (
            json.dumps({**sample_summary(), "matches": [{"first": "a", "second": ["b"]}]}),
            "match 1 does not name its sides",
        ),
        (json.dumps({**sample_summary(), "rules": {"luck": 1}}), "rules unknown here"),
        (json.dumps({**sample_summary(), "sections": [{"text": []}]}), "the results are damaged"),
    ],
)
def test_damaged_results_are_refused(tmp_path, content, message):
    (tmp_path / "summary.json").write_text(content)
    with pytest.raises(ValueError, match="(?s)" + message.replace(".", r"\.")):
        write_report([tmp_path])
    assert [path.name for path in tmp_path.iterdir()] == ["summary.json"]


def test_a_folder_without_anything_is_named(tmp_path):
    with pytest.raises(ValueError, match=r"holds neither summary\.json nor a training run .* name a folder"):
        write_report([tmp_path])
    with pytest.raises(ValueError, match="at least one folder"):
        write_report([])


def test_an_unfinished_folder_is_told_apart(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").write_text("{}\n")
    with pytest.raises(ValueError, match="is unfinished: repeat the command"):
        write_report([tmp_path])
