"""Line plots over the turns of a deal or the decisions of a training run, with shaded intervals.

Each function draws one picture and returns it as a matplotlib ``Figure``, in the style of ``figures.py``.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray

from agents.arena.report.figures import (
    DOT,
    DRAWING_STYLE,
    EMPTY,
    FRAME,
    MOST_TICKS,
    PANEL_FRAME,
    QUIET,
    STYLE_COLUMNS,
    STYLE_FIGURES,
    TITLE_SHARE,
    WIDTH,
    letters_that_fit,
    short_name,
    style_panels,
)
from agents.arena.report.page import figure_text
from agents.arena.statistics.intervals import Estimate

#: A learning curve: the number of decisions, and the result measured after them.
Curve = Sequence[tuple[int, Estimate]]
Numbers = NDArray[np.float64]

#: Colours (the palette of Okabe and Ito), dashes and markers of the lines.
_PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
_DASHES = ("-", "--", ":")
_MARKERS = "osD^vPX<>p"
#: Minimum height of the deadwood picture and its height for each agent, in inches.
_LEAST_HEIGHT, _HEIGHT_OF_LINE = 4.2, 0.24
#: Size of a panel of learning curves and height of a panel of style curves, in inches.
_PANEL_WIDTH, _PANEL_HEIGHT, _STYLE_HEIGHT = 4.0, 2.7, 2.3
#: The upper end of an axis from 0, as a multiple of the largest figure.
_ABOVE = 1.05


def deadwood_curves(curves: Mapping[str, Sequence[float]], num_turns: int) -> Figure:
    """Draw the mean deadwood after a player's 1st, 2nd, ... discard, with one line for each agent.

    Parameters
    ----------
    curves : by agent's name
        Points of deadwood by turn; NaN where no deal lasted that long.
    num_turns : int
        Number of turns shown; the few deals that last longer are not typical.
    """
    with mpl.rc_context(DRAWING_STYLE):
        figure = Figure(figsize=(WIDTH, max(_LEAST_HEIGHT, _HEIGHT_OF_LINE * len(curves) + FRAME)))
        axes = figure.add_subplot()
        lines = []
        for (name, curve), look in zip(curves.items(), _looks(), strict=False):
            shown = list(curve[:num_turns])
            lines += axes.plot(range(1, len(shown) + 1), shown, label=f" {short_name(name)}", **look)

        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.set_xlim(left=0.5)
        axes.set_ylim(bottom=0)
        axes.grid(color="#DDDDDD", linewidth=0.6)
        axes.set_xlabel("turn of the player")
        axes.set_ylabel("points of deadwood after the discard")
        axes.set_title("Deadwood by turn, over the deals that last that long")
        axes.legend(handles=lines, loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, handlelength=3.2)
    return figure


def learning_curves(curves: Mapping[str, Curve], title: str, teacher_decisions: int = 0) -> Figure:
    """Draw a training run's results against each evaluation opponent, with one panel for each.

    Parameters
    ----------
    curves : by opponent's name
        Net points per deal by number of decisions, in order; known intervals are shaded.
    title : str
        The title of the picture.
    teacher_decisions : int
        The number of initial decisions that cloned a teacher; they are shaded.
    """
    num_columns = min(2, len(curves))
    num_rows = math.ceil(len(curves) / num_columns)
    with mpl.rc_context(DRAWING_STYLE):
        figure = Figure(
            figsize=(_PANEL_WIDTH * num_columns, _PANEL_HEIGHT * num_rows + PANEL_FRAME), layout="constrained"
        )
        panels = figure.subplots(num_rows, num_columns, squeeze=False, sharex=True).flatten()

        for axes, (name, curve) in zip(panels, curves.items(), strict=False):
            decisions = [made for made, _ in curve]
            value, low, high = (np.array([estimate[part] for _, estimate in curve]) for part in range(3))
            if teacher_decisions:
                axes.axvspan(0, teacher_decisions, color=EMPTY, label="behaviour cloning")
            axes.axhline(0, color=QUIET, linewidth=0.8)
            _shade(axes, decisions, low, high, DOT)
            axes.plot(decisions, value, "o-", color=DOT, markersize=4)
            axes.set_xlim(left=0)
            axes.margins(y=0.15)
            axes.grid(color="#DDDDDD", linewidth=0.6)
            axes.set_title(f"against {short_name(name)}\n{figure_text(curve[-1][1])} at the end", fontsize=9.5)
            axes.xaxis.set_major_formatter(FuncFormatter(_decisions_text))

        # Hide unused panels; label the axis below the lowest panel of each column.
        for axes in panels[len(curves) :]:
            axes.set_visible(False)
        for axes in panels[max(len(curves) - num_columns, 0) : len(curves)]:
            axes.tick_params(labelbottom=True)
            axes.set_xlabel("decisions")

        if teacher_decisions:
            panels[0].legend(loc="best", fontsize=8, frameon=False)
        figure.supylabel("net points per deal", fontsize=9)
        figure.suptitle(textwrap.fill(title, letters_that_fit(figure, TITLE_SHARE)), fontsize=11, weight="bold")
    return figure


def style_curves(curves: Mapping[str, Mapping[str, Curve]], title: str, teacher_decisions: int = 0) -> Figure:
    """Draw how a learner's style changes during training: a panel for each figure, a line for each opponent.

    Parameters
    ----------
    curves : by name of ``STYLE_FIGURES``, and by opponent
        The figure by number of decisions, in order; known intervals are shaded.
    title, teacher_decisions
        As for ``learning_curves``.
    """
    opponents = dict.fromkeys(opponent for by_opponent in curves.values() for opponent in by_opponent)
    looks = dict(zip(opponents, _looks(), strict=False))
    with mpl.rc_context(DRAWING_STYLE):
        figure, panels = style_panels(len(curves) + 1, _STYLE_HEIGHT, sharex=True)  # the last panel holds the legend
        lines: dict[str, Any] = {}

        for axes, (name, by_opponent) in zip(panels, curves.items(), strict=False):
            style = STYLE_FIGURES[name]
            if teacher_decisions:
                lines["behaviour cloning"] = axes.axvspan(0, teacher_decisions, color=EMPTY)
            for opponent, curve in by_opponent.items():
                decisions = [made for made, _ in curve]
                value, low, high = (
                    style.scale * np.array([estimate[part] for _, estimate in curve]) for part in range(3)
                )
                look = looks[opponent]
                _shade(axes, decisions, low, high, look["color"])
                lines[f"against {short_name(opponent)}"] = axes.plot(decisions, value, **look)[0]

            axes.set_xlim(left=0)
            axes.set_ylim(0, _ABOVE * axes.get_ylim()[1])
            axes.grid(color="#DDDDDD", linewidth=0.6)
            axes.xaxis.set_major_formatter(FuncFormatter(_decisions_text))
            axes.xaxis.set_major_locator(MaxNLocator(MOST_TICKS))
            axes.yaxis.set_major_locator(MaxNLocator(MOST_TICKS))
            axes.set_ylabel(style.unit, fontsize=8)
            axes.set_title(style.title, fontsize=9)

        for axes in panels[max(len(curves) - STYLE_COLUMNS, 0) : len(curves)]:  # the lowest panel of each column
            axes.tick_params(labelbottom=True)
            axes.set_xlabel("decisions", fontsize=8)
        legend = panels[len(curves)]
        legend.set_axis_off()
        legend.legend(lines.values(), lines, loc="center left", frameon=False, handlelength=3.2)
        figure.suptitle(textwrap.fill(title, letters_that_fit(figure, TITLE_SHARE)), fontsize=11, weight="bold")
    return figure


def _shade(axes: Axes, decisions: Sequence[int], low: Numbers, high: Numbers, colour: str) -> None:
    """Draw the intervals of a curve: a band, and a line at each point, which is visible even for a single point."""
    axes.fill_between(decisions, low, high, color=colour, alpha=0.15, linewidth=0)
    axes.vlines(decisions, low, high, color=colour, alpha=0.5, linewidth=1)


def _looks() -> Iterator[dict[str, Any]]:
    """Yield line styles for one agent after another; they differ in more than colour."""
    marks = zip(itertools.product(_DASHES, _PALETTE), itertools.cycle(_MARKERS), strict=False)
    for (dash, colour), marker in marks:
        yield {"color": colour, "linestyle": dash, "marker": marker, "markersize": 4.5, "linewidth": 1.4}


def _decisions_text(decisions: float, _: int | None = None) -> str:
    """Format a number of decisions for an axis: 0, 500 k, 2.5 M."""
    million, thousand = 1_000_000, 1_000
    if decisions >= million:
        return f"{decisions / million:g} M"
    return f"{decisions / thousand:g} k" if decisions else "0"
