"""Showdowns in which some seats' melds are given, as a record or a person lays them, rather than chosen.

Where several arrangements leave equally little, a program or a person picks one; ``score_deal`` then
has to settle with that one. Single deals only, card by card: this is also the plain form of the
challenge's lay-offs that ``layoffs.greedy_layoffs`` does in closed form.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import (
    UInt64Array,
    bits_of,
    card_ids,
    format_cards,
    parse_cards,
)
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
from gin_env.scoring.challenge_2021 import CHALLENGE_ORDER, lay_off_in_order
from gin_env.scoring.free_for_all import settle_free_for_all
from gin_env.scoring.layoffs import Defence
from gin_env.scoring.results import Showdown
from gin_env.scoring.showdown import doubled, reply, settle_spreads, sides
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
    """Settle one deal in which some seats' melds are given; the others choose their best as ever.

    Parameters
    ----------
    rules : Rules
    hands : uint64, shape (P,)
        The hands after the knocker has thrown his card.
    knocker : int, shape (1,)
    given : mapping
        Seat to its melds, as :func:`parse_melds` returns them.
    first_upcard, boasted
        As in :func:`~gin_env.scoring.showdown.settle`.

    Raises
    ------
    ValueError
        A defender's melds where lay-offs are optimal: then his arrangement follows from them.
    """
    if rules.mode == "free_for_all":
        knock_seats, defence_seats = knocker, np.delete(np.arange(rules.num_seats), knocker)
    else:
        knock_seats, defence_seats = (seats[0] for seats in sides(rules, hands[None], knocker))
    spreads = all_spreads(hands[knock_seats][None], only_first=rules.spread == "first")
    for column, seat in enumerate(knock_seats.tolist()):
        if seat in given:
            spreads.set_bits[:, column], spreads.run_bits[:, column] = _sets_and_runs(given[seat])
    if rules.layoff == "greedy":
        defender = int(defence_seats[0])
        replies = []
        for index in range(len(spreads.rows)):
            melds = given.get(int(knocker[0])) or _in_challenge_order(spreads, index)
            is_open = bool(open_seats(rules, spreads.deadwood[[index]]).any())
            replies.append(_reply_in_order(melds if is_open else [], hands[defender], given.get(defender)))
        defence = Defence(*(np.concatenate(parts) for parts in zip(*replies, strict=True)))
    else:
        if fixed := sorted(set(given) & set(defence_seats.tolist())):
            raise ValueError(
                f"arrangements name defender {fixed[0]}: with layoff='optimal' the defenders play their best"
            )
        if rules.mode == "free_for_all":
            doubles = doubled(rules, first_upcard, 1)
            return settle_free_for_all(rules, hands[None], knocker, spreads, doubles)
        defence = reply(rules, spreads, np.repeat(hands[None, defence_seats], len(spreads.rows), axis=0))
    return settle_spreads(rules, hands[None], knocker, spreads, defence, first_upcard, boasted)


def _in_challenge_order(spreads: Spreads, index: int) -> Melds:
    melds = melds_of(spreads.set_bits[index, 0], spreads.run_bits[index, 0])
    return sorted(melds, key=lambda meld: min(CHALLENGE_ORDER.index(card) for card in meld))


def _reply_in_order(melds: Melds, hand: np.uint64, given: Melds | None) -> Defence:
    """Lay off card by card after the given arrangement of the defender's hand, or after his best one."""
    own = least_arrangements(np.array([hand]))
    choices = [_sets_and_runs(given)] if given is not None else list(zip(own.set_bits, own.run_bits, strict=True))
    replies = []
    for set_bits, run_bits in choices:
        loose = card_ids(hand & ~set_bits & ~run_bits)
        laid = lay_off_in_order(melds, loose, CHALLENGE_ORDER)
        left = int(points_of(np.array([bits_of(set(loose) - set(laid))]))[0])
        replies.append((left, bits_of(laid), set_bits, run_bits))
    left, laid_bits, set_bits, run_bits = min(replies, key=lambda choice: choice[0])
    boards = (np.array([[bits]], dtype=np.uint64) for bits in (laid_bits, set_bits, run_bits))
    laid_board, *melds_boards = boards
    return Defence(laid_board, np.array([[left]], dtype=np.uint8), *melds_boards)


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
            raise ValueError(f"seat {seat}: {format_cards(sorted(used & set(meld)))} stands in two melds")
        used |= set(meld)
    left, least = int(points_of(hands[[seat]] & ~bits_of(used))[0]), int(deadwood(hands[[seat]])[0])
    if left != least:
        raise ValueError(f"seat {seat}: these melds leave {left} points, the least is {least} (docs/rules.md row 25)")
    return parsed


def _sets_and_runs(melds: Melds) -> tuple[np.uint64, np.uint64]:
    """Return the cards in sets and the cards in runs of some melds."""
    in_runs = [card for meld in melds if is_run(meld) for card in meld]
    return bits_of(card for meld in melds for card in meld) & ~bits_of(in_runs), bits_of(in_runs)
