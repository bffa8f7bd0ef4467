"""Deals at two tables (mode ``two_tables``): decks and dealers given for both, as the engine's rows need them.

The engine plays each table in a row of its own. What the two pay together is counted by
:mod:`gin_env.scoring.two_tables`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.cards import NUM_CARDS
from gin_env.errors import InvalidPosition


def per_table(dealers: ArrayLike, num_rows: int, num_seats: int) -> NDArray:
    """Return a dealer for each of two tables, (num_rows, 2), from one pair for all rows or a pair for each."""
    array = np.asarray(dealers)
    if array.shape not in ((2,), (num_rows, 2)):
        raise InvalidPosition(
            f"dealers have shape {array.shape}: expected a seat from 0 to {num_seats - 1} for each of the two tables, "
            f"as one pair for all rows or as a pair for each of {num_rows}"
        )
    return np.broadcast_to(array, (num_rows, 2))


def decks_of_tables(decks: ArrayLike, num_rows: int) -> NDArray:
    """Return decks for the two tables of each row, one after another (2 * num_rows, 52)."""
    array = np.asarray(decks)
    if array.shape not in ((2, NUM_CARDS), (num_rows, 2, NUM_CARDS)):
        raise InvalidPosition(
            f"decks have shape {array.shape}: expected {NUM_CARDS} card ids for each of the two tables, as "
            f"{(2, NUM_CARDS)} for all rows or {(num_rows, 2, NUM_CARDS)}"
        )
    return np.broadcast_to(array, (num_rows, 2, NUM_CARDS)).reshape(-1, NUM_CARDS)
