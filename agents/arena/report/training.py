"""A training run: its curves read from the logs, drawn into its folder, and what a report tells of it."""

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
#: Columns of the logs: the result against an opponent, and the bounds of its interval where they are logged.
_RESULT = ("eval/", "eval_low/", "eval_high/")
#: Columns with the learner's style: these, the name of the figure, a slash and the opponent.
_STYLE = ("style/", "style_low/", "style_high/")
#: What the pictures of the curves are called.
LEARNING, STYLE = "learning", "style"
#: A line of the logs that holds one of these tells of a rollout.
_ROLLOUT = ("clone/agreement", "train/loss")


class TrainingRun(NamedTuple):
    """A folder of ``train.py``."""

    folder: Path
    name: str  #: the rules'
    facts: Mapping[str, Any]  #: how it was trained, as its model tells it
    curves: dict[str, list[tuple[int, Estimate]]]  #: by opponent: decisions, and net points per deal measured then
    styles: dict[str, dict[str, list[tuple[int, Estimate]]]]  #: by figure of style and by opponent

    @property
    def title(self) -> str:
        """What was trained."""
        return f"Training {self.folder.resolve().name}: {self.name}"

    @property
    def teacher_decisions(self) -> int:
        """How many of its decisions cloned a teacher."""
        return self.facts.get("decisions_of_teacher") or 0

    def figures(self) -> dict[str, Figure]:
        """Return the pictures of its curves, by what they are called; none where it was not measured so far."""
        drawn = {}
        if self.curves:
            drawn[LEARNING] = learning_curves(self.curves, self.title, self.teacher_decisions)
        if self.styles:
            drawn[STYLE] = style_curves(self.styles, f"{self.title}, how it plays", self.teacher_decisions)
        return drawn


def read_run(folder: Path) -> TrainingRun | None:
    """Return a folder's training run, None where it holds none; raises ``ValueError`` where it is damaged."""
    logs = sorted(folder.glob(LOGS), key=lambda path: (len(path.name), path.name))  # -2 before -10
    if not logs or not (folder / DESCRIPTION_FILE).is_file():
        return None
    description = read_description(folder)
    facts = description.get("training")
    if not isinstance(facts, dict) or not isinstance(facts.get("decisions"), int):
        raise ValueError(f"{folder / DESCRIPTION_FILE} does not say how many decisions the model was trained for")
    lines: list[dict[str, str]] = []
    for path in logs:
        with path.open(encoding="utf-8", newline="") as file:
            lines += csv.DictReader(file)
    # The logs do not say the decisions. Rollouts are equally long, and what a line measured was played before its own.
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
    name = description.get("preset") or "rules of its own"
    panel = [*(facts.get("results") or {}), *curves]  # columns come in any order
    curves = {opponent: curves[opponent] for opponent in dict.fromkeys(panel) if opponent in curves}
    shown = [figure for figure in figures.STYLE_FIGURES if figure in styles]
    by_figure = {
        figure: {opponent: styles[figure][opponent] for opponent in curves if opponent in styles[figure]}
        for figure in shown
    }
    return TrainingRun(folder, name, facts, curves, by_figure)


def _estimates(line: Mapping[str, str], prefixes: tuple[str, str, str]) -> dict[str, Estimate]:
    """Return the figures of a line whose columns begin with a prefix, and with two others for the bounds."""
    found = {}
    for column, value in line.items():
        if column and value and column.startswith(prefixes[0]):  # a line too long has a column None
            name = column.removeprefix(prefixes[0])
            texts = [line.get(prefix + name) for prefix in prefixes]
            found[name] = Estimate(*(float(text) if text else math.nan for text in texts))
    return found


def write_curves(folder: Path) -> list[Path]:
    """Draw a training run's curves into its folder: ``learning.png`` and, where its style was measured, ``style.png``.

    Each file is replaced as a whole. Returns what was written, nothing where the run was not measured so far.

    Raises
    ------
    ValueError
        The folder holds no training run, or a damaged one.
    """
    run = read_run(folder)
    if run is None:
        raise ValueError(f"{folder}: no training run ({DESCRIPTION_FILE} and {LOGS}); name a folder of train.py")
    paths = []
    for name, figure in run.figures().items():
        path = folder / f"{name}.png"
        replace_file(path, page.png_of(figure))
        paths.append(path)
    return paths


def _is_rollout(line: Mapping[str, str]) -> bool:
    return any(line.get(column) for column in _ROLLOUT)


def run_part(run: TrainingRun, pictures: page.Pictures) -> page.Part:
    """Return what is told of a training run."""
    facts, title = run.facts, run.title
    shown = [
        ("rules", run.name),
        ("method", str(facts.get("method", page.NOTHING))),
        ("decisions", f"{facts['decisions']:,} (of these {facts.get('decisions_of_teacher') or 0:,} of its teacher)"),
        ("minutes", str(facts.get("minutes", page.NOTHING))),
        ("seed", str(facts.get("seed", page.NOTHING))),
        ("opponents", ", ".join(facts.get("opponents") or [])),
        ("rewards", f"{facts.get('reward', page.NOTHING)}, of each {facts.get('episode', page.NOTHING)}"),
    ]
    opening = page.facts([fact for fact in shown if fact[1]])
    if facts.get("command"):
        opening += page.paragraph("The command that repeats it:", "quiet") + page.command(facts["command"])
    if not run.curves:
        return page.Part(title, opening + page.paragraph("It was not measured so far."), [])
    drawn = run.figures()
    chapters = [_learning_chapter(run, drawn[LEARNING], pictures)]
    if STYLE in drawn:
        chapters.append(_style_chapter(run, drawn[STYLE], pictures))
    return page.Part(title, opening, chapters)


def _learning_chapter(run: TrainingRun, figure: Figure, pictures: page.Pictures) -> page.Chapter:
    alternative = f"{run.title}: {page.POINTS} against each opponent by decisions"
    picture = pictures.add(LEARNING, figure, alternative)
    text = (
        "Net points per deal against each opponent of its panel, always on the same duplicate deals; above 0 the "
        "learner wins. The last measurement has the most deals. Each picture has a scale of its own."
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
        "How the learner plays in the deals of those measurements (the table: in the last of them); shaded are the "
        "95 % intervals. Knocks: deals that it ends, gin included; undercut: it knocked and did not win. Where "
        "partners trade: exchanges are offers answered with another card than the one on offer; melded at once are "
        "cards from exchanges that save the hand their own points."
    )
    shown = [figures.STYLE_FIGURES[name] for name in run.styles]
    rows: list[list[page.Cell]] = []
    for opponent in run.curves:
        last = [curves[opponent][-1][1] if opponent in curves else NO_FIGURE for curves in run.styles.values()]
        cells = [
            page.figure_text(one, told.scale, told.digits, sign=False) for one, told in zip(last, shown, strict=True)
        ]
        rows.append([opponent, *cells])
    table = page.table(["against", *(told.heading for told in shown)], rows)
    return page.Chapter("Style of play", picture + table + page.paragraph(text, "quiet"))
