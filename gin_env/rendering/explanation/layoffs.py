"""The knock, the melds, who may lay off on whom, each card laid off, and what the lay-offs changed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gin_env.cards import CARD_POINTS, NUM_RANKS, card_ids, format_card, format_cards
from gin_env.cards.melds import deadwood, melds_of
from gin_env.rendering.explanation.deal import Deal, join
from gin_env.rules import upcard_limits
from gin_env.rules.rulebook.play import points_text
from gin_env.scoring import Kind
from gin_env.scoring.spreads import open_seats


def explain_knock(deal: Deal) -> str:
    """Tell who knocks with what, and what is the most that was allowed."""
    name, own = deal.names[deal.knocker], deal.left[deal.knocker]
    if deal.kind is Kind.BIG_GIN:
        cards = deal.hands[deal.knocker].bit_count()
        return f"{name} lays down big gin: all {cards} cards lie in melds, the drawn one too, and none is thrown."
    what = f"with {points_text(own)} of deadwood" if own else "without any deadwood"
    text = f"{name} throws {format_card(deal.knock_card)} and knocks {what}; {_limit(deal)}."
    if deal.count(deal.knocking) > own and deal.count(deal.knocking) > _knock_limit(deal):
        text += " To knock, the knocker's own hand counts alone"
        is_safe = deal.rules.gin_protects == "knocker_zero" and not own
        text += "." if is_safe else f"; to win, that of {deal.names[deal.knocking[1]]} counts too."
    return text


def _knock_limit(deal: Deal) -> int:
    return int(upcard_limits(deal.rules)[deal.first_upcard])


def _limit(deal: Deal) -> str:
    rules, limit, upcard = deal.rules, _knock_limit(deal), format_card(deal.first_upcard)
    would = _is(limit) if deal.left[deal.knocker] else "would be"
    if not rules.limit_from_upcard or rules.knock_limit == 0:
        if not limit:
            return "under these rules nobody may knock with any"
        return f"at most {points_text(limit)} {would} allowed"
    value = int(CARD_POINTS[deal.first_upcard])
    if limit == 0:
        return f"the first upcard was {upcard}, and after an ace nobody may knock with any"
    if limit < value:
        return f"at most {points_text(limit)} {would} allowed, although the first upcard, {upcard}, is worth {value}"
    return f"at most {points_text(limit)} {would} allowed, since the first upcard was {upcard}"


def explain_melds(deal: Deal, seat: int) -> str:
    """Tell what a seat lays down and what is left over."""
    melds = melds_of(deal.set_bits[seat], deal.run_bits[seat])
    laid = sum(1 << step.card for step in deal.placed if step.seat == seat)
    loose = card_ids(deal.hands[seat] & ~(deal.set_bits[seat] | deal.run_bits[seat] | laid))
    down = join([format_cards(meld) for meld in melds]) or "no meld"
    if not loose:
        return f"{deal.names[seat]} lays down {down}; nothing is left over: no deadwood."
    cards = join([f"{format_card(card)} ({CARD_POINTS[card]})" for card in loose])
    load = f"{points_text(deal.left[seat])} of deadwood"
    return f"{deal.names[seat]} lays down {down}; left over {_is(len(loose))} {cards}: {load}."


def explain_counts(deal: Deal) -> str:
    """Tell the deadwood of each seat, of partners added up."""
    if deal.rules.has_partners:
        both = [(side, [deal.left[seat] for seat in sorted(side)]) for side in (deal.knocking, deal.others)]
        return f"The count: {', '.join(f'{deal.join(side)} have {a} + {b} = {a + b}' for side, (a, b) in both)}."
    told = [f"{deal.names[seat]} has {deal.left[seat]}" for seat in (*deal.knocking, *deal.others)]
    return f"The count: {join(told)}."


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


_RANK_WORDS = (
    *("aces", "twos", "threes", "fours", "fives", "sixes", "sevens", "eights", "nines", "tens"),
    *("jacks", "queens", "kings"),
)


def who_may_lay_off(deal: Deal) -> Iterator[str]:
    """Tell whose melds are open and why, and how it goes on from there."""
    rules, who = deal.rules, deal.join(deal.others)
    loads = [deal.left[seat] for seat in deal.knocking]
    is_open = open_seats(rules, np.array([loads], dtype=np.uint8))[0].tolist()
    if not any(is_open) and not any(loads):
        if rules.has_partners:
            neither = " nor ".join(deal.names[seat] for seat in sorted(deal.knocking))
            yield f"Neither {neither} has any deadwood, so nobody may lay off on their melds."
        else:
            yield f"{deal.names[deal.knocker]} has no deadwood, and nothing may be laid off on gin."
        return
    for seat, load, may in zip(deal.knocking, loads, is_open, strict=True):
        yield f"{_why_open(deal, seat, load) if may else _why_closed(deal, seat)}."
    if not any(is_open):
        return
    if all(loads) and not rules.layoff_on_gin and rules.team_layoff == "per_member":
        if rules.has_partners:
            yield "Had either of them no deadwood left, nobody could lay off on that player's melds."
        else:
            yield f"Had {deal.names[deal.knocker]} no deadwood left, that would be gin, and nothing could be laid off."
    if rules.mode == "free_for_all":
        may = "may" if rules.cross_chain else "may not"
        yield f"They lay off one after another, clockwise, and {may} go on where another one has laid off."
    elif rules.has_partners and not rules.cross_chain:
        yield f"Under these rules {who} may not build on each other's cards."
    elif rules.layoff == "greedy":
        first = "lays down melds as if nothing could be laid off, and lays off only cards outside them"
        yield f"Under these rules {who} {first}."
    if deal.placed:
        others = "the others lay" if rules.mode == "free_for_all" else "the other side lays"
        yield f"Only {others} off: {deal.join(deal.knocking)} may add nothing more to any meld."


def _why_open(deal: Deal, seat: int, load: int) -> str:
    name, who = deal.names[seat], deal.join(deal.others)
    if not deal.set_bits[seat] | deal.run_bits[seat]:
        return f"{name} has laid down no meld that anybody could lay off on"
    if load:
        return f"{name} has deadwood left, {points_text(load)}, so {who} may lay off on {name}'s melds"
    rule = "cards may be laid off on gin too"
    if deal.rules.has_partners:
        rule = "that does not close melds"
        if not deal.rules.layoff_on_gin:
            rule = "a team's melds are closed only if neither partner has any"
    return f"{name} has no deadwood, but under these rules {rule}: {who} may lay off on {name}'s melds"


def _why_closed(deal: Deal, seat: int) -> str:
    name = deal.names[seat]
    if deal.rules.team_layoff == "knocker_only" and seat != deal.knocker:
        return f"Under these rules only the knocker's melds are open: nobody may lay off on {name}'s melds"
    return f"{name} has no deadwood, so nobody may lay off on {name}'s melds"


def explain_layoffs(deal: Deal) -> Iterator[str]:
    """Tell of each card laid off what it goes on, whose card it continues, and what the meld becomes."""
    laid_by: dict[int, int] = {}
    for seat, card, onto, meld in deal.placed:
        rank, is_set = card % NUM_RANKS, meld[0] % NUM_RANKS == meld[1] % NUM_RANKS
        text = f"{deal.names[seat]} lays off {format_card(card)} on {deal.names[onto]}'s"
        if is_set:
            text += f" set {format_cards(meld)}: now all four {_RANK_WORDS[rank]} lie there."
        else:
            text += f" run {format_cards(meld)}"
            end = meld[-1] if card > meld[-1] else meld[0]
            if laid_by.get(end, seat) != seat:
                text += f", going on where {deal.names[laid_by[end]]} has laid {format_card(end)}"
            text += f"; it becomes {format_cards(sorted([*meld, card]))}."
        laid_by[card] = seat
        yield text
    loads = np.array([[deal.left[seat] for seat in deal.knocking]], dtype=np.uint8)
    may = zip(deal.knocking, open_seats(deal.rules, loads)[0], strict=True)
    if not deal.placed and any(is_open and deal.set_bits[seat] | deal.run_bits[seat] for seat, is_open in may):
        yield "Nobody lays off a card."


def what_made_it(deal: Deal, own: int, seats: list[int]) -> str:
    """Say why those who undercut a knock with so many points had so few."""
    theirs, who, ties = deal.count(seats), deal.join(seats), not deal.rules.undercut_on_tie
    before = deadwood(np.array([deal.hands[seat] for seat in sorted(seats)], dtype=np.uint64)).tolist()
    without = sum(before)
    if without > own or (without == own and ties):
        added = f"{' + '.join(map(str, before))} = " if len(before) > 1 else ""
        had = f"{who} would have had {added}{points_text(without)}, not {theirs}"
        text = f"The lay-offs made the difference: without them {had}"
        if deal.rules.ffa_scoring == "pooled" and deal.rules.mode == "free_for_all":
            return f"{text}."  # another one may have undercut the knock all the same
        return f"{text}, and the {own} of {deal.join(deal.knocking)} would have won."
    alone = deal.left[deal.knocker]
    if deal.rules.has_partners and (alone < theirs or (alone == theirs and ties)):
        partner = deal.knocking[1]
        return (
            f"The partner's hand made the difference: {deal.names[deal.knocker]} alone has {alone}, but the "
            f"{deal.left[partner]} of {deal.names[partner]} count as well."
        )
    if without == theirs:
        return f"No lay-off was needed for that: {who} had no more to begin with."
    return f"Even without the lay-offs {who} would have had only {points_text(without)}."
