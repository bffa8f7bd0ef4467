"""Named sections of a feature vector, and the writer through which every encoder fills them.

A section is addressed by its name alone: no module counts offsets. Writing values of another shape fails.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class Section:
    """A named stretch of the vector."""

    name: str
    width: int
    meaning: str
    start: int = 0


class SectionLayout:
    """Sections one after another.

    Parameters
    ----------
    widths : sequence of (str, int, str)
        Name, width and meaning of each section, in order.

    Attributes
    ----------
    sections : tuple of Section
    size : int
        The width of all sections together.
    columns : dict of str to int or slice
        Where each section is: an int for a section of one column.
    """

    def __init__(self, widths: Sequence[tuple[str, int, str]]) -> None:
        starts = np.cumsum([0, *(width for _, width, _ in widths)]).tolist()
        self.sections = tuple(
            Section(name, width, meaning, start)
            for (name, width, meaning), start in zip(widths, starts[:-1], strict=True)
        )
        self.size: int = starts[-1]
        self.columns: dict[str, int | slice] = {
            section.name: section.start if section.width == 1 else slice(section.start, section.start + section.width)
            for section in self.sections
        }

    def writer(self, out: NDArray[Any]) -> SectionWriter:
        """Return a writer into ``out`` (M, size)."""
        assert out.shape == (len(out), self.size), f"out: expected rows of {self.size} columns, got {out.shape}"
        return SectionWriter(out, self.columns)


class SectionWriter:
    """Reads and writes the sections of M rows by name: ``features["prospects"] = values``.

    A section of one column has shape (M,), any other (M, width). Assigning copies the values into the rows;
    indexing returns a view of the rows, for writing single cells.
    """

    __slots__ = ("_columns", "_out")

    def __init__(self, out: NDArray[Any], columns: dict[str, int | slice]) -> None:
        self._out, self._columns = out, columns

    def __getitem__(self, name: str) -> NDArray[Any]:
        return self._out[:, self._columns[name]]

    def __setitem__(self, name: str, values: NDArray[Any]) -> None:
        section = self._out[:, self._columns[name]]
        assert values.shape == section.shape, (
            f"section {name}: expected values of shape {section.shape}, got {values.shape}"
        )
        section[...] = values
