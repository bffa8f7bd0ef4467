"""``evaluate.py report``: write results as a page with figures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import tyro
from rich.console import Console
from rich.markup import escape

from agents.arena.report import write_report
from agents.cli import UserError, parse

_FOLDERS_HELP = "results folders of evaluate.py and folders of training runs; all go into one page"


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """Write results and training runs as one self-contained page, report.html, with its figures as PNG files."""

    folders: Annotated[tuple[Path, ...], tyro.conf.Positional, tyro.conf.arg(help=_FOLDERS_HELP)]
    output: Path | None = None
    """the folder for report.html and figures/; by default the first folder"""


def main(words: Sequence[str]) -> None:
    """Write the page and print the names of the files."""
    arguments = parse(Arguments, prog="evaluate.py report", args=words)
    if not arguments.folders:
        raise UserError("report: name a folder that evaluate.py or train.py wrote, for example results/ladder")
    paths = write_report(arguments.folders, arguments.output)
    console = Console()
    for path in paths:
        console.print(escape(str(path)), soft_wrap=True, highlight=False)
