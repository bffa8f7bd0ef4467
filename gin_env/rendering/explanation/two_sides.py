"""Who wins between two sides, players or teams, by which rule, and what it pays (docs/rules.md rows 30-34, 37)."""

from __future__ import annotations

from collections.abc import Iterator

from gin_env.rendering.explanation.deal import Deal, Line
from gin_env.rendering.explanation.layoffs import what_made_it
from gin_env.rendering.explanation.points import BONUSES, add_up, bonus_terms, difference, doubling, points_line
from gin_env.rules.rulebook.play import points_text
from gin_env.scoring import Kind


def explain_two_sides(deal: Deal) -> Iterator[Line]:
    """Tell which side wins, by which rule, and what each side scores."""
    rules, won = deal.rules, deal.kind is not Kind.UNDERCUT
    own, theirs = deal.count(deal.knocking), deal.count(deal.others)
    yield Line("result", _verdict(deal, own, theirs))
    if not won:
        yield Line("result", what_made_it(deal, own, deal.others))
    if deal.is_doubled:
        yield Line("points", doubling(deal))
    yield from (Line("points", text) for text in _boasts(deal, won))
    if won and not own:
        what, pays = f"deadwood of the defender{'s' * rules.has_partners} {theirs}", theirs
    else:
        what, pays = difference(own, theirs) if won else difference(theirs, own)
    terms = [(what, pays), *bonus_terms(deal, *BONUSES)]
    winner, loser = (deal.knocking, deal.others) if won else (deal.others, deal.knocking)
    total = deal.result.points[rules.team_of(winner[0])]
    box, boasts = deal.bonus("box"), deal.bonus("boast")
    yield points_line(add_up(deal.join(winner), total, terms, box, boasts, deal.is_doubled))
    if caught := deal.result.points[rules.team_of(loser[0])]:
        yield points_line(add_up(deal.join(loser), caught, []))


def _verdict(deal: Deal, own: int, theirs: int) -> str:
    rules, knocker = deal.rules, deal.names[deal.knocker]
    winner, partners = deal.join(deal.knocking), rules.has_partners
    fewer = f"{'the side that' if partners else 'whoever'} knocks {deal.must} the other side"
    win = "win" if partners else "wins"
    if deal.kind is Kind.UNDERCUT:
        if theirs < own:
            equal = " (equal counts would not do either)" if rules.undercut_on_tie else ""
            text = f"{theirs} is less than {own}, so this is an undercut: {fewer}{equal}."
        else:
            text = f"Both sides have {own}, and under these rules equal counts are an undercut: {fewer}."
        if not deal.left[deal.knocker]:
            text += f" That {knocker} has no deadwood does not help: under these rules both partners must have none."
        return f"{text} {deal.join(deal.others)} {win} {deal.it}."
    if deal.kind in (Kind.GIN, Kind.BIG_GIN):
        gin = deal.kind.name.lower().replace("_", " ")
        against = "" if theirs else ", not even by a hand that has nothing left either"
        return f"{knocker} has {gin}, which is never undercut{against}: {winner} wins {deal.it}."
    if deal.kind is Kind.TEAM_GIN:
        return f"{winner} have no deadwood at all: that is a team gin, which is never undercut. {winner} win {deal.it}."
    if own < theirs:
        text = f"{own} is less than {theirs}, so {winner} {win} {deal.it}: {fewer}."
    elif rules.gin_protects == "knocker_zero" and not deal.left[deal.knocker]:
        text = f"{own} is not less than {theirs}, but under these rules a knocker without deadwood is never undercut: "
        text += f"{winner} {win} {deal.it}, though the difference counts for nothing."
    else:
        text = f"Both sides have {own}, and under these rules equal counts are no undercut: {winner} {win} {deal.it}."
    if deal.kind is Kind.SMALL_GIN:
        clean = deal.join([seat for seat in deal.knocking if not deal.left[seat]])
        text += f" {clean} has no deadwood, which makes it a small gin."
    return text


def _boasts(deal: Deal, won: bool) -> Iterator[str]:
    """Tell what each boast pays (row 37)."""
    if not deal.rules.boast:
        return
    wins, undercut, others_win, others_undercut, _ = deal.rules.boast_points
    for seat in (*deal.knocking, *deal.others):
        if not deal.boasted[seat]:
            continue
        if seat in deal.knocking:
            text = ", then knocked and won" if seat == deal.knocker else ", and the partner knocked and won"
            text, pays = (text, wins) if won else (", but the knock was undercut", undercut)
        elif won:
            text, pays = ", but the other side knocked and won", others_win
        else:
            text, pays = ", and the other side's knock was undercut", others_undercut
        winner = deal.join(deal.knocking if won else deal.others)
        yield f"{deal.names[seat]} had boasted{text}: that boast pays {winner} {points_text(pays)}."
