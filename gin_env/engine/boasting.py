"""Boasting (``boast``): a seat announces that it will win, and may not end the deal for some turns.

Once in a deal, between the draw and the discard. What a boast pays is settled when the deal ends, by
:mod:`gin_env.scoring.showdown`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NO_CARD, Rows, UInt64Array
from gin_env.engine.state import State, log_events


def boast(state: State, rows: Rows, actions: NDArray[np.intp]) -> None:
    """Record the movers' boasts, and bar them from knocking for ``boast_wait_turns`` of their own turns."""
    movers = state.mover[rows]
    log_events(state, rows, movers, actions, NO_CARD)

    cells = state.cell(rows, movers)
    state.boasted.reshape(-1)[cells] = 1
    state.boast_bar.reshape(-1)[cells] = state.rules.boast_wait_turns


def count_turn(state: State, cells: NDArray[np.intp]) -> None:
    """Count a completed turn against the bars of its seats."""
    bars = state.boast_bar.reshape(-1)
    bars[cells] = np.maximum(bars[cells], 1) - 1


def is_barred(state: State, cells: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which seats (M,) may not end the deal because they have boasted."""
    return state.boast_bar.reshape(-1)[cells] > 0


def apply_to_words(state: State, cells: NDArray[np.intp], words: UInt64Array) -> None:
    """Add the boast to the movers' action bitmasks (M, W), and remove knocks and big gin of barred seats."""
    layout = state.layout
    words[:, 0] |= np.uint64(1 << layout.boast) * (state.boasted.reshape(-1)[cells] == 0)

    barred = is_barred(state, cells)
    words[barred, layout.knock_word] = 0
    if layout.big_gin >= 0:
        words[barred, 0] &= ~np.uint64(1 << layout.big_gin)
