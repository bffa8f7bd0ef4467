"""``score_deal``: settle one showdown written down as card texts, to check a rule question.

>>> result = score_deal("classic_2p", [knocker_cards, defender_cards], knocker=0, knock_card="KD")
>>> result.kind, result.points
('knock', (25, 0))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from gin_env.arranged import CardTexts, parse_melds, settle_arranged
from gin_env.cards import CARD_BITS, UInt64Array, bits_of, card_ids, format_card, format_cards, parse_card, parse_cards
from gin_env.errors import whole_number
from gin_env.melds import deadwood, melds_of
from gin_env.rules import Rules, resolve_rules
from gin_env.showdown import Showdown, settle
from gin_env.state import Kind, State


@dataclass(frozen=True)
class DealResult:
    """What a showdown comes to.

    Attributes
    ----------
    legal : bool
        Whether the knock was allowed; if not, ``kind`` is None and all points are 0.
    reason : str
        Why the knock is illegal; empty for a legal one.
    kind : str or None
        ``"knock"``, ``"gin"``, ``"small_gin"``, ``"team_gin"``, ``"big_gin"``, ``"undercut"`` or ``"dead"``.
    winner : int or None
        The winning team; None for an illegal knock and a dead deal.
    points : tuple of int
        Points per team as a scorer writes them down; a seat that plays alone is a team.
    bonuses : dict
        The bonuses within the points, by name: ``"gin"``, ``"undercut"``, ``"box"``.
    spread : dict
        Melds that each seat lays down, as lists of card texts; the defenders' are those of the cards they keep.
    layoffs : dict
        Cards that each defender lays off.
    deadwood : tuple of int or None
        Points left in each seat's hand after laying off; None for an illegal knock and a dead deal.
    """

    legal: bool
    reason: str
    kind: str | None
    winner: int | None
    points: tuple[int, ...]
    bonuses: dict[str, int] = field(default_factory=dict)
    spread: dict[int, list[list[str]]] = field(default_factory=dict)
    layoffs: dict[int, list[str]] = field(default_factory=dict)
    deadwood: tuple[int, ...] | None = None


def score_deal(
    rules: str | Rules,
    hands: Sequence[CardTexts],
    knocker: int,
    knock_card: str | None,
    upcard: str | None = None,
    arrangements: Mapping[int, Sequence[CardTexts]] | None = None,
) -> DealResult:
    """Settle one showdown.

    Parameters
    ----------
    rules : str or Rules
        A preset's name or a rule system.
    hands : sequence of str or of sequences of str
        The cards of each seat (``"5H 6H 7H ..."``); the knocker's still include ``knock_card``.
    knocker : int
        The seat that knocks.
    knock_card : str or None
        The card that the knocker throws; None stands for big gin.
    upcard : str, optional
        The deal's first upcard, for rules whose knock limit depends on it.
    arrangements : mapping, optional
        Seat to melds laid by that seat, where not the best of equal arrangements was chosen. With
        ``layoff="greedy"`` the lay-offs go onto the knocker's melds in the order given; with
        ``"optimal"`` only the knocking side's melds can be given.

    Raises
    ------
    ValueError
        Unknown or doubled cards, a hand of the wrong size, no such seat, or an arrangement that
        the hand cannot lay; the message names the value.
    """
    rules = resolve_rules(rules)
    hand_bits = _parse_hands(rules, hands, knocker)
    if upcard is not None:
        parse_card(upcard)
    if not isinstance(arrangements, Mapping | None):
        raise ValueError(f"arrangements={arrangements!r}: must map seats to melds")
    no_points = (0,) * rules.num_teams
    if knock_card is None:
        return DealResult(False, "knock_card=None is big gin, which these rules do not have", None, None, no_points)
    thrown = CARD_BITS[parse_card(knock_card)]
    if not hand_bits[knocker] & thrown:
        raise ValueError(f"knock_card={knock_card!r} is not in the knocker's hand {format_cards(hand_bits[knocker])}")
    hand_bits[knocker] ^= thrown
    given = {seat: parse_melds(hand_bits, seat, melds) for seat, melds in (arrangements or {}).items()}
    least = int(deadwood(hand_bits[[knocker]])[0])
    if least > rules.knock_limit:
        reason = f"deadwood {least} after throwing {knock_card} is more than the limit of {rules.knock_limit}"
        return DealResult(False, reason, None, None, no_points)
    seats = np.array([knocker])
    result = settle_arranged(rules, hand_bits, seats, given) if given else settle(rules, hand_bits[None], seats)
    return describe_result(rules, result, row=0)


def describe_result(rules: Rules, result: Showdown | State, row: int) -> DealResult:
    """Write one row of a settled batch or of a ``State`` as a DealResult; ``ValueError`` where the deal goes on."""
    kind = Kind(int(result.kind[row]))
    if kind is Kind.NONE:
        raise ValueError(f"the deal in row {row} is not over: it has no result yet")
    if kind is Kind.DEAD:
        return DealResult(True, "", "dead", None, (0,) * rules.num_teams)
    seats = range(rules.num_players)
    knock_team = int(result.winner[row]) if kind is not Kind.UNDERCUT else 1 - int(result.winner[row])
    return DealResult(
        legal=True,
        reason="",
        kind=kind.name.lower(),
        winner=int(result.winner[row]),
        points=tuple(int(points) for points in result.points[row]),
        bonuses=bonuses_of(rules, kind),
        spread={
            seat: [
                [format_card(card) for card in meld]
                for meld in melds_of(result.set_bits[row, seat], result.run_bits[row, seat])
            ]
            for seat in seats
        },
        layoffs={
            seat: [format_card(card) for card in card_ids(result.laid_bits[row, seat])]
            for seat in seats
            if rules.team_of(seat) != knock_team
        },
        deadwood=tuple(int(points) for points in result.deadwood[row]),
    )


def bonuses_of(rules: Rules, kind: Kind) -> dict[str, int]:
    """Return the bonuses that a deal of this kind pays to its winner, by name, without zeros."""
    gin = {Kind.GIN: rules.gin_bonus, Kind.SMALL_GIN: rules.small_gin_bonus, Kind.TEAM_GIN: rules.team_gin_bonus}
    bonuses = {
        "gin": gin.get(kind, 0),
        "undercut": rules.undercut_bonus if kind is Kind.UNDERCUT else 0,
        "box": rules.box_bonus if rules.box_timing == "now" and kind is not Kind.DEAD else 0,
    }
    return {name: points for name, points in bonuses.items() if points}


def _parse_hands(rules: Rules, hands: Sequence[CardTexts], knocker: int) -> UInt64Array:
    if len(hands) != rules.num_players:
        raise ValueError(f"{len(hands)} hands given: {rules.num_players} players need {rules.num_players}")
    whole_number("knocker", knocker, 0, rules.num_players - 1, "seat")
    bits: list[np.uint64] = []
    for seat, hand in enumerate(hands):
        ids = parse_cards(hand)
        size = rules.hand_size + (seat == knocker)
        if len(ids) != size:
            raise ValueError(
                f"hand {seat} has {len(ids)} cards: {size} are needed (the knocker still holds knock_card)"
            )
        for earlier, other in enumerate(bits):
            if doubled := other & bits_of(ids):
                raise ValueError(f"{format_cards(doubled)} stands in hand {earlier} and in hand {seat}")
        bits.append(bits_of(ids))
    return np.array(bits, dtype=np.uint64)
