"""Who deals next at random; the other rules are compared in test_game_score.py and test_worked_games.py."""

from __future__ import annotations

import numpy as np

from gin_env.engine import Engine
from gin_env.engine.next_dealer import next_dealers
from gin_env.rules import Rules


def test_random_dealers_are_uniform_and_come_from_the_seed() -> None:
    rules = Rules.preset("palace_4p", dealer_rule="random", dead_redeal="next")
    drawn = []
    for seed in (1, 1, 2):
        engine = Engine(rules, 8_000, seed)
        engine.reset(dealers=3)
        dealers = next_dealers(engine.state, np.arange(8_000))
        engine.reset(dealers=dealers)
        drawn.append(np.stack([dealers, next_dealers(engine.state, np.arange(8_000))]))
    for counts in (np.bincount(dealers, minlength=4) for dealers in drawn[0]):
        assert np.abs(counts - 2_000).max() < 5 * np.sqrt(8_000 * 3 / 16)
    assert (drawn[0] == drawn[1]).all()
    assert 0.2 < (drawn[0] == drawn[2]).mean() < 0.3
    assert 0.2 < (drawn[0][0] == drawn[0][1]).mean() < 0.3, "each deal draws again"
