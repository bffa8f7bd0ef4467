"""``score_deal``: settle one showdown written down as card texts, to check a rule question.

>>> result = score_deal("classic_2p", [knocker_cards, defender_cards], knocker=0, knock_card="KD")
>>> result.kind, result.points
('knock', (25, 0))
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_BITS, UInt64Array, bits_of, format_cards, parse_card, parse_cards
from gin_env.cards.melds import deadwood
from gin_env.errors import whole_number
from gin_env.rules import Rules, resolve_rules, upcard_limits
from gin_env.scoring.deal_result import DealResult, describe_result
from gin_env.scoring.given_melds import CardTexts, parse_melds, settle_given_melds
from gin_env.scoring.showdown import settle
from gin_env.scoring.two_tables import join_tables


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
        discarded = CARD_BITS[parse_card(knock_card)]
        if not hand_bits[knocker] & discarded:
            in_hand = format_cards(hand_bits[knocker])
            raise ValueError(f"knock_card={knock_card!r} is not in the knocker's hand {in_hand}")
        hand_bits[knocker] ^= discarded
    given = {seat: parse_melds(hand_bits, seat, melds) for seat, melds in (arrangements or {}).items()}
    reason = _refusal(rules, hand_bits[knocker], knock_card, first_upcard)
    if reason:
        nothing = (0,) * rules.num_teams
        return DealResult(False, reason, None, None, nothing, nothing)
    seats = np.array([knocker])
    if given:
        result = settle_given_melds(rules, hand_bits, seats, given, first_upcard, boasted)
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
