"""The learning curves of a training, drawn into its folder from time to time and at its end."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

from agents.selfplay.budget import Budget

#: Seconds between two drawings of the curves during a training: each takes most of a second.
SECONDS_BETWEEN_DRAWINGS = 30.0


class CurvePlotter:
    """Draws a training's curves from its logs.

    Parameters
    ----------
    folder : Path
        The training's folder: its logs are read, and the pictures are written into it.
    budget : Budget
        Its clock stops while curves are drawn.

    Attributes
    ----------
    pictures : list of Path
        The pictures of the last drawing; empty before the first one and after one that failed.
    """

    def __init__(self, folder: Path, budget: Budget) -> None:
        self.folder, self.budget = folder, budget
        self.pictures: list[Path] = []
        self._has_new_results = False
        self._last_drawn = time.monotonic()

    def note_measurement(self) -> None:
        """Note that the training was measured, so that the curves have something new to show."""
        self._has_new_results = True

    @property
    def is_due(self) -> bool:
        """Whether there are new results and the last drawing was ``SECONDS_BETWEEN_DRAWINGS`` seconds ago."""
        return self._has_new_results and time.monotonic() - self._last_drawn > SECONDS_BETWEEN_DRAWINGS

    def draw(self) -> None:
        """Draw the curves. Where that fails, print a warning: a failed picture never ends a training."""
        self._has_new_results = False
        self._last_drawn = time.monotonic()
        with self.budget.paused():
            try:
                from agents.arena.report.training import write_curves  # matplotlib takes a while to import

                self.pictures = write_curves(self.folder)
            except Exception as error:
                self.pictures = []
                print(
                    f"warning: the curves of {self.folder} were not drawn ({type(error).__name__}: {error}); "
                    f"to draw them later: python evaluate.py report {shlex.quote(str(self.folder))}",
                    file=sys.stderr,
                )
