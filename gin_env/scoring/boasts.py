"""What boasts pay (``boast``, ``boast_points``): on top of everything else, and never doubled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.rules import Rules
from gin_env.scoring.results import Kind, Points, SettledDeals, two_team_points


def boast_values(rules: Rules, knock_won: bool) -> tuple[int, int]:
    """Return what one boast pays the winners of a showdown: by the knocking side, and by the other side."""
    wins, is_undercut, others_win, others_are_undercut, _ = rules.boast_points
    return (wins, others_win) if knock_won else (is_undercut, others_are_undercut)


def unanswered_boast_value(rules: Rules) -> int:
    """Return what one boast pays the other side when nobody knocks."""
    return rules.boast_points[-1]


def boast_payments(
    rules: Rules, boasted: NDArray[np.uint8], knock_seats: NDArray[np.intp], won: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return what boasts (R, P) pay the knocking side and the other side, both (R,).

    The boasts of both sides pay whichever side wins the showdown: the knocking side where ``won`` (R,).
    """
    by_knockers = np.take_along_axis(boasted, knock_seats, axis=1).sum(axis=1, dtype=np.int64)
    by_others = boasted.sum(axis=1, dtype=np.int64) - by_knockers

    def total(knock_won: bool) -> NDArray[np.int64]:
        knockers_value, others_value = boast_values(rules, knock_won)
        return by_knockers * knockers_value + by_others * others_value

    return np.where(won, total(True), 0), np.where(won, 0, total(False))


def boasts_unanswered(rules: Rules, boasted: NDArray[np.uint8], dealer: NDArray[np.uint8]) -> tuple[Points, Points]:
    """Return points and net points (R, T) of dead deals, in which each boast (R, P) pays the other side."""
    num_deals = len(boasted)
    boasts_of_team = np.zeros((num_deals, rules.num_teams), dtype=np.int64)
    for seat in range(rules.num_seats):
        boasts_of_team[:, rules.team_of(seat)] += boasted[:, seat]

    # The two teams of a table: those of the first two seats after the dealer (where three rotate, the dealer sits out).
    first, second = ((dealer.astype(np.intp) + step) % rules.num_seats % rules.num_teams for step in (1, 2))
    rows = np.arange(num_deals)
    value = unanswered_boast_value(rules)
    return two_team_points(
        rules, (first, second), boasts_of_team[rows, second] * value, boasts_of_team[rows, first] * value
    )


def paid_for_boasts(rules: Rules, deals: SettledDeals, row: int) -> int:
    """Return what boasts have paid in one settled deal, to both sides together."""
    if not rules.boast:
        return 0
    if deals.kind[row] == Kind.DEAD:
        return int(deals.boasted[row].sum()) * unanswered_boast_value(rules)

    knock_team = rules.team_of(int(deals.knocker[row]))
    knock_seats = [seat for seat in range(rules.num_seats) if rules.team_of(seat) == knock_team]
    won = np.array([int(deals.winner[row]) == knock_team])
    to_knockers, to_others = boast_payments(rules, deals.boasted[[row]], np.array([knock_seats]), won)
    return int(to_knockers[0] + to_others[0])
