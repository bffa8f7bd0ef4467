"""Who wins, and what it pays, where all play for themselves: pair by pair or pooled (``ffa_scoring``).

``gin_env.scoring.free_for_all`` decides who undercuts the knocker and what each pair pays.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gin_env.rendering.explanation.deal import Deal, Line
from gin_env.rendering.explanation.layoffs import why_undercut
from gin_env.rendering.explanation.points import Terms, add_up, bonus_terms, difference, doubling, points_line
from gin_env.scoring.free_for_all import pair_payments, undercutters


def explain_free_for_all(deal: Deal) -> Iterator[Line]:
    """Explain who wins each comparison, what each player scores, and who wins the deal."""
    places = [deal.knocker, *deal.others]
    deadwood = np.array([[deal.deadwood[seat] for seat in places]], dtype=np.uint8)
    is_undercutter = undercutters(deal.rules, deadwood)[0].tolist()
    winners = [seat for seat, has_undercut in zip(deal.others, is_undercutter, strict=True) if has_undercut]
    is_pooled = deal.rules.ffa_scoring == "pooled"

    yield Line("result", _verdict(deal, winners))
    yield from (Line("result", why_undercut(deal, deal.deadwood[deal.knocker], [seat])) for seat in winners)
    if deal.is_doubled:
        yield Line("points", doubling(deal))

    if is_pooled:
        terms = {seat: _pooled_terms(deal, seat) for seat in winners or [deal.knocker]}
    else:
        payments = pair_payments(deal.rules, deadwood)[0]
        to_knocker, to_others = payments[0, 1:].tolist(), payments[1:, 0].tolist()
        terms = {}
        for seat, *paid in zip(deal.others, to_knocker, to_others, strict=True):
            amount = sum(paid) * (1 + deal.is_doubled)  # one of the two pays nothing
            winner = seat if seat in winners else deal.knocker
            terms.setdefault(winner, []).append((str(amount), amount))
            pair_sum = add_up(
                deal.names[winner], amount, _pair_terms(deal, seat, seat in winners), doubles=deal.is_doubled
            )
            yield points_line(f"{_comparison(deal, seat, seat in winners)}: {pair_sum}")

    for seat in places:
        yield from _total(deal, seat, terms.get(seat, []))
    yield Line("result", _winner_of_the_deal(deal))


def _verdict(deal: Deal, winners: list[int]) -> str:
    knocker = deal.names[deal.knocker]
    if not deal.deadwood[deal.knocker]:
        return f"{knocker} has gin, which is never undercut."
    if deal.rules.ffa_scoring == "pooled":
        return _pooled_verdict(deal, winners)
    return f"{knocker} is compared with each of the others separately and {deal.must} that player."


def _pooled_verdict(deal: Deal, lowest: list[int]) -> str:
    own, knocker = deal.deadwood[deal.knocker], deal.names[deal.knocker]
    if not lowest:
        least = f"Nobody else has {own} or fewer" if deal.rules.undercut_on_tie else f"Nobody has fewer than {own}"
        if own in (deal.deadwood[seat] for seat in deal.others):
            least += ", and under these rules equal counts are no undercut"
        return f"{least}, so {knocker} scores the difference from each of the others."

    theirs = deal.deadwood[lowest[0]]
    than = f"fewer than the {own} of {knocker}" if theirs < own else f"as few as {knocker}"
    who, have = deal.join(lowest), "have" if len(lowest) > 1 else "has"
    each = "each score" if len(lowest) > 1 else "scores"
    return (
        f"{who} {have} {theirs}, {than}, so this is an undercut: whoever knocks {deal.must} any of the others. "
        f"{who} {each} the difference from every player."
    )


def _comparison(deal: Deal, seat: int, is_undercut: bool) -> str:
    own, theirs = deal.deadwood[deal.knocker], deal.deadwood[seat]
    against = f"Against {deal.names[seat]}"
    if own == theirs and own:
        return f"{against}, both have {own}, which is {'an' if is_undercut else 'no'} undercut under these rules"
    if is_undercut:
        return f"{against}, {theirs} is less than {own}, an undercut"
    return f"{against}, {own} is less than {theirs}" if own < theirs else f"{against}, gin wins even so"


def _pair_terms(deal: Deal, seat: int, is_undercut: bool) -> Terms:
    """Return the terms of what one pair, the knocker and one other player, pays."""
    fewer, more = sorted((deal.deadwood[seat], deal.deadwood[deal.knocker]))
    return [difference(fewer, more), *bonus_terms(deal, "undercut" if is_undercut else "gin")]


def _pooled_terms(deal: Deal, winner: int) -> Terms:
    """Return the terms of what one player scores from all the others together."""
    terms = []
    for seat in (deal.knocker, *deal.others):
        if seat != winner:
            lead = deal.deadwood[seat] - deal.deadwood[winner]
            terms.append((f"{lead} from {deal.names[seat]}", lead))

    if winner != deal.knocker:
        return terms + bonus_terms(deal, "undercut")
    num_others = len(deal.others)
    return terms + [(f"{num_others} x {text}", num_others * amount) for text, amount in bonus_terms(deal, "gin")]


def _total(deal: Deal, seat: int, terms: Terms) -> Iterator[Line]:
    """Write how one player's points add up, unless the line of a pair has already said it."""
    is_pooled = deal.rules.ffa_scoring == "pooled"
    total = deal.result.points[seat]
    box = deal.bonus("box") if deal.result.winner == seat else 0
    is_said = not is_pooled and len(terms) == 1 and total == terms[0][1]
    if (total or (is_pooled and terms)) and not is_said:
        yield points_line(add_up(deal.names[seat], total, terms, box, doubles=deal.is_doubled and is_pooled))


def _winner_of_the_deal(deal: Deal) -> str:
    if deal.result.winner is None:
        return "No single player has the most points from the knock, so nobody wins the deal."
    return f"{deal.names[deal.result.winner]} has the most points from the knock and so wins the deal."
