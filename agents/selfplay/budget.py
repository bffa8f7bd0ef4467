"""How long a training goes on: minutes or decisions, and how far it has come."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

from agents.cli import UserError


@dataclass
class Budget:
    """Minutes or decisions, whichever of the two is given.

    Parameters
    ----------
    minutes : float, optional
    decisions : int, optional
    made : int
        Decisions of the budget that were made before.
    before : float
        Seconds of the budget that were used before.

    Raises
    ------
    UserError
        Both or neither are given, or one that is not above 0.
    """

    minutes: float | None = None
    decisions: int | None = None
    made: int = 0
    before: float = 0.0
    start: float = field(init=False, default_factory=time.monotonic)

    def __post_init__(self) -> None:
        if (self.minutes is None) == (self.decisions is None):
            raise UserError("--minutes and --timesteps: give one of them, not both")
        if self.minutes is not None and not 0 < self.minutes < float("inf"):
            raise UserError(f"--minutes {self.minutes:g}: must be above 0")
        if self.decisions is not None and self.decisions <= 0:
            raise UserError(f"--timesteps {self.decisions}: must be above 0")

    @property
    def seconds(self) -> float:
        """Seconds used so far, without pauses."""
        return self.before + time.monotonic() - self.start

    @property
    def speed(self) -> float:
        """Decisions a second."""
        return self.made / max(self.seconds, 1e-9)

    @contextlib.contextmanager
    def paused(self) -> Iterator[None]:
        """Stop the clock, for measurements."""
        begun = time.monotonic()
        yield
        self.start += time.monotonic() - begun

    @property
    def fraction(self) -> float:
        """The share that is used up, 0 to 1."""
        if self.decisions is not None:
            return min(self.made / self.decisions, 1.0)
        assert self.minutes is not None
        return min(self.seconds / (60 * self.minutes), 1.0)

    @property
    def is_spent(self) -> bool:
        """Whether the training is to end."""
        return self.fraction >= 1.0

    def between(self, first: float, last: float) -> float:
        """Return a value that moves evenly from ``first`` at the start to ``last`` at the end."""
        return first + (last - first) * self.fraction
