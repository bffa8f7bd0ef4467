"""Games of many deals: scores, boxes, ends, bonuses and dealers equal those of the reference."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from gin_env.engine import Engine
from gin_env.episodes import Episodes
from gin_env.rewards import Outcome, resolve_reward
from gin_env.rules import PRESETS, Rules
from gin_env.scorekeeping import book_deals, next_dealers, start_games
from gin_env.state import Kind, State
from tests.play import knock_when_possible
from tests.reference import ReferenceGame, Result

DEALER_RULES = [
    {"dealer_rule": rule, "dead_redeal": redeal}
    for rule in ("clockwise", "alternate", "loser", "winner", "random", "fixed")
    for redeal in ("same", "next")
]


def random_deal(state: State, generator: np.random.Generator) -> Result:
    """Write an invented end of a deal into row 0; return it as the reference's result."""
    kind = generator.choice([Kind.DEAD, Kind.KNOCK, Kind.UNDERCUT], p=[0.2, 0.6, 0.2])
    winner = -1 if kind == Kind.DEAD else int(generator.integers(2))
    points = [0, 0]
    if winner >= 0:
        points[winner] = int(generator.integers(0, 60))
    state.kind[0], state.winner[0], state.points[0] = kind, winner, points
    return Result(kind=Kind(kind).name.lower(), winner=winner if winner >= 0 else None, points=points)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("overrides", [{}, *DEALER_RULES, {"max_deals": 3}, {"target": 500, "box_timing": "end"}])
def test_games_equal_the_reference(preset: str, overrides: dict[str, object]) -> None:
    rules = Rules.preset(preset, **overrides)
    generator = np.random.default_rng(1)
    row = np.arange(1)
    state = Engine(rules).state
    ends = set()
    for _ in range(40):
        state.dealer[0] = generator.integers(rules.num_players)
        start_games(state, row)
        reference = ReferenceGame(dataclasses.asdict(rules), int(state.dealer[0]))
        while not reference.over:
            result = random_deal(state, generator)
            state.deal_number[0] += 1
            game = book_deals(state, row)
            dealer = int(next_dealers(state, row)[0])
            reference.record(result, next_dealer=dealer)
            assert state.scores[0].tolist() == reference.scores
            assert state.boxes[0].tolist() == reference.boxes
            assert int(state.deals_played[0]) == reference.deals
            assert bool(game.finished[0] | game.truncated[0]) == reference.over
            assert bool(game.truncated[0]) == reference.truncated
            if not reference.over:
                assert dealer == reference.dealer
                state.dealer[0] = dealer
        assert (state.scores[0] + game.bonuses[0]).tolist() == list(reference.final_scores)
        assert game.winner[0] == (-1 if reference.winner is None or reference.truncated else reference.winner)
        ends.add(reference.truncated)
    if overrides.get("max_deals"):
        assert True in ends


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
    assert 0.2 < (drawn[0][0] == drawn[0][1]).mean() < 0.3, "each deal draws anew"


@pytest.mark.parametrize("preset", PRESETS)
def test_whole_games_are_played_by_the_engine(preset: str) -> None:
    """Rewards are net, zero-sum and equal within a team; they add up to the final scores."""
    episodes = Episodes(preset, 12, episode="game", seed=3)
    episodes.reset()
    rules, state = episodes.rules, episodes.state
    references = [ReferenceGame(dataclasses.asdict(rules), int(dealer)) for dealer in state.dealer]
    totals = np.zeros((12, rules.num_players))
    generator = np.random.default_rng(4)
    deals = 0
    while not episodes.engine.over.all() and deals < 150:
        step = episodes.step(knock_when_possible(episodes.engine, generator))
        totals += step.rewards
        assert (step.rewards[:, ::2] == step.rewards[:, [0]]).all()
        assert (step.rewards[:, 0] == -step.rewards[:, 1]).all()
        for index, row in enumerate(step.finished_rows):
            deals += 1
            winner = int(step.finished.winner[index])
            references[row].record(
                Result(
                    kind=Kind(int(step.finished.kind[index])).name.lower(),
                    winner=None if winner < 0 else winner,
                    points=step.finished.points[index].tolist(),
                )
            )
            reference = references[row]
            assert step.over[row] == reference.over
            assert step.finished.scores[index].tolist() == reference.scores
            if reference.over:
                assert totals[row, 0] == reference.final_scores[0] - reference.final_scores[1]
                assert step.truncated[row] == reference.truncated
            else:
                assert state.dealer[row] == reference.dealer
                assert totals[row, 0] == reference.scores[0] - reference.scores[1]
    assert deals >= 100


def test_a_short_game_ends_at_its_target() -> None:
    episodes = Episodes(Rules.preset("palace_4p", target=10), 30, episode="game", reward="win", seed=5)
    episodes.reset()
    generator = np.random.default_rng(6)
    for _ in range(4_000):
        step = episodes.step(knock_when_possible(episodes.engine, generator))
        for row in np.flatnonzero(step.over):
            index = int(np.flatnonzero(step.finished_rows == row)[0])
            scores = step.finished.scores[index]
            assert scores.max() >= 10
            sign = 1.0 if scores[0] > scores[1] else -1.0
            assert step.rewards[row].tolist() == [sign, -sign, sign, -sign]
        going_on = ~step.over
        assert not step.rewards[going_on].any()
        if episodes.engine.over.all():
            return
    pytest.fail("no game ended")


def play_out(episodes: Episodes) -> None:
    while not episodes.engine.over.any():
        episodes.step(knock_when_possible(episodes.engine, np.random.default_rng(0)))


def outcome() -> Outcome:
    return Outcome(
        net_points=np.array([[30.0, -30.0], [0.0, 0.0]]),
        deal_winner=np.array([0, -1], dtype=np.int8),
        episode_over=np.array([True, True]),
        episode_winner=np.array([0, -1], dtype=np.int8),
    )


def test_rewards_by_name_and_by_function() -> None:
    assert resolve_reward("points")(outcome()).tolist() == [[30, -30], [0, 0]]
    assert resolve_reward("scaled")(outcome()).tolist() == [[1.5, -1.5], [0, 0]]
    assert resolve_reward("win")(outcome()).tolist() == [[1, -1], [0, 0]]
    own = resolve_reward(lambda result: result.net_points * 2)
    assert own(outcome()).tolist() == [[60, -60], [0, 0]]
    with pytest.raises(ValueError, match="unknown reward 'goals': one of points, scaled, win"):
        resolve_reward("goals")
    for wrong in (lambda result: result.net_points[:, 0], lambda _: 1.0, lambda _: None):
        episodes = Episodes("palace_4p", 4, reward=wrong, seed=2)
        episodes.reset()
        with pytest.raises(ValueError, match="one number for each deal and team"):
            play_out(episodes)
    with pytest.raises(ValueError, match="unknown episode 'round': one of deal, game"):
        Episodes("palace_4p", episode="round")
