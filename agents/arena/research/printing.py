"""The sections of a summary as tables on the terminal."""

from __future__ import annotations

from rich.console import Console
from rich.markup import escape

from agents.arena.playing import Played
from agents.arena.tables import forfeit_lines, section_tables
from agents.arena.tournament import ForfeitedMatch


def print_sections(played: Played) -> None:
    """Print forfeits and all sections."""
    console = Console()
    forfeits = [outcome for outcome in played.outcomes if isinstance(outcome, ForfeitedMatch)]
    for line in forfeit_lines(forfeits):
        console.print(line, soft_wrap=True, markup=False, highlight=False)
    for section in played.summary["sections"]:
        for table in section_tables(section):
            console.print(table)
        for paragraph in section["text"]:
            console.print(escape(paragraph) + "\n", highlight=False)
