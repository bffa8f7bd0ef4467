"""How a deal ended, line by line, for readers who know neither the code nor the rules.

>>> for line in explain_deal(engine.state):
...     print(line.text)

A showdown is explained as at a table: who knocked, the melds, who may lay off on whose melds and why, each card laid
off, both counts, who wins by which rule, and how the points add up. Nothing is decided here: every figure is read from
the finished state, and every rule is applied by ``gin_env.scoring``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from gin_env.engine import State
from gin_env.errors import check_names, whole_number
from gin_env.rendering.explanation.dead_deal import explain_dead
from gin_env.rendering.explanation.deal import TOPICS, Deal, Line, read_deal
from gin_env.rendering.explanation.free_for_all import explain_free_for_all
from gin_env.rendering.explanation.layoffs import (
    explain_counts,
    explain_knock,
    explain_layoffs,
    explain_melds,
    who_may_lay_off,
)
from gin_env.rendering.explanation.points import explain_boxes
from gin_env.rendering.explanation.two_sides import explain_two_sides
from gin_env.rules import player_name
from gin_env.scoring.deal_result import describe_result

__all__ = ["TOPICS", "Line", "explain_deal"]


def explain_deal(
    state: State, row: int = 0, names: Sequence[str] | None = None, first_seat: int | None = None
) -> list[Line]:
    """Explain how one deal ended.

    Parameters
    ----------
    state : State
    row : int
        The deal at one table; where a deal has two tables, each is explained separately.
    names : sequence of str, optional
        What to call the seats at the table; by default ``player_0``, ``player_1`` and so on.
    first_seat : int, optional
        The number of the table's first seat, for the default names at a second table; by default it follows from the
        row, since the tables of a deal are neighbouring rows.

    Returns
    -------
    list of Line
        In reading order.

    Raises
    ------
    ValueError
        The deal is not over, the row does not exist, or the number of names is wrong.
    """
    if not isinstance(state, State):
        raise ValueError(
            f"state: expected a State, got {type(state).__name__}: give env.unwrapped.episodes.state, or a replayed one"
        )
    rules = state.rules
    row = whole_number("row", row, 0, state.num_deals - 1)

    if first_seat is None:
        first_seat = row % rules.num_tables * rules.num_seats
    whole_number("first_seat", first_seat, 0)
    if names is None:
        names = [player_name(first_seat + seat) for seat in range(rules.num_seats)]
    check_names(names, rules.num_seats)

    result = describe_result(rules, state, row)
    if result.kind == "dead":
        return list(explain_dead(state, row, names))
    return list(_explain_showdown(read_deal(state, row, names, result)))


def _explain_showdown(deal: Deal) -> Iterator[Line]:
    yield Line("knock", explain_knock(deal))
    yield from (Line("melds", explain_melds(deal, seat)) for seat in deal.knocking)
    yield from (Line("open", text) for text in who_may_lay_off(deal))
    yield from (Line("layoff", text) for text in explain_layoffs(deal))
    yield from (Line("defence", explain_melds(deal, seat)) for seat in deal.others)

    yield Line("count", explain_counts(deal))
    yield from explain_free_for_all(deal) if deal.rules.mode == "free_for_all" else explain_two_sides(deal)
    yield from (Line("points", text) for text in explain_boxes(deal))
