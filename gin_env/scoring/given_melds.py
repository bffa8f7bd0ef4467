"""Showdowns in which some seats' melds are given, as recorded or laid down by a person, rather than chosen.

Where several arrangements leave equally little deadwood, a program or a person picks one, and ``score_deal`` has to
settle with that one. Single deals only.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import UInt64Array, bits_of, format_cards, parse_cards
from gin_env.cards.melds import (
    Melds,
    deadwood,
    is_run,
    is_set,
    least_arrangements,
    melds_of,
    points_of,
)
from gin_env.errors import whole_number
from gin_env.rules import Rules
from gin_env.scoring.challenge_2021 import in_challenge_order, reply_card_by_card
from gin_env.scoring.free_for_all import settle_free_for_all
from gin_env.scoring.layoffs import Defence
from gin_env.scoring.results import Showdown
from gin_env.scoring.showdown import doubled, lay_off, settle_spreads, sides
from gin_env.scoring.spreads import Spreads, all_spreads, open_seats

CardTexts = str | Iterable[str]


def settle_given_melds(
    rules: Rules,
    hands: UInt64Array,
    knocker: NDArray[np.intp],
    given: Mapping[int, Melds],
    first_upcard: NDArray[np.uint8] | None = None,
    boasted: NDArray[np.uint8] | None = None,
) -> Showdown:
    """Settle one deal in which some seats' melds are given; the others choose their best as usual.

    Parameters
    ----------
    rules : Rules
    hands : uint64, shape (P,)
        The hands after the knocker's discard.
    knocker : int, shape (1,)
    given : mapping
        Seat to its melds, as :func:`parse_melds` returns them.
    first_upcard, boasted
        As in :func:`~gin_env.scoring.showdown.settle`.

    Raises
    ------
    ValueError
        A defender's melds are given although ``layoff="optimal"``: then they follow from the best lay-offs.
    """
    knock_seats, defence_seats = (seats[0] for seats in sides(rules, hands[None], knocker))
    if rules.layoff == "optimal" and (defenders := sorted(set(given) & set(defence_seats.tolist()))):
        raise ValueError(
            f"arrangements name defender {defenders[0]}: with layoff='optimal' the defenders play their best"
        )

    spreads = all_spreads(rules, hands[knock_seats][None])
    for column, seat in enumerate(knock_seats.tolist()):
        if seat in given:
            spreads.set_bits[:, column], spreads.run_bits[:, column] = _sets_and_runs(given[seat])

    if rules.mode == "free_for_all":
        return settle_free_for_all(rules, hands[None], knocker, spreads, doubled(rules, first_upcard, 1))
    if rules.layoff == "greedy":
        replies = _challenge_replies(rules, hands, spreads, int(knocker[0]), int(defence_seats[0]), given)
    else:
        replies = lay_off(rules, spreads, np.repeat(hands[None, defence_seats], len(spreads.rows), axis=0))
    return settle_spreads(rules, hands[None], knocker, spreads, replies, first_upcard, boasted)


def _challenge_replies(
    rules: Rules, hands: UInt64Array, spreads: Spreads, knocker: int, defender: int, given: Mapping[int, Melds]
) -> Defence:
    """Return the defender's lay-offs for each spread, card by card in the 2021 challenge's order."""
    hand = hands[defender]
    if defender in given:
        arrangements = [_sets_and_runs(given[defender])]
    else:
        least = least_arrangements(np.array([hand]))
        arrangements = list(zip(least.set_bits, least.run_bits, strict=True))

    is_open = open_seats(rules, spreads.deadwood)[:, 0].tolist()
    replies = []
    for set_bits, run_bits, may_lay_off in zip(spreads.set_bits[:, 0], spreads.run_bits[:, 0], is_open, strict=True):
        melds = given.get(knocker) or in_challenge_order(melds_of(set_bits, run_bits))
        replies.append(reply_card_by_card(melds if may_lay_off else [], hand, arrangements))
    return Defence._make(np.concatenate(arrays) for arrays in zip(*replies, strict=True))


def parse_melds(hands: UInt64Array, seat: int, melds: Sequence[CardTexts]) -> Melds:
    """Return a seat's melds as ascending ids; raises ``ValueError`` unless they are a least arrangement of its hand."""
    whole_number("arrangements: seat", seat, 0, len(hands) - 1, "seat")
    parsed = [sorted(parse_cards(meld)) for meld in melds]

    used: set[int] = set()
    for meld in parsed:
        if not is_run(meld) and not is_set(meld):
            raise ValueError(f"seat {seat}: {format_cards(meld)} is neither a set nor a run")
        if bits_of(meld) & ~hands[seat]:
            raise ValueError(
                f"seat {seat}: meld {format_cards(meld)} is not all in the hand {format_cards(hands[seat])}"
            )
        if used & set(meld):
            raise ValueError(f"seat {seat}: {format_cards(sorted(used & set(meld)))} used in two melds")
        used |= set(meld)

    points, least = int(points_of(hands[[seat]] & ~bits_of(used))[0]), int(deadwood(hands[[seat]])[0])
    if points != least:
        raise ValueError(f"seat {seat}: these melds leave {points} points, expected the least possible, {least}")
    return parsed


def _sets_and_runs(melds: Melds) -> tuple[np.uint64, np.uint64]:
    """Return the cards in sets and the cards in runs of some melds."""
    in_runs = bits_of(card for meld in melds if is_run(meld) for card in meld)
    return bits_of(card for meld in melds for card in meld) & ~in_runs, in_runs
