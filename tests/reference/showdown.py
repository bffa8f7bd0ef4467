"""The end of a deal: whether the knock is legal, which melds are laid down, and what each team scores."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from .cards import CARD_ID, VALUE, Arrangement, best_arrangements, least_deadwood, to_bits, to_texts
from .defence import Reply, greedy_reply, optimal_reply
from .free_for_all import play_showdown
from .result import Result
from .rules import add, complete, knock_limit, net, num_seats, num_teams, spade_factor


class _Settlement(NamedTuple):
    kind: str
    knockers_win: bool
    amount: int
    bonuses: dict[str, int]


def score_showdown(
    rules: Mapping[str, Any],
    hands: Sequence[Iterable[str]],
    knocker: int,
    knock_card: str | None,
    upcard: str | None = None,
    boasters: Sequence[int] = (),
) -> Result:
    """Lay down the melds, lay off and score.

    Parameters
    ----------
    rules : the fields of docs/rules.md.
    hands : cards of each seat (two local seats at a table of two_tables); the knocker's hand still holds the knock
        card; in rotation the hand of the seat that sits out is empty.
    knocker : seat that knocks.
    knock_card : card that the knocker discards; None for big gin.
    upcard : first upcard of the deal; required by `limit_from_upcard` and `spade_upcard_doubles`.
    boasters : seats that have boasted in this deal.

    Raises
    ------
    ValueError : for an impossible deal. A knock that the rules do not allow returns a `Result` with ``legal=False``.
    """
    rules = complete(rules)
    groups = _groups(rules, hands, knocker)
    if knock_card is not None:
        discarded = to_bits([knock_card])
        if not groups[knocker] & discarded:
            raise ValueError(f"knock card {knock_card}: not in the hand of the knocker, seat {knocker}")
        groups[knocker] ^= discarded

    own = least_deadwood(groups[knocker])
    reason = _refusal(rules, own, knock_card is None, upcard)
    if reason:
        nothing = [0] * num_teams(rules)
        return Result(
            legal=False,
            reason=reason,
            knocker_deadwood=own,
            points=nothing,
            net_points=nothing,
            boasts=nothing,
            catches=nothing,
        )

    if rules["mode"] == "free_for_all":
        return _free_for_all(rules, groups, knocker, upcard)
    return _side_against_side(rules, groups, knocker, knock_card is None, upcard, boasters)


def dead_deal(rules: Mapping[str, Any], playing: Sequence[int], boasters: Sequence[int] = ()) -> Result:
    """Return the result of a deal of the given seats that nobody won; only boasts pay (`boast_points`)."""
    rules = complete(rules)
    teams = num_teams(rules)
    boasts = [0] * teams
    for seat in boasters:
        others = next(other for other in playing if other % teams != seat % teams)
        boasts[others % teams] += rules["boast_points"][4]
    return Result(
        kind="dead",
        points=boasts,
        net_points=net(boasts, {seat % teams for seat in playing}),
        bonuses={"boast": sum(boasts)} if any(boasts) else {},
        boasts=boasts,
        catches=[0] * teams,
    )


def _free_for_all(rules: Mapping[str, Any], groups: Sequence[int], knocker: int, upcard: str | None) -> Result:
    """Return the result of a knock where every seat plays alone."""
    own = least_deadwood(groups[knocker])
    is_open = bool(open_places(rules, [own]))
    outcome = play_showdown(rules, groups, knocker, is_open, upcard)

    seats = len(groups)
    left = [own] * seats
    layoffs, defender_melds = {}, {}
    for turn, reply in enumerate(outcome.replies, start=1):
        seat = (knocker + turn) % seats
        left[seat] = reply.left
        layoffs[seat] = sorted(to_texts(reply.laid_bits))
        defender_melds[seat] = _texts(reply.arrangement)

    return Result(
        kind=outcome.kind,
        winner=outcome.winner,
        points=outcome.points,
        net_points=outcome.net_points,
        bonuses=outcome.bonuses,
        boasts=[0] * seats,
        catches=[0] * seats,
        spread={knocker: _texts(outcome.spread)},
        layoffs=layoffs,
        defender_melds=defender_melds,
        table_melds=[to_texts(meld) for meld in outcome.melds],
        deadwood=left,
        knocker_deadwood=own,
    )


def _side_against_side(
    rules: Mapping[str, Any],
    groups: Sequence[int],
    knocker: int,
    is_big_gin: bool,
    upcard: str | None,
    boasters: Sequence[int],
) -> Result:
    """Return the result of a knock between two sides, players or teams."""
    seats, teams = len(groups), num_teams(rules)
    playing = [(knocker + turn) % seats for turn in range(seats) if groups[(knocker + turn) % seats]]
    side = [seat for seat in playing if seat % teams == knocker % teams]
    defenders = [seat for seat in playing if seat % teams != knocker % teams]
    ours, theirs = knocker % teams, defenders[0] % teams
    side_deadwood = [least_deadwood(groups[seat]) for seat in side]
    opened = open_places(rules, side_deadwood)

    # Of all pairs of equally good spreads, the first that pays most (`spread`).
    best: tuple[int, tuple[Arrangement, ...], Reply, _Settlement] | None = None
    for spreads in _spreads(rules, [groups[seat] for seat in side]):
        open_melds = tuple(meld for place in opened for meld in spreads[place].melds())
        reply = _reply(rules, open_melds, tuple(groups[seat] for seat in defenders))

        settled = settle(rules, side_deadwood, reply.total, is_big_gin, upcard)
        pay = settled.amount if settled.knockers_win else -settled.amount
        if best is None or pay > best[0]:
            best = pay, spreads, reply, settled
    if best is None:
        raise RuntimeError("a hand without an arrangement: every hand has at least the one without melds")
    _, spreads, reply, settled = best

    left = [0] * seats
    for seat, amount in zip(side, side_deadwood, strict=True):
        left[seat] = amount
    layoffs, defender_melds = {}, {}
    for seat, kept in zip(defenders, reply.arrangements, strict=True):
        held = groups[seat] & ~reply.laid_bits
        left[seat] = sum(VALUE[CARD_ID[text]] for text in to_texts(held & ~kept.melded_bits))
        layoffs[seat] = sorted(to_texts(groups[seat] & reply.laid_bits))
        defender_melds[seat] = _texts(kept)

    winner = ours if settled.knockers_win else theirs
    points = [settled.amount if team == winner else 0 for team in range(teams)]
    boasts = [0] * teams
    for seat in boasters:
        team, amount = _boast_payment(rules, ours, theirs, seat % teams, settled.knockers_win)
        boasts[team] += amount
    points = add(points, boasts)

    return Result(
        kind=settled.kind,
        winner=winner,
        points=points,
        net_points=net(points, (ours, theirs)),
        bonuses={**settled.bonuses, **({"boast": sum(boasts)} if any(boasts) else {})},
        boasts=boasts,
        catches=[0] * teams,
        spread={seat: _texts(spread) for seat, spread in zip(side, spreads, strict=True)},
        layoffs=layoffs,
        defender_melds=defender_melds,
        deadwood=left,
        knocker_deadwood=side_deadwood[0],
    )


def _boast_payment(
    rules: Mapping[str, Any], knockers: int, defenders: int, boaster: int, knockers_win: bool
) -> tuple[int, int]:
    """Return which team a boast pays, and how much (`boast_points`)."""
    won, undercut, lost, others_undercut, _ = rules["boast_points"]
    if boaster == knockers:
        return (knockers, won) if knockers_win else (defenders, undercut)
    return (knockers, lost) if knockers_win else (defenders, others_undercut)


def _groups(rules: Mapping[str, Any], hands: Sequence[Iterable[str]], knocker: int) -> list[int]:
    """Return the hands as groups; ValueError for hands of the wrong sizes and for a card in two hands."""
    groups = [to_bits(hand) for hand in hands]
    sizes = [rules["hand_size"] + (seat == knocker) for seat in range(num_seats(rules))]

    if rules["mode"] == "rotation" and len(groups) == len(sizes):
        idle = [seat for seat, group in enumerate(groups) if not group]
        if len(idle) != 1 or knocker in idle:
            raise ValueError(f"empty hands of seats {idle}: in mode 'rotation' one seat, not the knocker, sits out")
        sizes[idle[0]] = 0

    if [group.bit_count() for group in groups] != sizes:
        raise ValueError(f"hands of {[group.bit_count() for group in groups]} cards: expected {sizes}")
    to_bits(text for group in groups for text in to_texts(group))  # no card twice
    return groups


def _refusal(rules: Mapping[str, Any], own: int, is_big_gin: bool, upcard: str | None) -> str:
    """Return why a knock is not legal, or an empty string."""
    limit = knock_limit(rules, upcard)
    if is_big_gin:
        if rules["big_gin_bonus"] is None:
            return "big gin is off"
        return f"big gin with {own} points of deadwood: all cards must be melded" if own else ""
    return f"deadwood {own} is above the limit of {limit}" if own > limit else ""


def open_places(rules: Mapping[str, Any], side_deadwood: Sequence[int]) -> list[int]:
    """Return whose melds are open, knocker 0 and partner 1 (`team_layoff`, `layoff_on_gin`)."""
    everyone = list(range(len(side_deadwood)))
    candidates = [0] if rules["team_layoff"] == "knocker_only" else everyone
    if rules["layoff_on_gin"]:
        return candidates
    if rules["team_layoff"] == "all":
        return everyone if any(side_deadwood) else []
    return [place for place in candidates if side_deadwood[place]]


def _spreads(rules: Mapping[str, Any], hands: Sequence[int]) -> list[tuple[Arrangement, ...]]:
    """Return the combinations of arrangements that the knocking side may lay down, in the order of the fine print."""
    choices = [best_arrangements(hand) for hand in hands]
    if rules["spread"] == "first":
        choices = [arrangements[:1] for arrangements in choices]
    return list(product(*choices))


def _reply(rules: Mapping[str, Any], open_melds: tuple[int, ...], hands: tuple[int, ...]) -> Reply:
    """Return the defenders' reply (`layoff`)."""
    if rules["layoff"] == "greedy":
        return greedy_reply(open_melds, hands[0])
    return optimal_reply(open_melds, hands, rules["cross_chain"])


def _texts(arrangement: Arrangement) -> list[list[str]]:
    return [to_texts(meld) for meld in arrangement.melds()]


def settle(
    rules: Mapping[str, Any],
    side_deadwood: Sequence[int],
    defence: int,
    is_big_gin: bool,
    upcard: str | None,
) -> _Settlement:
    """Turn the deadwood of both sides into points, with gin, undercut and box."""
    own = sum(side_deadwood)
    is_protected = own == 0 or (rules["gin_protects"] == "knocker_zero" and side_deadwood[0] == 0)
    knockers_win = is_protected or own < defence or (own == defence and not rules["undercut_on_tie"])

    bonuses = {}
    if knockers_win:
        difference = max(defence - own, 0)
        kind = _kind_of_win(rules, side_deadwood, is_big_gin)
        if kind == "big_gin":
            bonuses["big_gin"] = rules["big_gin_bonus"]
        elif kind != "knock":
            bonuses["gin"] = rules[f"{kind}_bonus"]
    else:
        difference, kind = own - defence, "undercut"
        bonuses["undercut"] = rules["undercut_bonus"]

    amount = (difference + sum(bonuses.values())) * spade_factor(rules, upcard)
    if rules["box_timing"] == "now" and rules["mode"] != "two_tables":  # both tables share one box
        bonuses["box"] = rules["box_bonus"]
        amount += rules["box_bonus"]
    return _Settlement(kind, knockers_win, amount, {name: bonus for name, bonus in bonuses.items() if bonus})


def _kind_of_win(rules: Mapping[str, Any], side_deadwood: Sequence[int], is_big_gin: bool) -> str:
    """Return the kind of a deal that the knocking side has won."""
    if is_big_gin:
        return "big_gin"
    if rules["mode"] != "partnership":
        return "knock" if side_deadwood[0] else "gin"
    if not any(side_deadwood):
        return "team_gin"
    counted = side_deadwood if rules["small_gin_for"] == "any_member" else side_deadwood[:1]
    return "small_gin" if 0 in counted else "knock"
