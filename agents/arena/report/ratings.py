"""The chapter of a report about ratings: points, Elo, partners, the Nash mixture, and cycles."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

from agents.arena.report import figures, page
from agents.arena.statistics.intervals import estimate_of

#: By the summary's key: title, unit, legend. The scales are those of agents/arena/statistics/ratings.py.
_RATINGS = {
    "points": (
        "Points per deal against the field",
        "net points per deal, mean over all opponents",
        "This is the main result, because the game is scored in points. If two intervals overlap widely, the order of "
        "the two agents is uncertain.",
    ),
    "bradley_terry": (
        "Ratings by episodes won",
        "Bradley-Terry rating on Elo's scale; higher is better",
        "A difference of 400 points means odds of ten to one to win. The mean is 0, and dead deals do not count. For "
        "single deals this says less than the points: an agent that waits for gin wins fewer but more valuable deals.",
    ),
    "teams": (
        "Ratings as partners",
        "rating of a partner (openskill's mu); higher is better",
        "The strength of a team is the sum of its members' ratings; a team 6 points stronger wins nearly three times "
        "as often as it loses.",
    ),
}


def ratings_chapter(ratings: Mapping[str, Any], pictures: page.Pictures) -> list[page.Chapter]:
    """Return the chapter on a summary's ratings; nothing if it has none."""
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
    """Return the picture and the table of the Nash mixture."""
    if not rows:
        return ""

    names, shares = [row["agent"] for row in rows], [estimate_of(row["share"]) for row in rows]
    title = "The mixture of agents that no agent beats"
    figure = figures.bars(names, shares, title, "share of the mixture, %", scale=page.PERCENT, digits=0, sign=False)
    legend = (
        "A player who chooses an agent at random with these shares before every deal does not lose to any agent on "
        "average (a Nash equilibrium). Agents in the mixture score 0 against it, all others lose."
    )
    table = [
        (row["agent"], page.percent_text(estimate_of(row["share"])), estimate_of(row.get("rating"))) for row in rows
    ]
    headings = ["agent", "share of mixture %", f"{page.POINTS} against the mixture"]
    return pictures.add("nash", figure, title) + page.paragraph(legend, "quiet") + page.table(headings, table)


def _cyclicity_text(cyclicity: Mapping[str, Any]) -> str:
    """Describe a ``nash.Cyclicity`` in a sentence: how far the field is from a transitive order."""
    share, cycle = estimate_of(cyclicity.get("share")), cyclicity.get("cycle")
    noise = estimate_of(cyclicity.get("noise")).value
    if math.isnan(share.value):
        return "All matches are even: nothing can be said about cycles in the field."

    text = f"The field is {page.PERCENT * share.value:.1f} % cyclic"
    if math.isnan(noise):
        return f"{text}; there are too few deals to distinguish this from noise."
    most = estimate_of(cyclicity.get("noise_high", noise)).value
    text += f"; noise alone would give {page.PERCENT * noise:.1f} %"
    if most > noise:
        text += f" on average and up to {page.PERCENT * most:.1f} %"

    is_significant = share.value > most
    if not cycle:
        more = "more than noise, although no three agents clearly beat each other in a cycle"
        return f"{text}: {more if is_significant else 'the order is transitive'}."

    edges = [f" by {page.figure_text(estimate_of(edge))}" for edge in cyclicity.get("edges") or []]
    beats = [f"{winner} beats {loser}" for winner, loser in zip(cycle, [*cycle[1:], cycle[0]], strict=True)]
    circle = ", ".join(f"{beat}{edge}" for beat, edge in itertools.zip_longest(beats, edges, fillvalue=""))
    if is_significant:
        return f"{text}: the order is not transitive: {circle}."
    return f"{text}: no more than noise. Still, {circle}; among many triples one may do so by chance."
