"""``score_deal``: settle one showdown written down as card texts, to check a rule question.

>>> result = score_deal("classic_2p", [knocker_cards, defender_cards], knocker=0, knock_card="KD")
>>> result.kind, result.points
('knock', (25, 0))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from gin_env.arranged import CardTexts, parse_melds, settle_arranged
from gin_env.cards import CARD_BITS, UInt64Array, bits_of, card_ids, format_card, format_cards, parse_card, parse_cards
from gin_env.errors import whole_number
from gin_env.legal import upcard_limits
from gin_env.melds import deadwood, melds_of
from gin_env.rules import Rules, resolve_rules
from gin_env.scorekeeping import join_tables
from gin_env.showdown import boast_payments, settle
from gin_env.spreads import Showdown
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
        ``"knock"``, ``"gin"``, ``"small_gin"``, ``"team_gin"``, ``"big_gin"``, ``"undercut"`` or ``"dead"``;
        ``"two_tables"`` for two tables together.
    winner : int or None
        The winning team; None for an illegal knock and a dead deal.
    points : tuple of int
        Points per team as a scorer writes them down; a seat that plays alone is a team. Those of catches, booked
        during the deal, are among them.
    net_points : tuple of int
        Points per team against every other team: zero-sum.
    bonuses : dict
        The bonuses within the points, by name: ``"gin"``, ``"big_gin"``, ``"undercut"``, ``"box"``, as single
        amounts (a spade upcard doubles all but the box), in free-for-all those of one pair.
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
    net_points: tuple[int, ...]
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
    boasters: Sequence[int] = (),
) -> DealResult:
    """Settle one showdown.

    Parameters
    ----------
    rules : str or Rules
        A preset's name or a rule system.
    hands : sequence of str or of sequences of str
        The cards of each seat (``"5H 6H 7H ..."``); the knocker's still include ``knock_card``. Of three that
        rotate, the one that sits out has none; of two tables, one is settled at a time.
    knocker : int
        The seat that knocks.
    knock_card : str or None
        The card that the knocker throws; None stands for big gin.
    upcard : str, optional
        The deal's first upcard, for rules whose knock limit or points depend on it.
    arrangements : mapping, optional
        Seat to melds laid by that seat, where not the best of equal arrangements was chosen. With
        ``layoff="greedy"`` the lay-offs go onto the knocker's melds in the order given; with
        ``"optimal"`` only the knocking side's melds can be given.
    boasters : sequence of int
        Seats that have boasted in the deal.

    Raises
    ------
    ValueError
        Unknown or doubled cards, a hand of the wrong size, no such seat, or an arrangement that
        the hand cannot lay; the message names the value.
    """
    rules = resolve_rules(rules)
    hand_bits = _parse_hands(rules, hands, knocker)
    first_upcard = _parse_upcard(rules, upcard)
    boasted = _parse_boasters(rules, boasters)
    if not isinstance(arrangements, Mapping | None):
        raise ValueError(f"arrangements={arrangements!r}: must map seats to melds")
    for seat, melds in (arrangements or {}).items():
        if not isinstance(melds, Sequence) or isinstance(melds, str):
            raise ValueError(
                f"arrangements={{{seat!r}: {melds!r}}}: a sequence of melds is needed, such as ['5H 6H 7H']"
            )
    if knock_card is not None:
        thrown = CARD_BITS[parse_card(knock_card)]
        if not hand_bits[knocker] & thrown:
            in_hand = format_cards(hand_bits[knocker])
            raise ValueError(f"knock_card={knock_card!r} is not in the knocker's hand {in_hand}")
        hand_bits[knocker] ^= thrown
    given = {seat: parse_melds(hand_bits, seat, melds) for seat, melds in (arrangements or {}).items()}
    reason = _refusal(rules, hand_bits[knocker], knock_card, first_upcard)
    if reason:
        nothing = (0,) * rules.num_teams
        return DealResult(False, reason, None, None, nothing, nothing)
    seats = np.array([knocker])
    if given:
        result = settle_arranged(rules, hand_bits, seats, given, first_upcard, boasted)
    else:
        result = settle(rules, hand_bits[None], seats, first_upcard, boasted)
    return describe_result(rules, result, row=0)


def score_tables(rules: str | Rules, tables: Sequence[DealResult]) -> DealResult:
    """Put the results of two tables together (``mode="two_tables"``, docs/rules.md section 2).

    Parameters
    ----------
    rules : str or Rules
    tables : sequence of DealResult
        What ``score_deal`` returned for each table, in order.

    Returns
    -------
    DealResult
        Points per team, net or gross as the rules have it, the winner, a box paid at once and the boasts of
        both; ``kind`` is ``"two_tables"``, or ``"dead"`` where both are; how each ended stands in the results given.

    Raises
    ------
    ValueError
        Rules without two tables, another number of results, or an illegal knock among them.
    """
    rules = resolve_rules(rules)
    if rules.num_tables == 1 or len(tables) != rules.num_tables:
        raise ValueError(f"{len(tables)} results under rules {rules.name}: these have {rules.num_tables} tables")
    if wrong := [result for result in tables if not isinstance(result, DealResult)]:
        raise ValueError(f"{wrong[0]!r} is no result of a table: give what score_deal returned for each")
    if any(len(result.points) != rules.num_teams for result in tables):
        raise ValueError(
            f"points of {[len(result.points) for result in tables]} teams: these rules have {rules.num_teams}"
        )
    if refused := next((result for result in tables if not result.legal), None):
        raise ValueError(f"an illegal knock ends no deal: {refused.reason}")
    points, net_points = (np.array([[getattr(result, name) for result in tables]]) for name in ("points", "net_points"))
    dead = all(result.kind == "dead" for result in tables)
    joined = join_tables(rules, points, net_points, np.array([dead]))
    winner = int(joined.winner[0])
    boxed = rules.box_timing == "now" and winner >= 0
    bonuses = {
        "box": rules.box_bonus if boxed else 0,
        "boast": sum(result.bonuses.get("boast", 0) for result in tables),
    }
    return DealResult(
        legal=True,
        reason="",
        kind="dead" if dead else "two_tables",
        winner=None if winner < 0 else winner,
        points=tuple(joined.points[0].tolist()),
        net_points=tuple(joined.net_points[0].tolist()),
        bonuses={name: bonus for name, bonus in bonuses.items() if bonus},
    )


def _refusal(rules: Rules, hand: np.uint64, knock_card: str | None, first_upcard: NDArray[np.uint8] | None) -> str:
    """Say why the knocker, who holds these cards after his throw, may not end the deal; empty if he may."""
    least = int(deadwood(np.array([hand]))[0])
    if knock_card is None:
        if not rules.has_big_gin:
            return "knock_card=None is big gin, which these rules do not have"
        return f"big gin with deadwood {least}: every card must be melded" if least else ""
    limit = rules.knock_limit if first_upcard is None else int(upcard_limits(rules)[first_upcard[0]])
    return f"deadwood {least} after throwing {knock_card} is more than the limit of {limit}" if least > limit else ""


def _parse_upcard(rules: Rules, upcard: str | None) -> NDArray[np.uint8] | None:
    if upcard is None:
        if rules.looks_at_upcard:
            raise ValueError("upcard=None: under these rules the knock depends on the first upcard, give it")
        return None
    return np.array([parse_card(upcard)], dtype=np.uint8)


def _parse_boasters(rules: Rules, boasters: Sequence[int]) -> NDArray[np.uint8]:
    boasted = np.zeros((1, rules.num_seats), dtype=np.uint8)
    if not isinstance(boasters, Sequence):
        raise ValueError(f"boasters={boasters!r}: a sequence of seats is needed, such as (0,)")
    if len(boasters) and not rules.boast:
        raise ValueError(f"boasters={boasters!r}: these rules have no boasting")
    for seat in boasters:
        boasted[0, whole_number("boasters", seat, 0, rules.num_seats - 1, "seat")] = 1
    return boasted


def describe_result(rules: Rules, result: Showdown | State, row: int) -> DealResult:
    """Write one row of a settled batch or of a ``State`` as a DealResult; ``ValueError`` where the deal goes on."""
    kind = Kind(int(result.kind[row]))
    if kind is Kind.NONE:
        raise ValueError(f"the deal in row {row} is not over: it has no result yet")
    points = tuple(int(amount) for amount in result.points[row])
    net_points = tuple(int(amount) for amount in result.net_points[row])
    if kind is Kind.DEAD:
        boasts = int(result.boasted[row].sum()) * rules.boast_points[-1]
        return DealResult(True, "", "dead", None, points, net_points, {"boast": boasts} if boasts else {})
    seats = range(rules.num_seats)
    winner = int(result.winner[row])
    knock_team = rules.team_of(int(result.knocker[row]))
    return DealResult(
        legal=True,
        reason="",
        kind=kind.name.lower(),
        winner=None if winner < 0 else winner,
        points=points,
        net_points=net_points,
        bonuses=_bonuses(rules, result, row),
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
            if rules.team_of(seat) != knock_team and _takes_part(result, row, seat)
        },
        deadwood=tuple(int(points) for points in result.deadwood[row]),
    )


def _takes_part(result: Showdown | State, row: int, seat: int) -> bool:
    """Whether a seat has cards in the showdown: where three rotate, the dealer has none."""
    cards = result.set_bits[row, seat] | result.run_bits[row, seat] | result.laid_bits[row, seat]
    return bool(cards) or int(result.deadwood[row, seat]) > 0


def _bonuses(rules: Rules, result: Showdown | State, row: int) -> dict[str, int]:
    """Return the bonuses within a deal's points, by name, as single amounts, without zeros."""
    kind, winner = Kind(int(result.kind[row])), int(result.winner[row])
    gin = {Kind.GIN: rules.gin_bonus, Kind.SMALL_GIN: rules.small_gin_bonus, Kind.TEAM_GIN: rules.team_gin_bonus}
    boxed = rules.box_timing == "now" and winner >= 0 and rules.num_tables == 1
    bonuses = {
        "gin": gin.get(kind, 0),
        "big_gin": (rules.big_gin_bonus or 0) if kind is Kind.BIG_GIN else 0,
        "undercut": rules.undercut_bonus if _has_undercut(rules, result, row) else 0,
        "box": rules.box_bonus if boxed else 0,
        "boast": _paid_for_boasts(rules, result, row) if rules.boast else 0,
    }
    return {name: points for name, points in bonuses.items() if points}


def _has_undercut(rules: Rules, result: Showdown | State, row: int) -> bool:
    """Whether somebody undercut the knocker: free-for-all, some seat that won points and did not knock."""
    if rules.mode != "free_for_all":
        return int(result.kind[row]) == Kind.UNDERCUT
    others = [seat for seat in range(rules.num_seats) if seat != int(result.knocker[row])]
    knocker_left = int(result.deadwood[row, int(result.knocker[row])])
    left = min(int(result.deadwood[row, seat]) for seat in others)
    return knocker_left > 0 and (left < knocker_left or (left == knocker_left and rules.undercut_on_tie))


def _paid_for_boasts(rules: Rules, result: Showdown | State, row: int) -> int:
    """Return what boasts pay to either side together."""
    knock_team = rules.team_of(int(result.knocker[row]))
    knock_seats = [seat for seat in range(rules.num_seats) if rules.team_of(seat) == knock_team]
    won = np.array([int(result.winner[row]) == knock_team])
    paid = boast_payments(rules, result.boasted[[row]], np.array([knock_seats]), won)
    return int(paid[0][0] + paid[1][0])


def _parse_hands(rules: Rules, hands: Sequence[CardTexts], knocker: int) -> UInt64Array:
    if not isinstance(hands, Sequence) or isinstance(hands, str):
        raise ValueError(f"hands={hands!r}: a sequence with the cards of each seat is needed")
    if len(hands) != rules.num_seats:
        raise ValueError(f"{len(hands)} hands given: {rules.num_seats} seats at the table need {rules.num_seats}")
    whole_number("knocker", knocker, 0, rules.num_seats - 1, "seat")
    parsed = [parse_cards(hand) for hand in hands]
    sitting_out = [seat for seat, ids in enumerate(parsed) if not ids] if rules.mode == "rotation" else []
    if rules.mode == "rotation" and len(sitting_out) != 1:
        raise ValueError(f"{len(sitting_out)} hands are empty: of three that rotate one sits out, give it no cards")
    bits: list[np.uint64] = []
    for seat, ids in enumerate(parsed):
        size = 0 if seat in sitting_out else rules.hand_size + (seat == knocker)
        if len(ids) != size:
            raise ValueError(
                f"hand {seat} has {len(ids)} cards: {size} are needed (the knocker still holds knock_card)"
            )
        for earlier, other in enumerate(bits):
            if doubled := other & bits_of(ids):
                raise ValueError(f"{format_cards(doubled)} stands in hand {earlier} and in hand {seat}")
        bits.append(bits_of(ids))
    return np.array(bits, dtype=np.uint64)
