"""The actions that a search compares, chosen by the agent that it improves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from agents.policy import PolicyAgent
from gin_env.cards import CARD_POINTS, Rows
from gin_env.cards.melds import deadwood_after_each
from gin_env.episodes import Agent
from gin_env.observation import PlayerView


class Candidates(NamedTuple):
    """Actions to be compared, those of one row side by side and the base's choice first."""

    rows: Rows  #: (C,) rows of the view, ascending
    actions: Rows  #: (C,)
    is_base: NDArray[np.bool_]  #: (C,)


def find_candidates(
    base: Agent, view: PlayerView, choices: Rows, most: int, min_probability: float = 0.0
) -> Candidates:
    """Return the actions worth comparing in the rows in which there are several.

    Passing, taking, drawing, big gin and one knock are always among them; boasts and catches only where the base
    chooses them. The others, at most so many in all, are those that a network makes likeliest, or those which
    leave the least deadwood in the viewer's hand.

    Parameters
    ----------
    base : Agent
    view : PlayerView
        M rows.
    choices : intp, shape (M,)
        The base's own actions.
    most : int
        Most candidates of a row.
    min_probability : float
        Actions less likely by the base's network are left out.
    """
    if isinstance(base, PolicyAgent):
        view = base.seen(view)
    layout, legal, rows = view.layout, view.legal_mask, np.arange(len(view))
    if isinstance(base, PolicyAgent):
        scores = base.logits(view).astype(np.float64)
        scores = np.where(legal, scores, -np.inf)
        scores -= scores.max(axis=1, keepdims=True)
        odds = np.exp(scores)
        legal = legal & (odds >= min_probability * odds.sum(axis=1, keepdims=True))
        always = np.zeros_like(legal)
    else:
        scores = _scores_by_deadwood(view)
        always = legal.copy()
        always[:, len(layout.verbs) - len(layout.card_verbs) :] = False
    knocks = slice(layout.knock, layout.knock + 52)
    best_knock = np.where(legal[:, knocks], scores[:, knocks], -np.inf).argmax(axis=1) + layout.knock
    can_knock = legal[rows, best_knock]
    legal[:, knocks] = False
    legal[rows[can_knock], best_knock[can_knock]] = True
    always[rows[can_knock], best_knock[can_knock]] = True
    if layout.catch >= 0:
        legal[:, layout.catch : layout.catch + 52] = False
    if layout.boast >= 0:
        legal[:, layout.boast] = always[:, layout.boast] = False
    legal[rows, choices] = True
    ranked = np.where(legal, scores, -np.inf)
    ranked[always & legal] = np.inf
    ranked[rows, choices] = np.nan  # sorts last, that is first when turned round
    order = np.argsort(ranked, axis=1, kind="stable")[:, ::-1][:, :most]
    taken = np.take_along_axis(legal, order, axis=1)
    taken &= taken.sum(axis=1, keepdims=True) > 1
    found_rows, places = np.nonzero(taken)
    return Candidates(found_rows, order[found_rows, places], places == 0)


def _scores_by_deadwood(view: PlayerView) -> NDArray[np.float64]:
    """Return scores (M, A) of the actions with a card by the deadwood that they leave; of equals the dearest card."""
    layout = view.layout
    scores = np.zeros((len(view), layout.size))
    for verb in ("give", "discard", "knock"):
        start = getattr(layout, verb)
        if start < 0:
            continue
        cards = view.legal[:, layout.card_verbs.index(verb) + 1] & view.hand_bits
        rows, ids, points = deadwood_after_each(view.hand_bits, cards)
        scores[rows, start + ids] = CARD_POINTS[ids] / 64 - points.astype(np.float64)
    return scores
