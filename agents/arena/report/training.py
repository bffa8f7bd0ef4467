"""Training runs: curves read from the logs, drawn into the run's folder, and described in a report."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from agents.arena.report import figures, page
from agents.arena.report.curves import learning_curves, style_curves
from agents.arena.statistics.intervals import NO_FIGURE, Estimate
from agents.policy.model_files import DESCRIPTION_FILE, read_description, replace_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: The logs of a run: progress.csv, progress-2.csv, ... for each resume.
LOGS = "logs/progress*.csv"
#: Prefixes of the logs' columns: the result against an opponent, and the bounds of its interval if logged.
_RESULT = ("eval/", "eval_low/", "eval_high/")
#: Prefixes of columns with the learner's style, followed by the figure's name, a slash and the opponent.
_STYLE = ("style/", "style_low/", "style_high/")
#: Names of the pictures.
LEARNING, STYLE = "learning", "style"
#: A line of the logs with one of these columns describes a rollout.
_ROLLOUT = ("clone/agreement", "train/loss")


class TrainingRun(NamedTuple):
    """A training run, read from its folder."""

    folder: Path
    name: str  #: of the rules
    facts: Mapping[str, Any]  #: from the model's description
    curves: dict[
        str, list[tuple[int, Estimate]]
    ]  #: by opponent: number of decisions, and net points per deal after them
    styles: dict[str, dict[str, list[tuple[int, Estimate]]]]  #: by style figure and by opponent

    @property
    def title(self) -> str:
        """The title of the run's report."""
        return f"Training {self.folder.resolve().name}: {self.name}"

    @property
    def teacher_decisions(self) -> int:
        """The number of decisions that cloned a teacher."""
        return self.facts.get("decisions_of_teacher") or 0

    def figures(self) -> dict[str, Figure]:
        """Return the pictures of the curves by name; none if nothing was measured yet."""
        drawn = {}
        if self.curves:
            drawn[LEARNING] = learning_curves(self.curves, self.title, self.teacher_decisions)
        if self.styles:
            drawn[STYLE] = style_curves(self.styles, f"{self.title}, how it plays", self.teacher_decisions)
        return drawn


def read_run(folder: Path) -> TrainingRun | None:
    """Return a folder's training run, None if it holds none; raises ``ValueError`` if it is damaged."""
    logs = sorted(folder.glob(LOGS), key=lambda path: (len(path.name), path.name))  # -2 before -10
    if not logs or not (folder / DESCRIPTION_FILE).is_file():
        return None

    description = read_description(folder)
    facts = description.get("training")
    if not isinstance(facts, dict) or not isinstance(facts.get("decisions"), int):
        raise ValueError(f"{folder / DESCRIPTION_FILE} training: expected the number of decisions, got none")

    lines: list[dict[str, str]] = []
    for path in logs:
        with path.open(encoding="utf-8", newline="") as file:
            lines += csv.DictReader(file)

    # The logs do not hold the number of decisions, but all rollouts are equally long. A line's measurement was made
    # before the line's own rollout.
    per_rollout = facts["decisions"] / max(sum(map(_is_rollout, lines)), 1)
    curves: dict[str, list[tuple[int, Estimate]]] = {}
    styles: dict[str, dict[str, list[tuple[int, Estimate]]]] = {}
    rollouts = 0
    for line in lines:
        decisions = round(rollouts * per_rollout)
        try:
            for opponent, estimate in _estimates(line, _RESULT).items():
                curves.setdefault(opponent, []).append((decisions, estimate))
            for name, estimate in _estimates(line, _STYLE).items():
                figure, _, opponent = name.partition("/")
                styles.setdefault(figure, {}).setdefault(opponent, []).append((decisions, estimate))
        except ValueError as error:
            raise ValueError(f"{folder}: the logs of the training are damaged: {error}") from None
        rollouts += _is_rollout(line)

    # Columns are in any order: sort opponents and style figures.
    name = description.get("preset") or "custom rules"
    opponents = [*(facts.get("results") or {}), *curves]
    curves = {opponent: curves[opponent] for opponent in dict.fromkeys(opponents) if opponent in curves}
    shown = [figure for figure in figures.STYLE_FIGURES if figure in styles]
    by_figure = {
        figure: {opponent: styles[figure][opponent] for opponent in curves if opponent in styles[figure]}
        for figure in shown
    }
    return TrainingRun(folder, name, facts, curves, by_figure)


def _estimates(line: Mapping[str, str], prefixes: tuple[str, str, str]) -> dict[str, Estimate]:
    """Return the estimates of a line: columns with the first prefix, and bounds with the other two."""
    estimates = {}
    for column, value in line.items():
        if column and value and column.startswith(prefixes[0]):  # in a line that is too long, a column is None
            name = column.removeprefix(prefixes[0])
            texts = [line.get(prefix + name) for prefix in prefixes]
            estimates[name] = Estimate(*(float(text) if text else math.nan for text in texts))
    return estimates


def write_curves(folder: Path) -> list[Path]:
    """Draw a training run's curves into its folder: ``learning.png`` and, if its style was measured, ``style.png``.

    Each file is replaced atomically. Returns the files written, none if nothing was measured yet.

    Raises
    ------
    ValueError
        The folder holds no training run, or a damaged one.
    """
    run = read_run(folder)
    if run is None:
        raise ValueError(f"{folder}: no training run: expected {DESCRIPTION_FILE} and {LOGS} of train.py")
    paths = []
    for name, figure in run.figures().items():
        path = folder / f"{name}.png"
        replace_file(path, page.png_of(figure))
        paths.append(path)
    return paths


def _is_rollout(line: Mapping[str, str]) -> bool:
    return any(line.get(column) for column in _ROLLOUT)


def run_part(run: TrainingRun, pictures: page.Pictures) -> page.Part:
    """Return the part of the page about a training run."""
    facts, title = run.facts, run.title
    shown = [
        ("rules", run.name),
        ("method", str(facts.get("method", page.NOTHING))),
        ("decisions", f"{facts['decisions']:,} (of these {facts.get('decisions_of_teacher') or 0:,} by its teacher)"),
        ("minutes", str(facts.get("minutes", page.NOTHING))),
        ("seed", str(facts.get("seed", page.NOTHING))),
        ("opponents", ", ".join(facts.get("opponents") or [])),
        ("rewards", f"{facts.get('reward', page.NOTHING)}, for each {facts.get('episode', page.NOTHING)}"),
    ]

    opening = page.facts([fact for fact in shown if fact[1]])
    if facts.get("command"):
        opening += page.paragraph("The command that repeats it:", "quiet") + page.command(facts["command"])
    if not run.curves:
        return page.Part(title, opening + page.paragraph("Nothing was measured yet."), [])

    drawn = run.figures()
    chapters = [_learning_chapter(run, drawn[LEARNING], pictures)]
    if STYLE in drawn:
        chapters.append(_style_chapter(run, drawn[STYLE], pictures))
    return page.Part(title, opening, chapters)


def _learning_chapter(run: TrainingRun, figure: Figure, pictures: page.Pictures) -> page.Chapter:
    alternative = f"{run.title}: {page.POINTS} against each opponent by decisions"
    picture = pictures.add(LEARNING, figure, alternative)
    text = (
        "Net points per deal against each evaluation opponent, always on the same duplicate deals; above 0 the learner "
        "wins. The last measurement has the most deals. Each panel has its own scale."
    )
    rows = [
        (name, curve[0][1], max((result for _, result in curve), key=lambda result: result.value), curve[-1][1])
        for name, curve in run.curves.items()
    ]
    table = page.table(["against", "first measured", "highest", "at the end"], rows)
    return page.Chapter("Learning curves", picture + table + page.paragraph(text, "quiet"))


def _style_chapter(run: TrainingRun, figure: Figure, pictures: page.Pictures) -> page.Chapter:
    picture = pictures.add(STYLE, figure, f"{run.title}: how it plays against each opponent by decisions")
    text = (
        "The learner's style in the deals of these measurements (the table: in the last of them), with shaded 95 % "
        "confidence intervals. Knocks: deals that it ends, gin included. Undercut: it knocked and did not win. If "
        "partners trade: exchanges are offers answered with a card other than the one on offer; melded at once are "
        "received cards that do not add to the hand's deadwood."
    )

    shown = [figures.STYLE_FIGURES[name] for name in run.styles]
    rows: list[list[page.Cell]] = []
    for opponent in run.curves:
        last = [curves[opponent][-1][1] if opponent in curves else NO_FIGURE for curves in run.styles.values()]
        cells = [
            page.figure_text(estimate, style.scale, style.digits, sign=False)
            for estimate, style in zip(last, shown, strict=True)
        ]
        rows.append([opponent, *cells])
    table = page.table(["against", *(style.heading for style in shown)], rows)
    return page.Chapter("Style of play", picture + table + page.paragraph(text, "quiet"))
