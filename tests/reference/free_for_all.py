"""The free-for-all showdown: every player lays off and is scored alone (`ffa_scoring`)."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from .cards import Arrangement, best_arrangements, least_deadwood
from .defence import SeatReply, seat_reply
from .rules import add, net, spade_factor


class Payment(NamedTuple):
    """Points that one seat scores from another."""

    to_seat: int
    from_seat: int
    amount: int


class Outcome(NamedTuple):
    """A showdown with one of the knocker's spreads; `replies` are in the order of laying off."""

    spread: Arrangement
    replies: list[SeatReply]
    melds: tuple[int, ...]
    kind: str
    winner: int | None
    points: list[int]
    net_points: list[int]
    bonuses: dict[str, int]


def play_showdown(
    rules: Mapping[str, Any], groups: Sequence[int], knocker: int, is_open: bool, upcard: str | None
) -> Outcome:
    """Return the showdown with the spread that gives the knocker the most net points, of equal ones the first."""
    spreads = best_arrangements(groups[knocker])
    if rules["spread"] == "first":
        spreads = spreads[:1]
    outcomes = [_play_out(rules, groups, knocker, spread, is_open, upcard) for spread in spreads]
    return max(outcomes, key=lambda outcome: outcome.net_points[knocker])


def _play_out(
    rules: Mapping[str, Any],
    groups: Sequence[int],
    knocker: int,
    spread: Arrangement,
    is_open: bool,
    upcard: str | None,
) -> Outcome:
    seats = len(groups)
    own = least_deadwood(groups[knocker])
    knockers_melds = tuple(spread.melds()) if is_open else ()
    melds = knockers_melds
    counts = [own] * seats
    replies = []

    # The others lay off clockwise from the knocker.
    for turn in range(1, seats):
        seat = (knocker + turn) % seats
        reply = seat_reply(melds if rules["cross_chain"] else knockers_melds, groups[seat])
        # Without cross_chain each seat extended the knocker's own melds: put the cards of all of them together.
        melds = tuple(before | after for before, after in zip(melds, reply.melds, strict=True))
        counts[seat] = reply.left
        replies.append(reply)

    pays = pooled_payments if rules["ffa_scoring"] == "pooled" else pairwise_payments
    factor = spade_factor(rules, upcard)
    payments = [payment._replace(amount=payment.amount * factor) for payment in pays(rules, counts, knocker)]
    points, net_points = [0] * seats, [0] * seats
    for to_seat, from_seat, amount in payments:
        points[to_seat] += amount
        net_points[to_seat] += amount
        net_points[from_seat] -= amount

    # Whoever alone has the most points from the knock wins the deal, and with it a box.
    winner = points.index(max(points)) if points.count(max(points)) == 1 else None
    bonuses = {}
    if own == 0:
        bonuses["gin"] = rules["gin_bonus"]
    elif any(payment.from_seat == knocker for payment in payments):
        bonuses["undercut"] = rules["undercut_bonus"]
    if winner is not None and rules["box_timing"] == "now":
        bonuses["box"] = rules["box_bonus"]
        boxes = [rules["box_bonus"] * (seat == winner) for seat in range(seats)]
        points = add(points, boxes)
        net_points = add(net_points, net(boxes, range(seats)))

    bonuses = {name: bonus for name, bonus in bonuses.items() if bonus}
    return Outcome(spread, replies, melds, "knock" if own else "gin", winner, points, net_points, bonuses)


def pairwise_payments(rules: Mapping[str, Any], counts: Sequence[int], knocker: int) -> list[Payment]:
    """Return one payment for each defender: to the knocker or, after an undercut, from the knocker."""
    payments = []
    for seat in range(len(counts)):
        if seat == knocker:
            continue
        lead = counts[seat] - counts[knocker]
        if counts[knocker] == 0:
            payments.append(Payment(knocker, seat, lead + rules["gin_bonus"]))
        elif lead > 0 or (lead == 0 and not rules["undercut_on_tie"]):
            payments.append(Payment(knocker, seat, lead))
        else:
            payments.append(Payment(seat, knocker, -lead + rules["undercut_bonus"]))
    return payments


def pooled_payments(rules: Mapping[str, Any], counts: Sequence[int], knocker: int) -> list[Payment]:
    """Return what the knocker scores from everyone if they are lowest, else what each of the lowest others scores."""
    others = [seat for seat in range(len(counts)) if seat != knocker]
    lowest = min(counts[seat] for seat in others)
    own = counts[knocker]

    if own == 0:
        return [Payment(knocker, seat, counts[seat] + rules["gin_bonus"]) for seat in others]
    if own < lowest or (own == lowest and not rules["undercut_on_tie"]):
        return [Payment(knocker, seat, counts[seat] - own) for seat in others]

    # An undercut: its bonus is won from the knocker.
    return [
        Payment(scorer, seat, counts[seat] - lowest + (rules["undercut_bonus"] if seat == knocker else 0))
        for scorer in others
        if counts[scorer] == lowest
        for seat in range(len(counts))
        if seat != scorer
    ]
