"""How a deal ended, line by line, in words for somebody who knows neither the code nor the rules.

>>> for line in explain_deal(engine.state):
...     print(line.text)

A showdown is told as at a table: who knocked, what lies where, who may lay off on whom and why, each card laid off,
both counts, who wins by which rule, and how the points add up. Every figure is read from the finished state or
asked of the modules that settled it (``describe_result``, ``open_seats``, ``outcome``, ``layoffs_in_order``); nothing
is decided here.
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
        The deal, at one table: where a deal has two, each is explained by itself.
    names : sequence of str, optional
        What to call the seats at the table; by default ``player_0``, ``player_1`` and so on.
    first_seat : int
        The number of the table's first seat, for the default names at a second table; by default found from the row,
        as the tables of a deal follow one another.

    Returns
    -------
    list of Line
        In the order in which they are to be read.

    Raises
    ------
    ValueError
        The deal is not over, there is no such row, or the names are not one for each seat.
    """
    if not isinstance(state, State):
        raise ValueError(f"{type(state).__name__} is no State: give env.unwrapped.episodes.state, or a replayed one")
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
