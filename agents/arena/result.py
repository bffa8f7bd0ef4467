"""What a match came to."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena.records import DealRecords
from agents.arena.statistics import Estimate
from agents.arena.style import Style


@dataclasses.dataclass(frozen=True, eq=False)
class MatchResult:
    """What a match between two agents came to, told from the first.

    Attributes
    ----------
    names : tuple of str
        The first agent's name and the second's.
    rules_name, episode : str
        What was played.
    seed, num_pairs : int
        Which decks, and how many.
    num_plays, num_deals : int
        Episodes played in all, every deck once for each team, and their deals (two tables play one deal).
    pair_means : float64, shape (num_pairs,)
        Net points per deal of each pair for the first agent; end bonuses of games included. Net is against every
        other team; where three rotate, only the deals count in which the first agent took part.
    points_per_deal : Estimate
        Their mean (weighted with the deals, where games differ in length) with its 95 % interval over whole pairs.
    win_rates : tuple of Estimate
        Share of the episodes that each side won; dead deals, shared firsts and games cut short are nobody's. The
        second side holds all teams but one: of T equal players the first wins one in T. Where three rotate and
        an episode is a deal, those that the first agent sits out do not count.
    styles : tuple of Style
        How each side played.
    records : DealRecords
        Every deal, at every table.
    seconds : float
        How long the match took.
    """

    names: tuple[str, str]
    rules_name: str
    episode: str
    seed: int
    num_pairs: int
    num_plays: int
    num_deals: int
    pair_means: NDArray[np.float64]
    points_per_deal: Estimate
    win_rates: tuple[Estimate, Estimate]
    styles: tuple[Style, Style]
    records: DealRecords
    seconds: float

    @property
    def decisions_per_second(self) -> float:
        """Decisions of both sides per second of the match."""
        return float(self.records.decisions.sum() / self.seconds)

    def to_dict(self) -> dict[str, Any]:
        """Return everything but the single deals as plain values for JSON (NaN becomes None)."""
        return {
            "agents": list(self.names),
            "rules": self.rules_name,
            "episode": self.episode,
            "seed": self.seed,
            "pairs": self.num_pairs,
            "plays": self.num_plays,
            "deals": self.num_deals,
            "points_per_deal": _without_nan(self.points_per_deal._asdict()),
            "win_rates": [_without_nan(rate._asdict()) for rate in self.win_rates],
            "styles": [_without_nan(dataclasses.asdict(style)) for style in self.styles],
            "pair_means": self.pair_means.tolist(),
            "seconds": self.seconds,
            "decisions_per_second": self.decisions_per_second,
        }


def _without_nan(values: dict[str, float]) -> dict[str, float | None]:
    return {name: None if value != value else value for name, value in values.items()}
