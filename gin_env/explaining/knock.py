"""The knock, what each seat lays down and has left over, and the counts (docs/rules.md rows 20-25, 30)."""

from __future__ import annotations

from gin_env.cards import CARD_POINTS, card_ids, format_card, format_cards
from gin_env.explaining.deal import Deal, join
from gin_env.legal import upcard_limits
from gin_env.melds import melds_of
from gin_env.rulebook.play import points
from gin_env.state import Kind


def explain_knock(deal: Deal) -> str:
    """Tell who knocks with what, and what is the most that was allowed."""
    name, own = deal.names[deal.knocker], deal.left[deal.knocker]
    if deal.kind is Kind.BIG_GIN:
        cards = deal.hands[deal.knocker].bit_count()
        return f"{name} lays down big gin: all {cards} cards lie in melds, the drawn one too, and none is thrown."
    what = f"with {points(own)} of deadwood" if own else "without any deadwood"
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
        return f"at most {points(limit)} {would} allowed"
    value = int(CARD_POINTS[deal.first_upcard])
    if limit == 0:
        return f"the first upcard was {upcard}, and after an ace nobody may knock with any"
    if limit < value:
        return f"at most {points(limit)} {would} allowed, although the first upcard, {upcard}, is worth {value}"
    return f"at most {points(limit)} {would} allowed, since the first upcard was {upcard}"


def explain_melds(deal: Deal, seat: int) -> str:
    """Tell what a seat lays down and what is left over."""
    melds = melds_of(deal.set_bits[seat], deal.run_bits[seat])
    laid = sum(1 << step.card for step in deal.placed if step.seat == seat)
    loose = card_ids(deal.hands[seat] & ~(deal.set_bits[seat] | deal.run_bits[seat] | laid))
    down = join([format_cards(meld) for meld in melds]) or "no meld"
    if not loose:
        return f"{deal.names[seat]} lays down {down}; nothing is left over: no deadwood."
    cards = join([f"{format_card(card)} ({CARD_POINTS[card]})" for card in loose])
    load = f"{points(deal.left[seat])} of deadwood"
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
