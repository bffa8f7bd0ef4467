"""Pictures of matches: points, style and deadwood."""

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from agents.arena.report import figures, write_report
from tests.helpers.reports import sample_match, sample_summary, write_summary

PNG = b"\x89PNG"
DUEL_FIGURES = {"knocked", "gin", "undercut", "knock_deadwood", "turns"}


def drawn_bars(monkeypatch: pytest.MonkeyPatch, folder: Path, summary: dict[str, Any]) -> tuple[Any, set[str]]:
    """Return what the style's picture of a report was given, and the names of all pictures."""
    given: list[Any] = []
    draw = figures.style_bars
    monkeypatch.setattr(figures, "style_bars", lambda styles, title: given.append(styles) or draw(styles, title))
    paths = write_report([write_summary(folder, summary)])
    assert all(path.read_bytes().startswith(PNG) for path in paths[1:])
    return given[0] if given else None, {path.stem for path in paths[1:]}


def test_a_single_match_is_drawn_with_points_and_style(monkeypatch, tmp_path):
    match = sample_match(0, 4, np.random.default_rng(0))
    summary = {**sample_summary(), "kind": "match", "matches": [match], "ratings": None, "sections": []}
    styles, pictures = drawn_bars(monkeypatch, tmp_path, summary)
    assert pictures == {"points", "style", "deadwood"}
    assert styles.keys() == DUEL_FIGURES  # nobody trades
    gin = match["styles"][0]["gin"]
    assert styles["gin"]["best"] == pytest.approx(gin)
    assert styles["knocked"]["best"] == pytest.approx(gin + 0.22 + 0.03)


def test_partners_trades_are_drawn(monkeypatch, tmp_path):
    match = sample_match(0, 4, np.random.default_rng(0))
    match["styles"][0] |= {"offers": 3.0, "exchanges": 2.0}
    match["events"][0] = [{"exchanges": 1.5, "trade_melds": 0.5}, {"exchanges": 0.5, "trade_melds": 0.5}]
    summary = {**sample_summary(), "matches": [match], "ratings": None, "sections": []}
    styles, _ = drawn_bars(monkeypatch, tmp_path, summary)
    assert styles["offers"] == {"best": 3.0, "gin-only": 0.0}
    assert styles["melded"]["best"] == 0.25
    assert math.isnan(styles["melded"]["gin-only"])


def test_a_round_robin_is_drawn_with_the_style_of_every_agent(monkeypatch, tmp_path):
    styles, pictures = drawn_bars(monkeypatch, tmp_path, sample_summary())
    assert {"matrix", "style"} <= pictures
    assert len(styles["gin"]) == 8
