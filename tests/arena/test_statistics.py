"""Intervals, tests and ratings have the expected values in worked examples and constructed fields."""

import itertools
import json
import math
import warnings

import numpy as np
import pytest
from scipy.stats import binomtest

from agents.arena.statistics.intervals import (
    Estimate,
    duplicate_factor,
    paired_difference,
    pairs_needed,
    pairs_needed_text,
    ratio_estimate,
    sign_test,
)
from agents.arena.statistics.nash import PointsMatrix, cyclic_share, equilibrium, nash_averaging
from agents.arena.statistics.ratings import (
    Contest,
    bradley_terry,
    points_matrix,
    ranking,
    resampled_totals,
    sides_of,
    team_ratings,
)

ROCK_PAPER_SCISSORS = np.array([[0.0, -1, 1], [1, 0, -1], [-1, 1, 0]])
NAMES = ("a", "b", "c", "d", "e", "f")
PAIRS = 400


def contest(first, second, mean=0.0, share=0.5, pairs=PAIRS, seed=0, noise=8.0, **options):
    """Pairs of two deals with normal noise around a mean per deal, and exact shares of wins."""
    generator = np.random.default_rng([seed, *map(ord, "".join(first + second))])
    points = 2 * mean + noise * generator.normal(size=pairs)
    points += 2 * mean - points.mean()  # so that the contest has exactly this mean
    won = generator.permutation(np.arange(2 * pairs) < round(2 * pairs * share)).reshape(-1, 2).sum(axis=1)
    return Contest(first, second, points, np.full(pairs, 2), won, 2 - won, **options)


def field(matrix, names=NAMES, noise=8.0, pairs=PAIRS):
    pairings = itertools.combinations(range(len(matrix)), 2)
    return [contest((names[i],), (names[j],), matrix[i][j], noise=noise, pairs=pairs) for i, j in pairings]


def exact(matrix):
    """Return a matrix measured without error."""
    value = np.asarray(matrix, dtype=float)
    return PointsMatrix(NAMES[: len(value)], value, np.repeat(value[None], 50, axis=0))


def test_sign_test_is_the_exact_binomial_test_of_untied_pairs():
    test = sign_test([3.0] * 9 + [-20.0] + [0.0] * 5)
    assert test[:3] == (9, 1, 5)
    assert test.p == pytest.approx(2 * (10 + 1) / 2**10)
    for won, lost in ((5, 5), (0, 7), (60, 41), (5200, 5000)):
        expected = binomtest(won, won + lost).pvalue
        assert sign_test([1.0] * won + [-1.0] * lost).p == pytest.approx(expected)
    assert sign_test(np.zeros(20)) == (0, 0, 20, 1.0)
    assert sign_test([1.0, np.nan, -1.0]) == (1, 1, 0, 1.0)


def test_pairs_needed_follow_the_square_root():
    values = np.tile([-10.0, 10.0], 2000)  # a standard deviation of 10: (1.96 * 10 / 0.3)^2
    assert pairs_needed(values, 0.3) == pytest.approx(4268.4 * 1.00025, abs=2)
    assert pairs_needed(Estimate(1.0, 0.0, 2.0), 0.25, num_pairs=500) == 8000
    assert pairs_needed(Estimate(1.0, 0.0, 2.0), 50, num_pairs=500) == 30  # no interval stands on fewer
    measured = ratio_estimate(2 * values, np.full(4000, 2))
    assert pairs_needed(measured, 0.3, num_pairs=4000) == pytest.approx(4268, rel=0.15)  # 2,000 resamples
    assert pairs_needed_text(Estimate(0, -0.3, 0.3), 0.3, 4960) == "for ±0.3 you need about 5,000 pairs"
    for wrong in ((values, 0.0), (values[:1], 1.0), (Estimate(1, 0, 2), 1.0), (Estimate(1, math.nan, math.nan), 1, 9)):
        with pytest.raises(ValueError, match=r"above 0|two or more|bounds and its num_pairs"):
            pairs_needed(*wrong)


def test_a_paired_difference_is_narrower_than_its_matches_where_decks_are_shared():
    generator = np.random.default_rng(0)
    decks = generator.normal(0, 10, 2000)
    first, second = (decks + generator.normal(mean, 3, 2000) for mean in (1.0, 0.0))
    deals = generator.integers(1, 4, 2000)
    apart = [ratio_estimate(values * deals, deals) for values in (first, second)]
    together = paired_difference(first * deals, deals, second * deals, deals)
    assert together.value == pytest.approx(apart[0].value - apart[1].value)
    assert together.low < 1 < together.high
    # The decks' share of the variance, 100 of 109, drops out.
    unpaired = math.hypot(apart[0].half_width, apart[1].half_width)
    assert together.half_width == pytest.approx(unpaired * math.sqrt(9 / 109), rel=0.1)
    shuffled = generator.permutation(2000)
    strangers = paired_difference(first * deals, deals, (second * deals)[shuffled], deals[shuffled])
    assert strangers.half_width == pytest.approx(unpaired, rel=0.1)
    assert paired_difference(first, deals, second, deals, seed=3) == paired_difference(first, deals, second, deals, 3)
    assert math.isnan(paired_difference(first[:29], deals[:29], second[:29], deals[:29]).low)
    with pytest.raises(ValueError, match="same decks"):
        paired_difference(first, deals, second[:-1], deals[:-1])


@pytest.mark.parametrize("plays", [2, 3])
def test_duplicate_factor_finds_the_luck_of_the_deck(plays):
    generator = np.random.default_rng(plays)
    own = generator.normal(0, 2, (20_000, plays))
    assert duplicate_factor(own) == pytest.approx(1, rel=0.02)
    luck = generator.normal(0, 6, (20_000, plays))
    luck -= luck.mean(axis=1, keepdims=True)  # what one side of a deck has, the others lack
    seats = 100 * np.arange(plays)  # an advantage of a seat is no luck
    expected = math.sqrt((36 * (1 - 1 / plays) + 4) / 4)
    assert duplicate_factor(own + luck + seats) == pytest.approx(expected, rel=0.02)
    assert duplicate_factor(np.round(luck[:, :1]) * [1.0, -1.0]) == math.inf
    with pytest.raises(ValueError, match="shape"):
        duplicate_factor(own[:, 0])


def test_bradley_terry_of_two_is_the_odds():
    rated = bradley_terry([contest(("a",), ("b",), share=0.75, pairs=20_000)], ("b", "a"))
    assert list(rated) == ["b", "a"]
    assert rated["a"].value - rated["b"].value == pytest.approx(400 * math.log10(3), abs=0.05)
    assert rated["a"].value == pytest.approx(-rated["b"].value)
    # A logit's standard error is 1 / sqrt(p q n) with n episodes, a rating here half of the difference.
    error = 400 / math.log(10) / math.sqrt(0.75 * 0.25 * 40_000) / 2
    assert rated["a"].half_width == pytest.approx(1.96 * error, rel=0.15)


def test_bradley_terry_is_refitted_over_all_contests():
    strength = dict(zip("abcd", (150.0, 20.0, -60.0, -110.0), strict=True))
    contests = [
        contest((one,), (other,), share=1 / (1 + 10 ** ((strength[other] - strength[one]) / 400)), pairs=20_000)
        for one, other in ("ab", "cb", "cd", "da")  # a ring: not everybody meets
    ]
    rated = bradley_terry(contests, tuple("abcd"), num_resamples=20)
    assert {agent: rating.value for agent, rating in rated.items()} == pytest.approx(strength, abs=0.2)
    again = bradley_terry(contests[::-1], tuple("abcd"), num_resamples=20)
    assert again["a"].value == pytest.approx(rated["a"].value)
    never = bradley_terry([*contests, contest(("e",), ("a",), share=0.0)], tuple("abcde"), num_resamples=20)
    assert -2000 < never["e"].value - never["a"].value < -1000
    with pytest.raises(ValueError, match=r"no chain.* e, f with a"):
        bradley_terry([*contests, contest(("e",), ("f",))], tuple("abcdef"))
    with pytest.raises(ValueError, match=r"expected a contest between"):
        bradley_terry(contests, ("a", "c"))


def test_of_three_equal_players_the_first_wins_one_in_three():
    rated = bradley_terry([contest(("a",), ("b",), share=1 / 3, pairs=3000, num_teams=3)], ("a", "b"))
    assert rated["a"].value == pytest.approx(0, abs=0.5)


def test_a_decks_weight_is_the_same_in_every_contest():
    one, other = contest(("a",), ("b",)), contest(("a",), ("c",))
    other = Contest(other.first, other.second, -one.points[:100], one.deals[:100], one.lost[:100], one.won[:100])
    whole = Contest(one.first, one.second, one.points[:100], one.deals[:100], one.won[:100], one.lost[:100])
    totals = resampled_totals([one, other, whole], seed=5, num_resamples=40)
    assert totals.shape == (41, 3, 4)
    np.testing.assert_allclose(
        totals[0, 0], [part.sum() for part in (one.points, one.deals, one.won, one.lost)], atol=1e-9
    )
    np.testing.assert_allclose(totals[:, 1, 0], -totals[:, 2, 0])
    assert totals[1:, 1, 0].std() > 0
    assert len(resampled_totals([one, contest(("a",), ("c",), pairs=29)], 5, 40)) == 1


def test_invalid_contests_are_refused():
    good = contest(("a",), ("b",))
    with pytest.raises(ValueError, match="lengths"):
        Contest(("a",), ("b",), good.points, good.deals, good.won[:-1], good.lost)
    with pytest.raises(ValueError, match="agent on each side"):
        Contest((), ("b",), good.points, good.deals, good.won, good.lost)


def test_the_points_matrix_adds_up_both_directions():
    contests = [contest(("a",), ("b",), 3.0), contest(("b",), ("a",), 1.0), contest(("b",), ("c",), 2.0)]
    matrix = points_matrix(contests, ("a", "b", "c"), num_resamples=10)
    np.testing.assert_allclose(matrix.value, [[0, 1, np.nan], [-1, 0, 2], [np.nan, -2, 0]])
    np.testing.assert_array_equal(matrix.resampled, -matrix.resampled.transpose(0, 2, 1))
    assert not matrix.is_complete
    for function in (nash_averaging, cyclic_share):
        with pytest.raises(ValueError, match="'a' and 'c' have not met"):
            function(matrix)


def test_a_ladder_is_transitive_and_rock_paper_scissors_is_cyclic():
    ladder = np.subtract.outer([3.0, 1.0, 0.5, -4.5], [3.0, 1.0, 0.5, -4.5])
    assert cyclic_share(exact(ladder)).share.value == pytest.approx(0)
    assert cyclic_share(exact(ladder)).cycle is None
    circle = cyclic_share(exact(ROCK_PAPER_SCISSORS))
    assert circle.share.value == pytest.approx(1)
    assert circle.cycle == ("a", "c", "b")
    assert [edge.value for edge in circle.edges] == [1, 1, 1]
    # Ratings (2, 0, 0, -2) and a circle of three: squares of 80 and 6.
    mixed = np.subtract.outer([2.0, 0, 0, -2], [2.0, 0, 0, -2])
    mixed[:3, :3] += ROCK_PAPER_SCISSORS
    assert cyclic_share(exact(mixed)).share.value < 6 / 54
    assert math.isnan(cyclic_share(exact(np.zeros((3, 3)))).share.value)


def test_noise_is_distinguished_from_cycles():
    ladder = np.subtract.outer([0.6, 0.2, -0.1, -0.7], [0.6, 0.2, -0.1, -0.7])
    noisy = ladder + np.random.default_rng(1).normal(0, 8 / 2 / math.sqrt(PAIRS), (4, 4))
    split = cyclic_share(points_matrix(field(noisy), NAMES[:4]))
    assert 0 < split.share.value < split.noise_high
    assert split.noise < split.noise_high
    circle = ladder.copy()
    circle[:3, :3] += 2 * ROCK_PAPER_SCISSORS
    found = cyclic_share(points_matrix(field(circle), NAMES[:4]))
    assert found.share.low > found.noise_high
    assert found.share.low < found.share.value < found.share.high
    assert found.cycle == ("a", "c", "b")
    assert min(edge.low for edge in found.edges) > 0


def test_nash_averaging_of_a_cycle_is_uniform_and_of_a_ladder_its_top():
    circle = nash_averaging(exact(ROCK_PAPER_SCISSORS))
    assert [row.share.value for row in circle] == pytest.approx([1 / 3] * 3)
    assert [row.rating.value for row in circle] == pytest.approx([0] * 3)
    ladder = nash_averaging(exact(np.subtract.outer([1.0, 3.0, -2.0], [1.0, 3.0, -2.0])))
    assert [row.share.value for row in ladder] == pytest.approx([0, 1, 0])
    assert [row.rating.value for row in ladder] == pytest.approx([-2, 0, -5])
    # Worked by hand: a beats b by 1, b beats c by 2, c beats a by 3; the share of each is what the other two play for.
    skewed = equilibrium(np.array([[0.0, 1, -3], [-1, 0, 2], [3, -2, 0]]))
    np.testing.assert_allclose(skewed, [2 / 6, 3 / 6, 1 / 6])


@pytest.mark.parametrize("clones", [[0], [3], [0, 0], [1, 3]])
def test_a_clone_changes_no_nash_rating(clones):
    matrix = np.zeros((4, 4))
    matrix[:3, :3] = ROCK_PAPER_SCISSORS * [[1], [2], [1]]
    matrix = np.triu(matrix, 1) - np.triu(matrix, 1).T
    matrix[:3, 3], matrix[3, :3] = (0.5, 4.0, -0.25), (-0.5, -4.0, 0.25)
    everyone = [0, 1, 2, 3, *clones]
    before = nash_averaging(exact(matrix))
    after = nash_averaging(exact(matrix[np.ix_(everyone, everyone)]))
    for agent, row in zip(everyone, after, strict=True):
        assert row.rating.value == pytest.approx(before[agent].rating.value, abs=1e-9)
        assert row.share.value == pytest.approx(before[agent].share.value / everyone.count(agent), abs=1e-9)
    # Uniform averaging, which a ladder's mean is, does move.
    moved = matrix[:, everyone].mean(axis=1)
    assert np.abs(moved - matrix.mean(axis=1)).max() > 0.05


def test_of_many_equilibria_the_one_of_maximum_entropy_is_chosen():
    two_circles = np.zeros((7, 7))
    two_circles[:3, :3] = two_circles[3:6, 3:6] = ROCK_PAPER_SCISSORS
    two_circles[:3, 6], two_circles[6, :3] = -0.25, 0.25  # the seventh beats the first circle
    two_circles[3:6, 6], two_circles[6, 3:6] = 0.5, -0.5  # and loses to the second by more
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_allclose(equilibrium(two_circles), [1 / 6] * 6 + [0], atol=1e-5)
        two_circles[3:6, 6], two_circles[6, 3:6] = 0.125, -0.125  # by less: the second circle must do more
        np.testing.assert_allclose(equilibrium(two_circles), [1 / 9] * 3 + [2 / 9] * 3 + [0], atol=1e-5)
        np.testing.assert_allclose(equilibrium(np.zeros((4, 4))), [1 / 4] * 4)


def test_equilibria_of_random_fields_are_not_beaten():
    generator = np.random.default_rng(0)
    for size in (2, 5, 9, 20):
        for scale in (1, 40):
            half = np.triu(np.round(generator.normal(0, scale, (size, size)), 3), 1)
            mixture = equilibrium(half - half.T)
            assert mixture.sum() == pytest.approx(1)
            assert mixture.min() >= 0
            assert ((half - half.T) @ mixture).max() < 1e-6 * scale


def team_field(strength, teams, pairs=2000):
    def share(one, other):
        return 1 / (1 + math.exp(sum(strength[name] for name in other) - sum(strength[name] for name in one)))

    return [
        contest(one, other, share=share(one, other), pairs=pairs) for one, other in itertools.combinations(teams, 2)
    ]


def test_team_ratings_recover_the_strength_of_members():
    strength = {"a": 0.3, "b": 0.1, "c": 0.0, "d": -0.4}
    teams = [("a", "b"), ("a", "d"), ("b", "c"), ("c", "d"), ("b", "d"), ("a", "a"), ("c",)]
    rated = team_ratings(team_field(strength | {"c": 0.0}, teams), num_resamples=3)
    assert sorted(rated, key=lambda name: -rated[name].value) == list("abcd")
    for one, other in itertools.combinations("abcd", 2):
        odds = strength[one] - strength[other]
        assert (rated[one].value - rated[other].value) / 6 == pytest.approx(odds, abs=0.05)
    assert rated["a"].low <= rated["a"].high
    again = team_ratings(team_field(strength, teams), num_resamples=3)
    assert again == rated
    with pytest.raises(ValueError, match=r"members.*got [23]"):
        team_ratings([contest(("a", "b"), ("c", "d")), contest(("a", "b", "c"), ("d",))])


def test_a_team_against_itself_is_ignored():
    contests = team_field({"a": 0.2, "b": 0.0}, [("a", "a"), ("a", "b"), ("b", "b")])
    mirror = [contest(("a", "b"), ("b", "a"), share=0.9), contest(("a",), ("a",), share=0.9)]
    assert team_ratings(contests + mirror, num_resamples=2) == team_ratings(contests, num_resamples=2)


def test_a_ranking_is_plain_and_sorted():
    ladder = np.subtract.outer([1.0, 3.0, -2.0], [1.0, 3.0, -2.0])
    ranked = ranking(field(ladder, noise=1.0))
    assert json.loads(json.dumps(ranked, allow_nan=False)) == ranked
    assert [row["agent"] for row in ranked["nash"]] == ["b", "a", "c"]
    assert ranked["nash"][0]["share"] == {"value": 1.0, "low": 1.0, "high": 1.0}
    assert ranked["cyclicity"]["cycle"] is None
    assert "teams" not in ranked
    few = ranking(field(ladder, pairs=10))
    assert few["bradley_terry"][0]["rating"]["low"] is None
    assert few["cyclicity"]["noise"] is None
    partly = ranking([contest(("a", "b"), ("c",), share=0.6), contest(("c",), ("d",), share=0.6)])
    assert [row["agent"] for row in partly["bradley_terry"]] == ["a+b", "c", "d"]
    assert {row["agent"] for row in partly["teams"]} == {"a", "b", "c", "d"}
    assert "nash" not in partly
    assert sides_of([contest(("a", "b"), ("c", "c"))]) == ("a+b", "c")
