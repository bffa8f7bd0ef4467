"""What is legal: the words of the mover's actions in each phase, the one place that decides it.

The engine asks for one phase at a time; :func:`legal_words` answers for any rows, in whatever phase they are.
:func:`checked_actions` refuses illegal actions before anything is changed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import ALL_CARDS, CARD_BITS, NO_CARD, NUM_CARDS, Rows, UInt64Array
from gin_env.cards.melds import deadwood, legal_knocks, meldable_cards
from gin_env.engine.actions import DRAW, PASS, TAKE, ActionLayout
from gin_env.engine.state import Phase, State
from gin_env.errors import IllegalAction
from gin_env.rules import upcard_limits

PASS_OR_TAKE = np.uint64(1 << PASS | 1 << TAKE)
DRAW_ONLY = np.uint64(1 << DRAW)
DRAW_OR_TAKE = np.uint64(1 << DRAW | 1 << TAKE)
_PASS_ONLY = np.uint64(1 << PASS)
_VERBS_OF = {
    Phase.UPCARD_OFFER: PASS_OR_TAKE,
    Phase.FORCED_DRAW: DRAW_ONLY,
    Phase.DRAW: DRAW_OR_TAKE,
}


def legal_words(state: State, rows: Rows) -> UInt64Array:
    """Return the words of the legal actions of some rows (M, W), whatever their phases."""
    words = np.zeros((len(rows), state.layout.num_words), dtype=np.uint64)
    phases = state.phase[rows]
    for phase in Phase:
        chosen = np.flatnonzero(phases == phase)
        if not len(chosen):
            continue
        if phase in _VERBS_OF:
            words[chosen, 0] = _VERBS_OF[phase]
        elif phase is Phase.PLAY:
            words[chosen] = play_words(state, rows[chosen])
        elif phase is Phase.TRADE_ANSWER:
            words[chosen] = answer_words(state, rows[chosen])
        elif phase is Phase.CATCH:
            words[chosen] = catch_words(state, rows[chosen])
        elif phase is Phase.LAST_DISCARD:
            words[chosen] = last_discard_words(state, rows[chosen])
    return words


def play_words(state: State, rows: Rows) -> UInt64Array:
    """Return what the movers, who hold one card too many, may do (rows 12, 14, 16, 18, 20, 23, 37, 38)."""
    rules, layout = state.rules, state.layout
    cells = rows * rules.num_seats + state.mover[rows]
    hands = state.hands.reshape(-1)[cells]
    taken = state.taken_card[rows]
    others = hands & ~CARD_BITS[taken]
    discardable = others if rules.forbid_return_discard else hands
    words = np.empty((len(rows), layout.num_words), dtype=np.uint64)
    words[:, 0] = 0
    if layout.give >= 0:
        may_trade = state.trades[rows] < rules.max_trades_per_turn
        words[:, layout.give_word] = (hands if rules.trade_taken_card else others) * may_trade
    words[:, layout.discard_word] = discardable
    words[:, layout.knock_word] = legal_knocks(hands, discardable, knock_limits(state, rows))
    if rules.catch_glass:
        words[:, layout.catch_word] = ALL_CARDS * (state.catches[rows] == 0)
    if rules.boast:
        words[:, 0] |= np.uint64(1 << layout.boast) * (state.boasted.reshape(-1)[cells] == 0)
    if rules.last_discard_knock:  # after taking the last discard, a knock is all that is left
        last = (state.stock_next[rows] >= NUM_CARDS - rules.stock_floor) & (taken != NO_CARD)
        words[last, 0] = 0
        for word in set(range(1, layout.num_words)) - {layout.knock_word}:
            words[last, word] = 0
    if rules.has_big_gin:
        words[:, 0] |= np.uint64(1 << layout.big_gin) * _melds_wholly(hands)
    if rules.boast:
        barred = state.boast_bar.reshape(-1)[cells] > 0
        words[barred, layout.knock_word] = 0
        if rules.has_big_gin:
            words[barred, 0] &= ~np.uint64(1 << layout.big_gin)
    return words


def answer_words(state: State, rows: Rows) -> UInt64Array:
    """Return what the partner of the turn's seat may give back: any card (row 17)."""
    layout, seats = state.layout, state.rules.num_seats
    words = np.zeros((len(rows), layout.num_words), dtype=np.uint64)
    partners = (state.turn_seat[rows] + 2) % seats
    words[:, layout.give_word] = state.hands.reshape(-1)[rows * seats + partners]
    return words


def catch_words(state: State, rows: Rows) -> UInt64Array:
    """Return what a catch may go on with: any card not yet named in it (row 38)."""
    layout = state.layout
    words = np.zeros((len(rows), layout.num_words), dtype=np.uint64)
    words[:, layout.catch_word] = ALL_CARDS & ~state.named_bits[rows]
    return words


def last_discard_words(state: State, rows: Rows) -> UInt64Array:
    """Return whether the last discard may be taken: only where a knock then exists (row 12)."""
    rules = state.rules
    words = np.zeros((len(rows), state.layout.num_words), dtype=np.uint64)
    cells = rows * rules.num_seats + state.mover[rows]
    hands = state.hands.reshape(-1)[cells]
    joined = hands | CARD_BITS[state.upcard[rows]]
    discardable = hands if rules.forbid_return_discard else joined
    able = legal_knocks(joined, discardable, knock_limits(state, rows)) != 0
    if rules.has_big_gin:
        able |= _melds_wholly(joined)
    if rules.boast:
        able &= state.boast_bar.reshape(-1)[cells] == 0
    words[:, 0] = np.where(able, PASS_OR_TAKE, _PASS_ONLY)
    return words


def knock_limits(state: State, rows: Rows) -> int | NDArray[np.intp]:
    """Return the most deadwood with which one may knock: one number, or one for each row (M,) (row 20)."""
    rules = state.rules
    return upcard_limits(rules)[state.first_upcard[rows]] if rules.limit_from_upcard else rules.knock_limit


def _melds_wholly(hands: UInt64Array) -> NDArray[np.bool_]:
    """Return which hands have no deadwood at all (M,)."""
    whole = meldable_cards(hands) == hands
    asking = np.flatnonzero(whole)
    whole[asking] = deadwood(hands[asking]) == 0
    return whole


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
