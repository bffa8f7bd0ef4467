"""Errors of our own, each a kind of ``ValueError``, and the checks that every public door shares."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


class IllegalAction(ValueError):
    """An action that the position does not allow; the message names it, the phase and what is legal."""


class AgentError(ValueError):
    """What an agent returned cannot be played; the message names the agent and what is legal.

    ``row`` is the row of its view in which it chose something illegal, None where all of its answer is wrong.
    """

    row: int | None = None


class InvalidPosition(ValueError):
    """A deck, dealer or position that cannot be played; the message says why."""


def whole_number(name: str, value: Any, low: int, high: int | None = None, what: str = "whole number") -> int:
    """Return a whole number as an int; raises ``ValueError`` naming the argument, the value and the range."""
    span = f"from {low} to {high}" if high is not None else f"of at least {low}"
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < low or (high is not None and number > high):
        raise ValueError(f"{name}={value!r}: must be a {what} {span}")
    return number


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """Return a question that names what is closest to a wrong name, with a space after it; "" if nothing is close."""
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f"did you mean {close[0]!r}? " if close else ""


def check_names(names: Sequence[str], count: int) -> None:
    """Raise ``ValueError`` unless there is a name for each of so many seats."""
    are_texts = isinstance(names, Sequence) and not isinstance(names, str) and all(isinstance(n, str) for n in names)
    if not are_texts or len(names) != count:
        raise ValueError(f"names={names!r}: one name for each of the {count} seats is needed")


def row_index(rows: ArrayLike, num_rows: int) -> NDArray[np.intp]:
    """Return row numbers from numbers or from a mask of all rows; raises ``ValueError`` for rows that are none."""
    array = np.atleast_1d(np.asarray(rows))
    if array.dtype == np.bool_:
        if array.shape != (num_rows,):
            raise ValueError(f"a mask of rows has shape {array.shape}: ({num_rows},) is needed")
        return array.nonzero()[0]
    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"rows hold {array.dtype} values: row numbers or a mask of booleans are needed")
    if array.size and (array.min() < 0 or array.max() >= num_rows):
        wrong = array[(array < 0) | (array >= num_rows)][0]
        raise ValueError(f"row {wrong} is none: the rows are 0 to {num_rows - 1}")
    return array.astype(np.intp, copy=False)
