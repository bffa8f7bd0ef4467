"""Confidence intervals and tests for duplicate deals: the bootstrap resamples whole pairs, never single deals.

``ratio_estimate`` estimates a figure of one match, and ``paired_difference`` the difference between two matches on
the same decks. ``sign_test`` tests whether one side wins more pairs than the other, ``pairs_needed`` gives the sample
size for an interval of a given width, and ``duplicate_factor`` measures what duplicate deals gain over independent
ones. docs/agents.md explains the method.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

CONFIDENCE = 0.95
#: With fewer pairs no interval is given: a bootstrap interval would be too narrow (with 10 pairs it covers 89 %).
MIN_PAIRS = 30
NUM_RESAMPLES = 2000
#: Poisson weights held in memory at once (8 bytes each): resamples are drawn in chunks of this size.
WEIGHTS_AT_ONCE = 1_000_000


class Estimate(NamedTuple):
    """A figure with its confidence interval; the bounds are NaN if there are too few pairs for an interval."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half the width of the interval."""
        return (self.high - self.low) / 2

    def text(self, digits: int = 2, scale: float = 1.0, sign: bool = False) -> str:
        """Return ``"value ± half width"``."""
        plus = "+" if sign else ""
        width = "?" if math.isnan(self.half_width) else f"{self.half_width * scale:.{digits}f}"
        return f"{self.value * scale:{plus}.{digits}f} ± {width}"

    def to_dict(self) -> dict[str, float | None]:
        """Return plain values for JSON."""
        return {name: plain_number(value) for name, value in self._asdict().items()}


NO_FIGURE = Estimate(math.nan, math.nan, math.nan)


def plain_number(value: float) -> float | None:
    """Return a number for JSON: None instead of NaN or infinity."""
    return float(value) if math.isfinite(value) else None


def estimate_of(data: Any) -> Estimate:
    """Read a figure of a summary; missing parts become NaN, and a plain number gets no interval."""
    if isinstance(data, (int, float)) and not isinstance(data, bool):
        return Estimate(float(data), math.nan, math.nan)
    if not isinstance(data, Mapping):
        return NO_FIGURE
    return Estimate(*(math.nan if data.get(key) is None else float(data[key]) for key in Estimate._fields))


def ratio_estimate(amounts: ArrayLike, counts: ArrayLike, seed: int = 0, confidence: float = CONFIDENCE) -> Estimate:
    """Return the ratio of two sums over pairs, with a confidence interval from a bootstrap over whole pairs.

    Parameters
    ----------
    amounts, counts : shape (n,)
        Each pair's contribution to the numerator and to the denominator (for a mean per deal: points and deals).
    seed : int
        Seed of the resampling; the same match always gives the same interval.
    confidence : float
        The confidence level.

    Notes
    -----
    Pairs with equal numbers are interchangeable, so a resample is one multinomial draw over the distinct pairs. This is
    exact, and fast if many pairs are equal, as pairs of single deals are.
    """
    pairs: NDArray[np.float64] = np.stack([np.asarray(amounts, np.float64), np.asarray(counts, np.float64)], axis=1)
    total = pairs.sum(axis=0)
    if len(pairs) < MIN_PAIRS:
        return Estimate(float(total[0] / total[1]), math.nan, math.nan)

    distinct, times = np.unique(pairs, axis=0, return_counts=True)
    generator = np.random.default_rng(seed)
    resamples = generator.multinomial(len(pairs), times / len(pairs), size=NUM_RESAMPLES)
    sums = resamples @ distinct
    tail = (1 - confidence) / 2
    low, high = np.quantile(sums[:, 0] / sums[:, 1], [tail, 1 - tail])
    return Estimate(float(total[0] / total[1]), float(low), float(high))


def interval(value: float, samples: ArrayLike, confidence: float = CONFIDENCE) -> Estimate:
    """Return a figure with the percentile interval of its resampled values (NaN bounds without resamples)."""
    resampled = np.asarray(samples, np.float64)
    if not len(resampled):
        return Estimate(float(value), math.nan, math.nan)
    tail = (1 - confidence) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return Estimate(float(value), float(low), float(high))


def poisson_weights(num_pairs: int, num_resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield a bootstrap's weights in chunks (M, num_pairs), ``num_resamples`` rows in all.

    Each pair enters a resample Poisson(1) times. For ratios this is equivalent to drawing pairs with replacement, and
    it lets matches of different lengths share the weights of their common decks.
    """
    generator = np.random.default_rng(seed)
    rows = max(1, WEIGHTS_AT_ONCE // max(1, num_pairs))
    for start in range(0, num_resamples, rows):
        yield generator.poisson(1.0, (min(rows, num_resamples - start), num_pairs)).astype(np.float64)


def paired_difference(
    first_amounts: ArrayLike,
    first_counts: ArrayLike,
    second_amounts: ArrayLike,
    second_counts: ArrayLike,
    seed: int = 0,
    confidence: float = CONFIDENCE,
) -> Estimate:
    """Return the difference between the ratios of two matches on the same decks, with a confidence interval.

    A resample gives each deck the same weight in both matches, so the luck of the common decks cancels. If the matches
    are correlated, the interval is narrower than one computed from the matches' separate intervals.

    Parameters
    ----------
    first_amounts, first_counts, second_amounts, second_counts : shape (n,)
        Contribution of pair i to each match's numerator and denominator; pair i is the same deck in both.
    seed : int
        Seed of the resampling.
    confidence : float
        The confidence level.

    Raises
    ------
    ValueError
        The two matches do not have the same number of pairs.
    """
    inputs = (first_amounts, first_counts, second_amounts, second_counts)
    columns = [np.asarray(column, np.float64) for column in inputs]
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        raise ValueError(f"a paired difference: expected the same decks in both matches, got lengths {lengths}")

    pairs = np.stack(columns, axis=1)
    total = pairs.sum(axis=0)
    difference = total[0] / total[1] - total[2] / total[3]
    if len(pairs) < MIN_PAIRS:
        return Estimate(float(difference), math.nan, math.nan)

    sums = np.concatenate([weights @ pairs for weights in poisson_weights(len(pairs), NUM_RESAMPLES, seed)])
    return interval(difference, sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3], confidence)


class SignTest(NamedTuple):
    """Pairs won, lost and tied, and the two-sided p-value under the hypothesis of equal agents."""

    won: int
    lost: int
    tied: int
    p: float


def sign_test(pair_means: ArrayLike) -> SignTest:
    """Return the exact sign test of a match's pairs.

    If the agents are equal, each wins a pair that is not tied with probability 1/2. The test asks which side wins more
    pairs, not by how much: large wins count no more than small ones. NaN pairs are not counted.
    """
    from scipy.special import bdtr  # 0.3 s to import, and few commands need it

    means = np.asarray(pair_means, np.float64)
    won, lost, tied = (int(np.count_nonzero(mask)) for mask in (means > 0, means < 0, means == 0))
    # With probability 1/2 both tails are equal. An even split lies in both of them, hence the bound.
    p = min(1.0, 2 * float(bdtr(min(won, lost), won + lost, 0.5)))
    return SignTest(won, lost, tied, p)


def pairs_needed(measured: Estimate | ArrayLike, half_width: float, num_pairs: int | None = None) -> int:
    """Return the number of pairs for which the same agents would get a 95 % interval of ± ``half_width``.

    The width of an interval is inversely proportional to the square root of the number of pairs.

    Parameters
    ----------
    measured : Estimate or array-like of shape (n,)
        A figure with its 95 % interval, or the values of the pairs (net points per deal).
    half_width : float
        The desired half-width, in the figure's units.
    num_pairs : int, optional
        The number of pairs behind an ``Estimate``; not used for values of pairs.

    Raises
    ------
    ValueError
        A half-width that is not positive, an estimate without an interval or without its number of pairs, or fewer
        than two values.
    """
    if not half_width > 0:
        raise ValueError(f"half_width: expected a number above 0, got {half_width}")

    if isinstance(measured, Estimate):
        if num_pairs is None or math.isnan(measured.half_width):
            raise ValueError(f"expected an estimate with bounds and its num_pairs, got {measured} and {num_pairs}")
        current, pairs = measured.half_width, num_pairs
    else:
        values = np.asarray(measured, np.float64)
        if len(values) < 2:
            raise ValueError(f"expected the values of two or more pairs, got {len(values)}")
        pairs = len(values)
        current = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * float(values.std(ddof=1)) / math.sqrt(pairs)
    return max(MIN_PAIRS, math.ceil(pairs * (current / half_width) ** 2))


def pairs_needed_text(measured: Estimate | ArrayLike, half_width: float, num_pairs: int | None = None) -> str:
    """Return ``pairs_needed`` as a clause, to two significant digits: "for ±0.3 you need about 5,000 pairs"."""
    needed = pairs_needed(measured, half_width, num_pairs)
    return f"for ±{half_width:g} you need about {int(float(f'{needed:.1e}')):,} pairs"


def duplicate_factor(plays: ArrayLike) -> float:
    """Return how many times wider the interval would be if every play had its own deck.

    With T plays of each deck, one with the first agent as each team, and x[k] the points of play k::

        factor = sqrt( (sum over k of var(x[k])) / T^2  /  var(mean over k of x[k]) )

    The numerator is the variance of a mean of T plays on independent decks; variances are taken over the decks. For the
    same interval, independent deals would take ``factor**2`` times as many deals. The factor is infinite if all pairs
    have the same result (a deterministic agent against itself), and below 1 if the plays of a deck are positively
    correlated.

    Parameters
    ----------
    plays : shape (n, T)
        Net points of the first agent in each play of each deck.

    Raises
    ------
    ValueError
        The wrong shape, or fewer than two decks.
    """
    points = np.asarray(plays, np.float64)
    if points.ndim != 2 or len(points) < 2:
        raise ValueError(f"plays: expected shape (two or more decks, plays of each), got {points.shape}")
    independent = points.var(axis=0, ddof=1).sum() / points.shape[1] ** 2
    paired = points.mean(axis=1).var(ddof=1)
    return math.sqrt(independent / paired) if paired > 0 else math.inf
