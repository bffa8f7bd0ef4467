"""Measure the coverage of the arena's confidence intervals: ``python benchmarks/interval_coverage.py``.

Two long matches are played (``eaai_2p``): ``simple`` against a second ``simple`` with other random numbers, and
``gin-only`` against ``simple``. Their pairs are the populations, and the means of the populations are the true values.
Small matches are drawn from them with replacement, and the share of their 95 % intervals that contain the true value
is counted. The population of equal agents is made symmetric first (every pair is added with sides exchanged), so its
true value is exactly 0. Prints a table of the coverage, and the gain of duplicate deals.

Options: ``--num-matches 20000`` draws more small matches.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

# Run as a script, find the packages next to this folder.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np
from numpy.typing import NDArray

from agents.arena import play_match
from agents.arena.statistics.intervals import (
    CONFIDENCE,
    Estimate,
    duplicate_factor,
    paired_difference,
    ratio_estimate,
    sign_test,
)
from agents.registry import load_agent
from gin_env.rules import Rules

PRESET = "eaai_2p"
EQUALS = ("simple", "simple")
UNEQUAL = ("gin-only", "simple")
NUM_PAIRS = 60_000
SEED = 5
#: Number of small matches drawn from each population, and their number of pairs.
NUM_MATCHES = 2_000
MATCH_PAIRS = 500
#: Widths vary little from match to match: 200 matches give the mean to one part in a thousand.
WIDTH_MATCHES = 200


@dataclass(frozen=True, eq=False)
class Population:
    """The pairs of a long match: net points of each play (n, T), and episodes won and lost in each pair (n,)."""

    plays: NDArray[np.float64]
    won: NDArray[np.float64]
    lost: NDArray[np.float64]

    @property
    def points(self) -> NDArray[np.float64]:
        """Net points of the first side, summed over the pair's plays."""
        return self.plays.sum(axis=1)

    @property
    def episodes(self) -> NDArray[np.float64]:
        """The number of plays of each pair."""
        return np.full(len(self.plays), float(self.plays.shape[1]))

    def symmetric(self) -> Population:
        """Return the pairs together with the same pairs seen from the other side, so that the true mean is 0."""
        return Population(
            np.concatenate([self.plays, -self.plays]),
            np.concatenate([self.won, self.lost]),
            np.concatenate([self.lost, self.won]),
        )


@dataclass(frozen=True)
class Coverage:
    """The coverage of a statistic's intervals.

    Attributes
    ----------
    label : str
        The statistic and the population.
    share : float
        Share of the small matches whose interval contains the true value (for the sign test: with p below 0.05).
    nominal : float
        The share that is expected.
    num_matches : int
        The number of small matches drawn.
    half_width : float
        Mean half-width of the intervals; NaN for the sign test.
    """

    label: str
    share: float
    nominal: float
    num_matches: int
    half_width: float

    @property
    def error(self) -> float:
        """The standard error of the share if it has its nominal value."""
        return math.sqrt(self.nominal * (1 - self.nominal) / self.num_matches)


def play_population(names: tuple[str, str], num_pairs: int = NUM_PAIRS, seed: int = SEED) -> Population:
    """Play a long match between two agents, each a separate object."""
    rules = Rules.preset(PRESET)
    result = play_match(rules, load_agent(names[0], rules), load_agent(names[1], rules), num_pairs, seed)
    won, lost = ((result.tally.winner == side).sum(axis=1).astype(np.float64) for side in range(2))
    return Population(result.play_points.astype(np.float64), won, lost)


def coverage(
    label: str,
    estimate: Callable[[NDArray[np.intp], int], Estimate],
    true_value: float,
    population_pairs: int,
    num_matches: int = NUM_MATCHES,
) -> Coverage:
    """Return how often the intervals of small matches contain the true value.

    Parameters
    ----------
    label : str
        The row's label in the table.
    estimate : callable
        Called with a small match, given by the indices of its pairs in the population (MATCH_PAIRS,), and a seed.
    true_value : float
        The value of the population.
    population_pairs : int
        The number of pairs in the population.
    num_matches : int
        The number of small matches to draw.
    """
    generator = np.random.default_rng(SEED)
    covered, width = 0, 0.0
    for match in range(num_matches):
        interval = estimate(generator.integers(0, population_pairs, MATCH_PAIRS), match)
        covered += interval.low <= true_value <= interval.high
        width += interval.half_width
    return Coverage(label, covered / num_matches, CONFIDENCE, num_matches, width / num_matches)


def sign_test_size(population: Population, num_matches: int = NUM_MATCHES) -> Coverage:
    """Return how often the sign test rejects equality (p < 0.05) for equal agents: at most in 5 % of the matches."""
    generator = np.random.default_rng(SEED)
    points, alpha = population.points, 1 - CONFIDENCE
    matches = (points[generator.integers(0, len(points), MATCH_PAIRS)] for _ in range(num_matches))
    rejected = sum(sign_test(match).p < alpha for match in matches)
    return Coverage("sign test, equals: p < 0.05", rejected / num_matches, alpha, num_matches, math.nan)


def calibrate(equals: Population, unequal: Population, num_matches: int = NUM_MATCHES) -> list[Coverage]:
    """Return the coverage of every interval.

    Parameters
    ----------
    equals, unequal : Population
        Populations of the same decks, pair by pair; ``equals`` is not symmetric yet.
    num_matches : int
        The number of small matches drawn for each row.
    """
    rows = []
    for title, population in (("equals", equals.symmetric()), ("unequal", unequal)):
        for statistic, amounts in (("points per deal", population.points), ("win rate", population.won)):
            ratio = partial(_ratio, amounts, population.episodes)
            true_value = float(amounts.sum() / population.episodes.sum())
            rows.append(coverage(f"{statistic}, {title}", ratio, true_value, len(amounts), num_matches))

    ours, theirs, deals = unequal.points, equals.points, equals.episodes

    def difference(pairs: NDArray[np.intp], seed: int) -> Estimate:
        return paired_difference(ours[pairs], deals[pairs], theirs[pairs], deals[pairs], seed)

    true_value = float((ours - theirs).sum() / deals.sum())
    rows.append(coverage("paired difference of both matches", difference, true_value, len(ours), num_matches))
    rows.append(sign_test_size(equals.symmetric(), num_matches))
    return rows


def _ratio(amounts: NDArray[np.float64], counts: NDArray[np.float64], pairs: NDArray[np.intp], seed: int) -> Estimate:
    return ratio_estimate(amounts[pairs], counts[pairs], seed)


def independent_width(population: Population, num_matches: int = WIDTH_MATCHES) -> tuple[float, float]:
    """Return the mean half-widths of small matches of duplicate pairs, and of the same number of independent deals."""
    generator = np.random.default_rng(SEED)
    (num_pairs, num_plays), deals = population.plays.shape, np.full(MATCH_PAIRS, float(population.plays.shape[1]))
    widths = np.zeros(2)
    for match in range(num_matches):
        # In an unpaired match every play has its own deck, with as many plays from each side as in a paired match.
        paired = population.plays[generator.integers(0, num_pairs, MATCH_PAIRS)]
        decks = generator.integers(0, num_pairs, (MATCH_PAIRS, num_plays))
        unpaired = np.take_along_axis(population.plays, decks, axis=0)
        for kind, plays in enumerate((paired, unpaired)):
            widths[kind] += ratio_estimate(plays.sum(axis=1), deals, match).half_width / num_matches
    return float(widths[0]), float(widths[1])


def main(num_matches: int = NUM_MATCHES) -> None:
    """Play the populations and print the tables.

    Parameters
    ----------
    num_matches
        The number of small matches drawn for each row.
    """
    equals, unequal = play_population(EQUALS), play_population(UNEQUAL)
    print(
        f"{num_matches:,} matches of {MATCH_PAIRS} pairs out of {NUM_PAIRS:,}, {PRESET}; equals: {' v '.join(EQUALS)},"
    )
    print(f"unequal: {' v '.join(UNEQUAL)}\n")
    print("| | coverage ± standard error | nominal | mean half-width |")
    print("|---|---|---|---|")
    for row in calibrate(equals, unequal, num_matches):
        share = f"{row.share:.1%} ± {row.error:.1%}"
        print(f"| {row.label} | {share} | {row.nominal:.0%} | {row.half_width:.3f} |", flush=True)

    print("\n| | half-width of duplicate pairs | of as many independent deals | ratio | duplicate factor |")
    print("|---|---|---|---|---|")
    for title, population in (("equals", equals), ("unequal", unequal)):
        paired, unpaired = independent_width(population)
        factor = duplicate_factor(population.plays)
        print(f"| {title} | {paired:.3f} | {unpaired:.3f} | {unpaired / paired:.2f} | {factor:.2f} |", flush=True)


if __name__ == "__main__":
    import tyro

    tyro.cli(main)
