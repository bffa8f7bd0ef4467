"""What the arena remembers of each deal, read from its final state and its log.

Everything is told from the two **sides** of a match, 0 for the first agent and 1 for the second, whichever
teams they held in that deal: the first agent one, the second all others. A deal at two tables makes two
records, one for each, since each is played, knocked and won by itself.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.actions import action_layout
from gin_env.state import Kind, State, unpack_events

NO_SIDE = -1


@dataclass(eq=False)
class DealRecords:
    """K finished deals, or tables of deals; arrays (K,) unless another shape is given."""

    episode: NDArray[np.intp]  #: which deal or game of the match it belongs to
    kind: NDArray[np.uint8]  #: Kind
    turns: NDArray[np.int64]  #: discards, the knock's included
    teams: NDArray[np.int64]  #: (K, 2) teams of each side that played: not the dealer's where three rotate
    points: NDArray[np.int64]  #: (K, 2) as a scorer writes them at that table; a side's teams added up
    winner: NDArray[np.int64]  #: the side that won, -1 for none
    knocker: NDArray[np.int64]  #: the side that knocked, -1 for none
    knocker_won: NDArray[np.bool_]  #: whether the knocker's team won
    knock_deadwood: NDArray[np.int64]  #: of the knocker alone; 0 without a knock
    attack_deadwood: NDArray[np.int64]  #: of the knocking team
    defence_deadwood: NDArray[np.int64]  #: of all other teams together, after laying off
    decisions: NDArray[np.int64]  #: (K, 2) actions chosen by each side
    draws: NDArray[np.int64]  #: (K, 2) cards drawn from the stock
    takes: NDArray[np.int64]  #: (K, 2) cards taken from the pile
    offers: NDArray[np.int64]  #: (K, 2) trades offered
    exchanges: NDArray[np.int64]  #: (K, 2) trades answered otherwise than with the card on offer

    def __len__(self) -> int:
        """Return K."""
        return len(self.episode)


def side_of(team: NDArray[np.integer], first_team: NDArray[np.integer]) -> NDArray[np.intp]:
    """Return the side that holds a team, where the first agent holds ``first_team``."""
    return (team != first_team).astype(np.intp)


def join_records(parts: list[DealRecords]) -> DealRecords:
    """Return several records as one, sorted by episode (the deals of a game stay in their order)."""
    columns: dict[str, Any] = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(DealRecords)
    }
    order = np.argsort(columns["episode"], kind="stable")
    return DealRecords(**{name: column[order] for name, column in columns.items()})


def read_records(finished: State, episode: NDArray[np.intp], first_team: NDArray[np.intp]) -> DealRecords:
    """Read what happened in D deals that have just ended.

    Parameters
    ----------
    finished : State
        The deals as they ended, a row for each table.
    episode : intp, shape (D,)
        The episode each deal belongs to.
    first_team : intp, shape (D,)
        The team that the first agent held.
    """
    rules = finished.rules
    episode, first_team = np.repeat(episode, rules.num_tables), np.repeat(first_team, rules.num_tables)
    knocked = finished.kind > Kind.DEAD
    knocker = np.where(knocked, finished.knocker, 0).astype(np.intp)
    knock_team = knocker % rules.num_teams
    deadwood = finished.deadwood.astype(np.int64)
    attacks = np.arange(rules.num_seats) % rules.num_teams == knock_team[:, None]
    plays = np.ones((len(episode), rules.num_teams), dtype=np.int64)
    if rules.mode == "rotation":
        plays[np.arange(len(plays)), finished.dealer] = 0
    return DealRecords(
        episode=episode,
        kind=finished.kind,
        turns=finished.turn.astype(np.int64),
        teams=_by_side(plays, first_team),
        points=_by_side(finished.points.astype(np.int64), first_team),
        winner=np.where(finished.winner >= 0, side_of(finished.winner, first_team), NO_SIDE),
        knocker=np.where(knocked, side_of(knock_team, first_team), NO_SIDE),
        knocker_won=knocked & (finished.winner == knock_team),
        knock_deadwood=deadwood[np.arange(len(episode)), knocker] * knocked,
        attack_deadwood=(deadwood * attacks).sum(axis=1) * knocked,
        defence_deadwood=(deadwood * ~attacks).sum(axis=1) * knocked,
        **_count_actions(finished, first_team),
    )


def _by_side(by_team: NDArray[np.int64], first_team: NDArray[np.intp]) -> NDArray[np.int64]:
    """Return numbers by team (K, T) added up by side (K, 2)."""
    first = np.take_along_axis(by_team, first_team[:, None], axis=1)
    return np.concatenate([first, by_team.sum(axis=1, keepdims=True) - first], axis=1)


def _count_actions(finished: State, first_team: NDArray[np.intp]) -> dict[str, NDArray[np.int64]]:
    """Count the log's actions by side, each (K, 2)."""
    layout = action_layout(finished.rules)
    length = int(finished.log_size.max(initial=0))
    happened = np.arange(length) < finished.log_size[:, None]
    seats, actions, cards = unpack_events(np.where(happened, finished.log[:, :length], 0))
    side = side_of(seats % finished.rules.num_teams, first_team[:, None])
    verbs = layout.verb_of[actions]
    counted = {
        "decisions": happened,
        "draws": happened & (verbs == layout.verbs.index("draw")),
        "takes": happened & (verbs == layout.verbs.index("take")),
        "offers": np.zeros_like(happened),
        "exchanges": np.zeros_like(happened),
    }
    if layout.give >= 0:
        gives = happened & (verbs == layout.verbs.index("give"))
        # Offers and answers alternate, and an answer follows its offer at once.
        answers = gives & (np.cumsum(gives, axis=1) % 2 == 0)
        other_card = np.zeros_like(answers)
        other_card[:, 1:] = cards[:, 1:] != cards[:, :-1]
        counted["offers"] = gives & ~answers
        counted["exchanges"] = answers & other_card
    return {
        name: np.stack([(events & (side == which)).sum(axis=1) for which in range(2)], axis=1)
        for name, events in counted.items()
    }
