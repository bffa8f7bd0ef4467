"""The 24 relabelings of the suits: functions on cards, observations and actions.

No rule knows one suit from another, but for ``spade_upcard_doubles`` (:func:`suit_orders` leaves the spades where
they are) and ties that go by card ids: of equal arrangements the first (docs/rules.md, fine print, and the
features ``melded``), greedy lay-offs, and the plans of ``team_outlook.py``. So a relabelled position is worth as
much, and a relabelled decision as good. Training uses it as augmentation.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NUM_CARDS, NUM_RANKS
from gin_env.engine import ActionLayout
from gin_env.observation.encoder import Section
from gin_env.rules import Rules

#: (24, 4) the orders of the suits; the first changes nothing.
SUIT_ORDERS = np.array(list(itertools.permutations(range(4))))


def suit_orders(rules: Rules) -> NDArray[np.intp]:
    """Return (K, 4) the orders that change nothing under some rules: all 24, or 6 where spades double the points."""
    return SUIT_ORDERS[SUIT_ORDERS[:, 0] == 0] if rules.spade_upcard_doubles else SUIT_ORDERS


def relabelled_cards(order: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return (52,) the card that each card becomes when suit s becomes ``order[s]``; ``order`` is (4,)."""
    cards = np.arange(NUM_CARDS)
    return np.asarray(order, dtype=np.intp)[cards // NUM_RANKS] * NUM_RANKS + cards % NUM_RANKS


def observation_columns(sections: Sequence[Section], order: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return (F,) columns such that ``observations[:, columns]`` are those of the relabelled game.

    ``sections`` are an encoder's, in order; those of 52 features hold one for each card.
    """
    columns = np.arange(sum(section.width for section in sections))
    before = np.argsort(relabelled_cards(order))
    start = 0
    for section in sections:
        if section.width == NUM_CARDS:
            columns[start : start + NUM_CARDS] = start + before
        start += section.width
    return columns


def relabelled_actions(layout: ActionLayout, order: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return (A,) the action that each action becomes in the relabelled game."""
    actions = np.arange(layout.size)
    cards = relabelled_cards(order)
    for verb in layout.card_verbs:
        start = getattr(layout, verb)
        actions[start : start + NUM_CARDS] = start + cards
    return actions
