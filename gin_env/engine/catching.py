"""Catching the glass (``catch_glass``): naming three cards of the discard pile that form a meld.

The three are named one after another, and any card may be named each time. So the rule needs only one block of 52
actions, and the legal actions do not show which cards are in the pile.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import ALL_CARDS, CARD_BITS, Rows, UInt64Array
from gin_env.cards.melds import meldable_cards
from gin_env.engine.state import PHASE_CATCH, PHASE_PLAY, State, log_events, teams_playing

#: Cards that a catch names.
CATCH_SIZE = 3


def first_card_words(state: State, rows: Rows) -> UInt64Array:
    """Return the bitmasks (M,) of the cards that may begin a catch: all, unless there was one in this turn."""
    return ALL_CARDS * (state.catches[rows] == 0)


def next_card_words(state: State, rows: Rows) -> UInt64Array:
    """Return the action bitmasks (M, W) within a catch: any card not yet named in it."""
    words = np.zeros((len(rows), state.layout.num_words), dtype=np.uint64)
    words[:, state.layout.catch_word] = ALL_CARDS & ~state.named_bits[rows]
    return words


def name_card(state: State, rows: Rows, actions: NDArray[np.intp]) -> Rows:
    """Name the cards of actions (M,); return those rows whose catch is now complete and settled."""
    cards = state.layout.card_of[actions]
    log_events(state, rows, state.mover[rows], actions, cards)

    starting = rows[state.phase[rows] == PHASE_PLAY]
    state.catches[starting] += 1
    state.named_bits[starting] = 0

    named = state.named_bits[rows] | CARD_BITS[cards]
    state.named_bits[rows] = named
    is_complete = np.bitwise_count(named) == CATCH_SIZE

    unfinished = rows[~is_complete]
    state.phase[unfinished] = PHASE_CATCH
    state.legal[unfinished] = next_card_words(state, unfinished)

    complete = rows[is_complete]
    if len(complete):
        _settle(state, complete)
    return complete


def _settle(state: State, rows: Rows) -> None:
    """Pay ``catch_points`` to the catcher's team for a successful catch, to each other playing team otherwise."""
    rules = state.rules

    # The named cards must be in the pile, unused by earlier catches, and form a meld.
    named = state.named_bits[rows]
    available = state.pile_bits[rows] & ~state.caught_bits[rows]
    is_right = ((named & ~available) == 0) & (meldable_cards(named) == named)
    state.caught_bits[rows] |= named * is_right
    state.named_bits[rows] = 0

    is_catcher = np.arange(rules.num_teams) == (state.mover[rows] % rules.num_teams)[:, None]
    plays = teams_playing(rules, state.dealer[rows])
    paid = np.where(is_right[:, None], is_catcher, plays & ~is_catcher) * rules.catch_points
    state.points[rows] += paid

    # Each team that plays against every other one: zero-sum.
    num_playing, total = plays.sum(axis=1, keepdims=True), paid.sum(axis=1, keepdims=True)
    state.net_points[rows] += (paid * num_playing - total) * plays
