"""What a view promises: computed features that look one draw ahead, for ``ObservationOptions(outlook=True)``.

They spare a network the arithmetic of melds: what each throw leaves and what one more unseen card would make
of it, whom a thrown card would serve, and what each trade would leave the team. Deadwood is in tens of points
below ``CENTRE``, so that a point of it stays visible to a network; what is only compared (throws, plans) is written so
that the best stands out (``PREFERENCE``); places without a number hold 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_BITS, NUM_CARDS, UInt64Array, unpack_cards
from gin_env.cards.hand_potential import completing_cards, potential
from gin_env.cards.melds import deadwood_after_each, next_above, next_below
from gin_env.engine import Phase
from gin_env.observation.team_lookahead_features import (
    CENTRE,
    PREFERENCE,
    at_most,
    in_tens,
    preferences,
    team_sections,
    write_team,
)
from gin_env.observation.turn_plans import (
    DANGER_WEIGHT,
    FUTURE_DECAY,
    FUTURE_WEIGHT,
    NUM_BEST,
    SOLO_NUM_BEST,
    danger,
    gains_of_taking,
    held_and_gone,
    own_turns,
    worthwhile_discards,
)
from gin_env.observation.view import PlayerView
from gin_env.rules import Rules

Float32Array = NDArray[np.float32]

#: Throws that leave so much more than the best one are not looked at further.
_SLACK = 6
#: Turns that are counted one by one: when to knock depends on them.
_TURNS = 24
#: Points of the least deadwood that are told apart: a knock is allowed with at most 10 under most rules.
_LIMITS = np.arange(11)


def lookahead_sections(rules: Rules) -> list[tuple[str, int, str]]:
    """Return name, width and meaning of the features, in order."""
    scale = f"({CENTRE:g} - deadwood) / 10"
    hand = "of the hand, before a draw of hand and upcard"
    sections = [
        ("prospects", 1, f"{scale} after the {_num_best(rules)} best of the cards that might be drawn, their mean"),
        ("left_by_throw", NUM_CARDS, f"{scale} after throwing that card {hand}"),
        ("prospects_of_throw", NUM_CARDS, f"as prospects, after throwing that card {hand}"),
        ("completing", NUM_CARDS, f"unseen cards that make a meld with the cards {hand}"),
    ]
    for name, whose in (("wanted", "cards known to lie with opponents"), ("dead", "cards that no opponent can get")):
        sections += [
            (f"{name}_runs", NUM_CARDS, f"neighbours in suit among {whose} / 2"),
            (f"{name}_steps", NUM_CARDS, f"cards two steps away in suit among {whose} / 2"),
            (f"{name}_sets", NUM_CARDS, f"other cards of the rank among {whose} / 3"),
        ]
    sections.append(("turns", _TURNS, "1 for each turn completed, one after the other"))
    if rules.sees_partner:
        sections += team_sections(rules)
    else:
        sections += [
            ("danger", NUM_CARDS, "danger / 10 of throwing that card, where it leaves nearly the least (plans.py)"),
            (
                "value_of_throw",
                NUM_CARDS,
                f"{PREFERENCE} of throws worth a closer look; a value is the deadwood, the prospects with a weight "
                "that falls from turn to turn, and the danger",
            ),
            ("least_left", len(_LIMITS), f"whether the best throw {hand} leaves at most 0, 1, ... points"),
            ("gain_of_take", 1, "points by which taking the upcard and the best throw lower the deadwood / 10"),
            ("melding_upcard", 1, "whether they do so, and the upcard then lies in a meld"),
        ]
    return sections


def write_lookahead(view: PlayerView, out: Float32Array) -> None:
    """Write the features of a view of M rows into ``out`` (M, W)."""
    rules = view.rules
    out[:] = 0.0
    hands, upcards = view.hand_bits, CARD_BITS[view.upcard]
    before_draw = np.bitwise_count(hands) <= rules.hand_size
    full = np.where(before_draw, hands | upcards, hands)
    unseen = view.unseen_bits
    discards, futures = out[:, 1 : 1 + NUM_CARDS], out[:, 1 + NUM_CARDS : 1 + 2 * NUM_CARDS]
    candidates = full & ~CARD_BITS[view.taken_card]
    rows, cards, points = all_discards = deadwood_after_each(full, candidates)
    least = np.full(len(view), 255, dtype=np.uint8)
    np.minimum.at(least, rows, points)
    discards[rows, cards] = futures[rows, cards] = in_tens(points)
    near = np.flatnonzero(points <= least[rows] + np.uint8(_SLACK))
    rows, cards = rows[near], cards[near]
    looked_at = np.concatenate([hands, full[rows] ^ CARD_BITS[cards]])
    now, ahead = np.split(potential(looked_at, np.concatenate([unseen, unseen[rows]]), _num_best(rules)), [len(view)])
    out[:, 0], futures[rows, cards] = in_tens(now), in_tens(ahead)
    start = 1 + 2 * NUM_CARDS
    out[:, start : start + NUM_CARDS] = unpack_cards(completing_cards(full) & unseen)
    start += NUM_CARDS
    for bits in held_and_gone(view):
        _write_near(bits, out[:, start : start + 3 * NUM_CARDS])
        start += 3 * NUM_CARDS
    out[:, start : start + _TURNS] = view.turn[:, None] > np.arange(_TURNS)
    start += _TURNS
    if rules.sees_partner:
        write_team(view, all_discards, out[:, start:])
    else:
        risks = danger(view, rows, cards)
        out[rows, start + cards] = risks / 10.0
        weights = FUTURE_WEIGHT * FUTURE_DECAY ** own_turns(view)
        values = points[near] + weights[rows] * ahead + DANGER_WEIGHT * risks
        of, discarded, _ = worthwhile_discards(full, candidates)
        worth = np.isin(rows * NUM_CARDS + cards, of * NUM_CARDS + discarded)
        rows, cards = rows[worth], cards[worth]
        out[rows, start + NUM_CARDS + cards] = preferences(rows, values[worth], len(view))
        start += 2 * NUM_CARDS
        out[:, start : start + len(_LIMITS)] = at_most(least, _LIMITS)
        drawing = np.flatnonzero((view.phase == Phase.UPCARD_OFFER) | (view.phase == Phase.DRAW))
        if len(drawing):
            _write_take(hands[drawing], upcards[drawing], drawing, out[:, start + len(_LIMITS) :])


def _write_take(hands: UInt64Array, upcards: UInt64Array, where: NDArray[np.intp], out: Float32Array) -> None:
    """Write what taking the upcard promises each hand, if it is thrown for another card."""
    gains, melding = gains_of_taking(hands, upcards)
    out[where, 0], out[where, 1] = gains / 10.0, melding


def _num_best(rules: Rules) -> int:
    return NUM_BEST if rules.sees_partner else SOLO_NUM_BEST


def _write_near(bits: UInt64Array, out: Float32Array) -> None:
    """Write for every card how many of some cards lie next to it, two steps away and in its rank."""
    above, below = next_above(bits), next_below(bits)
    out[:, :NUM_CARDS] = (unpack_cards(above) + unpack_cards(below)) * np.float32(0.5)
    steps = unpack_cards(next_above(above)) + unpack_cards(next_below(below))
    out[:, NUM_CARDS : 2 * NUM_CARDS] = steps * np.float32(0.5)
    held = unpack_cards(bits).reshape(len(bits), 4, -1)
    others = held.sum(axis=1, dtype=np.int8)[:, None] - held
    out[:, 2 * NUM_CARDS :] = others.reshape(len(bits), -1) / np.float32(3.0)
