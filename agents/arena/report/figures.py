"""Pictures of match results: each function draws one and returns it as a matplotlib ``Figure``.

Each picture can be understood on its own: it states what is shown, in which unit, and which side a positive value
favours. Colours are safe for colour-blind readers (ColorBrewer's RdBu, and the palette of Okabe and Ito), and no
information is given by colour alone. No function opens a window or uses pyplot's global state. ``curves.py`` draws
line plots in the same style.
"""

from __future__ import annotations

import itertools
import math
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from agents.arena.report.page import MOST_DIGITS, PERCENT, digits_for, figure_text, is_clear, number_text
from agents.arena.statistics.intervals import Estimate

#: The contents of a heat map's cell: a figure, a text, or nothing.
Cell = Estimate | str | None

#: Agents' names may hold any character: ``$`` does not begin a formula.
DRAWING_STYLE: Any = {
    "text.parse_math": False,
    "font.family": "DejaVu Sans",
    "font.size": 9,
    "axes.titlesize": 11,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.spines.top": False,
    "axes.spines.right": False,
}
#: Colours of measurements, of axes and notes, and of areas without results.
DOT, QUIET, EMPTY = "#0072B2", "#666666", "#ECECEC"
#: Longer names are shortened in the middle, because most names differ at an end.
_LONGEST_NAME = 30
#: Inches: a row of a bar chart, each further line of its label, the frame around the rows, the picture's width.
_ROW, _LINE, FRAME, WIDTH = 0.34, 0.15, 1.1, 7.2
#: Size of a heat map's cell, in inches, for a small and for a large field.
_CELL, _SMALL_CELL, _LARGE_FIELD = 0.86, 0.66, 12
#: Inches around a heat map; height of a cell relative to its width; end of the colour scale relative to the data.
_MAP_FRAME, _FLATNESS, _PALER = (2.6, 1.8), 0.72, 1.15
#: Font size in a heat map's cells, for a small and for a large field.
_TEXT, _SMALL_TEXT = 9, 7
#: Height around the panels of a picture, in inches.
PANEL_FRAME = 0.7
#: Style pictures: number of columns, width of a panel in inches, height around the bars.
STYLE_COLUMNS, _STYLE_WIDTH, _BARS_FRAME = 3, 3.1, 0.9
#: Inches for agents' names next to bars; share of an axis for the figures at the ends of bars.
_NAMES_WIDTH, _ROOM_FOR_FIGURES = 1.6, 0.3
#: Space between panels, as a share of their width, so that their ticks do not touch.
_BETWEEN = 0.05
#: Maximum number of ticks on a panel's axis.
MOST_TICKS = 5
#: Shares of a picture's width that a title and a note may fill.
TITLE_SHARE, _NOTE_SHARE = 0.5, 0.7
#: Cells with a stronger colour have white text.
_DARK = 0.75
#: The darkest colour means at least this value, so that noise does not look like a result.
_LEAST_RANGE = 1.0


class StyleFigure(NamedTuple):
    """How a style figure is shown."""

    title: str
    unit: str
    heading: str  #: heading of a table's column
    scale: float = 1.0
    digits: int = 1


#: By the names of ``agents.arena.match.style.RATIOS`` and ``agents.selfplay.evaluation.learner_style``.
STYLE_FIGURES = {
    "knocked": StyleFigure("Knocks, gin included", "% of its deals", "knocks %", PERCENT),
    "gin": StyleFigure("Gin", "% of its deals", "gin %", PERCENT),
    "undercut": StyleFigure("Knocked, did not win (undercut)", "% of its deals", "undercut %", PERCENT),
    "knock_deadwood": StyleFigure("Knocker's own deadwood", "points at the knock (gin: 0)", "knocks with"),
    "turns": StyleFigure("Length of a deal", "turns of all seats", "turns"),
    "offers": StyleFigure("Trades offered", "per deal", "offers", digits=2),
    "exchanges": StyleFigure("Exchanges", "per deal", "exchanges", digits=2),
    "melded": StyleFigure("Exchanged cards melded at once", "% of the cards received", "melded %", PERCENT),
}


def short_name(name: str) -> str:
    """Return a name short enough for an axis: ``"search:best,worlds=…ollouts=8"``."""
    if len(name) <= _LONGEST_NAME:
        return name
    half = (_LONGEST_NAME - 1) // 2
    return f"{name[: _LONGEST_NAME - 1 - half]}…{name[-half:]}"


def _label(text: str) -> str:
    """Return the label of a bar: a shortened name, or a text wrapped into several lines."""
    return "\n".join(map(short_name, textwrap.wrap(text, _LONGEST_NAME, break_long_words=False))) or text


def heat_map(
    rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[Cell]], title: str, unit: str
) -> Figure:
    """Draw a matrix of figures as a heat map: blue above 0, red below, darker for larger values.

    Parameters
    ----------
    rows, columns : names
        Labels on the left and above.
    cells : shape (rows, columns)
        Figures whose interval does not contain 0 are bold; texts and empty cells are grey.
    title, unit : str
        The unit is that of every figure.
    """
    values = [abs(cell.value) for row in cells for cell in row if isinstance(cell, Estimate)]
    strongest = max([_LEAST_RANGE, *(value for value in values if not math.isnan(value))])
    side = _CELL if max(len(rows), len(columns)) <= _LARGE_FIELD else _SMALL_CELL
    with mpl.rc_context(DRAWING_STYLE):
        figure = Figure(figsize=(side * len(columns) + _MAP_FRAME[0], side * _FLATNESS * len(rows) + _MAP_FRAME[1]))
        axes = figure.add_subplot()
        axes.set_facecolor(EMPTY)

        colours = np.full((len(rows), len(columns)), np.nan)
        for row, column in itertools.product(range(len(rows)), range(len(columns))):
            cell = cells[row][column]
            if isinstance(cell, Estimate):  # the root keeps small differences visible next to a very weak agent
                colours[row, column] = math.copysign(math.sqrt(abs(cell.value) / strongest), cell.value)
            _write_cell(axes, (column, row), cell, colours[row, column], _TEXT if side == _CELL else _SMALL_TEXT)
        axes.imshow(np.ma.masked_invalid(colours), cmap="RdBu", vmin=-_PALER, vmax=_PALER, aspect="auto")

        axes.set_xticks(
            range(len(columns)), [*map(short_name, columns)], rotation=40, ha="left", rotation_mode="anchor"
        )
        axes.set_yticks(range(len(rows)), [*map(short_name, rows)])
        axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)

        # White lines between the cells.
        axes.set_xticks(np.arange(-0.5, len(columns)), minor=True)
        axes.set_yticks(np.arange(-0.5, len(rows)), minor=True)
        axes.grid(which="minor", color="white", linewidth=1.5)
        axes.tick_params(which="minor", length=0, top=False)
        axes.spines[:].set_visible(False)

        note = f"{unit}; blue: above 0, red: below 0; bold: the interval does not contain 0"
        axes.set_xlabel(textwrap.fill(note, letters_that_fit(figure, _NOTE_SHARE)), color=QUIET, fontsize=8, labelpad=8)
        axes.set_title(textwrap.fill(title, letters_that_fit(figure, TITLE_SHARE)), pad=10)
    return figure


def letters_that_fit(figure: Figure, share: float) -> int:
    """Return the approximate number of letters that fit into a share of a picture's width."""
    letters_per_inch = 17
    return max(int(figure.get_figwidth() * letters_per_inch * share), 30)


def _write_cell(axes: Axes, place: tuple[int, int], cell: Cell, strength: float, size: float) -> None:
    if isinstance(cell, str):
        axes.text(*place, cell, ha="center", va="center", fontsize=size - 1, color=QUIET, style="italic")
    elif cell is not None and not math.isnan(cell.value):
        colour = "white" if abs(strength) > _DARK else "black"
        weight = "bold" if is_clear(cell) else "normal"
        value, _, width = figure_text(cell).partition(" ")
        axes.text(*place, value, ha="center", va="bottom", fontsize=size, color=colour, weight=weight)
        axes.text(*place, width, ha="center", va="top", fontsize=size - 1.5, color=colour)


def intervals(names: Sequence[str], estimates: Sequence[Estimate], title: str, unit: str) -> Figure:
    """Draw a dot with its interval for each name, the first on top, with the figures on the right."""
    return _rows_of_figures(names, estimates, title, unit, False, digits=digits_for(estimates))


def bars(
    names: Sequence[str],
    estimates: Sequence[Estimate],
    title: str,
    unit: str,
    scale: float = 1.0,
    digits: int = MOST_DIGITS,
    sign: bool = True,
) -> Figure:
    """Draw a bar from 0 with its interval for each name, the first on top.

    Figures are multiplied by ``scale`` and shown with ``digits`` decimals, with a plus sign if ``sign``.
    """
    return _rows_of_figures(names, estimates, title, unit, True, scale, digits, sign)


def _rows_of_figures(
    names: Sequence[str],
    estimates: Sequence[Estimate],
    title: str,
    unit: str,
    as_bars: bool,
    scale: float = 1.0,
    digits: int = MOST_DIGITS,
    sign: bool = True,
) -> Figure:
    """Draw ``intervals`` or ``bars``."""
    with mpl.rc_context(DRAWING_STYLE):
        labels = [_label(name) for name in names]
        lines = max((label.count("\n") for label in labels), default=0) + 1
        figure = Figure(figsize=(WIDTH, (_ROW + _LINE * (lines - 1)) * len(names) + FRAME))
        axes = figure.add_subplot()

        for place, estimate in enumerate(estimates):
            value, low, high = (number * scale for number in estimate)
            if as_bars and not math.isnan(value):
                axes.barh(place, value, height=0.6, color=DOT, alpha=0.55)
            if not math.isnan(low) and not math.isnan(high):
                axes.plot([low, high], [place, place], color="black" if as_bars else DOT, linewidth=1.8)
            if not as_bars:
                axes.plot(value, place, "o", color=DOT, markersize=6)
            text = figure_text(estimate, scale, digits, sign)
            axes.annotate(text, (1.02, place), xycoords=("axes fraction", "data"), va="center", annotation_clip=False)

        axes.axvline(0, color=QUIET, linewidth=0.8)
        axes.set_yticks(range(len(names)), labels)
        axes.set_ylim(len(names) - 0.4, -0.6)
        axes.tick_params(axis="y", length=0)
        axes.grid(axis="x", color="#DDDDDD", linewidth=0.6)
        axes.set_axisbelow(True)
        axes.set_xlabel(unit)
        axes.set_title(textwrap.fill(title, letters_that_fit(figure, TITLE_SHARE)))
    return figure


def style_bars(styles: Mapping[str, Mapping[str, float]], title: str) -> Figure:
    """Draw how agents play: a panel for each figure, with a bar for each agent, the first on top.

    Parameters
    ----------
    styles : by name of ``STYLE_FIGURES``, and by agent
        NaN if unknown; every figure has the same agents.
    title : str
    """
    names = list(dict.fromkeys(name for by_name in styles.values() for name in by_name))
    with mpl.rc_context(DRAWING_STYLE):
        figure, panels = style_panels(len(styles), _ROW * len(names) + _BARS_FRAME, more_width=_NAMES_WIDTH)
        for place, (axes, (figure_name, by_name)) in enumerate(zip(panels, styles.items(), strict=False)):
            style = STYLE_FIGURES[figure_name]
            values = [style.scale * by_name[name] for name in names]
            axes.barh(range(len(names)), values, height=0.6, color=DOT, alpha=0.55)
            for row, value in enumerate(values):
                text = number_text(value, digits=style.digits)
                end = 0 if math.isnan(value) else value
                axes.annotate(text, (end, row), (3, 0), textcoords="offset points", va="center", fontsize=8)

            axes.set_ylim(len(names) - 0.4, -0.6)
            axes.set_yticks(range(len(names)), [*map(short_name, names)])
            axes.tick_params(axis="y", length=0, labelleft=place % STYLE_COLUMNS == 0)
            axes.margins(x=_ROOM_FOR_FIGURES)
            axes.set_xlim(left=0)
            axes.xaxis.set_major_locator(MaxNLocator(MOST_TICKS))
            axes.grid(axis="x", color="#DDDDDD", linewidth=0.6)
            axes.set_axisbelow(True)
            axes.set_xlabel(style.unit, fontsize=8)
            axes.set_title(style.title, fontsize=9)
        figure.suptitle(textwrap.fill(title, letters_that_fit(figure, TITLE_SHARE)), fontsize=11, weight="bold")
    return figure


def style_panels(count: int, height: float, sharex: bool = False, more_width: float = 0.0) -> tuple[Figure, list[Axes]]:
    """Return a picture and its panels, row by row; panels beyond ``count`` are hidden."""
    num_columns = min(STYLE_COLUMNS, count)
    num_rows = math.ceil(count / num_columns)
    size = (_STYLE_WIDTH * num_columns + more_width, height * num_rows + PANEL_FRAME)
    figure = Figure(figsize=size)
    figure.set_layout_engine("constrained", wspace=_BETWEEN)
    panels = list(figure.subplots(num_rows, num_columns, squeeze=False, sharex=sharex).flatten())
    for axes in panels[count:]:
        axes.set_visible(False)
    return figure, panels
