"""How points add up, written out, and what is paid only later.

Each ``=`` in a line stands in a sum that is true as it is written: "difference 1 + undercut bonus 20 = 21 points".
Only what catches have paid is found by taking the rest of the sum from the points booked.
"""

from __future__ import annotations

from collections.abc import Iterator

from gin_env.cards import format_card
from gin_env.rendering.explanation.deal import Deal, Line
from gin_env.rules.rulebook.play import points_text
from gin_env.scoring import Kind

#: Parts of a sum, each as it is written, with what it comes to: ``("difference 9", 9)``.
Terms = list[tuple[str, int]]

#: What the bonuses of a result for the knock itself are called.
BONUSES = {"gin": "gin bonus", "big_gin": "big gin bonus", "undercut": "undercut bonus"}
_GIN_BONUSES = {Kind.SMALL_GIN: "small gin bonus", Kind.TEAM_GIN: "team gin bonus"}


def bonus_terms(deal: Deal, *names: str) -> Terms:
    """Return those of some bonuses that the deal's result has."""
    return [
        (f"{_GIN_BONUSES.get(deal.kind, BONUSES[name])} {deal.bonus(name)}", deal.bonus(name))
        for name in names
        if deal.bonus(name)
    ]


def difference(fewer: int, more: int) -> tuple[str, int]:
    """Return by how much one count is above another, as a term of a sum; nothing where it is not."""
    return (f"difference ({more} - {fewer})", more - fewer) if more >= fewer else ("difference 0", 0)


def add_up(who: str, total: int, terms: Terms, box: int = 0, boasts: int = 0, doubles: bool = False) -> str:
    """Write how points add up; what the other parts leave of the total was booked for catches."""
    parts = [text for text, _ in terms]
    if doubles and parts:
        parts = [f"2 x ({' + '.join(parts)})" if len(parts) > 1 else f"2 x {parts[0]}"]
    caught = total - (1 + doubles) * sum(amount for _, amount in terms) - box - boasts
    extras = {"box bonus": box, "boasts": boasts, "catches earlier in the deal": caught}
    parts += [f"{words} {amount}" for words, amount in extras.items() if amount]
    return f"{' + '.join(parts)} = {points_text(total)} for {who}."


def points_line(text: str) -> Line:
    """Return a text about points as a line with a capital in front."""
    return Line("points", text[0].upper() + text[1:])


def doubling(deal: Deal) -> str:
    """Say why points are doubled (Oklahoma)."""
    return f"The first upcard was {format_card(deal.first_upcard)}, and a spade doubles what the knock pays."


def explain_boxes(deal: Deal) -> Iterator[str]:
    """Say what the deal's end does not pay yet: boxes paid with the game, and what two tables pay together."""
    rules = deal.rules
    at_the_end = rules.box_timing == "end"
    worth = f"{points_text(rules.box_bonus)}{' at the end of the game' if at_the_end else ''}"
    if rules.num_tables > 1:
        both = "The team with more points from both tables scores the difference, the other nothing."
        yield "Each team scores its points from both tables." if rules.team_score == "gross" else both
        if rules.box_bonus:
            yield f"The team with more points from both tables also gets a box, {worth}."
    elif rules.box_bonus and at_the_end and deal.result.winner is not None:
        winner = deal.join([seat for seat in range(rules.num_seats) if rules.team_of(seat) == deal.result.winner])
        box = "a box on every sheet that the deal counts on, each" if rules.score_sheet == "hollywood" else "a box,"
        yield f"Winning the deal also earns {winner} {box} {worth}."
