"""What a training shows in the terminal: a progress bar, measurements, and what to do after an interruption."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from agents.arena import MatchResult
from agents.selfplay.result_tables import results_line
from agents.selfplay.trainer import Trainer


class ProgressDisplay:
    """A bar with the share of the budget that is used up, the decisions and their speed.

    >>> with ProgressDisplay(trainer, console) as display:
    ...     trainer.collect(display.update)

    Parameters
    ----------
    trainer : Trainer
    console : rich.console.Console
    """

    def __init__(self, trainer: Trainer, console: Console) -> None:
        self._trainer = trainer
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.percentage:>3.0f}%  {task.fields[decisions]:,} decisions  {task.fields[speed]:,.0f}/s"),
            TimeElapsedColumn(),
            console=console,
        )
        self._task = self._progress.add_task("training", total=1.0, decisions=trainer.num_decisions, speed=0.0)

    def __enter__(self) -> ProgressDisplay:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._progress.stop()

    def update(self) -> None:
        """Show how far the training has come."""
        trainer = self._trainer
        self._progress.update(
            self._task,
            completed=trainer.budget.fraction,
            decisions=trainer.num_decisions,
            speed=trainer.budget.speed,
        )

    def show_results(self, matches: Sequence[MatchResult]) -> None:
        """Print the results of a measurement above the bar."""
        line = f"{self._trainer.num_decisions:>11,}   {results_line(matches)}"
        self._progress.console.print(line, highlight=False, markup=False)


@contextlib.contextmanager
def explained_interruption(trainer: Trainer, how_to_continue: str) -> Iterator[None]:
    """Turn Ctrl-C into one line that says what is saved and how to continue; nothing saved, it passes through."""
    try:
        yield
    except KeyboardInterrupt:
        if trainer.saved_decisions is None:
            raise
        sys.exit(f"interrupted; {trainer.saved_decisions:,} decisions are saved; {how_to_continue}")
