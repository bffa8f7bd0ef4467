"""Worked deals (tests/data/golden.json) through ``score_deal`` and, where they are moves, through the engine."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gin_env.cards import parse_cards
from gin_env.engine import Engine
from gin_env.rules import PRESETS, Rules
from gin_env.scorekeeping import end_bonuses
from gin_env.scoring import score_deal
from gin_env.state import Kind, State

GOLDEN = json.loads((Path(__file__).parent / "data" / "golden.json").read_text())
CASES = {case["id"]: case for case in GOLDEN["cases"]}
SHOWDOWNS = [
    case["id"] for case in CASES.values() if case["kind"] in ("showdown", "trade") and case["preset"] in PRESETS
]


def hands_at_the_knock(case: dict[str, Any]) -> list[list[str]]:
    hands = [list(hand) for hand in case["hands"]]
    if case["kind"] == "trade":
        mover, partner = hands[case["knocker"]], hands[case["partner"]]
        mover.remove(case["trade_give"])
        partner.append(case["trade_give"])
        partner.remove(case["trade_return"])
        mover.append(case["trade_return"])
    return hands


def test_every_case_of_our_presets_is_here() -> None:
    assert len(SHOWDOWNS) == 21
    assert len(WITH_OTHERS) == 10


@pytest.mark.parametrize("name", SHOWDOWNS)
def test_showdown(name: str) -> None:
    case = CASES[name]
    expected = case["expected"]
    result = score_deal(case["preset"], hands_at_the_knock(case), case["knocker"], case["knock_card"])
    if expected.get("legal") is False:
        assert (result.legal, result.kind, set(result.points)) == (False, None, {0})
        assert f"deadwood {expected['knocker_deadwood']} " in result.reason
        return
    assert (result.legal, result.kind, result.winner) == (True, expected["result"], expected["winner"])
    assert result.points[result.winner] == expected["points"]
    assert sum(result.points) == expected["points"]
    if "bonus" in expected:
        assert result.bonuses == expected["bonus"]
    if expected.get("laid_off_unique"):
        for seat, cards in expected.get("laid_off", {}).items():
            assert sorted(result.layoffs[int(seat)]) == sorted(cards)
    if expected.get("deadwood_after_unique"):
        for seat, points in expected["deadwood_after"].items():
            assert result.deadwood[int(seat)] == points
    if "knock_side_deadwood" in expected:
        knock_seats = [seat for seat in range(len(case["hands"])) if seat % 2 == case["knocker"] % 2]
        assert sum(result.deadwood[seat] for seat in knock_seats) == expected["knock_side_deadwood"]


WITH_OTHERS = [
    name
    for name in SHOWDOWNS
    if CASES[name]["expected"].get("points_by_preset") or CASES[name]["expected"].get("alternatives")
]


@pytest.mark.parametrize("name", WITH_OTHERS)
def test_showdown_under_other_presets_and_options(name: str) -> None:
    case = CASES[name]
    for preset, (winner, points) in case["expected"].get("points_by_preset", {}).items():
        if preset in PRESETS:
            result = score_deal(preset, hands_at_the_knock(case), case["knocker"], case["knock_card"])
            assert (result.winner, result.points[winner]) == (winner, points), preset
    for other in case["expected"].get("alternatives", []):
        rules = Rules.preset(case["preset"], **other["config"])
        result = score_deal(rules, hands_at_the_knock(case), case["knocker"], case["knock_card"])
        assert (result.kind, result.winner) == (other["result"], other["winner"])
        assert result.points[other["winner"]] == other["points"]


def test_trade_enables_the_knock_in_the_engine() -> None:
    """P15, move by move: no knock before the trade, KH may be thrown after it."""
    case = CASES["P15_trade_enables_knock"]
    mover_hand = parse_cards(case["hands"][0])
    hands = [mover_hand[:-1], *(parse_cards(hand) for hand in case["hands"][1:])]
    held = {card for hand in case["hands"] for card in parse_cards(hand)}
    stock = [mover_hand[-1]] + [card for card in range(52) if card not in held]
    upcard = stock.pop()
    deck = [hands[seat][index] for index in range(7) for seat in range(4)] + [upcard] + stock
    engine = Engine("palace_4p")
    engine.reset(decks=deck, dealers=3)
    layout = engine.layout
    for action in ["pass"] * 4 + ["draw"]:
        engine.step([layout.index(action)])
    assert not any(text.startswith("knock") for text in layout.texts(engine.state.legal[0]))
    for action in (f"give {case['trade_give']}", f"give {case['trade_return']}"):
        engine.step([layout.index(action)])
    assert "knock KH" in layout.texts(engine.state.legal[0])
    engine.step([layout.index("knock KH")])
    assert Kind(int(engine.state.kind[0])) is Kind.KNOCK
    assert engine.state.points[0].tolist() == [22, 0]
    assert engine.state.deadwood[0].sum() == 54 + 66


def test_match_end() -> None:
    case = CASES["M01_match_end"]
    for preset, final in case["expected"]["final_by_preset"].items():
        state = State.allocate(Rules.preset(preset), 1)
        state.scores[0], state.boxes[0] = case["scores"], case["rounds_won"]
        assert (state.scores[0] + end_bonuses(state, np.arange(1))[0]).tolist() == final


def test_stock() -> None:
    """S01: the stock after the deal, and how many draws it allows before the deal is dead."""
    case = CASES["S01_stock"]
    for preset, (size, draws) in case["expected"]["stock_after_deal_and_stock_draws"].items():
        if preset not in PRESETS:
            continue
        rules = Rules.preset(preset)
        assert rules.stock_size == size
        engine = Engine(rules, seed=3)
        engine.reset()
        drawn = 0
        while not engine.over[0]:
            legal = engine.layout.texts(engine.state.legal[0])
            action = next(text for text in ("pass", "draw", *legal) if text in legal and not text.startswith("give"))
            action = next((text for text in legal if text.startswith("discard")), action)
            drawn += action == "draw"
            engine.step([engine.layout.index(action)])
        assert (drawn, int(engine.state.kind[0])) == (draws, Kind.DEAD)
