"""The sections of a summary as tables on the terminal."""

from __future__ import annotations

from typing import Any

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from agents.arena.playing import Played
from agents.arena.tables import estimate_of, forfeit_lines, plain_table
from agents.arena.tournament import ForfeitedMatch


def print_sections(played: Played) -> None:
    """Print forfeits and all sections."""
    console = Console()
    forfeits = [outcome for outcome in played.outcomes if isinstance(outcome, ForfeitedMatch)]
    for line in forfeit_lines(forfeits):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    for section in played.summary["sections"]:
        for table in _tables(section):
            console.print(table)
        for paragraph in section["text"]:
            console.print(escape(paragraph) + "\n", highlight=False)


def _tables(section: dict[str, Any]) -> list[Table]:
    tables = []
    if "matrix" in section:
        matrix = section["matrix"]
        rows = [[name, *map(_text, values)] for name, values in zip(matrix["rows"], matrix["values"], strict=True)]
        tables.append(_table(f"{section['title']} ({matrix['unit']}, 95 %)", ["", *matrix["columns"]], rows))
    if "bars" in section:
        bars = section["bars"]
        rows = [[item["label"], _text(item["estimate"])] for item in bars["items"]]
        tables.append(_table(f"{section['title']} ({bars['unit']}, 95 %)", ["", bars["unit"]], rows))
    if "table" in section:
        rows = [list(map(_text, row)) for row in section["table"]["rows"]]
        tables.append(_table(section["title"], section["table"]["headings"], rows))
    return tables


def _table(title: str, headings: list[str], rows: list[list[str]]) -> Table:
    table = plain_table(escape(title), headings[0])
    for heading in headings[1:]:
        table.add_column(escape(heading), overflow="fold", min_width=8)
    for row in rows:
        table.add_row(*map(escape, row))
    return table


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return estimate_of(value).text(sign=True)
    return f"{value:.2f}" if isinstance(value, float) else str(value)
