"""Reports: a self-contained page ``report.html`` with all pictures embedded, and the pictures as PNG files.

``write_report`` is the entry point. ``results.py`` reads results folders and ``standings.py`` computes figures over
several matches; ``chapters.py``, ``ratings.py`` and ``style.py`` write the chapters about them, and ``training.py``
reads and describes training runs. ``figures.py`` and ``curves.py`` draw the pictures; ``page.py`` makes the HTML.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.arena.report import page
from agents.arena.report.chapters import results_part
from agents.arena.report.results import Results, read_results
from agents.arena.report.training import LOGS, TrainingRun, read_run, run_part
from agents.arena.tournament.results_folder import JOURNAL_FILE, SUMMARY_FILE
from agents.policy.model_files import DESCRIPTION_FILE

REPORT_FILE = "report.html"
FIGURES_FOLDER = "figures"


def write_report(folders: Sequence[Path], output: Path | None = None) -> list[Path]:
    """Write ``report.html`` and ``figures/*.png`` for folders of results and of training runs.

    Parameters
    ----------
    folders : paths
        Each holds a ``summary.json`` of ``evaluate.py``, a training run of ``train.py``, or both; all go into one page.
    output : path, optional
        The folder for the files, by default the first folder; created if missing.

    Returns
    -------
    list of Path
        The files written, the page first.

    Raises
    ------
    ValueError
        No folder, a folder without results or training run, or damaged or unknown files. Nothing is written.
    """
    if not folders:
        raise ValueError("report: expected at least one folder that evaluate.py or train.py wrote")

    sources = [(folder, source) for folder in folders for source in _read_folder(folder)]
    parts: list[page.Part] = []
    files: dict[str, bytes] = {}
    for number, (folder, source) in enumerate(sources, start=1):
        pictures = page.Pictures(prefix=f"{number}-" if len(sources) > 1 else "")
        try:
            part = run_part(source, pictures) if isinstance(source, TrainingRun) else results_part(source, pictures)
            parts.append(part)
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(f"{folder}: the results are damaged ({error!r}); create them again") from error
        files |= pictures.files

    output = folders[0] if output is None else output
    (output / FIGURES_FOLDER).mkdir(parents=True, exist_ok=True)
    paths = [output / REPORT_FILE, *(output / FIGURES_FOLDER / name for name in files)]
    for path, content in zip(paths, [_whole_page(parts).encode(), *files.values()], strict=True):
        path.write_bytes(content)
    return paths


def _read_folder(folder: Path) -> list[Results | TrainingRun]:
    """Return the results and the training run in a folder; raises ``ValueError`` if there are none."""
    sources = [source for source in (read_results(folder), read_run(folder)) if source is not None]
    if not sources and (folder / JOURNAL_FILE).exists():
        raise ValueError(f"{folder} is unfinished: repeat the command that started it, with --output {folder}")
    if not sources:
        raise ValueError(
            f"{folder} holds neither {SUMMARY_FILE} nor a training run ({DESCRIPTION_FILE} and {LOGS}): "
            "name a folder that evaluate.py or train.py wrote"
        )
    return sources


def _whole_page(parts: Sequence[page.Part]) -> str:
    """Return the page; several parts follow a list of their titles."""
    title = parts[0].title if len(parts) == 1 else "Results"
    content = [page.heading(1, title)]
    if len(parts) == 1:
        chapters = parts[0].chapters
        content += [parts[0].opening, page.contents([chapter.heading for chapter in chapters])]
        for number, chapter in enumerate(chapters, start=1):
            content += [page.heading(2, chapter.heading, number), chapter.content]
    else:
        content.append(page.contents([part.title for part in parts]))
        for number, part in enumerate(parts, start=1):
            content += [page.heading(2, part.title, number), part.opening]
            content += [page.heading(3, chapter.heading) + chapter.content for chapter in part.chapters]
    return page.document(title, "".join(content))
