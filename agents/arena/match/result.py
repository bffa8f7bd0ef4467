"""The result of a match and its statistics."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena.match.deal_records import DealRecords
from agents.arena.match.style import SUMS, Style, style_from_sums
from agents.arena.match.tally import BY_PAIR, Tally
from agents.arena.statistics.intervals import (
    Estimate,
    SignTest,
    duplicate_factor,
    pairs_needed,
    plain_number,
    ratio_estimate,
    sign_test,
)
from gin_env.episodes.seat_events import EVENT_NAMES
from gin_env.rules import resolve_rules

#: Results say how many pairs an interval of this half-width, in points per deal, would take.
ADVISED_HALF_WIDTH = 0.3


@dataclass(frozen=True, eq=False, repr=False)
class MatchResult:
    """The result of a match; unless a side is named, figures are the first side's.

    Attributes
    ----------
    names : tuple of str
        The name of each side.
    rules_name, episode : str
        The rules, and whether single deals or whole games were played.
    seed : int
        The seed of the decks.
    tally : Tally
        The counts of every play.
    records : DealRecords or None
        Every deal at every table; None if the match was assembled from blocks.
    seconds : float
        The duration on one core.
    """

    names: tuple[str, ...]
    rules_name: str
    episode: str
    seed: int
    tally: Tally
    records: DealRecords | None
    seconds: float

    def __repr__(self) -> str:
        """Return the result as one line."""
        points = self.points_per_deal.text(sign=True)
        return f"<{' v '.join(self.names)}: {points} points per deal, {self.num_pairs} pairs of {self.rules_name}>"

    @property
    def num_pairs(self) -> int:
        """The number of decks (for games: streams of decks), each played once for each team."""
        return len(self.tally)

    @property
    def num_plays(self) -> int:
        """The number of episodes played."""
        return self.tally.winner.size

    @property
    def num_deals(self) -> int:
        """Deals played in all (two tables play one deal)."""
        return int(self.tally.num_deals.sum())

    @property
    def play_points(self) -> NDArray[np.int64]:
        """Net points of the first side in each play (num_pairs, T)."""
        return self.tally.points[:, :, 0]

    @property
    def pair_means(self) -> NDArray[np.float64]:
        """Net points per deal of each pair for the first side (num_pairs,); end bonuses of games included.

        Net is against every other team; where three rotate, only the deals count in which the side took part.
        """
        points, deals = self.pair_points(0)
        return points / deals

    def pair_points(self, side: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return a side's net points of each pair, and the deals in which it took part (num_pairs,)."""
        points, deals = self.tally.points[:, :, side].sum(axis=1), self.tally.deals[:, :, side].sum(axis=1)
        return points.astype(np.float64), deals.astype(np.float64)

    def every_other_pair(self, first: int) -> MatchResult:
        """Return the points of the pairs with even numbers (``first`` 0) or odd ones (1) as a match of their own.

        Its styles, events and deadwood stay those of the whole match.
        """
        chosen = {name: getattr(self.tally, name)[first::2] for name in BY_PAIR}
        return dataclasses.replace(self, tally=dataclasses.replace(self.tally, **chosen), records=None)

    def points_of(self, side: int) -> Estimate:
        """Return a side's net points per deal with their 95 % interval over whole pairs."""
        return ratio_estimate(*self.pair_points(side), self.seed)

    @cached_property
    def points_per_deal(self) -> Estimate:
        """The first side's net points per deal (games are weighted by their number of deals)."""
        return self.points_of(0)

    @cached_property
    def win_rates(self) -> tuple[Estimate, ...]:
        """The share of episodes that each side won; nobody wins dead deals, tied games and games cut short.

        With two sides the second holds all teams but one, so among T equal players the first wins one episode in T.
        Where three players rotate and an episode is a single deal, deals that the side (with two sides: the first)
        sits out do not count.
        """
        winner, two_sides = self.tally.winner, len(self.names) == 2
        rates = []
        for side in range(len(self.names)):
            counted = self.counted(0 if two_sides else side)
            wins = (counted & (winner == side)).sum(axis=1)
            rates.append(ratio_estimate(wins, counted.sum(axis=1), self.seed))
        return tuple(rates)

    def counted(self, side: int) -> NDArray[np.bool_]:
        """Return which plays (num_pairs, T) count for a side's win rate."""
        if self.episode == "game":
            return np.ones(self.tally.winner.shape, dtype=bool)
        return self.tally.deals[:, :, side] > 0

    @cached_property
    def styles(self) -> tuple[Style, ...]:
        """Each side's style of play."""
        return tuple(style_from_sums(sums) for sums in self.tally.style)

    @cached_property
    def sign_test(self) -> SignTest:
        """The sign test of the pairs: pairs won by each side, and the p-value if the sides are equal."""
        return sign_test(self.pair_means)

    @cached_property
    def duplicate_factor(self) -> float:
        """How much narrower the interval is than that of as many independent deals; NaN for a single pair."""
        if self.num_pairs < 2:
            return math.nan
        return duplicate_factor(self.play_points.astype(np.float64))

    @cached_property
    def pairs_advised(self) -> int | None:
        """The number of pairs for an interval of ±``ADVISED_HALF_WIDTH``; None if it cannot be estimated."""
        if not self.points_per_deal.half_width > 0:  # too few pairs for an interval, or ties only
            return None
        return pairs_needed(self.points_per_deal, ADVISED_HALF_WIDTH, self.num_pairs)

    def deadwood_by_turn(self, side: int) -> list[float | None]:
        """Return a side's mean deadwood after a seat's 1st, 2nd, ... discard; None where no deal got that far."""
        sums, counts = self.tally.deadwood[side].tolist(), self.tally.discards[side].tolist()
        return [total / count if count else None for total, count in zip(sums, counts, strict=True)]

    def events(self, side: int) -> list[dict[str, float]]:
        """Return how often each seat of a side's teams did what ``SeatEvents`` counts, per deal and team held."""
        played = self.tally.style[side, SUMS.index("played")] / resolve_rules(self.rules_name).num_tables
        deals = max(1.0, float(played))
        return [
            {name: count / deals for name, count in zip(EVENT_NAMES, counts, strict=True)}
            for counts in self.tally.events[side].tolist()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON (NaN becomes None); the duration is not among them."""
        sides = range(len(self.names))
        return {
            "agents": list(self.names),
            "rules": self.rules_name,
            "episode": self.episode,
            "seed": self.seed,
            "pairs": self.num_pairs,
            "plays": self.num_plays,
            "deals": self.num_deals,
            "points_per_deal": self.points_per_deal.to_dict(),
            "points_of_sides": [self.points_of(side).to_dict() for side in sides],
            "win_rates": [rate.to_dict() for rate in self.win_rates],
            "sign_test": self.sign_test._asdict(),
            "duplicate_factor": plain_number(self.duplicate_factor),
            "pairs_for_0.3": self.pairs_advised,
            "styles": [style.to_dict() for style in self.styles],
            "deadwood_by_turn": [self.deadwood_by_turn(side) for side in sides],
            "events": [self.events(side) for side in sides],
        }
