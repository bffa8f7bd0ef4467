"""The knock, the melds, who may lay off on whose melds, each card laid off, and what the lay-offs changed."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gin_env.cards import CARD_POINTS, NUM_RANKS, card_ids, format_card, format_cards
from gin_env.cards.melds import deadwood, is_set, melds_of
from gin_env.rendering.explanation.deal import Deal, join
from gin_env.rules import upcard_limits
from gin_env.rules.rulebook.play import points_text
from gin_env.scoring import Kind


def explain_knock(deal: Deal) -> str:
    """Say who knocks with what, and how much was allowed."""
    name, own = deal.names[deal.knocker], deal.deadwood[deal.knocker]
    if deal.kind is Kind.BIG_GIN:
        num_cards = deal.hands[deal.knocker].bit_count()
        return f"{name} lays down big gin: all {num_cards} cards are in melds, so nothing is discarded."

    what = f"with {points_text(own)} of deadwood" if own else "without any deadwood"
    text = f"{name} discards {format_card(deal.knock_card)} and knocks {what}; {_limit(deal)}."
    both = deal.count(deal.knocking)
    if both > own and both > _knock_limit(deal):
        text += " For the knock only the knocker's own hand counts"
        is_safe = deal.rules.gin_protects == "knocker_zero" and not own
        text += "." if is_safe else f"; for the win that of {deal.names[deal.knocking[1]]} counts too."
    return text


def _knock_limit(deal: Deal) -> int:
    return int(upcard_limits(deal.rules)[deal.first_upcard])


def _limit(deal: Deal) -> str:
    """Say how much deadwood was allowed, and why."""
    rules, limit, upcard = deal.rules, _knock_limit(deal), format_card(deal.first_upcard)
    would = _is(limit) if deal.deadwood[deal.knocker] else "would be"
    allowed = f"at most {points_text(limit)} {would} allowed"
    if not rules.limit_from_upcard or rules.knock_limit == 0:
        return allowed if limit else "under these rules nobody may knock with any"

    value = int(CARD_POINTS[deal.first_upcard])
    if limit == 0:
        return f"the first upcard was {upcard}, and after an ace nobody may knock with any"
    if limit < value:
        return f"{allowed}, although the first upcard, {upcard}, is worth {value}"
    return f"{allowed}, since the first upcard was {upcard}"


def explain_melds(deal: Deal, seat: int) -> str:
    """Say what a seat lays down and what is left over."""
    melds = melds_of(deal.set_bits[seat], deal.run_bits[seat])
    laid_off = sum(1 << layoff.card for layoff in deal.layoffs if layoff.seat == seat)
    loose = card_ids(deal.hands[seat] & ~(deal.set_bits[seat] | deal.run_bits[seat] | laid_off))

    down = join([format_cards(meld) for meld in melds]) or "no meld"
    if not loose:
        return f"{deal.names[seat]} lays down {down}; nothing is left over: no deadwood."
    cards = join([f"{format_card(card)} ({CARD_POINTS[card]})" for card in loose])
    points = points_text(deal.deadwood[seat])
    return f"{deal.names[seat]} lays down {down}; left over {_is(len(loose))} {cards}: {points} of deadwood."


def explain_counts(deal: Deal) -> str:
    """State the deadwood of each seat, of partners added up."""
    if not deal.rules.has_partners:
        counts = [f"{deal.names[seat]} has {deal.deadwood[seat]}" for seat in (*deal.knocking, *deal.others)]
        return f"The count: {join(counts)}."

    counts = []
    for side in (deal.knocking, deal.others):
        first, second = (deal.deadwood[seat] for seat in sorted(side))
        counts.append(f"{deal.join(side)} have {first} + {second} = {first + second}")
    return f"The count: {', '.join(counts)}."


def _is(count: int) -> str:
    return "is" if count == 1 else "are"


_RANK_WORDS = (
    *("aces", "twos", "threes", "fours", "fives", "sixes", "sevens", "eights", "nines", "tens"),
    *("jacks", "queens", "kings"),
)


def who_may_lay_off(deal: Deal) -> Iterator[str]:
    """Say whose melds are open and why, and what the others may do."""
    rules, others = deal.rules, deal.join(deal.others)
    all_have_deadwood = all(deal.deadwood[seat] for seat in deal.knocking)
    if not deal.open_seats and not deal.count(deal.knocking):
        if rules.has_partners:
            neither = " nor ".join(deal.names[seat] for seat in sorted(deal.knocking))
            yield f"Neither {neither} has any deadwood, so nobody may lay off on their melds."
        else:
            yield f"{deal.names[deal.knocker]} has no deadwood, and nothing may be laid off on gin."
        return

    for seat in deal.knocking:
        yield f"{_why_open(deal, seat) if seat in deal.open_seats else _why_closed(deal, seat)}."
    if not deal.open_seats:
        return

    # What would close the melds.
    if all_have_deadwood and not rules.layoff_on_gin and rules.team_layoff == "per_member":
        if rules.has_partners:
            yield "If either of them had no deadwood, nobody could lay off on that player's melds."
        else:
            yield f"If {deal.names[deal.knocker]} had no deadwood, that would be gin, and nothing could be laid off."

    # How the others lay off.
    if rules.mode == "free_for_all":
        may = "may" if rules.cross_chain else "may not"
        yield f"They lay off one after another, clockwise, and {may} build on cards that others have laid off."
    elif rules.has_partners and not rules.cross_chain:
        yield f"Under these rules {others} may not build on each other's cards."
    elif rules.layoff == "greedy":
        yield (
            f"Under these rules {others} lays down melds as if nothing could be laid off, and lays off only cards "
            "outside them."
        )
    if deal.layoffs:
        who = "the others lay" if rules.mode == "free_for_all" else "the other side lays"
        yield f"Only {who} off: {deal.join(deal.knocking)} may not add cards to any meld."


def _why_open(deal: Deal, seat: int) -> str:
    name, others, points = deal.names[seat], deal.join(deal.others), deal.deadwood[seat]
    if not _has_melds(deal, seat):
        return f"{name} has no meld that anybody could lay off on"
    if points:
        return f"{name} has {points_text(points)} of deadwood, so {others} may lay off on {name}'s melds"

    if not deal.rules.has_partners:
        rule = "cards may be laid off on gin too"
    elif deal.rules.layoff_on_gin:
        rule = "that does not close melds"
    else:
        rule = "a team's melds are closed only if neither partner has any"
    return f"{name} has no deadwood, but under these rules {rule}: {others} may lay off on {name}'s melds"


def _why_closed(deal: Deal, seat: int) -> str:
    name = deal.names[seat]
    if deal.rules.team_layoff == "knocker_only" and seat != deal.knocker:
        return f"Under these rules only the knocker's melds are open: nobody may lay off on {name}'s melds"
    return f"{name} has no deadwood, so nobody may lay off on {name}'s melds"


def _has_melds(deal: Deal, seat: int) -> bool:
    return bool(deal.set_bits[seat] | deal.run_bits[seat])


def explain_layoffs(deal: Deal) -> Iterator[str]:
    """Say of each card laid off which meld it goes on, which card it continues, and what the meld becomes."""
    laid_by: dict[int, int] = {}
    for seat, card, onto_seat, meld in deal.layoffs:
        text = f"{deal.names[seat]} lays off {format_card(card)} on {deal.names[onto_seat]}'s"
        if is_set(meld):
            text += f" set {format_cards(meld)}: it now has all four {_RANK_WORDS[card % NUM_RANKS]}."
        else:
            text += f" run {format_cards(meld)}"
            end = meld[-1] if card > meld[-1] else meld[0]
            if laid_by.get(end, seat) != seat:
                text += f", continuing from the {format_card(end)} of {deal.names[laid_by[end]]}"
            text += f"; it becomes {format_cards(sorted([*meld, card]))}."
        laid_by[card] = seat
        yield text

    if not deal.layoffs and any(_has_melds(deal, seat) for seat in deal.open_seats):
        yield "Nobody lays off a card."


def why_undercut(deal: Deal, own: int, winners: list[int]) -> str:
    """Say why those who undercut a knock of ``own`` points had so few: lay-offs, the partner's hand, or neither."""
    who, theirs = deal.join(winners), deal.count(winners)
    before = deadwood(np.array([deal.hands[seat] for seat in sorted(winners)], dtype=np.uint64)).tolist()
    without_layoffs = sum(before)

    if deal.would_win(own, without_layoffs):
        added = f"{' + '.join(map(str, before))} = " if len(before) > 1 else ""
        text = f"The lay-offs made the difference: without them {who} would have had "
        text += f"{added}{points_text(without_layoffs)}, not {theirs}"
        if deal.rules.mode == "free_for_all" and deal.rules.ffa_scoring == "pooled":
            return f"{text}."  # another player may have undercut the knock anyway
        return f"{text}, and the {own} of {deal.join(deal.knocking)} would have won."

    knocker_alone = deal.deadwood[deal.knocker]
    if deal.rules.has_partners and deal.would_win(knocker_alone, theirs):
        partner = deal.knocking[1]
        return (
            f"The partner's hand made the difference: {deal.names[deal.knocker]} alone has {knocker_alone}, but the "
            f"{deal.deadwood[partner]} of {deal.names[partner]} count too."
        )
    if without_layoffs == theirs:
        return f"No lay-off was needed for that: {who} had no more to begin with."
    return f"Even without the lay-offs {who} would have had only {points_text(without_layoffs)}."
