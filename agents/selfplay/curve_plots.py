"""The curves of a training drawn into its folder, now and then while it goes on and once at its end."""

from __future__ import annotations

import shlex
import sys
import time
from pathlib import Path

from agents.selfplay.budget import Budget

#: Seconds between two drawings of the curves while a training goes on: each takes most of a second.
DRAWN_EVERY = 30.0


class CurveDrawing:
    """Draws a training's curves from its logs.

    Parameters
    ----------
    folder : Path
        The training's; its logs lie there, and its pictures come there.
    budget : Budget
        Its clock stops while curves are drawn.

    Attributes
    ----------
    pictures : list of Path
        The curves as they were drawn last; none before, or where they could not be drawn.
    """

    def __init__(self, folder: Path, budget: Budget) -> None:
        self.folder, self.budget = folder, budget
        self.pictures: list[Path] = []
        self._is_measured, self._last_drawn = False, time.monotonic()  # measured since the curves were drawn

    def note_measurement(self) -> None:
        """Take note that the training was measured: its curves have something new to show."""
        self._is_measured = True

    @property
    def is_due(self) -> bool:
        """Whether there is something new to show and the last drawing is ``DRAWN_EVERY`` seconds ago."""
        return self._is_measured and time.monotonic() - self._last_drawn > DRAWN_EVERY

    def draw(self) -> None:
        """Draw the curves anew; where that fails, warn and have no pictures."""
        self._is_measured, self._last_drawn = False, time.monotonic()
        with self.budget.paused():
            try:
                from agents.arena.report.training import write_curves  # matplotlib takes a while to import

                self.pictures = write_curves(self.folder)
            except Exception as error:  # whatever it is, no training ends for want of a picture
                self.pictures = []
                print(
                    f"warning: the curves of {self.folder} were not drawn ({type(error).__name__}: {error}); "
                    f"once that is mended: python evaluate.py report {shlex.quote(str(self.folder))}",
                    file=sys.stderr,
                )
