"""``score_deal`` and ``score_tables``: settle showdowns written down as card texts, to check a rule question."""

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
from gin_env.scoring.results import box_bonus_now
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
        The cards of each seat (``"5H 6H 7H ..."``); the knocker's still include ``knock_card``. Where three
        rotate, the seat that sits out has none; of two tables, one is settled at a time.
    knocker : int
        The seat that knocks.
    knock_card : str or None
        The card that the knocker discards; None stands for big gin.
    upcard : str, optional
        The deal's first upcard, for rules whose knock limit or points depend on it.
    arrangements : mapping, optional
        Seat to the melds that it lays down, where not the best of equal arrangements was chosen. With
        ``layoff="greedy"`` the lay-offs go onto the knocker's melds in the order given; with
        ``"optimal"`` only the knocking side's melds can be given.
    boasters : sequence of int
        Seats that have boasted in the deal.

    Returns
    -------
    DealResult
        With ``legal=False`` and the reason if the knock is not allowed.

    Raises
    ------
    ValueError
        Unknown or repeated cards, a hand of the wrong size, a seat that does not exist, or an arrangement that
        the hand cannot lay down; the message names the value.

    Examples
    --------
    >>> result = score_deal("classic_2p", [knocker_cards, defender_cards], knocker=0, knock_card="KD")
    >>> result.kind, result.points
    ('knock', (25, 0))
    """
    rules = resolve_rules(rules)
    hand_bits = _parse_hands(rules, hands, knocker)
    first_upcard = _parse_upcard(rules, upcard)
    boasted = _parse_boasters(rules, boasters)
    arrangements = _check_arrangements(arrangements)
    if knock_card is not None:
        hand_bits[knocker] = _hand_without(hand_bits[knocker], knock_card)
    given = {seat: parse_melds(hand_bits, seat, melds) for seat, melds in arrangements.items()}

    reason = _why_illegal(rules, hand_bits[knocker], knock_card, first_upcard)
    if reason:
        no_points = (0,) * rules.num_teams
        return DealResult(False, reason, None, None, no_points, no_points)

    seats = np.array([knocker])
    if given:
        showdown = settle_given_melds(rules, hand_bits, seats, given, first_upcard, boasted)
    else:
        showdown = settle(rules, hand_bits[None], seats, first_upcard, boasted)
    return describe_result(rules, showdown, row=0)


def score_tables(rules: str | Rules, tables: Sequence[DealResult]) -> DealResult:
    """Add the results of two tables up to the result of their deal (``mode="two_tables"``).

    Parameters
    ----------
    rules : str or Rules
    tables : sequence of DealResult
        What ``score_deal`` returned for each table, in order.

    Returns
    -------
    DealResult
        Points per team (``team_score``), the winner, a box paid at once and the boasts of both tables. ``kind`` is
        ``"two_tables"``, or ``"dead"`` if both are; see ``tables`` for how each ended.

    Raises
    ------
    ValueError
        Rules without two tables, the wrong number of results, or an illegal knock among them.
    """
    rules = resolve_rules(rules)
    _check_tables(rules, tables)

    points = np.array([[result.points for result in tables]])
    net_points = np.array([[result.net_points for result in tables]])
    is_dead = all(result.kind == "dead" for result in tables)
    deal = join_tables(rules, points, net_points, np.array([is_dead]))

    winner = int(deal.winner[0])
    bonuses = {
        "box": box_bonus_now(rules, tables_joined=True) if winner >= 0 else 0,
        "boast": sum(result.bonuses.get("boast", 0) for result in tables),
    }
    return DealResult(
        legal=True,
        reason="",
        kind="dead" if is_dead else "two_tables",
        winner=None if winner < 0 else winner,
        points=tuple(deal.points[0].tolist()),
        net_points=tuple(deal.net_points[0].tolist()),
        bonuses={name: bonus for name, bonus in bonuses.items() if bonus},
    )


def _check_tables(rules: Rules, tables: Sequence[DealResult]) -> None:
    if rules.num_tables == 1 or len(tables) != rules.num_tables:
        raise ValueError(f"tables: {len(tables)} results for rules {rules.name}, which have {rules.num_tables} tables")
    for result in tables:
        if not isinstance(result, DealResult):
            raise ValueError(f"tables: {result!r} is not a result of a table: give what score_deal returned for each")
        if len(result.points) != rules.num_teams:
            raise ValueError(f"tables: expected points of {rules.num_teams} teams, got {len(result.points)}")
        if not result.legal:
            raise ValueError(f"tables: an illegal knock does not end a deal: {result.reason}")


def _why_illegal(rules: Rules, hand: np.uint64, knock_card: str | None, first_upcard: NDArray[np.uint8] | None) -> str:
    """Say why the knocker, whose hand no longer holds the discard, may not end the deal; empty if they may."""
    least = int(deadwood(np.array([hand]))[0])
    if knock_card is None:
        if not rules.has_big_gin:
            return "knock_card=None is big gin, which these rules do not have"
        return f"big gin with deadwood {least}: every card must be melded" if least else ""

    limit = rules.knock_limit if first_upcard is None else int(upcard_limits(rules)[first_upcard[0]])
    return f"deadwood {least} after discarding {knock_card} is more than the limit of {limit}" if least > limit else ""


def _hand_without(hand: np.uint64, knock_card: str) -> np.uint64:
    card = CARD_BITS[parse_card(knock_card)]
    if not hand & card:
        raise ValueError(f"knock_card={knock_card!r} is not in the knocker's hand {format_cards(hand)}")
    return hand ^ card


def _parse_upcard(rules: Rules, upcard: str | None) -> NDArray[np.uint8] | None:
    if upcard is not None:
        return np.array([parse_card(upcard)], dtype=np.uint8)
    if rules.looks_at_upcard:
        raise ValueError("upcard=None: under these rules the knock depends on the first upcard, give it")
    return None


def _parse_boasters(rules: Rules, boasters: Sequence[int]) -> NDArray[np.uint8]:
    boasted = np.zeros((1, rules.num_seats), dtype=np.uint8)
    if not isinstance(boasters, Sequence):
        raise ValueError(f"boasters={boasters!r}: expected a sequence of seats, such as (0,)")
    if len(boasters) and not rules.boast:
        raise ValueError(f"boasters={boasters!r}: these rules have no boasting")
    for seat in boasters:
        boasted[0, whole_number("boasters", seat, 0, rules.num_seats - 1, "seat")] = 1
    return boasted


def _check_arrangements(
    arrangements: Mapping[int, Sequence[CardTexts]] | None,
) -> Mapping[int, Sequence[CardTexts]]:
    if arrangements is None:
        return {}
    if not isinstance(arrangements, Mapping):
        raise ValueError(f"arrangements={arrangements!r}: expected a mapping from seats to melds")
    for seat, melds in arrangements.items():
        if not isinstance(melds, Sequence) or isinstance(melds, str):
            raise ValueError(
                f"arrangements={{{seat!r}: {melds!r}}}: expected a sequence of melds, such as ['5H 6H 7H']"
            )
    return arrangements


def _parse_hands(rules: Rules, hands: Sequence[CardTexts], knocker: int) -> UInt64Array:
    if not isinstance(hands, Sequence) or isinstance(hands, str):
        raise ValueError(f"hands={hands!r}: expected a sequence with the cards of each seat")
    if len(hands) != rules.num_seats:
        raise ValueError(f"hands: expected one for each of the {rules.num_seats} seats at the table, got {len(hands)}")
    whole_number("knocker", knocker, 0, rules.num_seats - 1, "seat")

    parsed = [parse_cards(hand) for hand in hands]
    sitting_out = [seat for seat, ids in enumerate(parsed) if not ids] if rules.mode == "rotation" else []
    if rules.mode == "rotation" and len(sitting_out) != 1:
        raise ValueError(f"hands: {len(sitting_out)} are empty, expected 1: where three rotate, one sits out")

    bits: list[np.uint64] = []
    for seat, ids in enumerate(parsed):
        size = 0 if seat in sitting_out else rules.hand_size + (seat == knocker)
        if len(ids) != size:
            raise ValueError(f"hand {seat}: expected {size} cards, got {len(ids)} (the knocker still holds knock_card)")
        for earlier, other in enumerate(bits):
            if repeated := other & bits_of(ids):
                raise ValueError(f"{format_cards(repeated)} is in hand {earlier} and in hand {seat}")
        bits.append(bits_of(ids))
    return np.array(bits, dtype=np.uint64)
