"""How an agent plays: figures of style with intervals."""

import math

import pytest

from agents.arena import play_match
from agents.arena.match.style import RATIOS, melded_share, style_estimates
from agents.registry import load_agent
from gin_env.rules import Rules


@pytest.mark.parametrize("preset", ["eaai_2p", "palace_4p", "free_for_all_3p", "rotation_3p", "two_tables_4p"])
def test_the_figures_with_intervals_are_those_of_the_match(preset):
    rules = Rules.preset(preset)
    match = play_match(rules, load_agent("simple", rules), load_agent("gold", rules), 60, seed=3)
    for side, style in enumerate(match.styles):
        estimates = style_estimates(match.records, side, rules.num_teams)
        assert estimates.keys() == RATIOS.keys()
        for name in estimates.keys() - {"knocked"}:
            assert estimates[name].value == pytest.approx(getattr(style, name), nan_ok=True), name
        assert estimates["knocked"].value == pytest.approx(style.gin + style.knock_won + style.undercut)
        for name in ("knocked", "knock_deadwood", "turns"):
            value, low, high = estimates[name]
            assert low < value < high, name


def test_a_rare_figure_has_no_interval_and_one_without_cases_no_value():
    """In 60 pairs of these decks ``gin-only`` ends five deals, all with gin."""
    rules = Rules.preset("eaai_2p")
    match = play_match(rules, load_agent("gin-only", rules), load_agent("simple", rules), 60, seed=3)
    estimates = style_estimates(match.records, 0, rules.num_teams)
    assert estimates["knocked"] == estimates["gin"]
    assert estimates["knock_deadwood"].value == 0
    assert math.isnan(estimates["knock_deadwood"].low)  # some resamples have no knock at all
    match.records.knocker[:] = 1
    assert math.isnan(style_estimates(match.records, 0, rules.num_teams)["knock_deadwood"].value)
    assert melded_share(3, 2) == 0.75  # two exchanges bring four cards
    assert math.isnan(melded_share(0, 0))
