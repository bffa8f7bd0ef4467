"""Matches are duplicate, independent of the batch size, and their figures equal those of the deals played."""

import dataclasses
import json

import numpy as np
import pytest

from agents.arena import play_match
from agents.arena.statistics import intervals
from agents.arena.statistics.intervals import ratio_estimate
from agents.registry import load_agent
from benchmarks.knock_thresholds import measure
from gin_env.episodes import Agent
from gin_env.rules import PRESETS, Rules
from gin_env.scoring import Kind
from tests.helpers.options import swept

#: docs/agents.md: simple against itself, value and 95 % half-width at 100,000 deals.
CALIBRATION = {
    "turns": (12.547, 0.035),
    "gin": (2.06, 0.09),
    "undercut": (4.26, 0.13),
    "points": (16.228, 0.08),
}
CALIBRATION_DEALS = 100_000
REFERENCE_DEALS = 409_650
#: Figures that docs/agents.md gives without a tolerance; their error is estimated from our own deals.
CALIBRATION_MEANS = {"knock": 93.51, "dead": 0.17, "knock_deadwood": 6.982, "defence_deadwood": 21.518}
#: docs/agents.md: points per deal against simple and their 95 % half-width.
LADDER = {"random": (-49.2, 0.2), "gold": (-0.53, 0.07), "gold-k4": (0.44, 0.08), "gin-only": (3.46, 0.08)}
#: Ratio of a 99.9 % half-width to a 95 % half-width.
TO_999 = 3.2905 / 1.9600


def match(preset, first, second, num_pairs, **options):
    rules = preset if isinstance(preset, Rules) else Rules.preset(preset)
    return play_match(rules, load_agent(first, rules), load_agent(second, rules), num_pairs, **options)


def assert_same_deals(one, other):
    for field in dataclasses.fields(one.records):
        np.testing.assert_array_equal(getattr(one.records, field.name), getattr(other.records, field.name), field.name)
    np.testing.assert_array_equal(one.pair_means, other.pair_means)


@pytest.mark.parametrize("episode", ["deal", "game"])
@pytest.mark.parametrize("preset", ["palace_4p", "classic_2p"])
def test_the_batch_size_changes_nothing(preset, episode):
    rules = Rules.preset(preset, target=40)
    pairs = 20 if episode == "deal" else 5
    whole = match(rules, "gold", "gold-k4", pairs, seed=3, episode=episode)
    for batch_rows in (1, 7):
        parts = match(rules, "gold", "gold-k4", pairs, seed=3, episode=episode, batch_rows=batch_rows)
        assert_same_deals(whole, parts)
        assert whole.points_of(0).value == parts.points_of(0).value


def test_random_dealers_do_not_depend_on_the_batch_size():
    rules = Rules.preset("palace_4p", dealer_rule="random", target=50)
    whole, parts = (match(rules, "gold", "gold-k4", 8, episode="game", batch_rows=rows) for rows in (64, 3))
    assert_same_deals(whole, parts)


@pytest.mark.parametrize("preset", swept(PRESETS))
def test_a_deterministic_agent_ties_every_pair_against_itself(preset):
    for episode, pairs in (("deal", 30), ("game", 4)):
        result = match(Rules.preset(preset, target=60), "gold", "gold", pairs, episode=episode)
        assert (result.pair_means == 0).all()
        assert result.points_per_deal.value == 0
        assert episode == "game" or result.points_per_deal == (0, 0, 0)
        # The second agent has all other seats; in single deals of a rotation one of them sits out.
        opponents = 1 if (preset, episode) == ("rotation_3p", "deal") else Rules.preset(preset).num_teams - 1
        assert result.win_rates[1].value == pytest.approx(opponents * result.win_rates[0].value)
        assert result.win_rates[0].value > 0
        assert result.styles[0] == result.styles[1]


def test_swapping_the_agents_mirrors_the_match():
    one = match("palace_4p", "gold", "gold-k4", 60, seed=9)
    other = match("palace_4p", "gold-k4", "gold", 60, seed=9)
    np.testing.assert_array_equal(one.pair_means, -other.pair_means)
    assert one.styles == other.styles[::-1]
    assert one.win_rates == other.win_rates[::-1]


def test_figures_are_those_of_the_deals():
    result = match("eaai_2p", "gin-only", "simple", 300)
    records = result.records
    net = records.points[:, 0] - records.points[:, 1]
    np.testing.assert_allclose(result.pair_means, net.reshape(-1, 2).mean(axis=1))
    assert result.points_per_deal.value == pytest.approx(net.mean())
    assert result.points_per_deal.low < net.mean() < result.points_per_deal.high
    gin_only, simple = result.styles
    assert gin_only.knock_won == gin_only.undercut == gin_only.knock_deadwood == 0
    assert simple.knock_won > 0.5
    ends = (gin_only.gin, simple.gin, simple.knock_won, simple.undercut, simple.dead)
    assert sum(ends) == pytest.approx(1)
    assert gin_only.won == pytest.approx(gin_only.gin + simple.undercut)
    assert result.num_deals == len(records) == 600


def test_a_games_points_are_those_of_its_deals_and_bonuses():
    rules = Rules.preset("classic_2p")
    result = match(rules, "gold-k4", "gold", 15, episode="game")
    records, swing = result.records, 0.0
    for pair in range(15):
        net = 0
        for episode in (2 * pair, 2 * pair + 1):
            deals = records.episode == episode
            totals = records.points[deals].sum(axis=0)
            boxes = np.array([(records.winner[deals] == side).sum() for side in range(2)])
            first = int(totals.argmax())
            assert totals[first] >= rules.target
            bonus = rules.game_bonus + (rules.shutout_bonus if boxes[1 - first] == 0 else 0)
            totals = totals + boxes * rules.box_bonus
            totals[first] += bonus
            net += totals[0] - totals[1]
        swing += net
        assert result.pair_means[pair] == pytest.approx(
            net / (np.isin(records.episode, (2 * pair, 2 * pair + 1)).sum())
        )
    assert result.points_per_deal.value == pytest.approx(swing / len(records))
    assert result.win_rates[0].value + result.win_rates[1].value == pytest.approx(1)


def test_games_cut_short_have_no_winner():
    result = match(Rules.preset("palace_4p", max_deals=1, target=500), "gold", "simple", 10, episode="game")
    assert result.num_deals == 20
    assert [rate.value for rate in result.win_rates] == [0, 0]


def test_results_become_json_without_nan():
    never_knocks = Rules.preset("palace_4p", max_turns=50)
    result = play_match(never_knocks, _Waiter(), _Waiter(), 3)
    assert np.isnan(result.styles[0].knock_deadwood)
    written = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert written["styles"][0]["knock_deadwood"] is None
    assert written["agents"] == ["waiter", "waiter"]
    assert written["deals"] == len(result.pair_means) * 2 == 6
    assert written["duplicate_factor"] is None  # every pair is a tie
    assert written["rules"] == "palace_4p(max_turns=50)"


class _Waiter(Agent):
    """Draws and discards the first card it may; never knocks, never trades."""

    name = "waiter"

    def act(self, view):
        mask = view.legal_mask
        mask[:, view.layout.knock :] = False
        gives = mask[:, view.layout.give : view.layout.discard]
        gives &= ~mask[:, view.layout.discard : view.layout.knock].any(axis=1, keepdims=True)
        return mask.argmax(axis=1)


def test_invalid_arguments_are_refused():
    rules = Rules.preset("palace_4p")
    agent = load_agent("gold", rules)
    for options, message in (
        ({"num_pairs": 0}, "num_pairs.* 0"),
        ({"num_pairs": 1, "batch_rows": 0}, "batch_rows.* 0"),
        ({"num_pairs": 1, "seed": -1}, "seed.*-1"),
        ({"num_pairs": 1, "episode": "match"}, "episode.*deal, game.*'match'"),
    ):
        with pytest.raises(ValueError, match=message):
            play_match(rules, agent, agent, **options)


def test_an_agent_that_answers_for_too_few_rows_is_named():
    class Short(_Waiter):
        name = "short"

        def act(self, view):
            return super().act(view)[:1]

    rules = Rules.preset("palace_4p")
    with pytest.raises(ValueError, match=r"'short'.*\(1,\)"):
        play_match(rules, Short(), load_agent("gold", rules), 8)


def test_progress_is_reported_up_to_the_end():
    reports = []
    match("palace_4p", "gold", "gold", 5, on_progress=lambda done, total: reports.append((done, total)))
    assert reports[-1] == (10, 10)
    assert reports == sorted(reports)


def test_a_knock_threshold_is_measured_against_the_shipped_simple():
    eager, patient = (measure("gin-only", threshold, num_pairs=60) for threshold in (99, 0))
    assert eager.names == patient.names == ("gin-only", "simple")
    assert eager.styles[0].gin > patient.styles[0].gin
    with pytest.raises(ValueError, match=r"'random'.*threshold"):
        measure("random", 10)


def test_intervals_have_their_nominal_coverage(monkeypatch):
    monkeypatch.setattr(intervals, "NUM_RESAMPLES", 500)
    generator = np.random.default_rng(0)
    inside = 0
    for trial in range(200):
        values = generator.integers(-20, 21, size=300)
        estimate = ratio_estimate(values, np.ones(300), seed=trial)
        inside += estimate.low <= 0 <= estimate.high
    assert 180 <= inside <= 199
    width = ratio_estimate(values, np.ones(300)).half_width
    assert width == pytest.approx(1.96 * values.std() / np.sqrt(300), rel=0.1)


def calibration_figures(result):
    """Return each figure of the calibration table as values per deal."""
    records, knocked = result.records, result.records.knocker >= 0
    shares = {"gin": Kind.GIN, "knock": Kind.KNOCK, "undercut": Kind.UNDERCUT, "dead": Kind.DEAD}
    figures = {name: 100.0 * (records.kind == kind) for name, kind in shares.items()}
    figures["turns"], figures["points"] = records.turns, records.points.sum(axis=1)
    figures["knock_deadwood"] = records.knock_deadwood[knocked]
    figures["defence_deadwood"] = records.defence_deadwood[knocked]
    return figures


def check_calibration(num_pairs):
    """Check that every figure agrees with the reference at 99.9 %, including the reference's own error."""
    figures = calibration_figures(match("eaai_2p", "simple", "simple", num_pairs, seed=7))
    for name, (expected, half_width) in CALIBRATION.items():
        theirs = half_width * np.sqrt(CALIBRATION_DEALS / REFERENCE_DEALS)
        ours = half_width * np.sqrt(CALIBRATION_DEALS / (2 * num_pairs))
        assert figures[name].mean() == pytest.approx(expected, abs=TO_999 * np.hypot(theirs, ours)), name
    for name, expected in CALIBRATION_MEANS.items():
        error = figures[name].std() * np.sqrt(1 / len(figures[name]) + 1 / REFERENCE_DEALS)
        assert figures[name].mean() == pytest.approx(expected, abs=3.2905 * error), name


def test_simple_agrees_with_the_challenge_on_a_sample():
    check_calibration(num_pairs=4_000)


@pytest.mark.slow
def test_simple_agrees_with_the_challenge():
    check_calibration(num_pairs=200_000)


def check_ladder(num_pairs):
    """Check that both 95 % intervals of every row overlap."""
    for name, (expected, half_width) in LADDER.items():
        ours = match("eaai_2p", name, "simple", num_pairs, seed=17).points_per_deal
        assert abs(ours.value - expected) <= half_width + ours.half_width, (name, ours)


def test_the_scripted_ladder_holds_on_a_sample():
    check_ladder(num_pairs=1_000)


@pytest.mark.slow
def test_the_scripted_ladder_holds():
    check_ladder(num_pairs=50_000)


def test_too_few_pairs_get_no_interval():
    """A bootstrap over a handful of pairs is far too narrow; for a single pair its width is 0."""
    few = match("classic_2p", "random", "simple", 5)
    assert few.points_per_deal.text().endswith("± ?")
    assert few.to_dict()["points_per_deal"]["low"] is None
    assert json.loads(json.dumps(few.to_dict(), allow_nan=False))
    assert not match("classic_2p", "random", "simple", 30).points_per_deal.text().endswith("?")
