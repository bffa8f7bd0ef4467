"""The chapter of a report that tells who is better than whom: ratings, the best mix, and circles in the order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from agents.arena.report import figures, page
from agents.arena.statistics.intervals import estimate_of

#: By the key of a summary: title, unit, legend. The scales are those of agents/arena/statistics/ratings.py.
_RATINGS = {
    "points": (
        "Points per deal against the field",
        "net points per deal, mean over all opponents",
        "Judge by this: points are what the game is scored in. Where two lines overlap widely, the order is open.",
    ),
    "bradley_terry": (
        "Ratings by episodes won",
        "Bradley-Terry rating on Elo's scale; more is better",
        "400 points more are odds of ten to one to win; the mean is 0, and dead deals do not count. Of single deals "
        "it tells less than the points: whoever waits for gin wins fewer deals, and dearer ones.",
    ),
    "teams": (
        "Ratings as partners",
        "rating of a partner (openskill's mu); more is better",
        "A team is as strong as its members' ratings together; 6 points more win nearly three times as often as they "
        "lose.",
    ),
}


def ratings_chapter(ratings: Mapping[str, Any], pictures: page.Pictures) -> list[page.Chapter]:
    """Return what a summary's ratings tell, in pictures and sentences; nothing where it has none."""
    content = ""
    for key, (title, unit, legend) in _RATINGS.items():
        rows = [(row["agent"], estimate_of(row["rating"])) for row in ratings.get(key) or []]
        if rows:
            names, estimates = zip(*rows, strict=True)
            picture = pictures.add(f"ratings-{key}", figures.intervals(names, estimates, title, unit), title)
            content += picture + page.paragraph(legend, "quiet")
    content += _nash(ratings.get("nash") or [], pictures)
    if ratings.get("cyclicity"):
        content += page.paragraph(_cyclicity_text(ratings["cyclicity"]))
    return [page.Chapter("Ratings", content)] if content else []


def _nash(rows: Sequence[Mapping[str, Any]], pictures: page.Pictures) -> str:
    if not rows:
        return ""
    names, shares = [row["agent"] for row in rows], [estimate_of(row["share"]) for row in rows]
    title = "The mix of agents that none of them beats"
    figure = figures.bars(names, shares, title, "share of the Nash mix, %", scale=page.PERCENT, digits=0, sign=False)
    legend = (
        "Whoever draws an agent by these shares before every deal loses to none of them on average (a Nash mix). "
        "Agents in the mix come to 0 against it, all others lose."
    )
    table = [
        (row["agent"], page.percent_text(estimate_of(row["share"])), estimate_of(row.get("rating"))) for row in rows
    ]
    headings = ["agent", "share of the mix %", f"{page.POINTS} against the mix"]
    return pictures.add("nash", figure, title) + page.paragraph(legend, "quiet") + page.table(headings, table)


def _cyclicity_text(cyclicity: Mapping[str, Any]) -> str:
    """Return in a sentence how far the field is from a ladder, as ``nash.Cyclicity`` tells it."""
    share, cycle = estimate_of(cyclicity.get("share")), cyclicity.get("cycle")
    noise = estimate_of(cyclicity.get("noise")).value
    if math.isnan(share.value):
        return "Whether the field is cyclic cannot be told: all matches are even."
    text = f"The field is {page.PERCENT * share.value:.1f} % cyclic"
    if math.isnan(noise):
        return f"{text}; there are too few deals to tell that from noise."
    most = estimate_of(cyclicity.get("noise_high", noise)).value
    text += f"; noise alone would give {page.PERCENT * noise:.1f} %"
    if most > noise:
        text += f", {page.PERCENT * most:.1f} % at most"
    is_finding = share.value > most
    if not cycle:
        more = "more than noise, though no three agents surely beat each other in a circle"
        return f"{text}: {more if is_finding else 'the order is transitive'}."
    edges = [f" by {page.figure_text(estimate_of(edge))}" for edge in cyclicity.get("edges") or []]
    beats = [f"{winner} beats {loser}" for winner, loser in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
    circle = ", ".join(f"{beat}{edge}" for beat, edge in itertools.zip_longest(beats, edges, fillvalue=""))
    if is_finding:
        return f"{text}: the order is not transitive: {circle}."
    return f"{text}: no more than noise; yet {circle}. Among many threes one may do so by chance."
