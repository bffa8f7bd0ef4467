"""The end of a deal: is the knock legal, how do the knockers spread, and what does everybody score."""

from collections.abc import Iterable, Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

from .cards import CARD_ID, VALUE, Arrangement, best_arrangements, least_deadwood, to_bits, to_texts
from .defence import Reply, greedy_reply, optimal_reply
from .result import Result


class _Settlement(NamedTuple):
    kind: str
    winner: int
    points: list[int]
    bonuses: dict[str, int]


def check_rules(rules: Mapping[str, Any]) -> None:
    """Raise ValueError for rules that this package does not play or that docs/rules.md excludes."""
    seats = {"duel": 2, "partnership": 4}.get(rules["mode"])
    if seats is None:
        raise ValueError(f"mode {rules['mode']!r}: the reference plays 'duel' and 'partnership' only")
    if rules["num_players"] != seats:
        raise ValueError(f"num_players {rules['num_players']}: mode {rules['mode']!r} has {seats} seats")
    if rules["mode"] == "partnership" and rules.get("big_gin_bonus") is not None:
        raise ValueError("big_gin_bonus in mode 'partnership': big gin exists with one hand a side only; use None")
    if rules["mode"] == "partnership" and rules["layoff"] == "greedy":
        raise ValueError("layoff 'greedy' in mode 'partnership': docs/rules.md describes it for one defender only")
    if rules.get("ace_upcard_gin_only", False) and not rules.get("limit_from_upcard", False):
        raise ValueError("ace_upcard_gin_only without limit_from_upcard: switch both on, or neither")


def knock_limit(rules: Mapping[str, Any], upcard: str | None) -> int:
    """Return the deadwood that a knocker may have at most, given the first upcard (docs/rules.md row 20)."""
    limit: int = rules["knock_limit"]
    if rules.get("limit_from_upcard", False):
        if upcard is None:
            raise ValueError("upcard is None: limit_from_upcard needs the first upcard of the deal")
        limit = min(limit, VALUE[CARD_ID[upcard]])
        if rules.get("ace_upcard_gin_only", False) and upcard[0] == "A":
            limit = 0
    return limit


def score_showdown(
    rules: Mapping[str, Any],
    hands: Sequence[Iterable[str]],
    knocker: int,
    knock_card: str | None,
    upcard: str | None = None,
) -> Result:
    """Spread, lay off and score.

    Parameters
    ----------
    rules : the fields of docs/rules.md section 1.
    hands : cards of each seat; the knocker's hand still holds the knock card.
    knocker : seat that knocks.
    knock_card : card that the knocker throws; None for big gin.
    upcard : first upcard of the deal; needed where the rules read it.

    Raises
    ------
    ValueError : for cards that cannot lie so. A knock that the rules refuse is a `Result` with ``legal=False``.
    """
    check_rules(rules)
    groups = _groups(rules, hands, knocker)
    if knock_card is not None:
        thrown = to_bits([knock_card])
        if not groups[knocker] & thrown:
            raise ValueError(f"knock card {knock_card} does not lie with the knocker, seat {knocker}")
        groups[knocker] ^= thrown

    own = least_deadwood(groups[knocker])
    reason = _refusal(rules, own, knock_card is None, upcard)
    if reason:
        return Result(legal=False, reason=reason, knocker_deadwood=own)

    seats = rules["num_players"]
    side = [(knocker + turn) % seats for turn in range(0, seats, 2)]
    defenders = [(knocker + turn) % seats for turn in range(1, seats, 2)]
    side_deadwood = [least_deadwood(groups[seat]) for seat in side]
    opened = open_places(rules, side_deadwood)

    # Rows 25 and "equal spreads": all pairs in order, so that the first of equally paid ones stays.
    best: tuple[int, tuple[Arrangement, ...], Reply, _Settlement] | None = None
    for spreads in _spreads(rules, [groups[seat] for seat in side]):
        open_melds = tuple(meld for place in opened for meld in spreads[place].melds())
        reply = _reply(rules, open_melds, tuple(groups[seat] for seat in defenders))
        settled = settle(rules, knocker % 2, side_deadwood, reply.total, knock_card is None, upcard)
        pay = settled.points[knocker % 2] - settled.points[1 - knocker % 2]
        if best is None or pay > best[0]:
            best = pay, spreads, reply, settled
    if best is None:
        raise RuntimeError("a hand without an arrangement: every hand has one, if only all deadwood")
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
    return Result(
        kind=settled.kind,
        winner=settled.winner,
        points=settled.points,
        bonuses=settled.bonuses,
        spread={seat: _texts(spread) for seat, spread in zip(side, spreads, strict=True)},
        layoffs=layoffs,
        defender_melds=defender_melds,
        deadwood=left,
        knocker_deadwood=own,
    )


def _groups(rules: Mapping[str, Any], hands: Sequence[Iterable[str]], knocker: int) -> list[int]:
    groups = [to_bits(hand) for hand in hands]
    sizes = [rules["hand_size"] + (seat == knocker) for seat in range(rules["num_players"])]
    if [group.bit_count() for group in groups] != sizes:
        raise ValueError(f"hands of {[group.bit_count() for group in groups]} cards: expected {sizes}")
    to_bits(text for group in groups for text in to_texts(group))
    return groups


def _refusal(rules: Mapping[str, Any], own: int, is_big_gin: bool, upcard: str | None) -> str:
    limit = knock_limit(rules, upcard)
    if is_big_gin:
        if rules.get("big_gin_bonus") is None:
            return "big gin is off"
        return f"big gin with {own} points of deadwood: all cards must be melded" if own else ""
    return f"deadwood {own} is above the limit of {limit}" if own > limit else ""


def open_places(rules: Mapping[str, Any], side_deadwood: Sequence[int]) -> list[int]:
    """Return which hands of the knocking side, knocker = 0, mate = 1, may be added to (docs/rules.md rows 26, 27)."""
    everyone = list(range(len(side_deadwood)))
    candidates = [0] if rules["team_layoff"] == "knocker_only" else everyone
    if rules["layoff_on_gin"]:
        return candidates
    if rules["team_layoff"] == "all":
        return everyone if any(side_deadwood) else []
    return [place for place in candidates if side_deadwood[place]]


def _spreads(rules: Mapping[str, Any], hands: Sequence[int]) -> list[tuple[Arrangement, ...]]:
    choices = [best_arrangements(hand) for hand in hands]
    if rules["spread"] == "first":
        choices = [arrangements[:1] for arrangements in choices]
    return list(product(*choices))


def _reply(rules: Mapping[str, Any], open_melds: tuple[int, ...], hands: tuple[int, ...]) -> Reply:
    if rules["layoff"] == "greedy":
        return greedy_reply(open_melds, hands[0])
    return optimal_reply(open_melds, hands, rules["cross_chain"])


def _texts(arrangement: Arrangement) -> list[list[str]]:
    return [to_texts(meld) for meld in arrangement.melds()]


def settle(
    rules: Mapping[str, Any],
    team: int,
    side_deadwood: Sequence[int],
    defence: int,
    is_big_gin: bool,
    upcard: str | None,
) -> _Settlement:
    """Turn the deadwood of both sides into points (docs/rules.md section 3 and rows 30-34)."""
    own = sum(side_deadwood)
    is_protected = own == 0 or (rules["gin_protects"] == "knocker_zero" and side_deadwood[0] == 0)
    wins = is_protected or own < defence or (own == defence and not rules["undercut_on_tie"])
    bonuses = {}
    if wins:
        winner, difference = team, max(defence - own, 0)
        kind = _kind_of_win(rules, side_deadwood, is_big_gin)
        if kind == "big_gin":
            bonuses["big_gin"] = rules["big_gin_bonus"]
        elif kind != "knock":
            bonuses["gin"] = rules[f"{kind}_bonus"]
    else:
        winner, difference, kind = 1 - team, own - defence, "undercut"
        bonuses["undercut"] = rules["undercut_bonus"]

    amount = difference + sum(bonuses.values())
    if rules.get("spade_upcard_doubles", False):
        if upcard is None:
            raise ValueError("upcard is None: spade_upcard_doubles needs the first upcard of the deal")
        amount *= 2 if upcard[1] == "S" else 1
    if rules["box_timing"] == "now":
        bonuses["box"] = rules["box_bonus"]
        amount += rules["box_bonus"]
    points = [0, 0]
    points[winner] = amount
    return _Settlement(kind, winner, points, {name: bonus for name, bonus in bonuses.items() if bonus})


def _kind_of_win(rules: Mapping[str, Any], side_deadwood: Sequence[int], is_big_gin: bool) -> str:
    if is_big_gin:
        return "big_gin"
    if rules["mode"] == "duel":
        return "knock" if side_deadwood[0] else "gin"
    if not any(side_deadwood):
        return "team_gin"
    counted = side_deadwood if rules["small_gin_for"] == "any_member" else side_deadwood[:1]
    return "small_gin" if 0 in counted else "knock"
