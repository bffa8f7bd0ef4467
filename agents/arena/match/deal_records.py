"""What the arena keeps of each deal, read from its final state and its event log.

Everything is given by **side** of the match (agents/arena/match/lineup.py), whichever teams a side held in that deal.
A deal at two tables makes two records, one for each table, because each table is played, knocked and won separately.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.engine import State
from gin_env.engine.state import teams_playing
from gin_env.episodes.seat_events import EVENT_NAMES, SeatEvents, seat_events
from gin_env.scoring import Kind

NO_SIDE = -1


@dataclass(eq=False)
class DealRecords:
    """K finished deals, or tables of deals, by side (S sides); arrays have shape (K,) unless another is given."""

    episode: NDArray[np.intp]  #: number of the deal or game within the match
    kind: NDArray[np.uint8]  #: Kind
    turns: NDArray[np.int64]  #: discards, including the one of the knock
    teams: NDArray[np.int64]  #: (K, S) teams of each side that played; where three players rotate, the dealer sits out
    points: NDArray[np.int64]  #: (K, S) points scored at that table, summed over a side's teams
    winner: NDArray[np.int64]  #: the side that won, -1 for none
    knocker: NDArray[np.int64]  #: the side that knocked, -1 for none
    knocker_won: NDArray[np.bool_]  #: whether the knocker's team won
    knock_deadwood: NDArray[np.int64]  #: of the knocker alone; 0 without a knock
    attack_deadwood: NDArray[np.int64]  #: of the knocking team
    defence_deadwood: NDArray[np.int64]  #: of all other teams together, after laying off
    decisions: NDArray[np.int64]  #: (K, S) actions chosen by each side
    draws: NDArray[np.int64]  #: (K, S) cards drawn from the stock
    takes: NDArray[np.int64]  #: (K, S) cards taken from the pile
    offers: NDArray[np.int64]  #: (K, S) trades offered
    exchanges: NDArray[np.int64]  #: (K, S) trades answered with a card other than the one on offer

    def __len__(self) -> int:
        """Return K."""
        return len(self.episode)


def join_records(chunks: list[DealRecords]) -> DealRecords:
    """Return several chunks of records as one, sorted by episode (the deals of a game keep their order)."""
    columns: dict[str, Any] = {
        field.name: np.concatenate([getattr(chunk, field.name) for chunk in chunks]) for field in fields(DealRecords)
    }
    order = np.argsort(columns["episode"], kind="stable")
    return DealRecords(**{name: column[order] for name, column in columns.items()})


def read_records(
    finished: State, episode: NDArray[np.intp], sides: NDArray[np.intp], num_sides: int
) -> tuple[DealRecords, NDArray[np.int64]]:
    """Read what happened in D finished deals.

    Parameters
    ----------
    finished : State
        The final states, one row per table.
    episode : intp, shape (D,)
        The episode each deal belongs to.
    sides : intp, shape (D, T)
        The side that held each team.
    num_sides : int
        S.

    Returns
    -------
    records : DealRecords
    events : int64, shape (S, places, events)
        What the seats did (``gin_env.episodes.seat_events.EVENT_NAMES``), summed over the deals, by side and place of
        the team.
    """
    rules = finished.rules
    episode, sides = np.repeat(episode, rules.num_tables), np.repeat(sides, rules.num_tables, axis=0)

    knocked = finished.kind > Kind.DEAD
    knocker = np.where(knocked, finished.knocker, 0).astype(np.intp)
    knock_team = knocker % rules.num_teams
    deadwood = finished.deadwood.astype(np.int64)

    # Deadwood of the knocking team and of its opponents.
    attacks = np.arange(rules.num_seats) % rules.num_teams == knock_team[:, None]

    holds = sides[:, None, :] == np.arange(num_sides)[:, None]  # (K, S, T)

    counts = seat_events(finished)

    records = DealRecords(
        episode=episode,
        kind=finished.kind,
        turns=finished.turn.astype(np.int64),
        teams=(holds & teams_playing(rules, finished.dealer)[:, None, :]).sum(axis=2),
        points=(holds * finished.points.astype(np.int64)[:, None, :]).sum(axis=2),
        winner=_side_of_team(sides, finished.winner.astype(np.intp), finished.winner >= 0),
        knocker=_side_of_team(sides, knock_team, knocked),
        knocker_won=knocked & (finished.winner == knock_team),
        knock_deadwood=deadwood[np.arange(len(episode)), knocker] * knocked,
        attack_deadwood=(deadwood * attacks).sum(axis=1) * knocked,
        defence_deadwood=(deadwood * ~attacks).sum(axis=1) * knocked,
        **{
            name: _by_side_of_team(getattr(counts, name), holds)
            for name in ("decisions", "draws", "takes", "offers", "exchanges")
        },
    )

    return records, _by_place(counts, holds, rules.num_tables)


def _side_of_team(sides: NDArray[np.intp], team: NDArray[np.intp], known: NDArray[np.bool_]) -> NDArray[np.int64]:
    return np.where(known, sides[np.arange(len(sides)), np.where(known, team, 0)], NO_SIDE)


def _by_side_of_team(by_seat: NDArray[np.int64], holds: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Sum counts by seat (K, P) into counts by side (K, S)."""
    by_team = by_seat.reshape(len(by_seat), -1, holds.shape[2]).sum(axis=1)
    return (holds * by_team[:, None, :]).sum(axis=2)


def _by_place(counts: SeatEvents, holds: NDArray[np.bool_], num_tables: int) -> NDArray[np.int64]:
    """Return all counts summed over the deals, by side and place (S, places, events)."""
    totals = []
    for name in EVENT_NAMES:
        by_seat: NDArray[np.int64] = getattr(counts, name)  # (K, P): the seats of a table, team by team in turn
        by_place = by_seat.reshape(len(by_seat), -1, holds.shape[2])  # (K, places at a table, T)
        by_side = np.einsum("kpt,kst->ksp", by_place, holds.astype(np.int64))

        # The places of the second table follow those of the first.
        by_side = by_side.reshape(-1, num_tables, *by_side.shape[1:]).sum(axis=0)
        totals.append(np.moveaxis(by_side, 0, 1).reshape(holds.shape[1], -1))
    return np.stack(totals, axis=2)
