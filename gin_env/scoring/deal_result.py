"""``DealResult``: one settled deal in plain Python values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gin_env.cards import card_ids, format_card
from gin_env.cards.melds import melds_of
from gin_env.rules import Rules
from gin_env.scoring.boasts import paid_for_boasts
from gin_env.scoring.free_for_all import undercutters
from gin_env.scoring.results import Kind, SettledDeals, box_bonus_now, kind_bonuses


@dataclass(frozen=True)
class DealResult:
    """The result of one deal.

    Attributes
    ----------
    legal : bool
        Whether the knock was allowed; if not, ``kind`` is None and all points are 0.
    reason : str
        Why the knock is illegal; empty for a legal one.
    kind : str or None
        ``"knock"``, ``"gin"``, ``"small_gin"``, ``"team_gin"``, ``"big_gin"``, ``"undercut"`` or ``"dead"``;
        ``"two_tables"`` for two tables together.
    winner : int or None
        The winning team; None for an illegal knock and a dead deal.
    points : tuple of int
        Points per team as a scorer writes them down, those of catches during the deal included; a seat that plays
        alone is a team.
    net_points : tuple of int
        Points per team against every other team: zero-sum.
    bonuses : dict
        The bonuses within the points, by name: ``"gin"``, ``"big_gin"``, ``"undercut"``, ``"box"``, as single
        amounts (a spade upcard doubles all but the box), in free-for-all those of one pair; and ``"boast"``, what
        all boasts have paid.
    spread : dict
        The melds that each seat lays down, as lists of card texts; a defender's are those of the cards kept.
    layoffs : dict
        The cards that each defender lays off.
    deadwood : tuple of int or None
        Points left in each seat's hand after laying off; None for an illegal knock and a dead deal.
    """

    legal: bool
    reason: str
    kind: str | None
    winner: int | None
    points: tuple[int, ...]
    net_points: tuple[int, ...]
    bonuses: dict[str, int] = field(default_factory=dict)
    spread: dict[int, list[list[str]]] = field(default_factory=dict)
    layoffs: dict[int, list[str]] = field(default_factory=dict)
    deadwood: tuple[int, ...] | None = None


def describe_result(rules: Rules, deals: SettledDeals, row: int) -> DealResult:
    """Return one row of a ``Showdown`` or a ``State`` as a DealResult.

    Raises
    ------
    ValueError
        The deal in this row is not over.
    """
    kind = Kind(int(deals.kind[row]))
    if kind is Kind.NONE:
        raise ValueError(f"the deal in row {row} is not over: it has no result yet")

    points = tuple(int(amount) for amount in deals.points[row])
    net_points = tuple(int(amount) for amount in deals.net_points[row])
    bonuses = _bonuses(rules, deals, row)
    if kind is Kind.DEAD:
        return DealResult(True, "", "dead", None, points, net_points, bonuses)

    seats = range(rules.num_seats)
    winner = int(deals.winner[row])
    knock_team = rules.team_of(int(deals.knocker[row]))
    defenders = [seat for seat in seats if rules.team_of(seat) != knock_team and _takes_part(deals, row, seat)]
    return DealResult(
        legal=True,
        reason="",
        kind=kind.name.lower(),
        winner=None if winner < 0 else winner,
        points=points,
        net_points=net_points,
        bonuses=bonuses,
        spread={seat: _meld_texts(deals, row, seat) for seat in seats},
        layoffs={seat: [format_card(card) for card in card_ids(deals.laid_bits[row, seat])] for seat in defenders},
        deadwood=tuple(int(points) for points in deals.deadwood[row]),
    )


#: What the bonus of a kind of result is called.
_BONUS_NAMES = {
    Kind.GIN: "gin",
    Kind.SMALL_GIN: "gin",
    Kind.TEAM_GIN: "gin",
    Kind.BIG_GIN: "big_gin",
    Kind.UNDERCUT: "undercut",
}


def _bonuses(rules: Rules, deals: SettledDeals, row: int) -> dict[str, int]:
    """Return the bonuses within a deal's points, by name, as single amounts, without zeros."""
    kinds = [Kind(int(deals.kind[row]))]
    # In free-for-all the kind describes the knocker; others may have undercut the knock all the same.
    if rules.mode == "free_for_all" and kinds[0] is not Kind.DEAD and _somebody_undercut(rules, deals, row):
        kinds.append(Kind.UNDERCUT)

    bonuses = {_BONUS_NAMES[kind]: int(kind_bonuses(rules)[kind]) for kind in kinds if kind in _BONUS_NAMES}
    bonuses["box"] = box_bonus_now(rules) if deals.winner[row] >= 0 else 0
    bonuses["boast"] = paid_for_boasts(rules, deals, row)
    return {name: amount for name, amount in bonuses.items() if amount}


def _somebody_undercut(rules: Rules, deals: SettledDeals, row: int) -> bool:
    knocker = int(deals.knocker[row])
    by_place = np.roll(deals.deadwood[[row]], -knocker, axis=1)
    return bool(undercutters(rules, by_place).any())


def _meld_texts(deals: SettledDeals, row: int, seat: int) -> list[list[str]]:
    melds = melds_of(deals.set_bits[row, seat], deals.run_bits[row, seat])
    return [[format_card(card) for card in meld] for meld in melds]


def _takes_part(deals: SettledDeals, row: int, seat: int) -> bool:
    """Whether a seat has cards in the showdown: where three rotate, the dealer has none."""
    cards = deals.set_bits[row, seat] | deals.run_bits[row, seat] | deals.laid_bits[row, seat]
    return bool(cards) or int(deals.deadwood[row, seat]) > 0
