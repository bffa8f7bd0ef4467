"""95 % intervals of matches with a known true value cover it in 94 to 96 % (benchmarks/interval_coverage.py)."""

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


def test_a_symmetric_population_has_mean_0():
    population = play_population(EQUALS, num_pairs=60).symmetric()
    assert population.points.sum() == 0
    assert population.won.sum() == population.lost.sum() > 0
    assert len(population.plays) == 120


def test_coverage_counts_the_intervals_that_contain_the_true_value():
    population = Population(np.array([[1.0, 3], [-4, -2]]), np.array([2.0, 0]), np.array([0.0, 2])).symmetric()
    mean = population.points.mean()
    assert coverage("right", lambda pairs, seed: Estimate(0, -1, 1), mean, 4, num_matches=20).share == 1
    assert coverage("wrong", lambda pairs, seed: Estimate(2, 1, 3), mean, 4, num_matches=20).share == 0

    # Half the width is 0.98 standard deviations on each side, which cover 67 %.
    def halved(pairs, seed):
        found = ratio_estimate(population.points[pairs], np.full(len(pairs), 2.0), seed)
        return Estimate(found.value, found.value - found.half_width / 2, found.value + found.half_width / 2)

    assert coverage("narrow", halved, mean, 4, num_matches=300).share == pytest.approx(0.67, abs=0.1)
    assert sign_test_size(population, num_matches=300).share == pytest.approx(0.05, abs=0.04)


@pytest.mark.slow
def test_all_intervals_have_their_nominal_coverage():
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
