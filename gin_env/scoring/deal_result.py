"""``DealResult``: one settled deal in plain Python values."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from gin_env.cards import card_ids, format_card
from gin_env.cards.melds import melds_of
from gin_env.rules import Rules
from gin_env.scoring.results import Kind, SettledDeals
from gin_env.scoring.showdown import boast_payments


@dataclass(frozen=True)
class DealResult:
    """What a showdown comes to.

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
        Points per team as a scorer writes them down; a seat that plays alone is a team. Those of catches, booked
        during the deal, are among them.
    net_points : tuple of int
        Points per team against every other team: zero-sum.
    bonuses : dict
        The bonuses within the points, by name: ``"gin"``, ``"big_gin"``, ``"undercut"``, ``"box"``, as single
        amounts (a spade upcard doubles all but the box), in free-for-all those of one pair.
    spread : dict
        Melds that each seat lays down, as lists of card texts; the defenders' are those of the cards they keep.
    layoffs : dict
        Cards that each defender lays off.
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


def describe_result(rules: Rules, result: SettledDeals, row: int) -> DealResult:
    """Write one row of a settled batch or of a ``State`` as a DealResult; ``ValueError`` where the deal goes on."""
    kind = Kind(int(result.kind[row]))
    if kind is Kind.NONE:
        raise ValueError(f"the deal in row {row} is not over: it has no result yet")
    points = tuple(int(amount) for amount in result.points[row])
    net_points = tuple(int(amount) for amount in result.net_points[row])
    if kind is Kind.DEAD:
        boasts = int(result.boasted[row].sum()) * rules.boast_points[-1]
        return DealResult(True, "", "dead", None, points, net_points, {"boast": boasts} if boasts else {})
    seats = range(rules.num_seats)
    winner = int(result.winner[row])
    knock_team = rules.team_of(int(result.knocker[row]))
    return DealResult(
        legal=True,
        reason="",
        kind=kind.name.lower(),
        winner=None if winner < 0 else winner,
        points=points,
        net_points=net_points,
        bonuses=_bonuses(rules, result, row),
        spread={
            seat: [
                [format_card(card) for card in meld]
                for meld in melds_of(result.set_bits[row, seat], result.run_bits[row, seat])
            ]
            for seat in seats
        },
        layoffs={
            seat: [format_card(card) for card in card_ids(result.laid_bits[row, seat])]
            for seat in seats
            if rules.team_of(seat) != knock_team and _takes_part(result, row, seat)
        },
        deadwood=tuple(int(points) for points in result.deadwood[row]),
    )


def _bonuses(rules: Rules, result: SettledDeals, row: int) -> dict[str, int]:
    """Return the bonuses within a deal's points, by name, as single amounts, without zeros."""
    kind, winner = Kind(int(result.kind[row])), int(result.winner[row])
    gin = {Kind.GIN: rules.gin_bonus, Kind.SMALL_GIN: rules.small_gin_bonus, Kind.TEAM_GIN: rules.team_gin_bonus}
    boxed = rules.box_timing == "now" and winner >= 0 and rules.num_tables == 1
    bonuses = {
        "gin": gin.get(kind, 0),
        "big_gin": (rules.big_gin_bonus or 0) if kind is Kind.BIG_GIN else 0,
        "undercut": rules.undercut_bonus if _has_undercut(rules, result, row) else 0,
        "box": rules.box_bonus if boxed else 0,
        "boast": _paid_for_boasts(rules, result, row) if rules.boast else 0,
    }
    return {name: points for name, points in bonuses.items() if points}


def _has_undercut(rules: Rules, result: SettledDeals, row: int) -> bool:
    """Whether somebody undercut the knocker: free-for-all, some seat that won points and did not knock."""
    if rules.mode != "free_for_all":
        return int(result.kind[row]) == Kind.UNDERCUT
    others = [seat for seat in range(rules.num_seats) if seat != int(result.knocker[row])]
    knocker_left = int(result.deadwood[row, int(result.knocker[row])])
    left = min(int(result.deadwood[row, seat]) for seat in others)
    return knocker_left > 0 and (left < knocker_left or (left == knocker_left and rules.undercut_on_tie))


def _takes_part(result: SettledDeals, row: int, seat: int) -> bool:
    """Whether a seat has cards in the showdown: where three rotate, the dealer has none."""
    cards = result.set_bits[row, seat] | result.run_bits[row, seat] | result.laid_bits[row, seat]
    return bool(cards) or int(result.deadwood[row, seat]) > 0


def _paid_for_boasts(rules: Rules, result: SettledDeals, row: int) -> int:
    """Return what boasts pay to either side together."""
    knock_team = rules.team_of(int(result.knocker[row]))
    knock_seats = [seat for seat in range(rules.num_seats) if rules.team_of(seat) == knock_team]
    won = np.array([int(result.winner[row]) == knock_team])
    paid = boast_payments(rules, result.boasted[[row]], np.array([knock_seats]), won)
    return int(paid[0][0] + paid[1][0])
