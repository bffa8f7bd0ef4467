"""Of matches whose truth is known, 95 % intervals hold it in 94 to 96 % (python -m benchmarks.interval_coverage)."""

import numpy as np
import pytest

from agents.arena.statistics.intervals import Estimate, duplicate_factor, ratio_estimate
from benchmarks.interval_coverage import (
    CONFIDENCE,
    EQUALS,
    UNEQUAL,
    Population,
    calibrate,
    coverage,
    independent_width,
    play_population,
    sign_test_size,
)


def test_a_symmetric_population_has_no_winner():
    population = play_population(EQUALS, num_pairs=60).symmetric()
    assert population.points.sum() == 0
    assert population.won.sum() == population.lost.sum() > 0
    assert len(population.plays) == 120


def test_coverage_counts_the_intervals_that_hold_the_truth():
    population = Population(np.array([[1.0, 3], [-4, -2]]), np.array([2.0, 0]), np.array([0.0, 2])).symmetric()
    mean = population.points.mean()
    assert coverage("right", lambda pairs, seed: Estimate(0, -1, 1), mean, 4, num_matches=20).share == 1
    assert coverage("wrong", lambda pairs, seed: Estimate(2, 1, 3), mean, 4, num_matches=20).share == 0
    # Half of an interval's width is too narrow: +-0.98 standard deviations hold 67 %.

    def halved(pairs, seed):
        found = ratio_estimate(population.points[pairs], np.full(len(pairs), 2.0), seed)
        return Estimate(found.value, found.value - found.half_width / 2, found.value + found.half_width / 2)

    assert coverage("narrow", halved, mean, 4, num_matches=300).share == pytest.approx(0.67, abs=0.1)
    assert sign_test_size(population, num_matches=300).share == pytest.approx(0.05, abs=0.04)


@pytest.mark.slow
def test_intervals_hold_the_truth_as_often_as_they_say():
    equals, unequal = play_population(EQUALS), play_population(UNEQUAL)
    rows = calibrate(equals, unequal)
    for row in rows[:-1]:
        assert row.nominal == CONFIDENCE
        assert 0.94 <= row.share <= 0.96, row
    size = rows[-1]
    assert size.nominal - 0.02 <= size.share <= size.nominal + 2 * size.error, size
    for population in (equals, unequal):
        paired, unpaired = independent_width(population)
        assert unpaired / paired == pytest.approx(duplicate_factor(population.plays), rel=0.02)
        assert unpaired > 1.3 * paired
