"""What the arena remembers of each deal, read from its final state and its log.

Everything is told from the two **sides** of a match, 0 for the first agent and 1 for the second,
whichever team they held in that deal.
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
    """K finished deals; arrays (K,) unless another shape is given."""

    episode: NDArray[np.intp]  #: which deal or game of the match it belongs to
    kind: NDArray[np.uint8]  #: Kind
    turns: NDArray[np.int64]  #: discards, the knock's included
    points: NDArray[np.int64]  #: (K, 2) as a scorer writes them, without a game's end bonuses
    winner: NDArray[np.int64]  #: the side that won the deal, -1 for none
    knocker: NDArray[np.int64]  #: the side that knocked, -1 for none
    knock_deadwood: NDArray[np.int64]  #: of the knocker alone; 0 without a knock
    attack_deadwood: NDArray[np.int64]  #: of the knocking side
    defence_deadwood: NDArray[np.int64]  #: of the other side after laying off
    decisions: NDArray[np.int64]  #: (K, 2) actions chosen by each side
    draws: NDArray[np.int64]  #: (K, 2) cards drawn from the stock
    takes: NDArray[np.int64]  #: (K, 2) cards taken from the pile
    offers: NDArray[np.int64]  #: (K, 2) trades offered
    exchanges: NDArray[np.int64]  #: (K, 2) trades answered otherwise than with the card on offer

    def __len__(self) -> int:
        """Return K."""
        return len(self.episode)


def join_records(parts: list[DealRecords]) -> DealRecords:
    """Return several records as one, sorted by episode (the deals of a game stay in their order)."""
    columns: dict[str, Any] = {
        field.name: np.concatenate([getattr(part, field.name) for part in parts]) for field in fields(DealRecords)
    }
    order = np.argsort(columns["episode"], kind="stable")
    return DealRecords(**{name: column[order] for name, column in columns.items()})


def read_records(finished: State, episode: NDArray[np.intp], first_team: NDArray[np.intp]) -> DealRecords:
    """Read what happened in K deals that have just ended.

    Parameters
    ----------
    finished : State
        The deals as they ended.
    episode : intp, shape (K,)
        The episode each belongs to.
    first_team : intp, shape (K,)
        The team that the first agent held.
    """
    teams = first_team[:, None] ^ np.arange(2)
    knocked = finished.kind > Kind.DEAD
    knock_team = finished.knocker % 2
    deadwood = finished.deadwood.astype(np.int64)
    knocker = np.where(knocked, finished.knocker, 0).astype(np.intp)
    by_team = np.stack([deadwood[:, team::2].sum(axis=1) for team in range(2)], axis=1)
    index = np.arange(len(episode))
    return DealRecords(
        episode=episode,
        kind=finished.kind,
        turns=finished.turn.astype(np.int64),
        points=np.take_along_axis(finished.points, teams, axis=1).astype(np.int64),
        winner=np.where(finished.winner >= 0, finished.winner ^ first_team, NO_SIDE).astype(np.int64),
        knocker=np.where(knocked, knock_team ^ first_team, NO_SIDE),
        knock_deadwood=deadwood[index, knocker] * knocked,
        attack_deadwood=by_team[index, knocker % 2] * knocked,
        defence_deadwood=by_team[index, 1 - knocker % 2] * knocked,
        **_count_actions(finished, first_team),
    )


def _count_actions(finished: State, first_team: NDArray[np.intp]) -> dict[str, NDArray[np.int64]]:
    """Count the log's actions by side, each (K, 2)."""
    layout = action_layout(finished.rules)
    length = int(finished.log_size.max(initial=0))
    happened = np.arange(length) < finished.log_size[:, None]
    seats, actions, cards = unpack_events(np.where(happened, finished.log[:, :length], 0))
    side = (seats % 2) ^ first_team[:, None]
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
