"""What a match came to, with its statistics."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from agents.arena.match.deal_records import DealRecords
from agents.arena.match.style import SUMS, Style, style_of
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

#: The half-width, in points per deal, for which a result says how many pairs it would take.
ADVISED_HALF_WIDTH = 0.3


@dataclass(frozen=True, eq=False, repr=False)
class MatchResult:
    """What a match came to, told from the first side.

    Attributes
    ----------
    names : tuple of str
        What each side is called.
    rules_name, episode : str
        What was played.
    seed : int
        Which decks.
    tally : Tally
        The numbers of every play.
    records : DealRecords or None
        Every deal, at every table; None where a match was put together from blocks.
    seconds : float
        How long the match took, on one core.
    """

    names: tuple[str, ...]
    rules_name: str
    episode: str
    seed: int
    tally: Tally
    records: DealRecords | None
    seconds: float

    def __repr__(self) -> str:
        """Return the result in a line."""
        points = self.points_per_deal.text(sign=True)
        return f"<{' v '.join(self.names)}: {points} points per deal, {self.num_pairs} pairs of {self.rules_name}>"

    @property
    def num_pairs(self) -> int:
        """Decks (or, for games, streams of decks), each played once for each team."""
        return len(self.tally)

    @property
    def num_plays(self) -> int:
        """Episodes played in all."""
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
        """The first side's net points per deal (weighted with the deals, where games differ in length)."""
        return self.points_of(0)

    @cached_property
    def win_rates(self) -> tuple[Estimate, ...]:
        """Share of the episodes that each side won; dead deals, shared firsts and games cut short are nobody's.

        With two sides the second holds all teams but one: of T equal players the first wins one in T. Where three
        rotate and an episode is a deal, those that the side (with two sides: the first) sits out do not count.
        """
        winner, two_sides = self.tally.winner, len(self.names) == 2
        rates = []
        for side in range(len(self.names)):
            counted = self.counted(0 if two_sides else side)
            rates.append(ratio_estimate((counted & (winner == side)).sum(axis=1), counted.sum(axis=1), self.seed))
        return tuple(rates)

    def counted(self, side: int) -> NDArray[np.bool_]:
        """Return the plays (num_pairs, T) that count for a side's wins."""
        if self.episode == "game":
            return np.ones(self.tally.winner.shape, dtype=bool)
        return self.tally.deals[:, :, side] > 0

    @cached_property
    def styles(self) -> tuple[Style, ...]:
        """How each side played."""
        return tuple(style_of(sums) for sums in self.tally.style)

    @cached_property
    def sign_test(self) -> SignTest:
        """Pairs that either side won, and how likely so uneven a split is among equals."""
        return sign_test(self.pair_means)

    @cached_property
    def duplicate_factor(self) -> float:
        """By how much the interval is narrower than that of as many independent deals; NaN for a single pair."""
        if self.num_pairs < 2:
            return math.nan
        return duplicate_factor(self.play_points.astype(np.float64))

    @cached_property
    def pairs_advised(self) -> int | None:
        """Pairs for an interval of ±``ADVISED_HALF_WIDTH``; None where too few were played to tell."""
        if not self.points_per_deal.half_width > 0:  # fewer pairs than an interval needs, or nothing but ties
            return None
        return pairs_needed(self.points_per_deal, ADVISED_HALF_WIDTH, self.num_pairs)

    def deadwood_by_turn(self, side: int) -> list[float | None]:
        """Return a side's mean deadwood after a seat's first, second, ... discard of a deal; None past the last."""
        sums, counts = self.tally.deadwood[side].tolist(), self.tally.discards[side].tolist()
        return [total / count if count else None for total, count in zip(sums, counts, strict=True)]

    def events(self, side: int) -> list[dict[str, float]]:
        """Return what each seat of a side's teams did, per deal and team held (``SeatEvents``)."""
        played = self.tally.style[side, SUMS.index("played")] / resolve_rules(self.rules_name).num_tables
        deals = max(1.0, float(played))
        return [
            {name: count / deals for name, count in zip(EVENT_NAMES, counts, strict=True)}
            for counts in self.tally.events[side].tolist()
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as plain values for JSON (NaN becomes None); nothing in them tells how long it took."""
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
