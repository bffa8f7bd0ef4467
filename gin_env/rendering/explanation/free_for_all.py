"""Who wins, and what it pays, where everybody plays for himself: pair by pair or pooled (docs/rules.md, section 2).

Whom the knocker has beaten and what each pair settles is asked of ``showdown.outcome``.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gin_env.rendering.explanation.deal import Deal, Line
from gin_env.rendering.explanation.layoffs import what_made_it
from gin_env.rendering.explanation.points import Terms, add_up, bonus_terms, difference, doubling, points_line
from gin_env.scoring import Kind
from gin_env.scoring.showdown import outcome


def explain_free_for_all(deal: Deal) -> Iterator[Line]:
    """Tell who wins against whom, what each scores, and who has won the deal."""
    rules, own, knocker = deal.rules, deal.left[deal.knocker], deal.names[deal.knocker]
    theirs = np.array([[deal.left[seat]] for seat in deal.others], dtype=np.uint8)
    kinds, pays = outcome(rules, np.full_like(theirs, own), theirs, np.zeros(len(theirs), dtype=bool))
    lost = [seat for seat, kind in zip(deal.others, kinds, strict=True) if kind == Kind.UNDERCUT]
    is_pooled = rules.ffa_scoring == "pooled"
    if is_pooled and lost:
        lost = [seat for seat in deal.others if deal.left[seat] == theirs.min()]
    if not own:
        yield Line("result", f"{knocker} has gin, which is never undercut.")
    elif is_pooled:
        yield Line("result", _pooled_verdict(deal, lost))
    else:
        yield Line("result", f"{knocker} meets each of the others alone, and {deal.must} that player.")
    yield from (Line("result", what_made_it(deal, own, [seat])) for seat in lost)
    if deal.is_doubled:
        yield Line("points", doubling(deal))
    shares: dict[int, Terms] = {seat: [] for seat in (deal.knocker, *deal.others)}
    if is_pooled:
        shares |= {seat: _pooled_terms(deal, seat) for seat in lost or [deal.knocker]}
    else:
        for seat, pay in zip(deal.others, np.abs(pays).tolist(), strict=True):
            winner, paid = (seat if seat in lost else deal.knocker), pay * (1 + deal.is_doubled)
            shares[winner].append((str(paid), paid))
            told = add_up(deal.names[winner], paid, _pair_terms(deal, seat, seat in lost), doubles=deal.is_doubled)
            yield points_line(f"{_comparison(deal, seat, seat in lost)}: {told}")
    for seat, terms in shares.items():
        total, box = deal.result.points[seat], deal.bonus("box") if deal.result.winner == seat else 0
        told_already = not is_pooled and len(terms) == 1 and total == terms[0][1]
        if (total or (is_pooled and terms)) and not told_already:
            in_sum = deal.is_doubled and is_pooled
            yield points_line(add_up(deal.names[seat], total, terms, box, doubles=in_sum))
    if deal.result.winner is None:
        yield Line("result", "Nobody alone has the most points from the knock, so nobody has won the deal.")
    else:
        winner_name = deal.names[deal.result.winner]
        yield Line("result", f"{winner_name} has the most points from the knock and so has won the deal.")


def _comparison(deal: Deal, seat: int, is_undercut: bool) -> str:
    own, theirs = deal.left[deal.knocker], deal.left[seat]
    against = f"Against {deal.names[seat]}"
    if own == theirs and own:
        return f"{against}, {own} stands against {theirs}, an equal count and {'an' if is_undercut else 'no'} undercut"
    if is_undercut:
        return f"{against}, {theirs} is less than {own}, an undercut"
    return f"{against}, {own} is less than {theirs}" if own < theirs else f"{against}, gin wins even so"


def _pair_terms(deal: Deal, seat: int, is_undercut: bool) -> Terms:
    """Return what the knocker and one other player settle between them."""
    fewer, more = sorted((deal.left[seat], deal.left[deal.knocker]))
    return [difference(fewer, more), *bonus_terms(deal, "undercut" if is_undercut else "gin")]


def _pooled_verdict(deal: Deal, lowest: list[int]) -> str:
    own, knocker = deal.left[deal.knocker], deal.names[deal.knocker]
    if not lowest:
        least = f"Nobody else has {own} or fewer" if deal.rules.undercut_on_tie else f"Nobody has fewer than {own}"
        if own in (deal.left[seat] for seat in deal.others):
            least += ", and under these rules equal counts are no undercut"
        return f"{least}, so {knocker} scores the difference from each of the others."
    theirs = deal.left[lowest[0]]
    than = f"fewer than the {own} of {knocker}" if theirs < own else f"as few as {knocker}"
    who, each = deal.join(lowest), "each score" if len(lowest) > 1 else "scores"
    return (
        f"{who} {'have' if len(lowest) > 1 else 'has'} {theirs}, {than}, so this is an undercut: whoever knocks "
        f"{deal.must} any of the others. {who} {each} the difference from every player."
    )


def _pooled_terms(deal: Deal, winner: int) -> Terms:
    """Return what one player scores from all the others together."""
    terms = []
    for seat in (deal.knocker, *deal.others):
        if seat != winner:
            more = deal.left[seat] - deal.left[winner]
            terms.append((f"{more} from {deal.names[seat]}", more))
    if winner != deal.knocker:
        terms += bonus_terms(deal, "undercut")
    else:
        count = len(deal.others)
        terms += [(f"{count} x {text}", count * amount) for text, amount in bonus_terms(deal, "gin")]
    return terms
