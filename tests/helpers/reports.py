"""Artificial summaries and training logs for tests of reports and plots."""

from __future__ import annotations

import dataclasses
import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np

from agents.arena.report import REPORT_FILE
from agents.arena.tournament.results_folder import FORMAT
from gin_env.rules import Rules

AGENTS = ("best", "search:best,worlds=64", "runs/first", "lookahead", "gin-only", "gold-k4", "simple", "hasty")


#: Points of each agent against an average opponent; the last agent forfeits its match against the last but one.
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
    """Return a match without figures that a side forfeited."""
    agent = match["first" if side == 0 else "second"][0]
    forfeit = {"agent": agent, "side": side, "reason": reason, "text": text, "pair": 120}
    names = {key: match[key] for key in ("first", "second", "pairs", "plays", "deals")}
    return {**dict.fromkeys(match), **names, "forfeit": forfeit}


def small_summary() -> dict[str, Any]:
    """Return the sample without all but three agents: the same chapters, which are drawn faster."""
    kept = ("best", "gold-k4", "gin-only")
    summary = sample_summary()
    summary["agents"] = list(kept)
    summary["matches"] = [
        match for match in summary["matches"] if match["first"][0] in kept and match["second"][0] in kept
    ]
    for key in ("bradley_terry", "nash"):
        summary["ratings"][key] = [row for row in summary["ratings"][key] if row["agent"] in kept]
    return summary


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
            {"label": "counts the discarded cards", "estimate": estimate(-0.1, 0.4)},
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
            {"title": "Partners from other seeds", "text": ["Rows play with columns.", "Few do."], "matrix": matrix},
            {"title": "Value of each observation", "text": [], "bars": bars, "table": table},
        ],
    }


def write_summary(folder: Path, summary: dict[str, Any]) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
    return folder


def write_run(folder: Path) -> Path:
    """Write a training run: two rollouts with a teacher, four without, and three measurements."""
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
    """Parses a page: its text, what it loads, and whether every element is closed."""

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
