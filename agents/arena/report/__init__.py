"""Results as a page that needs no explanation: ``report.html``, one file with all pictures in it, and the pictures.

``write_report`` is the door. ``folders.py`` reads results, and ``chapters.py``, ``ratings.py`` and
``play.py`` say what is told of them; ``training.py`` does both for training runs. ``figures.py`` and
``curves.py`` draw the pictures, and ``page.py`` has the parts of the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from agents.arena.report import page
from agents.arena.report.chapters import results_part
from agents.arena.report.folders import Results, read_results
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
        Each holds a ``summary.json`` of ``evaluate.py``, what ``train.py`` left, or both; all come into one page.
    output : path, optional
        Where the files go; by default the first folder. Made where missing.

    Returns
    -------
    list of Path
        What was written, the page first.

    Raises
    ------
    ValueError
        No folder, or one that holds neither; files that are damaged or of another version. Nothing is written then.
    """
    if not folders:
        raise ValueError("a report needs at least one folder that evaluate.py or train.py wrote")
    found = [(folder, told) for folder in folders for told in _read_folder(folder)]
    parts: list[page.Part] = []
    files: dict[str, bytes] = {}
    for number, (folder, told) in enumerate(found, start=1):
        pictures = page.Pictures(prefix=f"{number}-" if len(found) > 1 else "")
        try:
            parts.append(run_part(told, pictures) if isinstance(told, TrainingRun) else results_part(told, pictures))
        except (KeyError, TypeError, AttributeError, IndexError) as error:
            raise ValueError(f"{folder}: the results are damaged ({error!r}); make them anew") from error
        files |= pictures.files

    output = folders[0] if output is None else output
    (output / FIGURES_FOLDER).mkdir(parents=True, exist_ok=True)
    paths = [output / REPORT_FILE, *(output / FIGURES_FOLDER / name for name in files)]
    for path, content in zip(paths, [_whole_page(parts).encode(), *files.values()], strict=True):
        path.write_bytes(content)
    return paths


def _read_folder(folder: Path) -> list[Results | TrainingRun]:
    found = [told for told in (read_results(folder), read_run(folder)) if told is not None]
    if not found and (folder / JOURNAL_FILE).exists():
        raise ValueError(f"{folder} is unfinished: repeat the command that began it, with --output {folder}")
    if not found:
        raise ValueError(
            f"{folder} holds neither {SUMMARY_FILE} nor a training run ({DESCRIPTION_FILE} and {LOGS}): "
            "name a folder that evaluate.py or train.py wrote"
        )
    return found


def _whole_page(parts: Sequence[page.Part]) -> str:
    """Return the page: a single part stands for itself, several are listed and follow each other."""
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
