"""Check the arena's statistics against matches whose truth is known: 95 % intervals hold it 95 times of 100.

python -m benchmarks.interval_coverage [--num-matches 20000]

Two long matches are played (``eaai_2p``): ``simple`` against a second ``simple``, which is the same agent with other
chances, and ``gin-only`` against ``simple``. Their pairs are the populations, so that their means are the truth: small
matches are drawn from them with replacement, each gets its intervals, and those that hold the truth are counted. The
equal agents' population is made symmetric first (every pair once more with the sides changed), so its truth is
exactly 0. Prints a table of the shares, and what duplicate play gains.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

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
#: Small matches drawn from each population, and their pairs.
NUM_MATCHES = 2_000
MATCH_PAIRS = 500
#: Their widths alone vary little from match to match: 200 give the mean to a part in a thousand.
WIDTH_MATCHES = 200


@dataclass(frozen=True, eq=False)
class Population:
    """The pairs of a long match (n,): the sums over each pair's plays, and the net points of each play (n, T)."""

    plays: NDArray[np.float64]
    won: NDArray[np.float64]
    lost: NDArray[np.float64]

    @property
    def points(self) -> NDArray[np.float64]:
        """Net points of the first side, summed over the pair's plays."""
        return self.plays.sum(axis=1)

    @property
    def episodes(self) -> NDArray[np.float64]:
        """Plays of each pair."""
        return np.full(len(self.plays), float(self.plays.shape[1]))

    def symmetric(self) -> Population:
        """Return the pairs together with the same pairs told from the other side: the truth of equals, exactly."""
        return Population(
            np.concatenate([self.plays, -self.plays]),
            np.concatenate([self.won, self.lost]),
            np.concatenate([self.lost, self.won]),
        )


@dataclass(frozen=True)
class Coverage:
    """How often a statistic was right.

    Attributes
    ----------
    what : str
        The statistic and the match.
    share : float
        Share of the small matches whose interval holds the truth (of the sign test: in which p is below 0.05).
    wanted : float
        What that share should be.
    num_matches : int
        Small matches drawn.
    half_width : float
        Mean half-width of the intervals; NaN for the sign test.
    """

    what: str
    share: float
    wanted: float
    num_matches: int
    half_width: float

    @property
    def error(self) -> float:
        """Standard error of the share, had it the wanted value."""
        return math.sqrt(self.wanted * (1 - self.wanted) / self.num_matches)


def play_population(names: tuple[str, str], num_pairs: int = NUM_PAIRS, seed: int = SEED) -> Population:
    """Play a long match of two agents, each an object of its own."""
    rules = Rules.preset(PRESET)
    result = play_match(rules, load_agent(names[0], rules), load_agent(names[1], rules), num_pairs, seed)
    won, lost = ((result.tally.winner == side).sum(axis=1).astype(np.float64) for side in range(2))
    return Population(result.play_points.astype(np.float64), won, lost)


def coverage(
    what: str,
    estimate: Callable[[NDArray[np.intp], int], Estimate],
    truth: float,
    population_pairs: int,
    num_matches: int = NUM_MATCHES,
) -> Coverage:
    """Return how often the intervals of small matches hold the truth.

    Parameters
    ----------
    what : str
        For the table.
    estimate : callable
        Gets a small match, as the numbers of its pairs in the population (MATCH_PAIRS,), and a seed.
    truth : float
        The population's own value.
    population_pairs : int
        Pairs in the population.
    num_matches : int
        How many small matches to draw.
    """
    generator = np.random.default_rng(SEED)
    held, width = 0, 0.0
    for match in range(num_matches):
        found = estimate(generator.integers(0, population_pairs, MATCH_PAIRS), match)
        held += found.low <= truth <= found.high
        width += found.half_width
    return Coverage(what, held / num_matches, CONFIDENCE, num_matches, width / num_matches)


def sign_test_size(population: Population, num_matches: int = NUM_MATCHES) -> Coverage:
    """Return how often the sign test finds a difference (p < 0.05) between equals: at most in 5 % of the matches."""
    generator = np.random.default_rng(SEED)
    points, alpha = population.points, 1 - CONFIDENCE
    drawn = (points[generator.integers(0, len(points), MATCH_PAIRS)] for _ in range(num_matches))
    found = sum(sign_test(match).p < alpha for match in drawn)
    return Coverage("sign test, equals: p < 0.05", found / num_matches, alpha, num_matches, math.nan)


def calibrate(equals: Population, unequal: Population, num_matches: int = NUM_MATCHES) -> list[Coverage]:
    """Return the coverage of every interval.

    Parameters
    ----------
    equals, unequal : Population
        Of the same decks, pair by pair; the equals' is not yet symmetric.
    num_matches : int
        Small matches drawn for each figure.
    """
    rows = []
    for title, population in (("equals", equals.symmetric()), ("unequal", unequal)):
        for what, amounts in (("points per deal", population.points), ("win rate", population.won)):
            ratio = partial(_ratio, amounts, population.episodes)
            truth = float(amounts.sum() / population.episodes.sum())
            rows.append(coverage(f"{what}, {title}", ratio, truth, len(amounts), num_matches))
    ours, theirs, deals = unequal.points, equals.points, equals.episodes

    def difference(pairs: NDArray[np.intp], seed: int) -> Estimate:
        return paired_difference(ours[pairs], deals[pairs], theirs[pairs], deals[pairs], seed)

    truth = float((ours - theirs).sum() / deals.sum())
    rows.append(coverage("paired difference of both matches", difference, truth, len(ours), num_matches))
    rows.append(sign_test_size(equals.symmetric(), num_matches))
    return rows


def _ratio(amounts: NDArray[np.float64], counts: NDArray[np.float64], pairs: NDArray[np.intp], seed: int) -> Estimate:
    return ratio_estimate(amounts[pairs], counts[pairs], seed)


def independent_width(population: Population, num_matches: int = WIDTH_MATCHES) -> tuple[float, float]:
    """Return the mean half-widths of small matches of duplicate pairs, and of as many plays on decks of their own."""
    generator = np.random.default_rng(SEED)
    (num_pairs, num_plays), deals = population.plays.shape, np.full(MATCH_PAIRS, float(population.plays.shape[1]))
    widths = np.zeros(2)
    for match in range(num_matches):
        # Every play of an unpaired match is of another deck, as many from each side as in a paired one.
        paired = population.plays[generator.integers(0, num_pairs, MATCH_PAIRS)]
        decks = generator.integers(0, num_pairs, (MATCH_PAIRS, num_plays))
        unpaired = np.take_along_axis(population.plays, decks, axis=0)
        for which, plays in enumerate((paired, unpaired)):
            widths[which] += ratio_estimate(plays.sum(axis=1), deals, match).half_width / num_matches
    return float(widths[0]), float(widths[1])


def main(num_matches: int = NUM_MATCHES) -> None:
    """Play the populations and print the tables.

    Parameters
    ----------
    num_matches
        Small matches drawn for each row.
    """
    equals, unequal = play_population(EQUALS), play_population(UNEQUAL)
    print(
        f"{num_matches:,} matches of {MATCH_PAIRS} pairs out of {NUM_PAIRS:,}, {PRESET}; equals: {' v '.join(EQUALS)},"
    )
    print(f"unequal: {' v '.join(UNEQUAL)}\n")
    print("| | found ± standard error | wanted | mean half-width |")
    print("|---|---|---|---|")
    for row in calibrate(equals, unequal, num_matches):
        found = f"{row.share:.1%} ± {row.error:.1%}"
        print(f"| {row.what} | {found} | {row.wanted:.0%} | {row.half_width:.3f} |", flush=True)
    print("\n| | half-width of duplicate pairs | of as many independent deals | ratio | duplicate factor |")
    print("|---|---|---|---|---|")
    for title, population in (("equals", equals), ("unequal", unequal)):
        paired, unpaired = independent_width(population)
        factor = duplicate_factor(population.plays)
        print(f"| {title} | {paired:.3f} | {unpaired:.3f} | {unpaired / paired:.2f} | {factor:.2f} |", flush=True)


if __name__ == "__main__":
    import tyro

    tyro.cli(main)
