"""The counts of a match: numbers for each play, and sums. Tallies of blocks of pairs add up exactly.

Shape letters: **n** pairs, **T** plays of each (one for each team), **S** sides.
"""

from __future__ import annotations

import base64
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

#: Turns of a seat in the curve of deadwood by turn; later turns are left out.
NUM_TURNS = 25


@dataclass(frozen=True, eq=False)
class Tally:
    """The counts of a match, or of a block of its pairs.

    Attributes
    ----------
    points : int64, shape (n, T, S)
        Net points of each side's teams in each play, end bonuses of games included; zero-sum over the sides.
    deals : int64, shape (n, T, S)
        Deals in which each side took part; where three players rotate, not those that it sat out.
    winner : int8, shape (n, T)
        The side that won the episode, -1 for none.
    num_deals : int64, shape (n, T)
        Deals played, including those that a side sat out.
    style : int64, shape (S, 16)
        Sums of ``agents.arena.match.style.SUMS``.
    events : int64, shape (S, places, 9)
        Sums of ``gin_env.episodes.seat_events.EVENT_NAMES`` for each seat of the side's teams.
    deadwood, discards : int64, shape (S, NUM_TURNS)
        Sum of the deadwood left after a seat's 1st, 2nd, ... discard of a deal, and the number of these discards.
    """

    points: NDArray[np.int64]
    deals: NDArray[np.int64]
    winner: NDArray[np.int8]
    num_deals: NDArray[np.int64]
    style: NDArray[np.int64]
    events: NDArray[np.int64]
    deadwood: NDArray[np.int64]
    discards: NDArray[np.int64]

    def __len__(self) -> int:
        """Return n."""
        return len(self.points)

    @classmethod
    def join(cls, blocks: Sequence[Tally]) -> Tally:
        """Return the tally of several blocks, in their order."""
        joined = {}
        for field in fields(cls):
            arrays = [getattr(block, field.name) for block in blocks]
            joined[field.name] = np.concatenate(arrays) if field.name in BY_PAIR else np.sum(arrays, axis=0)
        return cls(**joined)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: each array's shape and type, and its bytes compressed as text."""
        return {field.name: _array_to_json(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Tally:
        """Read what ``to_dict`` wrote; raises ``ValueError`` or ``KeyError`` for anything else."""
        return cls(**{field.name: _array_from_json(values[field.name]) for field in fields(cls)})


#: The arrays with one entry for each pair; the others are sums.
BY_PAIR = ("points", "deals", "winner", "num_deals")


def _array_to_json(array: NDArray[Any]) -> dict[str, Any]:
    packed = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes())).decode("ascii")
    return {"dtype": array.dtype.str, "shape": list(array.shape), "zlib": packed}


def _array_from_json(values: dict[str, Any]) -> NDArray[Any]:
    raw = zlib.decompress(base64.b64decode(values["zlib"]))
    return np.frombuffer(raw, dtype=values["dtype"]).reshape(values["shape"])
