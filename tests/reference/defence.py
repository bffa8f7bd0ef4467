"""The defenders' reply to a spread: what they lay off and how they arrange the rest (`layoff`, `cross_chain`)."""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

from .cards import ALL_MELDS, CARDS, RANKS, Arrangement, best_arrangements, least_deadwood, points, to_ids

# The 2021 challenge numbers its cards with the suits in this order, and its greedy lay-offs follow these numbers.
_GREEDY_ORDER = tuple("CHSD".index(text[1]) * 13 + RANKS.index(text[0]) for text in CARDS)


class SeatReply(NamedTuple):
    """The reply of a seat that plays alone: its deadwood, lay-offs and melds, and the open melds afterwards."""

    left: int
    laid_bits: int
    arrangement: Arrangement
    melds: tuple[int, ...]


class Reply(NamedTuple):
    """Deadwood and lay-offs of all defenders together, and each defender's arrangement of the remaining cards."""

    total: int
    laid_bits: int
    arrangements: tuple[Arrangement, ...]


def _preference(total: int, laid: int) -> tuple[int, int, list[int]]:
    """Return the sort key of lay-offs: fewest points left, then fewest cards laid off, then lowest ids."""
    return total, laid.bit_count(), to_ids(laid)


@lru_cache(maxsize=1 << 12)
def optimal_reply(open_melds: tuple[int, ...], hands: tuple[int, ...], cross_chain: bool) -> Reply:
    """Return the defenders' joint best reply, found among every sequence of laying off single cards.

    The open melds after some lay-offs determine which cards were laid off and which fit next, so each such state is
    visited once. In every state the defenders may stop and meld what they still hold, which leaves the sum of their
    least deadwoods: their own arrangements need no further search.

    Parameters
    ----------
    open_melds : the melds that may be added to.
    hands : the defenders' hands.
    cross_chain : whether a defender may build on cards that the other has laid off.
    """
    states = _reachable(open_melds, hands, cross_chain)
    laid_groups = {_laid(state, open_melds) for state in states}
    laid = min(laid_groups, key=lambda group: _preference(_total_left(hands, group), group))
    kept = tuple(best_arrangements(hand & ~laid)[0] for hand in hands)
    return Reply(_total_left(hands, laid), laid, kept)


def _reachable(open_melds: tuple[int, ...], hands: Sequence[int], cross_chain: bool) -> set[tuple[int, ...]]:
    """Return every state of the open melds after a sequence of lay-offs, including none."""
    states: set[tuple[int, ...]] = set()
    waiting = [open_melds]

    while waiting:
        state = waiting.pop()
        if state in states:
            continue
        states.add(state)

        # Every card still held on every meld that it extends.
        laid_bits = _laid(state, open_melds)
        for hand in hands:
            for card in to_ids(hand & ~laid_bits):
                for place, meld in enumerate(state):
                    base = meld if cross_chain else open_melds[place] | (meld & hand)
                    if base | 1 << card in ALL_MELDS:
                        waiting.append((*state[:place], meld | 1 << card, *state[place + 1 :]))

    return states


def _laid(state: tuple[int, ...], open_melds: tuple[int, ...]) -> int:
    """Return the cards that were laid off to reach a state."""
    laid = 0
    for grown, meld in zip(state, open_melds, strict=True):
        laid |= grown ^ meld
    return laid


def _total_left(hands: Sequence[int], laid: int) -> int:
    return sum(least_deadwood(hand & ~laid) for hand in hands)


@lru_cache(maxsize=1 << 14)
def seat_reply(open_melds: tuple[int, ...], hand: int) -> SeatReply:
    """Return the best reply of a seat that plays alone, found among every sequence of laying off its cards.

    If the same cards can be laid off in several ways, they are placed in the order of their ids, each on the lowest
    open meld with which the rest can still be laid off.

    Parameters
    ----------
    open_melds : the melds that may be added to, in their current state, in the order of their lowest card ids.
    hand : the seat's hand.
    """
    states = _reachable(open_melds, (hand,), cross_chain=True)
    laid_groups = {_laid(state, open_melds) for state in states}
    laid = min(laid_groups, key=lambda group: _preference(least_deadwood(hand & ~group), group))

    # The same cards may fit several melds.
    def places(state: tuple[int, ...]) -> list[int]:
        return [next(place for place, meld in enumerate(state) if meld >> card & 1) for card in to_ids(laid)]

    melds = min((state for state in states if _laid(state, open_melds) == laid), key=places)
    kept = hand & ~laid
    return SeatReply(least_deadwood(kept), laid, best_arrangements(kept)[0], melds)


def greedy_reply(open_melds: tuple[int, ...], hand: int) -> Reply:
    """Return the best reply of one defender who melds first (least deadwood) and then lays off greedily.

    Of several equally good arrangements they use the one that leaves them the least in the end. The open melds are
    ordered by their lowest C H S D numbers.
    """
    in_order = sorted(open_melds, key=lambda meld: min(_GREEDY_ORDER[card] for card in to_ids(meld)))

    replies = []
    for arrangement in best_arrangements(hand):
        unmelded = hand & ~arrangement.melded_bits
        laid = greedy_layoff(in_order, unmelded)
        replies.append(Reply(points(unmelded & ~laid), laid, (arrangement,)))

    return min(replies, key=lambda reply: _preference(reply.total, reply.laid_bits))


def greedy_layoff(open_melds: Sequence[int], deadwood_cards: int) -> int:
    """Return the cards laid off: in card order, each on the first meld that it extends, until no card fits."""
    melds = list(open_melds)
    left = sorted(to_ids(deadwood_cards), key=lambda card: _GREEDY_ORDER[card])
    laid = 0
    while (fit := _first_fit(melds, left)) is not None:
        card, place = fit
        melds[place] |= 1 << card
        left.remove(card)
        laid |= 1 << card
    return laid


def _first_fit(melds: list[int], cards: list[int]) -> tuple[int, int] | None:
    """Return the first card that extends a meld, with the place of the first such meld; None if no card fits."""
    for card in cards:
        for place, meld in enumerate(melds):
            if meld | 1 << card in ALL_MELDS:
                return card, place
    return None
