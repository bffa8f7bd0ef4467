"""Who wins between two sides, players or teams, by which rule, and what it pays.

The decisions are those of ``gin_env.scoring`` (``results.py``: ``undercut_on_tie``, bonuses; ``showdown.py``:
``gin_protects``; ``boasts.py``); here they are put into words.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gin_env.rendering.explanation.deal import Deal, Line
from gin_env.rendering.explanation.layoffs import why_undercut
from gin_env.rendering.explanation.points import BONUSES, add_up, bonus_terms, difference, doubling, points_line
from gin_env.rules.rulebook.play import points_text
from gin_env.scoring import Kind
from gin_env.scoring.boasts import boast_values
from gin_env.scoring.showdown import is_protected


def explain_two_sides(deal: Deal) -> Iterator[Line]:
    """Explain which side wins, by which rule, and what each side scores."""
    won = deal.kind is not Kind.UNDERCUT
    own, theirs = deal.count(deal.knocking), deal.count(deal.others)
    yield Line("result", _undercut(deal, own, theirs) if not won else _win(deal, own, theirs))
    if not won:
        yield Line("result", why_undercut(deal, own, deal.others))

    if deal.is_doubled:
        yield Line("points", doubling(deal))
    yield from (Line("points", text) for text in _boasts(deal, won))

    # The sum of the winning side; the other side has points only from catches.
    if won and not own:
        term = (f"deadwood of the defender{'s' * deal.rules.has_partners} {theirs}", theirs)
    else:
        term = difference(own, theirs) if won else difference(theirs, own)
    winner, loser = (deal.knocking, deal.others) if won else (deal.others, deal.knocking)
    winner_points, loser_points = (deal.result.points[deal.rules.team_of(side[0])] for side in (winner, loser))
    box, boasts = deal.bonus("box"), deal.bonus("boast")
    terms = [term, *bonus_terms(deal, *BONUSES)]
    yield points_line(add_up(deal.join(winner), winner_points, terms, box, boasts, deal.is_doubled))
    if loser_points:
        yield points_line(add_up(deal.join(loser), loser_points, []))


def _undercut(deal: Deal, own: int, theirs: int) -> str:
    """Say why the knock is undercut, and who wins."""
    rules, knocker = deal.rules, deal.names[deal.knocker]
    if theirs < own:
        equal = " (an equal count would not be enough for the knocker)" if rules.undercut_on_tie else ""
        text = f"{theirs} is less than {own}, so this is an undercut: {_requirement(deal)}{equal}."
    else:
        text = f"Both sides have {own}, and under these rules equal counts are an undercut: {_requirement(deal)}."
    if not deal.deadwood[deal.knocker]:
        text += f" {knocker} has no deadwood, but that is not enough: under these rules both partners must have none."
    return f"{text} {deal.join(deal.others)} {_win_verb(deal)} {deal.prize}."


def _win(deal: Deal, own: int, theirs: int) -> str:
    """Say why the knock wins."""
    knocker, winner = deal.names[deal.knocker], deal.join(deal.knocking)
    wins = f"{winner} {_win_verb(deal)} {deal.prize}"
    if deal.kind in (Kind.GIN, Kind.BIG_GIN):
        gin = deal.kind.name.lower().replace("_", " ")
        against = "" if theirs else ", not even by a hand that has no deadwood either"
        return f"{knocker} has {gin}, which is never undercut{against}: {wins}."
    if deal.kind is Kind.TEAM_GIN:
        return f"{winner} have no deadwood at all: that is a team gin, which is never undercut. {wins}."

    if own < theirs:
        text = f"{own} is less than {theirs}, so {wins}: {_requirement(deal)}."
    elif is_protected(deal.rules, np.array([[deal.deadwood[seat] for seat in deal.knocking]], dtype=np.uint8))[0]:
        text = f"{own} is not less than {theirs}, but under these rules a knocker without deadwood is never undercut: "
        text += f"{wins}, but the difference counts as 0."
    else:
        text = f"Both sides have {own}, and under these rules equal counts are no undercut: {wins}."
    if deal.kind is Kind.SMALL_GIN:
        without_deadwood = deal.join([seat for seat in deal.knocking if not deal.deadwood[seat]])
        text += f" {without_deadwood} has no deadwood, which makes it a small gin."
    return text


def _requirement(deal: Deal) -> str:
    who = "the side that knocks" if deal.rules.has_partners else "whoever knocks"
    return f"{who} {deal.must} the other side"


def _win_verb(deal: Deal) -> str:
    return "win" if deal.rules.has_partners else "wins"


def _boasts(deal: Deal, won: bool) -> Iterator[str]:
    """Say what each boast pays."""
    winner = deal.join(deal.knocking if won else deal.others)
    knockers_value, others_value = boast_values(deal.rules, won)
    for seat in (*deal.knocking, *deal.others):
        if not deal.boasted[seat]:
            continue

        if seat not in deal.knocking:
            ending = ", but the other side knocked and won" if won else ", and the other side's knock was undercut"
        elif not won:
            ending = ", but the knock was undercut"
        else:
            ending = ", then knocked and won" if seat == deal.knocker else ", and the partner knocked and won"
        value = points_text(knockers_value if seat in deal.knocking else others_value)
        yield f"{deal.names[seat]} had boasted{ending}: that boast pays {winner} {value}."
