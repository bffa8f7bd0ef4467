"""Intervals and tests for duplicate play: whole pairs are drawn anew, never single deals (docs/agents.md).

``ratio_estimate`` tells a figure of one match, ``paired_difference`` how far two matches on the same decks differ,
``sign_test`` whether one side wins more pairs than chance would give it, ``pairs_needed`` how long a match has to be
for an interval of a wished width, and ``duplicate_factor`` what playing each deck from every side has gained.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from statistics import NormalDist
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

CONFIDENCE = 0.95
#: With fewer pairs a bootstrap interval is too narrow (of 10 pairs' intervals 89 % hold the truth): none is given.
MIN_PAIRS = 30
NUM_RESAMPLES = 2000
#: Poisson weights held at once (8 bytes each): resamples are drawn in chunks of this many, so memory stays at a few MB.
WEIGHTS_AT_ONCE = 1_000_000


class Estimate(NamedTuple):
    """A figure with its interval; the bounds are NaN where there are too few pairs for one."""

    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval's width."""
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
    """Return a number for JSON: None in the place of NaN and infinity."""
    return float(value) if math.isfinite(value) else None


def estimate_of(data: Any) -> Estimate:
    """Return a figure of a summary; whatever it lacks is NaN. Plain numbers have no interval."""
    if isinstance(data, (int, float)) and not isinstance(data, bool):
        return Estimate(float(data), math.nan, math.nan)
    if not isinstance(data, Mapping):
        return NO_FIGURE
    return Estimate(*(math.nan if data.get(part) is None else float(data[part]) for part in Estimate._fields))


def ratio_estimate(amounts: ArrayLike, counts: ArrayLike, seed: int = 0, confidence: float = CONFIDENCE) -> Estimate:
    """Return the ratio of two sums over pairs, with a bootstrap interval over whole pairs.

    Parameters
    ----------
    amounts, counts : shape (n,)
        What each pair adds to the numerator and to the denominator (for a mean per deal: points and deals).
    seed : int
        Seeds the resampling, so that the same match always gives the same interval.
    confidence : float
        The interval's level.

    Notes
    -----
    Pairs that agree in both numbers are interchangeable, so a resample is one multinomial draw over the
    distinct pairs: exact, and cheap where many pairs agree, as those of single deals do.
    """
    pairs: NDArray[np.float64] = np.stack([np.asarray(amounts, np.float64), np.asarray(counts, np.float64)], axis=1)
    total = pairs.sum(axis=0)
    if len(pairs) < MIN_PAIRS:
        return Estimate(float(total[0] / total[1]), math.nan, math.nan)
    distinct, times = np.unique(pairs, axis=0, return_counts=True)
    generator = np.random.default_rng(seed)
    drawn = generator.multinomial(len(pairs), times / len(pairs), size=NUM_RESAMPLES)
    sums = drawn @ distinct
    tail = (1 - confidence) / 2
    low, high = np.quantile(sums[:, 0] / sums[:, 1], [tail, 1 - tail])
    return Estimate(float(total[0] / total[1]), float(low), float(high))


def interval(value: float, samples: ArrayLike, confidence: float = CONFIDENCE) -> Estimate:
    """Return a figure with the percentile interval of its resampled values (NaN bounds if there are none)."""
    resampled = np.asarray(samples, np.float64)
    if not len(resampled):
        return Estimate(float(value), math.nan, math.nan)
    tail = (1 - confidence) / 2
    low, high = np.quantile(resampled, [tail, 1 - tail])
    return Estimate(float(value), float(low), float(high))


def poisson_weights(num_pairs: int, num_resamples: int, seed: int) -> Iterator[NDArray[np.float64]]:
    """Yield a bootstrap's weights in chunks (M, num_pairs), ``num_resamples`` rows in all.

    Each pair enters a resample Poisson(1) times, which comes to the same as drawing pairs with replacement where only
    ratios are asked, and lets several matches of different lengths share the weights of their common decks.
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
    """Return how far one match's ratio lies above another's, both played on the same decks.

    A resample gives each deck the same weight in both matches, so the luck of the decks that they share drops out:
    where they are alike, the interval is narrower than the two matches' own intervals would let one think.

    Parameters
    ----------
    first_amounts, first_counts, second_amounts, second_counts : shape (n,)
        What pair i adds to each match's numerator and denominator; pair i is the same deck in both.
    seed : int
        Seeds the resampling.
    confidence : float
        The interval's level.

    Raises
    ------
    ValueError
        The two matches have not the same number of pairs.
    """
    columns = [np.asarray(part, np.float64) for part in (first_amounts, first_counts, second_amounts, second_counts)]
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        raise ValueError(f"pairs {lengths}: a paired difference needs the same decks in both matches, pair by pair")
    pairs = np.stack(columns, axis=1)
    total = pairs.sum(axis=0)
    difference = total[0] / total[1] - total[2] / total[3]
    if len(pairs) < MIN_PAIRS:
        return Estimate(float(difference), math.nan, math.nan)
    sums = np.concatenate([weights @ pairs for weights in poisson_weights(len(pairs), NUM_RESAMPLES, seed)])
    return interval(difference, sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3], confidence)


class SignTest(NamedTuple):
    """Pairs won, lost and tied, and how likely so uneven a split is between equal agents (two-sided)."""

    won: int
    lost: int
    tied: int
    p: float


def sign_test(pair_means: ArrayLike) -> SignTest:
    """Return the exact sign test of a match's pairs: of equal agents each wins a pair that is no tie with chance 1/2.

    It asks who wins more pairs, not by how much: large wins of one side count no more than small ones. Of pairs that
    say nothing (NaN) none is counted.
    """
    from scipy.special import bdtr  # 0.3 s to import, and few commands need it

    means = np.asarray(pair_means, np.float64)
    won, lost, tied = (int(np.count_nonzero(which)) for which in (means > 0, means < 0, means == 0))
    # With chance 1/2 both tails are equal. An even split has the middle in both, hence the bound.
    p = min(1.0, 2 * float(bdtr(min(won, lost), won + lost, 0.5)))
    return SignTest(won, lost, tied, p)


def pairs_needed(measured: Estimate | ArrayLike, half_width: float, num_pairs: int | None = None) -> int:
    """Return how many pairs of the same agents would give a 95 % interval of ± ``half_width``.

    An interval narrows with the square root of the pairs.

    Parameters
    ----------
    measured : Estimate or array-like of shape (n,)
        A figure with its 95 % interval, or the pairs' own values (net points per deal).
    half_width : float
        The half-width that is wished, in the figure's units.
    num_pairs : int, optional
        How many pairs an ``Estimate`` stands on; not asked for pairs' values.

    Raises
    ------
    ValueError
        No positive half-width, an estimate without an interval or without its pairs, or fewer than two values.
    """
    if not half_width > 0:
        raise ValueError(f"half_width={half_width}: must be above 0")
    if isinstance(measured, Estimate):
        if num_pairs is None or math.isnan(measured.half_width):
            raise ValueError(f"{measured} from num_pairs={num_pairs}: give an estimate with bounds and its pairs")
        now, pairs = measured.half_width, num_pairs
    else:
        values = np.asarray(measured, np.float64)
        if len(values) < 2:
            raise ValueError(f"{len(values)} pairs tell nothing of how they vary: give two or more")
        pairs = len(values)
        now = NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * float(values.std(ddof=1)) / math.sqrt(pairs)
    return max(MIN_PAIRS, math.ceil(pairs * (now / half_width) ** 2))


def pairs_needed_text(measured: Estimate | ArrayLike, half_width: float, num_pairs: int | None = None) -> str:
    """Return ``pairs_needed`` as a clause, to two significant digits: "for ±0.3 you need about 5,000 pairs"."""
    needed = pairs_needed(measured, half_width, num_pairs)
    return f"for ±{half_width:g} you need about {int(float(f'{needed:.1e}')):,} pairs"


def duplicate_factor(plays: ArrayLike) -> float:
    """Return how many times wider the interval would be, had every play been a deck of its own.

    With T plays of each deck, one from each team's side, and x[k] the points of play k::

        factor = sqrt( (sum over k of var(x[k])) / T^2  /  var(mean over k of x[k]) )

    The numerator is the variance of a mean of T plays on independent decks, one from each side as well; variances are
    over the decks. Duplicate play saves ``factor**2`` times the deals. It is infinite where every pair comes to the
    same (agents without chance against themselves), and below 1 would mean that the plays of a deck go together.

    Parameters
    ----------
    plays : shape (n, T)
        Net points of the first agent in each play of each deck.

    Raises
    ------
    ValueError
        Another shape, or fewer than two decks.
    """
    points = np.asarray(plays, np.float64)
    if points.ndim != 2 or len(points) < 2:
        raise ValueError(f"plays have shape {points.shape}: two or more decks by the plays of each are needed")
    independent = points.var(axis=0, ddof=1).sum() / points.shape[1] ** 2
    paired = points.mean(axis=1).var(ddof=1)
    return math.sqrt(independent / paired) if paired > 0 else math.inf
