"""What a match is counted up to: numbers of each play, and sums. Tallies of single blocks of pairs add up exactly.

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

#: Own turns of a deal told apart in the curve of deadwood by turn; later ones are left out of it.
NUM_TURNS = 25


@dataclass(frozen=True, eq=False)
class Tally:
    """The numbers of a match, or of a block of its pairs.

    Attributes
    ----------
    points : int64, shape (n, T, S)
        Net points of each side's teams in each play, end bonuses of games included; zero-sum over the sides.
    deals : int64, shape (n, T, S)
        Deals in which each side took part (not those that it sat out where three rotate).
    winner : int8, shape (n, T)
        The side that won the episode, -1 for none.
    num_deals : int64, shape (n, T)
        Deals played, sat out or not.
    style : int64, shape (S, 16)
        Sums of ``agents.arena.match.style.SUMS``.
    events : int64, shape (S, places, 9)
        Sums of ``gin_env.episodes.seat_events.EVENT_NAMES`` for each seat of the side's teams.
    deadwood, discards : int64, shape (S, NUM_TURNS)
        Points of deadwood left after a seat's first, second, ... discard of a deal, added up, and those discards.
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
    def join(cls, parts: Sequence[Tally]) -> Tally:
        """Return the tally of several blocks, in their order."""
        joined = {}
        for field in fields(cls):
            arrays = [getattr(part, field.name) for part in parts]
            joined[field.name] = np.concatenate(arrays) if field.name in BY_PAIR else np.sum(arrays, axis=0)
        return cls(**joined)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values for JSON: each array's shape and type, and its bytes compressed as text."""
        return {field.name: _written(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Tally:
        """Read what ``to_dict`` wrote; raises ``ValueError`` or ``KeyError`` for anything else."""
        return cls(**{field.name: _read(values[field.name]) for field in fields(cls)})


#: The arrays with an entry for each pair; the others are sums.
BY_PAIR = ("points", "deals", "winner", "num_deals")


def _written(array: NDArray[Any]) -> dict[str, Any]:
    packed = base64.b64encode(zlib.compress(np.ascontiguousarray(array).tobytes())).decode("ascii")
    return {"dtype": array.dtype.str, "shape": list(array.shape), "zlib": packed}


def _read(values: dict[str, Any]) -> NDArray[Any]:
    raw = zlib.decompress(base64.b64decode(values["zlib"]))
    return np.frombuffer(raw, dtype=values["dtype"]).reshape(values["shape"])
