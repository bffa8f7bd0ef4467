"""The sections of a summary as tables on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from agents.arena.playing import Played
from agents.arena.tables import print_forfeits, section_tables


def print_sections(played: Played) -> None:
    """Print forfeits and all sections."""
    console = Console()
    print_forfeits(played.outcomes, console)
    for section in played.summary["sections"]:
        for table in section_tables(section):
            console.print(table)
        for paragraph in section["text"]:
            console.print(escape(paragraph) + "\n", highlight=False)
