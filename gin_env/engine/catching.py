"""Catching the glass: naming three cards of the discard pile that form a meld (docs/rules.md row 38).

The three are named one after another, any card each time, so that the rule needs only one block of 52
actions and nothing legal tells what lies buried in the pile.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_BITS, Rows
from gin_env.cards.melds import meldable_cards
from gin_env.engine.legal import catch_words
from gin_env.engine.state import Phase, State, teams_playing

_CATCH_SIZE = 3
_PLAY, _CATCH = int(Phase.PLAY), int(Phase.CATCH)


def name_card(state: State, rows: Rows, cards: NDArray[np.intp]) -> Rows:
    """Name a card (M,) in some rows; return those whose catch is now complete, settled and booked."""
    starting = rows[state.phase[rows] == _PLAY]
    state.catches[starting] += 1
    state.named_bits[starting] = 0
    named = state.named_bits[rows] | CARD_BITS[cards]
    state.named_bits[rows] = named
    complete = np.bitwise_count(named) == _CATCH_SIZE
    going_on = rows[~complete]
    state.phase[going_on] = _CATCH
    state.legal[going_on] = catch_words(state, going_on)
    settled = rows[complete]
    if len(settled):
        _settle(state, settled)
    return settled


def _settle(state: State, rows: Rows) -> None:
    """Pay a right catch to the catcher's team, a wrong one to every other team that plays."""
    rules = state.rules
    named = state.named_bits[rows]
    lies_there = (named & ~(state.pile_bits[rows] & ~state.caught_bits[rows])) == 0
    right = lies_there & (meldable_cards(named) == named)
    state.caught_bits[rows] |= named * right
    state.named_bits[rows] = 0
    teams = np.arange(rules.num_teams)
    own = teams == (state.mover[rows] % rules.num_teams)[:, None]
    plays = teams_playing(rules, state.dealer[rows])
    paid = np.where(right[:, None], own, plays & ~own) * rules.catch_points
    state.points[rows] += paid
    # Each team that plays against every other one: zero-sum.
    state.net_points[rows] += (paid * plays.sum(axis=1, keepdims=True) - paid.sum(axis=1, keepdims=True)) * plays
