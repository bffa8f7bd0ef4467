"""Worked deals (tests/data/golden.json) through ``score_deal`` and, where they are moves, through the engine."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gin_env.cards.melds import deadwood_after_each
from gin_env.engine import Engine, State
from gin_env.engine.game_score import add_to_games, deal_totals, end_bonuses, start_games
from gin_env.engine.next_dealer import next_dealers
from gin_env.rules import PRESETS, Rules
from gin_env.scoring import DealResult, Kind, score_deal
from gin_env.scoring.spreads import open_seats
from tests.helpers.golden import CASES, GOLDEN, dealt, hands_at_the_knock

#: Every kind of case, with the test that checks all cases of it.
CHECKED_BY = {
    "showdown": "test_showdown",
    "trade": "test_showdown",
    "ffa": "test_free_for_all",
    "two_tables": "test_two_tables",
    "rotation": "test_rotation",
    "match": "test_match_end",
    "stock": "test_stock",
}
#: What an expectation of a showdown may hold; each entry is checked.
SHOWDOWN_ENTRIES = {
    *("legal", "knocker_deadwood", "result", "winner", "points", "diff", "bonus", "knock_side_deadwood"),
    *("deadwood_by_knock_side", "layoff_targets", "laid_off", "laid_off_unique", "deadwood_after"),
    *("deadwood_after_unique", "defenders_total", "alternatives", "points_by_preset", "spread_matters"),
    "best_deadwood_before_trade",
}


def cases_of(*kinds: str) -> list[str]:
    return [name for name, case in CASES.items() if case["kind"] in kinds]


def settled(case: dict[str, Any], rules: str | Rules) -> DealResult:
    return score_deal(rules, hands_at_the_knock(case), case["knocker"], case["knock_card"], upcard=case.get("upcard"))


def test_every_case_is_checked() -> None:
    assert set(CHECKED_BY) == {case["kind"] for case in CASES.values()}
    assert all(callable(globals()[test]) for test in CHECKED_BY.values())
    assert len(CASES) == len(GOLDEN["cases"]) == 33
    assert set(GOLDEN["presets"]) <= set(PRESETS)
    assert {case["preset"] for case in CASES.values()} <= set(PRESETS)
    entries = set().union(*(CASES[name]["expected"] for name in cases_of("showdown", "trade")))
    assert entries <= SHOWDOWN_ENTRIES


@pytest.mark.parametrize("name", GOLDEN["presets"])
def test_presets(name: str) -> None:
    expected, rules = GOLDEN["presets"][name], PRESETS[name]
    fields = {
        "n": rules.num_players,
        "hand": rules.hand_size,
        "teams": [[0, 2], [1, 3]],
        "knock": rules.knock_limit,
        "gin": rules.gin_bonus,
        "small_gin": rules.small_gin_bonus,
        "team_gin": rules.team_gin_bonus,
        "undercut": rules.undercut_bonus,
        "box": rules.box_bonus,
        "box_now": rules.box_timing == "now",
        "big_gin": rules.big_gin_bonus,
        "oklahoma": rules.limit_from_upcard,
        "ace_gin_only": rules.ace_upcard_gin_only,
        "spades_double": rules.spade_upcard_doubles,
    }
    if "box_now" in expected and not expected["box"]:
        expected = {**expected, "box_now": fields["box_now"]}  # a box of 0 is paid whenever one likes
    assert {key: fields[key] for key in expected} == expected


@pytest.mark.parametrize("name", cases_of("showdown", "trade"))
def test_showdown(name: str) -> None:
    case = CASES[name]
    expected = case["expected"]
    result = settled(case, case["preset"])
    if expected.get("legal") is False:
        assert (result.legal, result.kind, set(result.points)) == (False, None, {0})
        assert f"deadwood {expected['knocker_deadwood']} " in result.reason
        return
    assert (result.legal, result.kind, result.winner) == (True, expected["result"], expected["winner"])
    assert result.points[result.winner] == sum(result.points) == expected["points"]
    seats = range(len(case["hands"]))
    knock_side = [seat for seat in seats if seat % 2 == case["knocker"] % 2]
    left = [sum(result.deadwood[seat] for seat in seats if (seat in knock_side) == own) for own in (True, False)]
    assert left[0] == expected.get("knock_side_deadwood", left[0])
    assert left[1] == expected.get("defenders_total", left[1])
    assert abs(left[0] - left[1]) == expected.get("diff", abs(left[0] - left[1]))
    for seat, points in expected.get("deadwood_by_knock_side", {}).items():
        assert result.deadwood[int(seat)] == points
    if "bonus" in expected:
        assert result.bonuses == expected["bonus"]
    if expected.get("laid_off_unique"):
        for seat, cards in expected.get("laid_off", {}).items():
            assert sorted(result.layoffs[int(seat)]) == sorted(cards)
    if expected.get("deadwood_after_unique"):
        for seat, points in expected["deadwood_after"].items() if "deadwood_after" in expected else ():
            assert result.deadwood[int(seat)] == points
    if "layoff_targets" in expected:
        side = sorted(knock_side, key=lambda seat: seat != case["knocker"])  # the knocker first
        is_open = open_seats(PRESETS[case["preset"]], np.array([[result.deadwood[seat] for seat in side]]))[0]
        open_with_melds = [seat for seat, may in zip(side, is_open, strict=True) if may and result.spread[seat]]
        assert sorted(open_with_melds) == expected["layoff_targets"]
    if expected.get("spread_matters") is False:
        assert settled(case, Rules.preset(case["preset"], spread="first")).points == result.points


ALTERNATIVES = [name for name in cases_of("showdown") if CASES[name]["expected"].get("alternatives")]
OTHER_PRESETS = [name for name in cases_of("showdown") if CASES[name]["expected"].get("points_by_preset")]


@pytest.mark.parametrize("name", OTHER_PRESETS)
def test_showdown_under_other_presets(name: str) -> None:
    case = CASES[name]
    for preset, (winner, points) in case["expected"]["points_by_preset"].items():
        result = settled(case, preset)
        assert (result.winner, result.points[winner]) == (winner, points), preset


@pytest.mark.parametrize("name", ALTERNATIVES)
def test_showdown_under_other_options(name: str) -> None:
    case = CASES[name]
    for other in case["expected"]["alternatives"]:
        result = settled(case, Rules.preset(case["preset"], **other["config"]))
        assert (result.kind, result.winner) == (other["result"], other["winner"])
        assert result.points[other["winner"]] == other["points"]


@pytest.mark.parametrize("name", cases_of("ffa"))
def test_free_for_all(name: str) -> None:
    case = CASES[name]
    expected, result = case["expected"], settled(case, case["preset"])
    assert (result.legal, result.kind) == (expected["legal"], expected["result"])
    assert list(result.points) == expected["points_by_seat"]
    assert {str(seat): points for seat, points in enumerate(result.deadwood)} == expected["deadwood_after"]
    for seat, cards in expected.get("laid_off", {}).items():
        assert sorted(result.layoffs[int(seat)]) == sorted(cards)
    assert sum(result.net_points) == 0


@pytest.mark.parametrize("name", cases_of("two_tables"))
def test_two_tables(name: str) -> None:
    case = CASES[name]
    expected = case["expected"]
    for preset in (case["preset"], case["table_preset"]):  # a table is played like a deal of two
        results = [
            score_deal(preset, table["hands"], table["knocker"], table["knock_card"]) for table in case["tables"]
        ]
        for table, result, one in zip(case["tables"], results, expected["tables"], strict=True):
            assert result.kind == one["result"]
            assert table["seats"][result.winner] == one["winner_seat"]
            assert result.points[result.winner] == one["points"]
    assert np.sum([result.points for result in results], axis=0).tolist() == expected["team_gross"]
    for team_score in ("gross", "net"):
        state = State.allocate(Rules.preset(case["preset"], team_score=team_score), 2)
        state.points[:] = [result.points for result in results]
        state.net_points[:] = [result.net_points for result in results]
        deals = deal_totals(state, np.array([[0, 1]]))
        assert deals.points[0].tolist() == expected[f"team_{team_score}"]
        assert deals.net_points[0].tolist() == [-7, 7]
        assert deals.winner[0] == 1


@pytest.mark.parametrize("name", cases_of("rotation"))
def test_rotation(name: str) -> None:
    case = CASES[name]
    for rule, entry in (("loser", "pagat_loser_deals"), ("clockwise", "wikihow_clockwise")):
        dealer, active = case["expected"][entry]
        engine = Engine(Rules.preset(case["preset"], rotation=rule))
        engine.reset(dealers=case["dealer"])
        assert np.flatnonzero(engine.state.hands[0]).tolist() == case["active"]
        engine.state.kind[0], engine.state.winner[0] = Kind.KNOCK, case["winner"]
        after = next_dealers(engine.state, np.zeros(1, dtype=np.intp))
        assert after.tolist() == [dealer]
        engine.reset(dealers=after)
        assert np.flatnonzero(engine.state.hands[0]).tolist() == active


@pytest.mark.parametrize("name", cases_of("match"))
def test_match_end(name: str) -> None:
    case = CASES[name]
    for preset, final in case["expected"]["final_by_preset"].items():
        rules = Rules.preset(preset)
        scores, boxes = np.array([case["scores"]]), np.array([case["rounds_won"]])
        assert (scores + end_bonuses(rules, scores, boxes))[0].tolist() == final
        # The same through add_to_games: the last deal brings 4 points and a box.
        state, row = State.allocate(rules, 1), np.zeros((1, 1), dtype=np.intp)
        start_games(state, row[0])
        state.scores[0], state.boxes[0] = scores[0] - [4, 0], boxes[0] - [1, 0]
        state.points[0], state.net_points[0], state.winner[0], state.kind[0] = [4, 0], [4, -4], 0, Kind.KNOCK
        game = add_to_games(state, row, deal_totals(state, row))
        assert (state.scores[0] + game.bonuses[0]).tolist() == final
        assert (game.finished[0], game.winner[0]) == (True, 0)


@pytest.mark.parametrize("name", cases_of("stock"))
def test_stock(name: str) -> None:
    """The stock after the deal, and how many draws it allows before the deal is dead."""
    for preset, (size, draws) in CASES[name]["expected"]["stock_after_deal_and_stock_draws"].items():
        rules = Rules.preset(preset)
        assert rules.stock_size == size
        engine = Engine(rules, seed=3)
        engine.reset()
        drawn = 0
        while not engine.over[0]:
            legal = engine.layout.texts(engine.state.legal[0])
            action = next((text for text in ("pass", "draw") if text in legal), legal[0])
            action = next((text for text in legal if text.startswith("discard")), action)
            drawn += action == "draw"
            engine.step([engine.layout.index(action)])
        assert (drawn, int(engine.state.kind[0])) == (draws, Kind.DEAD)


# move by move


@pytest.mark.parametrize(
    "name", [name for name in cases_of("showdown", "ffa") if CASES[name]["knocker"] == 0 and CASES[name]["hands"]]
)
def test_the_engine_settles_alike(name: str) -> None:
    """What the engine makes of the knock, or that it refuses it."""
    case = CASES[name]
    expected, first = case["expected"], case.get("upcard")
    engine = dealt(case, first)
    text = "big_gin" if case["knock_card"] is None else f"knock {case['knock_card']}"
    legal = engine.layout.texts(engine.state.legal[0])
    assert (text in legal) == expected.get("legal", True)
    if text not in legal:
        return
    engine.step([engine.layout.index(text)])
    assert Kind(int(engine.state.kind[0])).name.lower() == expected["result"]
    if "points_by_seat" in expected:
        assert engine.state.points[0].tolist() == expected["points_by_seat"]
    else:
        assert engine.state.points[0, expected["winner"]] == engine.state.points[0].sum() == expected["points"]


def test_trade_enables_the_knock_in_the_engine() -> None:
    """P15, move by move: no knock before the trade, KH may be discarded after it."""
    case = CASES["P15_trade_enables_knock"]
    engine = dealt(case)
    layout = engine.layout
    assert not any(text.startswith("knock") for text in layout.texts(engine.state.legal[0]))
    hand = engine.state.hands[:, 0]
    assert deadwood_after_each(hand, hand)[2].min() == case["expected"]["best_deadwood_before_trade"]
    for action in (f"give {case['trade_give']}", f"give {case['trade_return']}"):
        engine.step([layout.index(action)])
    assert "knock KH" in layout.texts(engine.state.legal[0])
    engine.step([layout.index("knock KH")])
    assert Kind(int(engine.state.kind[0])) is Kind.KNOCK
    assert engine.state.points[0].tolist() == [22, 0]
    assert engine.state.deadwood[0].sum() == 54 + 66
