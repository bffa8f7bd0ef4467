"""The pictures of matches: each function draws one and returns it as a matplotlib ``Figure``.

They draw numbers that others worked out, and stand alone: each says in itself what is shown, in which unit, and which
side a plus is good for. Colours are safe for colour-blind readers (ColorBrewer's RdBu, and the palette of Okabe and
Ito); no picture is told by colour alone. Nothing here opens a window or touches pyplot's global state.
``curves.py`` draws what runs over turns or decisions, in the style that stands here.
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

#: What a cell of a heat map shows: a figure, a word in its place, or nothing.
Cell = Estimate | str | None

#: Names are agents' and may hold any sign: ``$`` is no formula.
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
#: Colours: of what is measured; of what stands back, as lines at 0 and notes; of an area that is no result.
DOT, QUIET, EMPTY = "#0072B2", "#666666", "#ECECEC"
#: Longer names are cut in the middle: most differ at an end.
_LONGEST_NAME = 30
#: Inches: a row of a bar chart, each further line of its label, what stands around the rows, the picture's width.
_ROW, _LINE, FRAME, WIDTH = 0.34, 0.15, 1.1, 7.2
#: Inches of a heat map's cell, in a small field and in a large one.
_CELL, _SMALL_CELL, _LARGE_FIELD = 0.86, 0.66, 12
#: Inches around a heat map; how high its cells are for their width; its colours go to this part beyond the strongest.
_MAP_FRAME, _FLATNESS, _PALER = (2.6, 1.8), 0.72, 1.15
#: Points of the text in a heat map's cells, in a small field and in a large one.
_TEXT, _SMALL_TEXT = 9, 7
#: Inches: the height around small pictures that make up one.
PANEL_FRAME = 0.7
#: Pictures of style: how many stand side by side, their width in inches, the height around bars.
STYLE_COLUMNS, _STYLE_WIDTH, _BARS_FRAME = 3, 3.1, 0.9
#: Names of agents need so many inches beside bars; the figures at the bars' ends this part of an axis.
_NAMES_WIDTH, _ROOM_FOR_FIGURES = 1.6, 0.3
#: This part of a small picture's width lies between two, so that their ticks do not touch.
_BETWEEN = 0.05
#: A small picture's axis has no more ticks than it has room for.
MOST_TICKS = 5
#: Shares of a picture's width that a title and a note may fill.
TITLE_SHARE, _NOTE_SHARE = 0.5, 0.7
#: From this colour strength on, a cell's text is white.
_DARK = 0.75
#: A heat map's darkest cells stand for at least so much, so that noise does not look like a result.
_LEAST_RANGE = 1.0


class StyleFigure(NamedTuple):
    """How a figure of style is told."""

    title: str
    unit: str
    heading: str  #: of a table's column
    scale: float = 1.0
    digits: int = 1


#: By name, as ``agents.arena.match.style.RATIOS`` and ``agents.selfplay.evaluation.learner_style`` say them.
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
    """Return a name that fits beside an axis: ``"search:best,worlds=…ollouts=8"``."""
    if len(name) <= _LONGEST_NAME:
        return name
    half = (_LONGEST_NAME - 1) // 2
    return f"{name[: _LONGEST_NAME - 1 - half]}…{name[-half:]}"


def _label(text: str) -> str:
    """Return what stands beside a bar: a name cut to fit, or words in several lines."""
    return "\n".join(map(short_name, textwrap.wrap(text, _LONGEST_NAME, break_long_words=False))) or text


def heat_map(
    rows: Sequence[str], columns: Sequence[str], cells: Sequence[Sequence[Cell]], title: str, unit: str
) -> Figure:
    """Draw a table of figures with colours that diverge from 0: blue above, red below, the darker the farther.

    Parameters
    ----------
    rows, columns : names
        Told on the left and above.
    cells : shape (rows, columns)
        Figures whose interval does not hold 0 stand in bold; words and nothing are left grey.
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
            if isinstance(cell, Estimate):  # the root keeps small differences visible beside one very weak agent
                colours[row, column] = math.copysign(math.sqrt(abs(cell.value) / strongest), cell.value)
            _write_cell(axes, (column, row), cell, colours[row, column], _TEXT if side == _CELL else _SMALL_TEXT)
        axes.imshow(np.ma.masked_invalid(colours), cmap="RdBu", vmin=-_PALER, vmax=_PALER, aspect="auto")
        axes.set_xticks(
            range(len(columns)), [*map(short_name, columns)], rotation=40, ha="left", rotation_mode="anchor"
        )
        axes.set_yticks(range(len(rows)), [*map(short_name, rows)])
        axes.tick_params(length=0, top=True, labeltop=True, bottom=False, labelbottom=False)
        axes.set_xticks(np.arange(-0.5, len(columns)), minor=True)
        axes.set_yticks(np.arange(-0.5, len(rows)), minor=True)
        axes.grid(which="minor", color="white", linewidth=1.5)
        axes.tick_params(which="minor", length=0, top=False)
        axes.spines[:].set_visible(False)
        note = f"{unit}; blue: above 0, red: below; bold: 0 lies outside the interval"
        axes.set_xlabel(textwrap.fill(note, letters(figure, _NOTE_SHARE)), color=QUIET, fontsize=8, labelpad=8)
        axes.set_title(textwrap.fill(title, letters(figure, TITLE_SHARE)), pad=10)
    return figure


def letters(figure: Figure, share: float) -> int:
    """Return about how many letters fit into a share of a picture's width."""
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
    """Draw a dot with its interval for each name, the first above; figures stand on the right."""
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
    """Draw a bar from 0 with its interval for each name, the first above.

    Figures are multiplied by ``scale`` and told with so many ``digits``, with a plus where ``sign`` asks for it.
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
        axes.set_title(textwrap.fill(title, letters(figure, TITLE_SHARE)))
    return figure


def style_bars(styles: Mapping[str, Mapping[str, float]], title: str) -> Figure:
    """Draw how agents play: a small picture for each figure, with a bar for each agent, the first above.

    Parameters
    ----------
    styles : by name of ``STYLE_FIGURES``, and by agent
        NaN where nothing is known; every figure has the same agents.
    title : str
    """
    names = list(dict.fromkeys(name for by_name in styles.values() for name in by_name))
    with mpl.rc_context(DRAWING_STYLE):
        figure, panels = style_panels(len(styles), _ROW * len(names) + _BARS_FRAME, more_width=_NAMES_WIDTH)
        for place, (axes, (figure_name, by_name)) in enumerate(zip(panels, styles.items(), strict=False)):
            told = STYLE_FIGURES[figure_name]
            values = [told.scale * by_name[name] for name in names]
            axes.barh(range(len(names)), values, height=0.6, color=DOT, alpha=0.55)
            for row, value in enumerate(values):
                text = number_text(value, digits=told.digits)
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
            axes.set_xlabel(told.unit, fontsize=8)
            axes.set_title(told.title, fontsize=9)
        figure.suptitle(textwrap.fill(title, letters(figure, TITLE_SHARE)), fontsize=11, weight="bold")
    return figure


def style_panels(count: int, height: float, sharex: bool = False, more_width: float = 0.0) -> tuple[Figure, list[Axes]]:
    """Return a picture and its small pictures, row by row; those beyond ``count`` are hidden."""
    num_columns = min(STYLE_COLUMNS, count)
    num_rows = math.ceil(count / num_columns)
    size = (_STYLE_WIDTH * num_columns + more_width, height * num_rows + PANEL_FRAME)
    figure = Figure(figsize=size)
    figure.set_layout_engine("constrained", wspace=_BETWEEN)
    panels = list(figure.subplots(num_rows, num_columns, squeeze=False, sharex=sharex).flatten())
    for axes in panels[count:]:
        axes.set_visible(False)
    return figure, panels
