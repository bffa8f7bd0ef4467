"""The HTML of a report: one self-contained file for light and dark mode, phones and print.

Text arguments are escaped here; arguments named ``content`` are HTML.
"""

from __future__ import annotations

import base64
import io
import math
import struct
from collections.abc import Collection, Sequence
from html import escape
from typing import TYPE_CHECKING, NamedTuple

from agents.arena.statistics.intervals import Estimate

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PERCENT = 100
MOST_DIGITS = 2
POINTS = "net points per deal"
#: Shown in place of an unknown figure.
NOTHING = "\N{EN DASH}"
#: Dots per inch of the pictures; a browser counts 96 to the inch.
DOTS_PER_INCH, _BROWSER_DOTS_PER_INCH = 150, 96
#: The minimum width of a picture; on narrower screens it scrolls.
LEAST_WIDTH = "36rem"
#: The width and height in the header of a PNG file.
_PNG_SIZE = struct.Struct(">16x2I")

#: The types of a table's cells; whole numbers get thousands separators, other numbers two decimals.
Cell = str | int | float | Estimate | None

_STYLE = """
:root { color-scheme: light dark; --ink: #1b1f24; --quiet: #57606a; --paper: #fff; --line: #d0d7de; --band: #f6f8fa;
  --alarm: #fff1e5; --alarm-line: #bc4c00; --link: #0550ae; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --quiet: #9da7b3; --paper: #0d1117; --line: #3d444d;
  --band: #161b22; --alarm: #341a00; --alarm-line: #f0883e; --link: #79b8ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 74rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink);
  background: var(--paper); overflow-wrap: break-word; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: .5rem 0; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 .5rem; border-bottom: 1px solid var(--line); }
h3 { font-size: 1.1rem; margin: 2rem 0 .5rem; }
p { margin: .5rem 0; max-width: 48rem; }
.lead { font-size: 1.1rem; }
.quiet { color: var(--quiet); font-size: .9rem; }
a { color: var(--link); }
nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: .5rem 0; }
code { font: .9em ui-monospace, monospace; overflow-wrap: anywhere; }
pre { margin: .5rem 0; padding: .6rem .8rem; background: var(--band); border: 1px solid var(--line); border-radius: 6px;
  overflow-x: auto; white-space: pre-wrap; }
pre span { white-space: nowrap; }
.alarm { border: 2px solid var(--alarm-line); background: var(--alarm); border-radius: 6px; padding: .4rem 1rem;
  margin: 1rem 0; }
.box { overflow-x: auto; margin: .8rem 0; border: 1px solid var(--line); border-radius: 6px; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; width: 100%; }
th, td { padding: .3rem .5rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
thead th { background: var(--band); white-space: normal; vertical-align: bottom; min-width: 3.5rem; }
tr:last-child > * { border-bottom: 0; }
th.text, td.text { text-align: left; }
th[scope=row] { font-weight: 600; }
figure { margin: .8rem 0; }
figure .box { background: #fff; padding: .5rem; }
figure img { display: block; margin: 0 auto; max-width: 100%; height: auto; }
details { margin: .6rem 0; }
summary { cursor: pointer; color: var(--link); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: .5rem 0; }
dt { color: var(--quiet); }
dd { margin: 0; overflow-wrap: anywhere; }
@media (max-width: 40rem) { body { padding: .7rem; } th, td { padding: .3rem .45rem; }
  th[scope=row] { white-space: normal; overflow-wrap: anywhere; min-width: 9rem; } }
@media print { :root { color-scheme: light; --ink: #000; --quiet: #444; --paper: #fff; --band: #f3f3f3; }
  body { max-width: none; font-size: 10pt; } nav { display: none; } .box { overflow: visible; }
  table { font-size: 7.5pt; } th, td { padding: .15rem .3rem; } thead th { min-width: 0; }
  figure, tr, .alarm { break-inside: avoid; } h2, h3 { break-after: avoid; } figure img { min-width: 0 !important; }
  details::details-content { content-visibility: visible; } }
"""


def figure_text(estimate: Estimate, scale: float = 1.0, digits: int = 2, sign: bool = True) -> str:
    """Return ``"+5.60 ± 0.30"`` with a minus sign; without ± if there is no interval, a dash if there is no figure."""
    if math.isnan(estimate.value):
        return NOTHING
    text = estimate.text(digits, scale, sign).removesuffix(" ± ?")
    return text.replace("-", "\N{MINUS SIGN}")


def digits_for(estimates: Sequence[Estimate]) -> int:
    """Return the number of decimals, at most 2, for two digits of the narrowest interval: ±0.31, ±6.0, ±12."""
    widths = [estimate.half_width for estimate in estimates if estimate.half_width > 0]
    return min(max(1 - math.floor(math.log10(min(widths))), 0), MOST_DIGITS) if widths else MOST_DIGITS


def number_text(value: float, factor: float = 1.0, digits: int = 2, sign: bool = False) -> str:
    """Return a number without an interval as ``figure_text`` does."""
    return figure_text(Estimate(value, math.nan, math.nan), factor, digits, sign)


def percent_text(share: Estimate | None) -> str:
    """Return a share as ``"52.1 ± 0.7"``, in percent."""
    return NOTHING if share is None else figure_text(share, PERCENT, 1, sign=False)


def is_clear(estimate: Estimate) -> bool:
    """Whether an interval is known and does not hold 0."""
    return estimate.low > 0 or estimate.high < 0


def table(headings: Sequence[str], rows: Sequence[Sequence[Cell]], text_columns: Collection[int] = (0,)) -> str:
    """Return a table in a box that scrolls on narrow screens.

    The first cell of each row is its heading; ``text_columns`` are aligned to the left, all others are figures.
    """
    head = "".join(
        f'<th scope="col"{_alignment(index in text_columns)}>{escape(_unbroken(heading))}</th>'
        for index, heading in enumerate(headings)
    )

    lines = []
    for first, *others in rows:
        cells = [f'<th scope="row" class="text">{escape(cell_text(first))}</th>']
        for index, cell in enumerate(others, start=1):
            cells.append(f"<td{_alignment(index in text_columns)}>{escape(cell_text(cell))}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>\n")

    return (
        '<div class="box" tabindex="0"><table>\n'
        f"<thead><tr>{head}</tr></thead>\n<tbody>\n{''.join(lines)}</tbody>\n</table></div>\n"
    )


def _unbroken(text: str) -> str:
    """Return a heading with a non-breaking space before each percent sign."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def _alignment(is_text: bool) -> str:
    return ' class="text"' if is_text else ""


def cell_text(cell: Cell) -> str:
    """Return the text of a cell; unknown values are a dash."""
    if isinstance(cell, Estimate):
        return figure_text(cell)
    if isinstance(cell, str):
        return cell
    if cell is None or math.isnan(cell):
        return NOTHING
    text = f"{cell:,}" if isinstance(cell, int) else f"{cell:,.2f}"
    return text.replace("-", "\N{MINUS SIGN}")


def heading(level: int, title: str, number: int | None = None) -> str:
    """Return a heading; a number makes it a target for links."""
    identity = "" if number is None else f' id="chapter-{number}"'
    return f"<h{level}{identity}>{escape(title)}</h{level}>\n"


def contents(titles: Sequence[str]) -> str:
    """Return links to the headings with numbers 1, 2, ..."""
    lines = (f'<li><a href="#chapter-{number}">{escape(title)}</a></li>\n' for number, title in enumerate(titles, 1))
    return f"<nav><ul>\n{''.join(lines)}</ul></nav>\n"


def paragraph(text: str, css: str = "") -> str:
    """Return a paragraph of plain text."""
    return f'<p class="{css}">{escape(text)}</p>\n' if css else f"<p>{escape(text)}</p>\n"


def alarm(lines: Sequence[str]) -> str:
    """Return a conspicuous box; an empty string without lines."""
    return f'<div class="alarm" role="alert">\n{"".join(map(paragraph, lines))}</div>\n' if lines else ""


def details(summary: str, content: str) -> str:
    """Return content that is shown after a click."""
    return f"<details><summary>{escape(summary)}</summary>\n{content}</details>\n"


def facts(pairs: Sequence[tuple[str, str]]) -> str:
    """Return a list of names and values."""
    return "<dl>\n" + "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>\n" for name, value in pairs) + "</dl>\n"


def command(text: str) -> str:
    """Return a command line to copy."""
    words = " ".join(f"<span>{escape(word)}</span>" for word in text.split(" "))  # no line break within --preset
    return f"<pre><code>{words}</code></pre>\n"


def png_of(figure: Figure) -> bytes:
    """Return a picture as the content of a PNG file."""
    stream = io.BytesIO()
    # A figure with a layout engine already has its final size; finding a tight box would draw it twice.
    box = "tight" if figure.get_layout_engine() is None else None
    figure.savefig(stream, dpi=DOTS_PER_INCH, bbox_inches=box, metadata={"Software": None})
    return stream.getvalue()


def picture(png: bytes, alternative: str) -> str:
    """Return a PNG picture embedded in the page; ``alternative`` is its text for readers who cannot see it."""
    width, height = (side * _BROWSER_DOTS_PER_INCH // DOTS_PER_INCH for side in _PNG_SIZE.unpack_from(png))
    data = base64.b64encode(png).decode("ascii")
    return (
        f'<figure><div class="box" tabindex="0"><img width="{width}" height="{height}" '
        f'style="min-width:min({width}px,{LEAST_WIDTH})" '
        f'alt="{escape(alternative)}" src="data:image/png;base64,{data}"></div></figure>\n'
    )


class Chapter(NamedTuple):
    """A section of the page under its own heading; the content is HTML."""

    heading: str
    content: str


class Part(NamedTuple):
    """The part of the page about one folder; the opening is HTML."""

    title: str
    opening: str
    chapters: Sequence[Chapter]


class Pictures:
    """Collects the pictures of a part of the page: as the contents of files, by name, and as HTML."""

    def __init__(self, prefix: str) -> None:
        self._prefix = prefix
        self.files: dict[str, bytes] = {}

    def add(self, name: str, figure: Figure, alternative: str) -> str:
        """Add a picture to the files and return it as HTML."""
        self.files[f"{self._prefix}{name}.png"] = png = png_of(figure)
        return picture(png, alternative)


def document(title: str, content: str) -> str:
    """Return the whole page."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n{content}</body>\n</html>\n"
    )
