"""The 24 relabelings of the suits: functions on cards, observations and actions.

No rule distinguishes suits, except ``spade_upcard_doubles`` (:func:`suit_orders` then leaves the spades in place) and
ties that are broken by card id: the first of equal arrangements (and with it the features ``melded``), greedy
lay-offs, and turn plans. So a relabelled position has the same value, and a relabelled decision is as good. Training
uses this as augmentation.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NUM_CARDS, NUM_RANKS
from gin_env.engine import ActionLayout
from gin_env.observation.sections import Section
from gin_env.rules import Rules

#: (24, 4) all orders of the suits; the first is the identity.
SUIT_ORDERS = np.array(list(itertools.permutations(range(4))))


def suit_orders(rules: Rules) -> NDArray[np.intp]:
    """Return the orders (K, 4) under which the rules are symmetric: all 24, or 6 with ``spade_upcard_doubles``."""
    return SUIT_ORDERS[SUIT_ORDERS[:, 0] == 0] if rules.spade_upcard_doubles else SUIT_ORDERS


def relabelled_cards(order: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the card (52,) that each card becomes when suit s becomes ``order[s]``; ``order`` has shape (4,)."""
    cards = np.arange(NUM_CARDS)
    return np.asarray(order, dtype=np.intp)[cards // NUM_RANKS] * NUM_RANKS + cards % NUM_RANKS


def observation_columns(sections: Sequence[Section], order: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return columns (F,) such that ``observations[:, columns]`` are the observations of the relabelled game.

    ``sections`` are all sections of an encoder, in order; every section of 52 features has one feature for each card.
    """
    columns = np.arange(sum(section.width for section in sections))
    original_cards = np.argsort(relabelled_cards(order))
    for section in sections:
        if section.width == NUM_CARDS:
            columns[section.start : section.start + NUM_CARDS] = section.start + original_cards
    return columns


def relabelled_actions(layout: ActionLayout, order: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the action (A,) that each action becomes in the relabelled game."""
    actions = np.arange(layout.size)
    cards = relabelled_cards(order)
    for verb in layout.card_verbs:
        start = getattr(layout, verb)
        actions[start : start + NUM_CARDS] = start + cards
    return actions
