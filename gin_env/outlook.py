"""What a view promises: computed features that look one draw ahead, for ``ObservationOptions(outlook=True)``.

They spare a network the arithmetic of melds: what each throw leaves and what one more unseen card would make
of it, whom a thrown card would serve, and what each trade would leave the team. Numbers are in tens of points
below ``CENTRE``, so that a point of deadwood stays visible to a network; places without a number hold 0.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_BITS, NUM_CARDS, UInt64Array, unpack_cards
from gin_env.melds import deadwood, deadwood_after_each, meldable_cards, next_above, next_below
from gin_env.prospects import completing_cards, least_after_throw, prospects
from gin_env.rules import Rules
from gin_env.state import Phase
from gin_env.view import PlayerView

Float32Array = NDArray[np.float32]

#: Deadwood that is written as 0.
CENTRE = 20.0
_TEN = 10.0
#: Throws that leave so much more than the best one are not looked at further.
_SLACK = 6
#: Unseen cards that count for a hand's prospects: those that leave least (agents/lookahead.py has it from its source).
_NUM_BEST = 7


def outlook_sections(rules: Rules) -> list[tuple[str, int, str]]:
    """Return name, width and meaning of the features, in order."""
    scale = f"({CENTRE:g} - deadwood) / {_TEN:g}"
    hand = "of the hand, before a draw of hand and upcard"
    sections = [
        ("prospects", 1, f"{scale} after the {_NUM_BEST} best of the cards that might be drawn, their mean"),
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
    if rules.sees_partner:
        sections.append(("partner_prospects", 1, "as prospects, of the partner's hand"))
        if rules.trades:
            sections.append(
                ("left_by_gift", NUM_CARDS, f"{scale} of the team after giving that card, with the best answer and throw")
            )
    return sections


def write_outlook(view: PlayerView, out: Float32Array) -> None:
    """Write the features of a view of M rows into ``out`` (M, W)."""
    rules = view.rules
    out[:] = 0.0
    hands, upcards = view.hand_bits, CARD_BITS[view.upcard]
    before_draw = np.bitwise_count(hands) <= rules.hand_size
    full = np.where(before_draw, hands | upcards, hands)
    unseen = view.unseen_bits
    out[:, 0] = _written(prospects(hands, unseen, _NUM_BEST))
    throws, futures = out[:, 1 : 1 + NUM_CARDS], out[:, 1 + NUM_CARDS : 1 + 2 * NUM_CARDS]
    rows, cards, points = deadwood_after_each(full, full & ~CARD_BITS[view.taken_card])
    least = np.full(len(view), 255, dtype=np.uint8)
    np.minimum.at(least, rows, points)
    throws[rows, cards] = futures[rows, cards] = _written(points)
    near = np.flatnonzero(points <= least[rows] + np.uint8(_SLACK))
    rows, cards = rows[near], cards[near]
    futures[rows, cards] = _written(prospects(full[rows] ^ CARD_BITS[cards], unseen[rows], _NUM_BEST))
    boards = [completing_cards(full) & unseen]
    others = np.arange(view.known_bits.shape[1]) % rules.num_teams != 0
    theirs = np.bitwise_or.reduce(view.known_bits[:, others], axis=1)
    theirs = theirs | np.bitwise_or.reduce(view.team_known_bits[:, 1:], axis=1)
    declined = np.bitwise_or.reduce(view.declined_bits[:, others], axis=1)
    gone = (hands | view.partner_bits | view.pile_bits | declined) & ~theirs
    start = 1 + 2 * NUM_CARDS
    out[:, start : start + NUM_CARDS] = unpack_cards(boards[0])
    start += NUM_CARDS
    for bits in (theirs, gone):
        _write_near(bits, out[:, start : start + 3 * NUM_CARDS])
        start += 3 * NUM_CARDS
    if rules.sees_partner:
        partners = view.partner_bits
        out[:, start] = _written(prospects(partners, unseen, _NUM_BEST))
        if rules.trades:
            _write_gifts(view, out[:, start + 1 :])


def _written(points: NDArray) -> NDArray:
    return (CENTRE - points) / _TEN


def _write_near(bits: UInt64Array, out: Float32Array) -> None:
    """Write for every card how many of some cards lie next to it, two steps away and in its rank."""
    above, below = next_above(bits), next_below(bits)
    out[:, :NUM_CARDS] = (unpack_cards(above) + unpack_cards(below)) * np.float32(0.5)
    steps = unpack_cards(next_above(above)) + unpack_cards(next_below(below))
    out[:, NUM_CARDS : 2 * NUM_CARDS] = steps * np.float32(0.5)
    held = unpack_cards(bits).reshape(len(bits), 4, -1)
    others = held.sum(axis=1, dtype=np.int8)[:, None] - held
    out[:, 2 * NUM_CARDS :] = others.reshape(len(bits), -1) / np.float32(3.0)


def _write_gifts(view: PlayerView, out: Float32Array) -> None:
    """Write what each card that may be given would leave the team."""
    givable = view.legal_give_bits
    asked = np.flatnonzero(givable)
    if not len(asked):
        return
    answering = view.phase[asked] == Phase.TRADE_ANSWER
    answers, offers = asked[answering], asked[~answering]
    if len(answers):
        which, cards = np.nonzero(unpack_cards(givable[answers]))
        rows = answers[which]
        # By rule the mover may answer for his partner: then the viewer's own hand is the mover's.
        own_turn = view.turn_seat[rows] == 0
        movers = np.where(own_turn, view.hand_bits[rows], view.partner_bits[rows])
        mates = np.where(own_turn, view.partner_bits[rows], view.hand_bits[rows])
        out[rows, cards] = _written(_team_points(movers, mates, np.uint64(0), CARD_BITS[cards], view.taken_card[rows]))
    if len(offers):
        # A card in a meld of its own is hardly worth a trial.
        loose = givable[offers] & ~meldable_cards(view.hand_bits[offers])
        which, cards = np.nonzero(unpack_cards(loose))
        rows = offers[which]
        trial, answers_ = np.nonzero(unpack_cards(view.partner_bits[rows]))
        of = rows[trial]
        points = _team_points(
            view.hand_bits[of], view.partner_bits[of], CARD_BITS[cards[trial]], CARD_BITS[answers_], view.taken_card[of]
        )
        if len(rows):
            best = np.minimum.reduceat(points, np.searchsorted(trial, np.arange(len(rows))))
            out[rows, cards] = _written(best)


def _team_points(
    movers: UInt64Array, mates: UInt64Array, given: UInt64Array | np.uint64, answered: UInt64Array, taken: NDArray
) -> NDArray[np.int16]:
    """Return the team's deadwood (K,) after a trade and the mover's best throw."""
    after = least_after_throw((movers & ~given) | answered, CARD_BITS[taken]).astype(np.int16)
    return after + deadwood((mates | given) & ~answered)
