"""Which actions a search compares."""

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
    """Actions to compare: those of one row are adjacent, with the base's choice first."""

    rows: Rows  #: (C,) rows of the view, ascending
    actions: Rows  #: (C,)
    is_base: NDArray[np.bool_]  #: (C,)


def find_candidates(
    base: Agent, view: PlayerView, choices: Rows, most: int, min_probability: float = 0.0
) -> Candidates:
    """Return the actions worth comparing in the rows in which there are several.

    Passing, taking, drawing, big gin and one knock are always among them; boasts and catches only where the base
    chooses them. The remaining places, up to ``most``, go to the actions that are most likely under the base's network,
    or without a network to those that leave the least deadwood in the viewer's hand.

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

    # Score all actions: by the network's logits, or by the deadwood that is left.
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

    # Keep the best knock only; catches and boasts count only where the base chooses them.
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

    # Rank: the base's choice first, then what is always compared, then by score.
    ranked = np.where(legal, scores, -np.inf)
    ranked[always & legal] = np.inf
    ranked[rows, choices] = np.nan  # sorts last, so it is first in the reversed order
    order = np.argsort(ranked, axis=1, kind="stable")[:, ::-1][:, :most]

    # Leave out rows with a single candidate: there is nothing to compare.
    compared = np.take_along_axis(legal, order, axis=1)
    compared &= compared.sum(axis=1, keepdims=True) > 1
    candidate_rows, places = np.nonzero(compared)
    return Candidates(candidate_rows, order[candidate_rows, places], places == 0)


def _scores_by_deadwood(view: PlayerView) -> NDArray[np.float64]:
    """Return scores (M, A) of actions with a card: less deadwood is better, then the higher-value card."""
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
