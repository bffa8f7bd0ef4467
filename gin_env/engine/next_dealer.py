"""Who deals next (``dealer_rule``, ``dead_redeal``, ``rotation``)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import Rows
from gin_env.cards.random_streams import random_seats
from gin_env.engine.state import State
from gin_env.scoring import Kind

Seats = NDArray[np.int64]


def next_dealers(state: State, rows: Rows) -> NDArray[np.uint8]:
    """Return the seat that deals next in each row (M,), whose deal has just ended."""
    rules = state.rules
    dealers = state.dealer[rows].astype(np.int64)
    if rules.dealer_rule == "fixed":
        return dealers.astype(np.uint8)

    after = _after_a_win(state, rows)

    # A dead deal: the same dealer again or the next seat; one drawn at random is not drawn a second time.
    is_dead = state.kind[rows] == Kind.DEAD
    if rules.dead_redeal == "same":
        after = np.where(is_dead, dealers, after)
    elif rules.dealer_rule != "random":
        after = np.where(is_dead, _clockwise(state, rows), after)
    return after.astype(np.uint8)


def _after_a_win(state: State, rows: Rows) -> Seats:
    """Return the next dealers (M,) of deals that somebody won."""
    rules = state.rules
    if rules.mode == "rotation":
        return _clockwise(state, rows) if rules.rotation == "clockwise" else _rotation_losers(state, rows)
    if rules.dealer_rule in ("clockwise", "alternate"):
        return _clockwise(state, rows)
    if rules.dealer_rule == "random":
        return random_seats(state.stream_key[rows], state.deal_number[rows] + 1, rules.num_seats).astype(np.int64)
    if rules.mode == "free_for_all":
        return _by_points(state, rows)
    return _by_team(state, rows)


def _clockwise(state: State, rows: Rows) -> Seats:
    return (state.dealer[rows].astype(np.int64) + 1) % state.rules.num_seats


def _rotation_losers(state: State, rows: Rows) -> Seats:
    """Return, of the two seats that played, the one that lost (M,)."""
    all_seats = np.arange(state.rules.num_seats).sum()
    return all_seats - state.dealer[rows].astype(np.int64) - state.winner[rows]


def _by_points(state: State, rows: Rows) -> Seats:
    """Return the seat with the lowest points of the deal, or the highest; of equals the first after the dealer (M,)."""
    rules = state.rules
    order = (state.dealer[rows].astype(np.intp)[:, None] + 1 + np.arange(rules.num_seats)) % rules.num_seats
    points = np.take_along_axis(state.points[rows], order, axis=1)
    place = points.argmax(axis=1) if rules.dealer_rule == "winner" else points.argmin(axis=1)
    return order[np.arange(len(rows)), place]


def _by_team(state: State, rows: Rows) -> Seats:
    """Return the next seat clockwise of the team that won, or lost (M,)."""
    rules = state.rules
    winners = state.winner[rows].astype(np.int64)
    teams = winners if rules.dealer_rule == "winner" else 1 - winners

    # One step if the next seat is the team's, else two.
    following = _clockwise(state, rows)
    return (following + (following + teams) % 2) % rules.num_seats
