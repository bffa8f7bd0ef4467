"""How a deal ended (``Kind``) and the result of a batch of showdowns (``Showdown``)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import UInt64Array


class Kind(IntEnum):
    """How a deal ended."""

    NONE = 0  #: not yet
    DEAD = 1
    KNOCK = 2
    GIN = 3
    SMALL_GIN = 4
    TEAM_GIN = 5
    BIG_GIN = 6
    UNDERCUT = 7


class SettledDeals(Protocol):
    """What a ``Showdown`` and a ``State`` have in common: one row for each settled deal."""

    kind: NDArray[np.uint8]
    winner: NDArray[np.int8]
    knocker: NDArray[np.uint8]
    boasted: NDArray[np.uint8]
    points: NDArray[np.int32]
    net_points: NDArray[np.int32]
    deadwood: NDArray[np.uint8]
    set_bits: UInt64Array
    run_bits: UInt64Array
    laid_bits: UInt64Array


@dataclass(eq=False)
class Showdown:
    """What the showdowns of R deals come to (arrays named as in ``State``, with R rows)."""

    kind: NDArray[np.uint8]
    winner: NDArray[np.int8]
    knocker: NDArray[np.uint8]
    boasted: NDArray[np.uint8]
    points: NDArray[np.int32]
    net_points: NDArray[np.int32]
    deadwood: NDArray[np.uint8]
    set_bits: UInt64Array
    run_bits: UInt64Array
    laid_bits: UInt64Array
