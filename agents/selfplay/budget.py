"""How long a training lasts: a number of minutes or of decisions, and the share of it that is used up."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from agents.cli import UserError


@dataclass
class Budget:
    """Minutes or decisions, exactly one of the two.

    Parameters
    ----------
    minutes : float, optional
    decisions : int, optional
    decisions_made : int
        Decisions of the budget that were made before, by the run that is resumed.
    seconds_before : float
        Seconds of the budget that were used before, by the run that is resumed.

    Raises
    ------
    UserError
        Both or neither are given, or the one that is given is not above 0.
    """

    minutes: float | None = None
    decisions: int | None = None
    decisions_made: int = 0
    seconds_before: float = 0.0
    start: float = field(init=False, default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if (self.minutes is None) == (self.decisions is None):
            raise UserError("--minutes and --timesteps: give one of them, not both")
        if self.minutes is not None and not 0 < self.minutes < float("inf"):
            raise UserError(f"--minutes: expected a number above 0, got {self.minutes:g}")
        if self.decisions is not None and self.decisions <= 0:
            raise UserError(f"--timesteps: expected a number above 0, got {self.decisions}")

    @property
    def seconds(self) -> float:
        """Seconds used so far, without pauses."""
        return self.seconds_before + time.monotonic() - self.start

    @property
    def speed(self) -> float:
        """Decisions per second."""
        return self.decisions_made / max(self.seconds, 1e-9)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock for the block, for example during a measurement."""
        pause_start = time.monotonic()
        yield
        self.start += time.monotonic() - pause_start

    @property
    def fraction(self) -> float:
        """The share of the budget that is used up, from 0 to 1."""
        if self.decisions is not None:
            return min(self.decisions_made / self.decisions, 1.0)
        assert self.minutes is not None
        return min(self.seconds / (60 * self.minutes), 1.0)

    @property
    def is_spent(self) -> bool:
        """Whether the training is over."""
        return self.fraction >= 1.0

    def between(self, first: float, last: float) -> float:
        """Return a value that moves linearly from ``first`` at the start to ``last`` at the end of the budget."""
        return first + (last - first) * self.fraction
