"""The result of a finished deal or of a refused knock."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Result:
    """The outcome of one deal, of one table, or of both tables together.

    A team is ``seat % num_teams``: two teams in the modes duel, partnership and two_tables (local seats at a table),
    one for each seat in free_for_all and rotation.

    Attributes
    ----------
    legal : False only from ``score_showdown``, for a knock that the rules do not allow; then `reason` says why, and
        all other fields except `knocker_deadwood` are empty.
    kind : "knock", "undercut", "dead"; "gin", "big_gin"; "small_gin", "team_gin" (partnership); "two_tables" for two
        tables together unless both were dead. It describes the knocker; in free_for_all it is "knock" or "gin",
        whatever the result of each pair.
    winner : the team that won the deal. None for a dead deal, and if several share the most points in free_for_all or
        at two tables.
    points : what a scorer writes down, one number per team: the showdown, a box paid at once, boasts and catches.
    net_points : zero-sum, one number per team: own points less the other's, over all pairs.
    bonuses : those of "gin", "big_gin", "undercut", "box" and "boast" that are paid and not 0. Single amounts, even if
        a spade upcard doubles the deal or several pairs pay; a box only if it is paid at once; the sum of all boasts.
    boasts, catches : the parts of `points` that boasts and catches paid, one number per team.
    spread : melds of each seat of the knocking side, in the order of their lowest card ids.
    layoffs : the cards that each defender laid off, as texts in alphabetical order; an empty list for none.
    defender_melds : melds of each defender, without the cards laid off.
    table_melds : the open melds with the cards laid off, in the order of their lowest card ids before any lay-off; only
        in free_for_all, where later seats build on them.
    deadwood : points left in each seat's hand after laying off, 0 for a seat that sits out; None for a dead deal.
    knocker_deadwood : the knocker's own deadwood after the discard.
    tables : results of both tables in two_tables, else empty.
    """

    legal: bool = True
    reason: str = ""
    kind: str | None = None
    winner: int | None = None
    points: list[int] = field(default_factory=lambda: [0, 0])
    net_points: list[int] = field(default_factory=lambda: [0, 0])
    bonuses: dict[str, int] = field(default_factory=dict)
    boasts: list[int] = field(default_factory=lambda: [0, 0])
    catches: list[int] = field(default_factory=lambda: [0, 0])
    spread: dict[int, list[list[str]]] = field(default_factory=dict)
    layoffs: dict[int, list[str]] = field(default_factory=dict)
    defender_melds: dict[int, list[list[str]]] = field(default_factory=dict)
    table_melds: list[list[str]] = field(default_factory=list)
    deadwood: list[int] | None = None
    knocker_deadwood: int | None = None
    tables: tuple["Result", ...] = ()
