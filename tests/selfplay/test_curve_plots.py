"""Plots: a training measures and draws its results and its style, and a match's page shows how each agent plays."""

from __future__ import annotations

import csv
import itertools
import math
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from agents.arena import MatchResult, play_match
from agents.arena.match.style import RATIOS, melded_share, style_estimates
from agents.arena.report import curves, figures, training, write_report
from agents.arena.report.training import read_run, write_curves
from agents.arena.statistics.intervals import Estimate
from agents.registry import load_agent
from gin_env.rules import Rules
from tests.helpers.reports import page_of, sample_match, sample_summary, write_run, write_summary

PNG = b"\x89PNG"
TINY = "--preset palace_4p --timesteps 1024 --rows 64 --steps 8 --net 16 --minibatch 256 --epochs 1 --threads 1"
TINY += " --eval-every 512 --eval-deals 80 --teacher none --opponents simple:1 --panel simple never-trade --no-outlook"
LONG_NAMES = ["simple", "search:best,worlds=64,rollouts=8", "agents/mine/some_file.py:VeryLongName", "gin-only", "gold"]
DUEL_FIGURES = {"knocked", "gin", "undercut", "knock_deadwood", "turns"}


def estimate(value: float, half_width: float = 0.1) -> Estimate:
    return Estimate(value, value - half_width, value + half_width)


# ---------------------------------------------------------------------- style with intervals


@pytest.mark.parametrize("preset", ["eaai_2p", "palace_4p", "free_for_all_3p", "rotation_3p", "two_tables_4p"])
def test_the_figures_with_intervals_are_those_of_the_match(preset):
    rules = Rules.preset(preset)
    match = play_match(rules, load_agent("simple", rules), load_agent("gold", rules), 60, seed=3)
    for side, style in enumerate(match.styles):
        found = style_estimates(match.records, side, rules.num_teams)
        assert found.keys() == RATIOS.keys()
        for name in found.keys() - {"knocked"}:
            assert found[name].value == pytest.approx(getattr(style, name), nan_ok=True), name
        assert found["knocked"].value == pytest.approx(style.gin + style.knock_won + style.undercut)
        for name in ("knocked", "knock_deadwood", "turns"):
            value, low, high = found[name]
            assert low < value < high, name


def test_what_is_rare_has_no_interval_and_what_never_happened_no_figure():
    """In 60 pairs of these decks ``gin-only`` ends five deals, all with gin."""
    rules = Rules.preset("eaai_2p")
    match = play_match(rules, load_agent("gin-only", rules), load_agent("simple", rules), 60, seed=3)
    found = style_estimates(match.records, 0, rules.num_teams)
    assert found["knocked"] == found["gin"]
    assert found["knock_deadwood"].value == 0
    assert math.isnan(found["knock_deadwood"].low)  # some resamples have no knock at all
    match.records.knocker[:] = 1
    assert math.isnan(style_estimates(match.records, 0, rules.num_teams)["knock_deadwood"].value)
    assert melded_share(3, 2) == 0.75  # two exchanges bring four cards
    assert math.isnan(melded_share(0, 0))


# ---------------------------------------------------------------------- a training


@pytest.fixture
def train(tmp_path, monkeypatch):
    """Run train.py within this process; return the matches of its panel."""
    pytest.importorskip("sb3_contrib")
    import train as script
    from agents.cli import parsing as cli
    from agents.selfplay import trainer as session

    def call(arguments: str) -> list[list[MatchResult]]:
        measured = []
        play = session.play_panel
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["train.py", *shlex.split(arguments)])
        monkeypatch.setattr(session, "play_panel", lambda *given: measured.append(play(*given)) or measured[-1])
        cli.run(script.main)
        return measured

    return call


def test_a_training_measures_its_style_in_the_very_deals_of_its_results(train, tmp_path, capsys):
    measured = train(f"{TINY} --output run")
    folder = tmp_path / "run"
    assert f"curves: {Path('run', 'learning.png')}, {Path('run', 'style.png')}" in capsys.readouterr().out
    for name in ("learning.png", "style.png"):
        assert (folder / name).read_bytes().startswith(PNG)
    assert not list(folder.glob("*.new"))

    run = read_run(folder)
    assert [made for made, _ in run.curves["simple"]] == [512, 1024]
    assert [*run.curves] == ["simple", "never-trade"]  # as --panel has them
    assert run.styles.keys() == DUEL_FIGURES | {"offers", "exchanges", "melded"}
    for moment, matches in enumerate(measured):
        for match in matches:
            style, opponent = match.styles[0], match.names[1]
            for name in run.styles.keys() - {"knocked", "melded"}:
                told = run.styles[name][opponent][moment][1]
                assert told.value == pytest.approx(getattr(style, name)), name
            low, high = run.styles["turns"][opponent][moment][1][1:]
            assert low < style.turns < high
    shares = [share.value for curve in run.styles["melded"].values() for _, share in curve]
    assert all(0 < share < 1 for share in shares)


def test_a_picture_that_cannot_be_drawn_ends_no_training(train, tmp_path, monkeypatch, capsys):
    def fail(_: Path) -> list[Path]:
        raise OSError("no space left")

    monkeypatch.setattr(training, "write_curves", fail)
    train(f"{TINY} --timesteps 512 --output run")
    printed, warned = capsys.readouterr()
    assert "warning: the curves of run were not drawn (OSError: no space left)" in warned
    assert "python evaluate.py --agents run simple never-trade" in printed
    assert "curves:" not in printed
    assert not list((tmp_path / "run").glob("*.png"))


# ---------------------------------------------------------------------- logs


def add_style(log: Path) -> None:
    """Add to a log of ``write_run`` the style of its measurements, in columns of any order."""
    with log.open(newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines:
        if line["eval/simple"]:
            line |= {"style/turns/gold": "9.5", "style/gin/simple": "0.25", "style_low/gin/simple": "0.2"}
            line |= {"style_high/gin/simple": "0.3", "style/offers/gold": "", "style/unheard_of/simple": "1"}
    heads = dict.fromkeys(itertools.chain.from_iterable(reversed(lines)))
    with log.open("w", newline="") as file:
        writer = csv.DictWriter(file, heads)
        writer.writeheader()
        writer.writerows(lines)


def test_a_run_begun_without_style_shows_it_from_its_resume_on(tmp_path):
    folder = write_run(tmp_path / "run")
    assert read_run(folder).styles == {}
    assert write_curves(folder) == [folder / "learning.png"]
    add_style(folder / "logs" / "progress-2.csv")
    run = read_run(folder)
    assert run.styles.keys() == {"gin", "turns"}  # what this version does not know is left out
    assert run.styles["gin"] == {"simple": [(4000, (0.25, 0.2, 0.3)), (6000, (0.25, 0.2, 0.3))]}
    ((_, (turns, low, _)), _) = run.styles["turns"]["gold"]
    assert turns == 9.5
    assert math.isnan(low)
    assert len(run.curves["simple"]) == 3
    assert write_curves(folder) == [folder / "learning.png", folder / "style.png"]
    paths = write_report([folder], tmp_path / "page")
    assert {path.name for path in paths[1:]} == {"learning.png", "style.png"}
    text = page_of(tmp_path / "page").text
    assert "Style of play" in text
    assert "25.0 ± 5.0" in text


def test_what_is_no_run_is_not_drawn(tmp_path):
    with pytest.raises(ValueError, match="no training run"):
        write_curves(tmp_path)


# ---------------------------------------------------------------------- pictures


@pytest.mark.parametrize("names", [LONG_NAMES, LONG_NAMES[:1]], ids=["five agents", "one agent"])
@pytest.mark.parametrize("shown", [5, 8], ids=["duel", "partners"])
def test_nothing_is_cut_or_overlaps(names, shown):
    told = [*figures.STYLE_FIGURES][:shown]
    curve = [(500_000 * step, estimate(0.4 + 0.02 * step)) for step in range(12)]
    results = [(made, estimate(100 * value.value, 5)) for made, value in curve]
    pictures = [
        curves.style_curves({name: dict.fromkeys(names, curve) for name in told}, "Training x: palace_4p", 300_000),
        figures.style_bars({name: dict.fromkeys(names, 0.5) for name in told}, "How they play"),
        curves.learning_curves(dict.fromkeys(names, results), "Training x: palace_4p", 300_000),
    ]
    for figure in pictures:
        figure.draw_without_rendering()
        box, whole = figure.get_tightbbox(), figure.bbox_inches
        assert whole.x0 <= box.x0 < box.x1 <= whole.x1
        assert whole.y0 <= box.y0 < box.y1 <= whole.y1
        boxes = [axes.get_tightbbox() for axes in figure.axes if axes.get_visible()]  # titles, ticks and legends too
        assert len(boxes) > 0
        assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes, 2))


def test_lines_differ_in_more_than_their_colour():
    curve = [(0, estimate(0.4)), (1000, estimate(0.5))]
    figure = curves.style_curves({"gin": dict.fromkeys(map(str, range(8)), curve)}, "x")
    looks = {(line.get_marker(), line.get_linestyle()) for line in figure.axes[0].lines}
    assert len(looks) == 8
    assert figure.axes[0].get_ylabel() == "% of its deals"
    assert figure.axes[0].lines[0].get_ydata() == pytest.approx([40, 50])


# ---------------------------------------------------------------------- matches


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
