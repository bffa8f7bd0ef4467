"""A training run in a report: its learning curves read from the logs, and what is told of it."""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from agents.arena.report import figures, page
from agents.arena.statistics import Estimate
from agents.model_files import DESCRIPTION_FILE, read_description

#: The logs of a run: progress.csv, progress-2.csv, ... for each resume.
LOGS = "logs/progress*.csv"
#: Columns of the logs: the result against an opponent, and the bounds of its interval where they are logged.
_RESULT, _LOW, _HIGH = "eval/", "eval_low/", "eval_high/"
#: A line of the logs that holds one of these tells of a rollout.
_ROLLOUT = ("clone/agreement", "train/loss")


class TrainingRun(NamedTuple):
    """A folder of ``train.py``."""

    folder: Path
    name: str  #: the rules'
    facts: Mapping[str, Any]  #: how it was trained, as its model tells it
    curves: dict[str, list[tuple[int, Estimate]]]  #: by opponent: decisions, and net points per deal measured then


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
    rollouts = 0
    for line in lines:
        for column, value in line.items():
            if column and value and column.startswith(_RESULT):  # a line too long has a column None
                name = column.removeprefix(_RESULT)
                texts = (value, line.get(_LOW + name), line.get(_HIGH + name))
                try:
                    estimate = Estimate(*(float(text) if text else math.nan for text in texts))
                except ValueError as error:
                    raise ValueError(f"{folder}: the logs of the training are damaged: {error}") from None
                curves.setdefault(name, []).append((round(rollouts * per_rollout), estimate))
        rollouts += _is_rollout(line)
    name = description.get("preset") or "rules of its own"
    return TrainingRun(folder, name, facts, curves)


def _is_rollout(line: Mapping[str, str]) -> bool:
    return any(line.get(column) for column in _ROLLOUT)


def run_part(run: TrainingRun, pictures: page.Pictures) -> page.Part:
    """Return what is told of a training run."""
    facts = run.facts
    title = f"Training {run.folder.resolve().name}: {run.name}"
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
    figure = figures.learning_curves(run.curves, title, facts.get("decisions_of_teacher") or 0)
    picture = pictures.add("learning", figure, f"{title}: {page.POINTS} against each opponent by decisions")
    text = (
        "Net points per deal against each opponent of its panel, always on the same duplicate deals; above 0 the "
        "learner wins. The last measurement has the most deals. Each picture has a scale of its own."
    )
    rows = [
        (name, curve[0][1], max((result for _, result in curve), key=lambda result: result.value), curve[-1][1])
        for name, curve in run.curves.items()
    ]
    table = page.table(["against", "first measured", "highest", "at the end"], rows)
    return page.Part(title, opening, [page.Chapter("Learning curves", picture + table + page.paragraph(text, "quiet"))])
