"""What is legal: the action bitmasks of the mover in each phase, and the error for an action that is not.

:func:`legal_words` returns the bitmasks of any rows, whatever their phases; the engine calls the function of one phase
where it knows the phase. :func:`checked_actions` refuses illegal actions before anything is changed. What an optional
rule allows or forbids is in the rule's own module, called from :func:`_apply_optional_rules`; a phase of its own is
added to :func:`_words_in_phase`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gin_env.cards import CARD_BITS, Rows, UInt64Array
from gin_env.cards.melds import legal_knocks
from gin_env.engine import boasting, catching, last_discard
from gin_env.engine.actions import DRAW, PASS, TAKE, ActionLayout
from gin_env.engine.knocking import big_gin_words, knock_limits
from gin_env.engine.state import PHASE_OVER, Phase, State
from gin_env.engine.trading import answer_words, offer_words
from gin_env.errors import IllegalAction

PASS_OR_TAKE = np.uint64(1 << PASS | 1 << TAKE)
DRAW_ONLY = np.uint64(1 << DRAW)
DRAW_OR_TAKE = np.uint64(1 << DRAW | 1 << TAKE)


def legal_words(state: State, rows: Rows) -> UInt64Array:
    """Return the action bitmasks of some rows (M, W), whatever their phases."""
    words = np.zeros((len(rows), state.layout.num_words), dtype=np.uint64)
    phases = state.phase[rows]
    for phase in Phase:
        places = np.flatnonzero(phases == phase)
        if len(places):
            words[places] = _words_in_phase(state, phase, rows[places])
    return words


def _words_in_phase(state: State, phase: Phase, rows: Rows) -> UInt64Array:
    """Return the action bitmasks (M, W) of rows that are in the same phase."""
    if phase is Phase.PLAY:
        return play_words(state, rows)
    if phase is Phase.TRADE_ANSWER:
        return answer_words(state, rows)
    if phase is Phase.CATCH:
        return catching.next_card_words(state, rows)
    if phase is Phase.LAST_DISCARD:
        return last_discard.offer_words(state, rows)

    without_cards = {Phase.UPCARD_OFFER: PASS_OR_TAKE, Phase.FORCED_DRAW: DRAW_ONLY, Phase.DRAW: DRAW_OR_TAKE}
    words = np.zeros((len(rows), state.layout.num_words), dtype=np.uint64)
    words[:, 0] = without_cards.get(phase, 0)
    return words


def play_words(state: State, rows: Rows) -> UInt64Array:
    """Return the action bitmasks (M, W) of movers who have drawn: discard, knock, and what the rules add to that."""
    rules, layout = state.rules, state.layout
    cells = state.cell(rows, state.mover[rows])
    hands = state.hands.reshape(-1)[cells]
    not_taken = hands & ~CARD_BITS[state.taken_card[rows]]
    discardable = not_taken if rules.forbid_return_discard else hands

    words = np.empty((len(rows), layout.num_words), dtype=np.uint64)
    words[:, 0] = 0
    words[:, layout.discard_word] = discardable
    words[:, layout.knock_word] = legal_knocks(hands, discardable, knock_limits(state, rows))
    if rules.trades:
        words[:, layout.give_word] = offer_words(state, rows, hands, not_taken)

    _apply_optional_rules(state, rows, cells, hands, words)
    return words


def _apply_optional_rules(
    state: State, rows: Rows, cells: NDArray[np.intp], hands: UInt64Array, words: UInt64Array
) -> None:
    """Change the action bitmasks (M, W) of movers who have drawn, by the rules that most games do without."""
    rules, layout = state.rules, state.layout
    if rules.has_big_gin:
        words[:, 0] |= big_gin_words(state, hands)
    if rules.catch_glass:
        words[:, layout.catch_word] = catching.first_card_words(state, rows)
    if rules.boast:
        boasting.apply_to_words(state, cells, words)
    if rules.last_discard_knock:
        last_discard.apply_to_words(state, rows, words)


def checked_actions(
    state: State, dealt: NDArray[np.bool_], rows: Rows, actions: ArrayLike
) -> tuple[Rows, NDArray[np.intp]]:
    """Return rows (M,) and the indices of their actions (M,), both without those of deals that are over.

    ``dealt`` (N,) says which rows have ever been dealt.

    Raises
    ------
    IllegalAction
        For the first action that is not legal.
    ValueError
        Not one action index for each row, or nothing was dealt yet.
    """
    actions = np.asarray(actions)
    if actions.shape != rows.shape:
        raise ValueError(f"actions have shape {actions.shape}: expected one action for each of {len(rows)} deals")
    if actions.dtype.kind not in "iu":
        raise ValueError(f"actions hold {actions.dtype} values: expected action indices (integers)")
    actions = actions.astype(np.intp, copy=False)

    layout = state.layout
    if len(rows) == 1 and _is_legal(state, layout, rows.item(), actions.item()):
        return rows, actions

    # The common case: all actions are indices of the layout, and legal.
    in_range = actions.view(np.uint64) < layout.size  # negative ones are huge
    indices = actions if np.count_nonzero(in_range) == len(rows) else np.where(in_range, actions, 0)
    allowed = state.legal.reshape(-1)[rows * layout.num_words + layout.word_of[indices]] & layout.bit_of[indices]
    if indices is actions and np.count_nonzero(allowed) == len(rows):
        return rows, actions

    if not dealt[rows].all():
        raise ValueError("nothing is dealt yet: call reset() first")
    in_play = state.phase[rows] != PHASE_OVER
    illegal = (in_play & ~(in_range & (allowed != 0))).nonzero()[0]
    if len(illegal):
        raise _illegal_action(state, layout, int(rows[illegal[0]]), int(actions[illegal[0]]))
    return rows[in_play], actions[in_play]


def _is_legal(state: State, layout: ActionLayout, row: int, action: int) -> bool:
    if not 0 <= action < layout.size:
        return False
    return bool(state.legal.item(row, layout.word_of.item(action)) & layout.bit_of.item(action))


def _illegal_action(state: State, layout: ActionLayout, row: int, action: int) -> IllegalAction:
    """Return the error for an illegal action, which lists the legal ones."""
    exists = 0 <= action < layout.size
    text = f"{layout.text(action)!r} (action {action})" if exists else f"action {action}"
    phase = Phase(int(state.phase[row])).name.lower()
    legal = ", ".join(layout.texts(state.legal[row]))
    return IllegalAction(
        f"{text} is not legal for seat {state.mover[row]} in phase {phase} of deal {row}; legal: {legal}"
    )
