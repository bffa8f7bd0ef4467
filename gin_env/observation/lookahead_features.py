"""Lookahead features, for ``ObservationOptions(outlook=True)``: computed features that look one draw ahead.

They spare a network the arithmetic of melds: what each discard leaves, what one more unseen card would make of
the rest (the hand's potential), which opponents a discard would serve, and what each trade would leave the team.
Deadwood is written in tens of points below ``CENTRE``, so that a single point stays visible to a network. Values that
are only compared (of discards and turn plans) are written so that the best stands out (``PREFERENCE``). Where a card
or turn has no value, the feature is 0.

In the sections' names "throw" means a discard and "prospects" a hand's potential; they are part of saved networks.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_BITS, NUM_CARDS, Rows, UInt64Array, unpack_cards
from gin_env.cards.hand_potential import completing_cards, potential
from gin_env.cards.melds import deadwood_after_each, next_above, next_below
from gin_env.engine import Phase
from gin_env.observation.sections import SectionWriter
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
    NUM_BEST,
    POTENTIAL_DECAY,
    POTENTIAL_WEIGHT,
    SOLO_NUM_BEST,
    Cards,
    danger,
    gains_of_taking,
    held_and_gone,
    own_turns,
    worthwhile_discards,
)
from gin_env.observation.view import PlayerView
from gin_env.rules import Rules

#: The potential after a discard is computed only if it leaves at most this much more deadwood than the best discard.
_SLACK = 6
#: Turns that are counted one by one, since when to knock depends on them.
_TURNS = 24
#: Deadwood up to which a feature each says whether the best discard leaves no more: most rules allow a knock up to 10.
_LIMITS = np.arange(11)


def lookahead_sections(rules: Rules) -> list[tuple[str, int, str]]:
    """Return name, width and meaning of the features, in order."""
    scale = f"({CENTRE:g} - deadwood) / 10"
    hand = "from the hand, or before a draw from hand and upcard"
    sections = [
        ("prospects", 1, f"{scale}: the mean after drawing each of the {_num_best(rules)} best unseen cards"),
        ("left_by_throw", NUM_CARDS, f"{scale} after discarding that card {hand}"),
        ("prospects_of_throw", NUM_CARDS, f"as prospects, after discarding that card {hand}"),
        ("completing", NUM_CARDS, f"unseen cards that make a meld with cards {hand}"),
    ]
    for name, whose in (
        ("wanted", "cards that opponents are known to hold"),
        ("dead", "cards that no opponent can get"),
    ):
        sections += [
            (f"{name}_runs", NUM_CARDS, f"neighbours in suit among {whose} / 2"),
            (f"{name}_steps", NUM_CARDS, f"cards two steps away in suit among {whose} / 2"),
            (f"{name}_sets", NUM_CARDS, f"other cards of the rank among {whose} / 3"),
        ]
    sections.append(("turns", _TURNS, f"1 for each turn completed, up to {_TURNS}"))
    if rules.sees_partner:
        sections += team_sections(rules)
    else:
        sections += [
            (
                "danger",
                NUM_CARDS,
                "danger / 10 of discarding that card, where that leaves nearly the least deadwood",
            ),
            (
                "value_of_throw",
                NUM_CARDS,
                f"{PREFERENCE} of discards worth a closer look; a value is the deadwood, the potential with a weight "
                "that falls from turn to turn, and the danger",
            ),
            ("least_left", len(_LIMITS), f"whether the best discard {hand} leaves at most 0, 1, ... points"),
            ("gain_of_take", 1, "points by which taking the upcard and the best discard lower the deadwood / 10"),
            ("melding_upcard", 1, "whether they do so, and the upcard is then in a meld"),
        ]
    return sections


def write_lookahead(view: PlayerView, features: SectionWriter) -> None:
    """Write the features of a view of M rows into the sections of :func:`lookahead_sections`, which hold zeros."""
    rules = view.rules
    features["turns"] = view.turn[:, None] > np.arange(_TURNS)

    # Before a draw, the upcard counts as taken.
    before_draw = np.bitwise_count(view.hand_bits) <= rules.hand_size
    hands = np.where(before_draw, view.hand_bits | CARD_BITS[view.upcard], view.hand_bits)
    candidates = hands & ~CARD_BITS[view.taken_card]
    discards = rows, _, points = deadwood_after_each(hands, candidates)
    least = np.full(len(view), 255, dtype=np.uint8)
    np.minimum.at(least, rows, points)

    near = np.flatnonzero(points <= least[rows] + np.uint8(_SLACK))
    ahead = _write_potential(view, hands, discards, near, features)
    _write_cards_around(view, hands, features)
    if rules.sees_partner:
        write_team(view, discards, features)
    else:
        near_discards = rows[near], discards[1][near], points[near]
        _write_values(view, hands, candidates, near_discards, ahead, features)
        features["least_left"] = at_most(least, _LIMITS)
        _write_take(view, features)


def _write_potential(
    view: PlayerView,
    hands: UInt64Array,
    discards: tuple[Rows, Cards, NDArray[np.uint8]],
    near: NDArray[np.intp],
    features: SectionWriter,
) -> NDArray[np.float64]:
    """Write what the hand and each discard leave and promise; return the potential after the ``near`` discards."""
    rows, cards, points = discards
    after = features["prospects_of_throw"]
    features["left_by_throw"][rows, cards] = after[rows, cards] = in_tens(points)

    # One call for the hands as they are and for the hands after a discard: their potential takes most of the time.
    rows, cards, unseen = rows[near], cards[near], view.unseen_bits
    all_hands = np.concatenate([view.hand_bits, hands[rows] ^ CARD_BITS[cards]])
    potentials = potential(all_hands, np.concatenate([unseen, unseen[rows]]), _num_best(view.rules))
    now, ahead = np.split(potentials, [len(view)])
    features["prospects"] = in_tens(now)
    after[rows, cards] = in_tens(ahead)
    return ahead


def _write_cards_around(view: PlayerView, hands: UInt64Array, features: SectionWriter) -> None:
    """Write which unseen cards would make a meld, and what is around each card among cards held and cards gone."""
    features["completing"] = unpack_cards(completing_cards(hands) & view.unseen_bits)
    for name, bits in zip(("wanted", "dead"), held_and_gone(view), strict=True):
        above, below = next_above(bits), next_below(bits)
        neighbours = unpack_cards(above) + unpack_cards(below)
        features[f"{name}_runs"] = neighbours * np.float32(0.5)
        steps = unpack_cards(next_above(above)) + unpack_cards(next_below(below))
        features[f"{name}_steps"] = steps * np.float32(0.5)

        by_suit = unpack_cards(bits).reshape(len(bits), 4, -1)
        others_of_rank = by_suit.sum(axis=1, dtype=np.int8)[:, None] - by_suit
        features[f"{name}_sets"] = others_of_rank.reshape(len(bits), -1) / np.float32(3.0)


def _write_values(
    view: PlayerView,
    hands: UInt64Array,
    candidates: UInt64Array,
    discards: tuple[Rows, Cards, NDArray[np.uint8]],
    ahead: NDArray[np.float64],
    features: SectionWriter,
) -> None:
    """Write the danger of some discards (K,), and the value of those worth a closer look.

    ``ahead`` (K,) is the hand's potential after each discard.
    """
    rows, cards, points = discards
    risks = danger(view, rows, cards)
    features["danger"][rows, cards] = risks / 10.0

    weights = POTENTIAL_WEIGHT * POTENTIAL_DECAY ** own_turns(view)
    values = points + weights[rows] * ahead + DANGER_WEIGHT * risks
    close_rows, close_cards, _ = worthwhile_discards(hands, candidates)
    close = np.isin(rows * NUM_CARDS + cards, close_rows * NUM_CARDS + close_cards)
    rows, cards = rows[close], cards[close]
    features["value_of_throw"][rows, cards] = preferences(rows, values[close], len(view))


def _write_take(view: PlayerView, features: SectionWriter) -> None:
    """Write what taking the upcard promises, where the viewer may be asked to take it."""
    rows = np.flatnonzero((view.phase == Phase.UPCARD_OFFER) | (view.phase == Phase.DRAW))
    if len(rows):
        gains, melding = gains_of_taking(view.hand_bits[rows], CARD_BITS[view.upcard[rows]])
        features["gain_of_take"][rows] = gains / 10.0
        features["melding_upcard"][rows] = melding


def _num_best(rules: Rules) -> int:
    """Return how many of the unseen cards count for a hand's potential."""
    return NUM_BEST if rules.sees_partner else SOLO_NUM_BEST
