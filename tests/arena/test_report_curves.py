"""Pictures of trainings and of style: nothing is cut off, nothing overlaps, and lines differ."""

import itertools

import pytest

pytest.importorskip("matplotlib")

from agents.arena.report import curves, figures
from agents.arena.statistics.intervals import Estimate

LONG_NAMES = ["simple", "search:best,worlds=64,rollouts=8", "agents/mine/some_file.py:VeryLongName", "gin-only", "gold"]


def estimate(value: float, half_width: float = 0.1) -> Estimate:
    return Estimate(value, value - half_width, value + half_width)


@pytest.mark.parametrize("names", [LONG_NAMES, LONG_NAMES[:1]], ids=["five agents", "one agent"])
@pytest.mark.parametrize("shown", [5, 8], ids=["duel", "partners"])
def test_nothing_is_cut_off_or_overlaps(names, shown):
    names_of_figures = [*figures.STYLE_FIGURES][:shown]
    curve = [(500_000 * step, estimate(0.4 + 0.02 * step)) for step in range(12)]
    results = [(made, estimate(100 * value.value, 5)) for made, value in curve]
    pictures = [
        curves.style_curves(
            {name: dict.fromkeys(names, curve) for name in names_of_figures}, "Training x: palace_4p", 300_000
        ),
        figures.style_bars({name: dict.fromkeys(names, 0.5) for name in names_of_figures}, "How they play"),
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
