"""Games of many deals: scores, sheets, boxes, ends, bonuses and dealers equal those of the reference."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gin_env.engine import Engine, State
from gin_env.engine.game_score import add_to_games, deal_totals, start_games
from gin_env.engine.next_dealer import next_dealers
from gin_env.episodes import Episodes
from gin_env.rules import PRESETS, Rules
from gin_env.scoring import Kind
from gin_env.scoring.two_tables import net_of
from tests.helpers.options import ALL_RULES, swept
from tests.helpers.play import lively_actions
from tests.helpers.random_rules import random_rules
from tests.reference import ReferenceGame, Result, combine_tables

DEALER_RULES = [
    {"dealer_rule": rule, "dead_redeal": redeal}
    for rule in ("clockwise", "alternate", "loser", "winner", "random", "fixed")
    for redeal in ("same", "next")
]


ROTATIONS = [
    {"rotation": rule, "dead_redeal": redeal} for rule in ("loser", "clockwise") for redeal in ("same", "next")
]


ENDS: list[dict[str, Any]] = [
    {"max_deals": 2, "target": 500},
    {"target": 500, "box_timing": "end", "box_bonus": 50, "game_bonus": 70, "shutout_bonus": 90},
    {"target": 10, "box_timing": "now", "box_bonus": 5, "game_bonus": 1, "shutout_bonus": 2},
]


def variants(rules: Rules) -> list[Rules]:
    """The rules with every choice of who deals next, what ends a game, and how a deal is written."""
    changes = [{}, *(ROTATIONS if rules.mode == "rotation" else DEALER_RULES), *ENDS]
    if rules.mode not in ("rotation", "free_for_all"):
        changes += [{"score_sheet": "hollywood", **change} for change in ({}, *ENDS)]
    if rules.mode == "two_tables":
        changes += [{"team_score": "gross", **change} for change in ({}, *ENDS, {"score_sheet": "hollywood"})]
    return [dataclasses.replace(rules, **change) for change in changes]


def random_deal(state: State, row: int, generator: np.random.Generator) -> Result:
    """Write an invented end of a deal into a row; return it as the reference's result."""
    rules = state.rules
    kind = generator.choice([Kind.DEAD, Kind.KNOCK, Kind.UNDERCUT], p=[0.2, 0.6, 0.2])
    plays = np.arange(rules.num_teams) != (state.dealer[row] if rules.mode == "rotation" else -1)
    points = generator.integers(0, 30, rules.num_teams) * plays * (generator.random(rules.num_teams) < 0.3)  # catches
    winner = -1
    if kind != Kind.DEAD:
        winner = int(generator.choice(np.flatnonzero(plays)))
        points[winner] += generator.integers(0, 60)
        if rules.mode == "free_for_all" and generator.random() < 0.2:
            winner = -1
    net = np.where(plays, points * plays.sum() - points.sum(), 0)
    state.kind[row], state.winner[row], state.points[row], state.net_points[row] = kind, winner, points, net
    return result_of(state, row)


def result_of(state: State, row: int) -> Result:
    """Return the end of a deal in a row as the reference's result."""
    winner = int(state.winner[row])
    return Result(
        kind=Kind(int(state.kind[row])).name.lower(),
        winner=None if winner < 0 else winner,
        points=state.points[row].tolist(),
        net_points=state.net_points[row].tolist(),
    )


def together(rules: Rules, results: Sequence[Result]) -> Result:
    return combine_tables(dataclasses.asdict(rules), results) if rules.mode == "two_tables" else results[0]


def play_invented_game(rules: Rules, generator: np.random.Generator) -> ReferenceGame:
    """Play a game of invented deals on both sides, comparing everything after each."""
    state = Engine(rules, rules.num_tables).state
    tables = np.arange(rules.num_tables)
    state.dealer[:] = generator.integers(rules.num_seats, size=rules.num_tables)
    start_games(state, tables)
    dealers = state.dealer.tolist()
    reference = ReferenceGame(dataclasses.asdict(rules), dealers if rules.num_tables > 1 else dealers[0])
    while not reference.over:
        results = [random_deal(state, int(row), generator) for row in tables]
        state.deal_number += 1
        deals = deal_totals(state, tables[None])
        result = together(rules, results)
        assert deals.points[0].tolist() == list(result.points)
        assert deals.net_points[0].tolist() == list(result.net_points)
        assert deals.winner[0] == (-1 if result.winner is None else result.winner)
        game = add_to_games(state, tables[None], deals)
        after = next_dealers(state, tables).tolist()
        reference.record(result, next_dealer=after)
        for row in tables:
            assert state.scores[row].tolist() == reference.scores
            assert state.boxes[row].tolist() == reference.boxes
            assert int(state.deals_played[row]) == reference.deals
            for sheet, expected in zip(range(state.sheet_scores.shape[1]), reference.sheets, strict=False):
                assert state.sheet_scores[row, sheet].tolist() == expected.scores
                assert state.sheet_boxes[row, sheet].tolist() == expected.boxes
        assert bool(game.finished[0] | game.truncated[0]) == reference.over
        assert bool(game.truncated[0]) == reference.truncated
        if not reference.over:
            assert after == reference.dealers
            state.dealer[:] = after
    assert (state.scores[0] + game.bonuses[0]).tolist() == list(reference.final_scores)
    assert net_of(game.bonuses)[0].tolist() == net_of(np.array([reference.end_bonuses]))[0].tolist()
    assert game.winner[0] == (-1 if reference.winner is None or reference.truncated else reference.winner)
    return reference


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_games_equal_the_reference(name: str) -> None:
    generator = np.random.default_rng(1)
    for rules in variants(ALL_RULES[name]):
        games = [play_invented_game(rules, generator) for _ in range(2)]
        assert any(game.truncated for game in games) or rules.max_deals > 2
        assert not all(game.truncated for game in games) or rules.max_deals == 2


def test_games_of_random_rules_equal_the_reference() -> None:
    generator = np.random.default_rng(2)
    for _ in range(60):
        play_invented_game(dataclasses.replace(random_rules(generator), max_deals=100), generator)


def act(episodes: Episodes, generator: np.random.Generator, eagerness: float = 0.5) -> np.ndarray:
    """Actions for every row of the episodes, at the table that moves."""
    rows = episodes.table_rows(np.arange(episodes.num_rows))
    return lively_actions(episodes.engine, generator, rows, eagerness)


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_whole_games_are_played_by_the_engine(name: str) -> None:
    """Rewards are net, zero-sum and equal within a team; they add up to the final scores."""
    rules = ALL_RULES[name]
    episodes = Episodes(rules, 4, episode="game", seed=3)
    episodes.reset()
    state, tables = episodes.state, rules.num_tables
    settings = dataclasses.asdict(rules)
    first = state.dealer.reshape(4, tables).tolist()
    references = [ReferenceGame(settings, dealers if tables > 1 else dealers[0]) for dealers in first]
    totals = np.zeros((4, rules.num_players))
    generator = np.random.default_rng(4)
    deals = finished_games = 0
    while not episodes.over.all() and deals < 16:
        step = episodes.step(act(episodes, generator))
        totals += step.rewards
        assert np.abs(step.rewards.sum(axis=1)).max() == 0
        for team in range(rules.num_teams):
            seats = rules.seats_of(team)
            assert (step.rewards[:, seats] == step.rewards[:, seats[:1]]).all()
        for index, row in enumerate(step.finished_rows):
            deals += 1
            at_tables = range(index * tables, (index + 1) * tables)
            result = together(rules, [result_of(step.finished, table) for table in at_tables])
            assert step.points[index].tolist() == list(result.points)
            assert step.net_points[index].tolist() == list(result.net_points)
            reference = references[row]
            after = state.dealer[episodes.tables[row]].tolist()
            reference.record(result, next_dealer=after)
            assert step.over[row] == reference.over
            assert step.finished.scores[at_tables[0]].tolist() == reference.scores
            by_team = totals[row, : rules.num_teams].tolist()
            if reference.over:
                finished_games += 1
                assert by_team == reference.final_net_scores
                assert step.truncated[row] == reference.truncated
            else:
                assert after == reference.dealers
                assert by_team == reference.net_scores
    assert deals >= 16 or episodes.over.all()
    assert finished_games or deals >= 16


@pytest.mark.parametrize("name", swept(PRESETS))
def test_a_short_game_ends_at_its_target(name: str) -> None:
    rules = dataclasses.replace(ALL_RULES[name], target=10)
    episodes = Episodes(rules, 12, episode="game", reward="win", seed=5)
    episodes.reset()
    generator, players = np.random.default_rng(6), rules.num_players
    ended = 0
    while ended < 4:
        step = episodes.step(act(episodes, generator, eagerness=0.8))
        assert not step.rewards[~step.over].any()
        for row in np.flatnonzero(step.over):
            ended += 1
            index = int(np.flatnonzero(step.finished_rows == row)[0])
            final = step.finished.scores[index * rules.num_tables] + step.bonuses[index]
            assert step.finished.scores[index * rules.num_tables].max() >= 10
            winner = step.game_winner[index]
            assert winner == (final.argmax() if (final == final.max()).sum() == 1 else -1)
            seats = rules.seats_of(winner) if winner >= 0 else []
            lost = -len(seats) / (players - len(seats)) if winner >= 0 else 0.0
            expected = [1.0 if seat in seats else lost for seat in range(players)]
            assert step.rewards[row].tolist() == pytest.approx(expected)


@pytest.mark.parametrize(
    ("sheet", "scores", "deals", "bonuses"),
    [
        # Team 0 wins 60, 50, 40: sheet 1 has 110 after two, sheet 2 50 + 40, sheet 3 only the last; one win of team 1.
        ("hollywood", [110 + 90 + 40, 0], [(0, 60), (0, 50), (0, 40)], [0, 0]),
        # The win of team 1 counts on sheet 1 alone, so sheets 2 and 3 are shutouts.
        ("hollywood", [110 + 110 + 110, 30], [(1, 30), (0, 60), (0, 50), (0, 60), (0, 50)], [3 * 100 + 2 * 100, 0]),
        # Here sheet 1 was closed when team 1 won: its points are lost.
        ("hollywood", [110 + 110 + 110, 0], [(0, 60), (0, 50), (1, 30), (0, 60), (0, 50)], [3 * 200, 0]),
        ("single", [110, 0], [(0, 60), (0, 50)], [200, 0]),
    ],
)
def test_sheets_and_bonuses_worked_out_by_hand(
    sheet: str, scores: list[int], deals: list[tuple[int, int]], bonuses: list[int]
) -> None:
    rules = Rules.preset("palace_2p", score_sheet=sheet, game_bonus=100, shutout_bonus=100)
    state, row = Engine(rules).state, np.zeros((1, 1), dtype=np.intp)
    start_games(state, row[0])
    for winner, points in deals:
        state.kind[0], state.winner[0] = Kind.KNOCK, winner
        state.points[0] = [points * (team == winner) for team in range(2)]
        state.net_points[0] = state.points[0] - state.points[0, ::-1]
        game = add_to_games(state, row, deal_totals(state, row))
    assert state.scores[0].tolist() == scores
    assert game.bonuses[0].tolist() == bonuses
