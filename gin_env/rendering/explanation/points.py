"""How points add up, written out, and what is paid only later.

Every ``=`` in a line is true as it is written: "difference 1 + undercut bonus 20 = 21 points". Only what catches have
paid is found by subtraction, from the points of the deal.
"""

from __future__ import annotations

from collections.abc import Iterator

from gin_env.cards import format_card
from gin_env.rendering.explanation.deal import Deal, Line
from gin_env.rules.rulebook.play import points_text
from gin_env.scoring import Kind
from gin_env.scoring.results import box_bonus_now

#: Terms of a sum, each as it is written, with its value: ``("difference 9", 9)``.
Terms = list[tuple[str, int]]

#: The bonuses for the knock itself, by their name in ``DealResult.bonuses``, in words.
BONUSES = {"gin": "gin bonus", "big_gin": "big gin bonus", "undercut": "undercut bonus"}
_GIN_BONUSES = {Kind.SMALL_GIN: "small gin bonus", Kind.TEAM_GIN: "team gin bonus"}


def bonus_terms(deal: Deal, *names: str) -> Terms:
    """Return the bonuses of these names that the deal's result has."""
    terms = []
    for name in names:
        if amount := deal.bonus(name):
            terms.append((f"{_GIN_BONUSES.get(deal.kind, BONUSES[name])} {amount}", amount))
    return terms


def difference(fewer: int, more: int) -> tuple[str, int]:
    """Return how much higher one count is than another, as a term of a sum; 0 if it is lower."""
    return (f"difference ({more} - {fewer})", more - fewer) if more >= fewer else ("difference 0", 0)


def add_up(who: str, total: int, terms: Terms, box: int = 0, boasts: int = 0, doubles: bool = False) -> str:
    """Write how points add up; what the other terms leave of the total was paid for catches."""
    texts = [text for text, _ in terms]
    if doubles and texts:
        texts = [f"2 x ({' + '.join(texts)})" if len(texts) > 1 else f"2 x {texts[0]}"]

    caught = total - (1 + doubles) * sum(amount for _, amount in terms) - box - boasts
    extras = {"box bonus": box, "boasts": boasts, "catches earlier in the deal": caught}
    texts += [f"{name} {amount}" for name, amount in extras.items() if amount]
    return f"{' + '.join(texts)} = {points_text(total)} for {who}."


def points_line(text: str) -> Line:
    """Return a text about points as a line that starts with a capital."""
    return Line("points", text[0].upper() + text[1:])


def doubling(deal: Deal) -> str:
    """Say why points are doubled (Oklahoma)."""
    return f"The first upcard was {format_card(deal.first_upcard)}, and a spade doubles what the knock pays."


def explain_boxes(deal: Deal) -> Iterator[str]:
    """Say what is not among the points yet: boxes paid at the end of the game, and what two tables pay together."""
    rules = deal.rules
    at_the_end = not box_bonus_now(rules, tables_joined=True)
    worth = f"{points_text(rules.box_bonus)}{' at the end of the game' if at_the_end else ''}"

    if rules.num_tables > 1:
        if rules.team_score == "gross":
            yield "Each team scores its points from both tables."
        else:
            yield "The team with more points from both tables scores the difference, the other nothing."
        if rules.box_bonus:
            yield f"The team with more points from both tables also gets a box, {worth}."
    elif rules.box_bonus and at_the_end and deal.result.winner is not None:
        winner = deal.join([seat for seat in range(rules.num_seats) if rules.team_of(seat) == deal.result.winner])
        box = "a box on every sheet that the deal counts on, each" if rules.score_sheet == "hollywood" else "a box,"
        yield f"Winning the deal also earns {winner} {box} {worth}."
