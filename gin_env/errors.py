"""The exceptions of gin_env, each a kind of ``ValueError``, and the argument checks that its public functions share."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


class IllegalAction(ValueError):
    """An action that the position does not allow; the message names it, the phase and the legal actions."""


class AgentError(ValueError):
    """An agent's answer that cannot be played; the message names the agent and the legal actions.

    ``row`` is the row of the view for which the agent chose an illegal action, or None if the whole answer is wrong.
    """

    row: int | None = None


class InvalidPosition(ValueError):
    """A deck, dealer or position that cannot be played; the message says why."""


def whole_number(name: str, value: Any, low: int, high: int | None = None, what: str = "whole number") -> int:
    """Return a whole number as an int.

    Parameters
    ----------
    name : str
        The argument's name, for the message.
    value : Any
        Any integer type is accepted, but no bool.
    low, high : int
        The allowed range, both ends included; without ``high`` there is no upper bound.
    what : str
        What the message calls such a number, for example ``"seat"``.

    Raises
    ------
    ValueError
        Not a whole number, or out of range.
    """
    try:
        number = operator.index(value)
    except TypeError:
        number = None

    is_too_high = number is not None and high is not None and number > high
    if number is None or isinstance(value, bool) or number < low or is_too_high:
        allowed = f"from {low} to {high}" if high is not None else f"of at least {low}"
        raise ValueError(f"{name}={value!r}: must be a {what} {allowed}")
    return number


def did_you_mean(name: Any, known: Iterable[str]) -> str:
    """Return a question naming the known name closest to a wrong one, with a trailing space; "" if none is close."""
    close = difflib.get_close_matches(str(name), list(known), n=1)
    return f"did you mean {close[0]!r}? " if close else ""


def check_names(names: Sequence[str], count: int) -> None:
    """Raise ``ValueError`` unless ``names`` holds ``count`` strings, one for each seat."""
    is_list_of_texts = (
        isinstance(names, Sequence) and not isinstance(names, str) and all(isinstance(name, str) for name in names)
    )
    if not is_list_of_texts or len(names) != count:
        raise ValueError(f"names: expected one name for each of the {count} seats, got {names!r}")


def row_index(rows: ArrayLike, num_rows: int) -> NDArray[np.intp]:
    """Return row numbers (M,), given as numbers or as a mask of all rows (N,).

    Raises
    ------
    ValueError
        A mask of another length, values that are not integers, or a row that does not exist.
    """
    array = np.atleast_1d(np.asarray(rows))

    if array.dtype == np.bool_:
        if array.shape != (num_rows,):
            raise ValueError(f"a mask of rows: expected shape ({num_rows},), got {array.shape}")
        return array.nonzero()[0]

    if array.size and array.dtype.kind not in "iu":
        raise ValueError(f"rows: expected row numbers or a mask of booleans, got {array.dtype} values")
    if array.size and (array.min() < 0 or array.max() >= num_rows):
        wrong = array[(array < 0) | (array >= num_rows)][0]
        raise ValueError(f"row {wrong} does not exist: the rows are 0 to {num_rows - 1}")
    return array.astype(np.intp, copy=False)
