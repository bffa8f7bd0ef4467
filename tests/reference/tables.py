"""Two tables together: the results of both tables are combined into one for the teams (`two_tables_4p`)."""

from collections.abc import Mapping, Sequence
from typing import Any

from .result import Result
from .rules import add, complete, net


def combine_tables(rules: Mapping[str, Any], tables: Sequence[Result]) -> Result:
    """Return the result of the teams when both tables are over; local seats 0 and 1 play for teams 0 and 1.

    All points of the tables, including boasts and catches, decide the winner and are netted with
    ``team_score="net"``. Nobody wins a deal that is dead at both tables.
    """
    rules = complete(rules)
    if rules["mode"] != "two_tables" or len(tables) != 2:
        raise ValueError(f"mode {rules['mode']!r}: expected two tables of mode 'two_tables', got {len(tables)} tables")
    if any(table.kind is None for table in tables):
        raise ValueError("a refused knock is not a finished deal: combine finished tables only")

    boasts = add(*(table.boasts for table in tables))
    catches = add(*(table.catches for table in tables))
    points = add(*(table.points for table in tables))
    is_dead = all(table.kind == "dead" for table in tables)
    winner = None if is_dead or points[0] == points[1] else points.index(max(points))

    # The team score first, then the box, which both tables share.
    if rules["team_score"] == "net":
        points = [max(points[team] - points[1 - team], 0) for team in (0, 1)]
    bonuses = {}
    if winner is not None and rules["box_timing"] == "now" and rules["box_bonus"]:
        bonuses["box"] = rules["box_bonus"]
        points[winner] += rules["box_bonus"]

    if any(boasts):
        bonuses["boast"] = sum(boasts)
    return Result(
        kind="dead" if is_dead else "two_tables",
        winner=winner,
        points=points,
        net_points=net(points, (0, 1)),
        bonuses=bonuses,
        boasts=boasts,
        catches=catches,
        tables=tuple(tables),
    )
