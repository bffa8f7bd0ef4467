"""Checking actions before anything is changed: an illegal one raises and names what is legal."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.actions import ActionLayout
from gin_env.errors import IllegalAction
from gin_env.state import Phase, State

Rows = NDArray[np.intp]

_OVER = int(Phase.OVER)


def checked_actions(
    state: State, dealt: NDArray[np.bool_], rows: Rows, actions: NDArray[np.intp]
) -> tuple[Rows, NDArray[np.intp]]:
    """Return rows and actions without those of deals that are over.

    ``dealt`` (N,) says which rows have ever been dealt.

    Raises
    ------
    IllegalAction
        For the first action that is not legal.
    ValueError
        Nothing was dealt yet.
    """
    layout = state.layout
    if len(rows) == 1 and _is_legal(state, layout, rows.item(), actions.item()):
        return rows, actions
    in_range = actions.view(np.uint64) < layout.size  # negative ones are huge
    known = actions if np.count_nonzero(in_range) == len(rows) else np.where(in_range, actions, 0)
    allowed = state.legal.reshape(-1)[rows * layout.num_words + layout.word_of[known]] & layout.bit_of[known]
    if known is actions and np.count_nonzero(allowed) == len(rows):
        return rows, actions
    if not dealt[rows].all():
        raise ValueError("nothing is dealt yet: call reset() first")
    live = state.phase[rows] != _OVER
    illegal = (live & ~(in_range & (allowed != 0))).nonzero()[0]
    if len(illegal):
        _raise_illegal(state, layout, int(rows[illegal[0]]), int(actions[illegal[0]]))
    return rows[live], actions[live]


def _is_legal(state: State, layout: ActionLayout, row: int, action: int) -> bool:
    if not 0 <= action < layout.size:
        return False
    return bool(state.legal.item(row, layout.word_of.item(action)) & layout.bit_of.item(action))


def _raise_illegal(state: State, layout: ActionLayout, row: int, action: int) -> None:
    known = 0 <= action < layout.size
    text = f"{layout.text(action)!r} (action {action})" if known else f"action {action}"
    phase = Phase(int(state.phase[row])).name.lower()
    legal = ", ".join(layout.texts(state.legal[row]))
    raise IllegalAction(
        f"{text} is not legal for seat {state.mover[row]} in phase {phase} of deal {row}; legal: {legal}"
    )
