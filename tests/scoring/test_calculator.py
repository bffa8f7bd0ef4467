"""``score_deal``: what it says of bad input, illegal knocks and given arrangements; lay-offs against brute force."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gin_env.cards import bits_of, card_ids
from gin_env.cards.melds import least_arrangements, melds_of
from gin_env.engine import Engine
from gin_env.rules import Rules
from gin_env.scoring import Kind, score_deal
from gin_env.scoring.challenge_2021 import CHALLENGE_ORDER, greedy_layoffs, lay_off_in_order
from gin_env.scoring.deal_result import describe_result
from tests.helpers.decks import meld_rich_hand

KNOCKER = "3S 4S 5S 6S 9H 9D 9C 2D 2H AC KD"
DEFENDER = "7S 8S JH QH KH 5C 5D 4C TD 6H"


def test_a_plain_knock_is_described_in_full() -> None:
    result = score_deal("palace_2p", [KNOCKER, DEFENDER.split()], knocker=0, knock_card="KD", upcard="9S")
    assert (result.legal, result.reason, result.kind, result.winner) == (True, "", "knock", 0)
    assert result.points == (35, 0)
    assert result.bonuses == {"box": 10}
    assert result.spread == {0: [["3S", "4S", "5S", "6S"], ["9H", "9D", "9C"]], 1: [["JH", "QH", "KH"]]}
    assert result.layoffs == {1: ["7S", "8S"]}
    assert result.deadwood == (5, 30)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"rules": "poker"}, "unknown preset 'poker'"),
        ({"hands": [KNOCKER]}, "hands.*2 seats.*got 1"),
        ({"hands": [KNOCKER, DEFENDER + " AS"]}, "hand 1.*10 cards, got 11"),
        ({"hands": [DEFENDER, DEFENDER]}, "hand 0.*11 cards, got 10"),
        ({"hands": [KNOCKER, DEFENDER.replace("6H", "2D")]}, "2D.*hand 0.*hand 1"),
        ({"hands": [KNOCKER, DEFENDER.replace("6H", "5D")]}, "5D.*twice"),
        ({"hands": [KNOCKER, DEFENDER.replace("6H", "6X")]}, "unknown card '6X'"),
        ({"knocker": 2}, "knocker.*2"),
        ({"knock_card": "QD"}, "knock_card='QD' is not in the knocker's hand"),
        ({"knock_card": "??"}, "unknown card"),
        ({"upcard": "11S"}, "unknown card '11S'"),
        ({"arrangements": {0: ["3S 4S 6S"]}}, "seat 0: 3S 4S 6S is neither a set nor a run"),
        ({"arrangements": {0: ["JH QH KH"]}}, "seat 0: meld JH QH KH is not all in the hand"),
        ({"arrangements": {0: ["3S 4S 5S", "4S 5S 6S"]}}, "seat 0: 4S 5S.*two melds"),
        ({"arrangements": {0: ["3S 4S 5S 6S"]}}, "seat 0.*32 points.*5"),
        ({"arrangements": {3: []}}, "arrangements.*seat.*3"),
        ({"arrangements": {"0": []}}, "arrangements.*seat.*'0'"),
        ({"arrangements": [["JH QH KH"]]}, "arrangements=.*mapping"),
        ({"knocker": False}, "knocker.*False"),
        ({"arrangements": {1: ["JH QH KH"]}}, "arrangements name defender 1"),
    ],
)
def test_bad_input_is_named(changes: dict[str, object], message: str) -> None:
    arguments = {"rules": "classic_2p", "hands": [KNOCKER, DEFENDER], "knocker": 0, "knock_card": "KD"} | changes
    with pytest.raises(ValueError, match=message):
        score_deal(**arguments)  # type: ignore[arg-type]


def test_illegal_knocks_pay_nothing_and_say_why() -> None:
    result = score_deal(Rules.preset("classic_2p", knock_limit=4), [KNOCKER, DEFENDER], 0, "KD")
    assert (result.legal, result.kind, result.points) == (False, None, (0, 0))
    assert result.reason == "deadwood 5 after discarding KD is more than the limit of 4"
    assert "big gin" in score_deal("classic_2p", [KNOCKER, DEFENDER], 0, None).reason


ELEVEN, TEN = "2H 3H 4H 5H 8S 8D 8C TC JC QC KC", "AS AH 9S 9D 9C 6D 6C 4S 3D 7H"
SEVENS = ["7D 8D 9D QS QH QD 4C KC", "TD JD 2S 3S 4S 8H 5H", "AS AH AC 5S 6S 7S 3D"]


@pytest.mark.parametrize(
    ("rules", "hands", "options", "message"),
    [
        (
            "oklahoma_2p",
            [KNOCKER, DEFENDER],
            {},
            "upcard=None: under these rules the knock depends on the first upcard",
        ),
        ("classic_2p", [KNOCKER, DEFENDER], {"boasters": [0]}, r"boasters=\[0\]: these rules have no boasting"),
        ("rotation_3p", [KNOCKER, DEFENDER, TEN], {}, "hands: 0 are empty"),
        ("rotation_3p", [KNOCKER, "", ""], {}, "hands: 2 are empty"),
        ("rotation_3p", ["", DEFENDER, TEN], {}, "0 cards|not in the knocker's hand"),
        ("free_for_all_4p", SEVENS, {}, "hands.*4 seats.*got 3"),
        ("two_tables_4p", [KNOCKER, DEFENDER, TEN, TEN], {}, "hands.*2 seats.*got 4"),
    ],
)
def test_bad_input_in_other_modes_is_named(rules: str, hands: list[str], options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        score_deal(rules, hands, 0, "KD", **options)


def test_big_gin() -> None:
    result = score_deal("biggin_2p", [ELEVEN, TEN], knocker=0, knock_card=None)
    assert (result.kind, result.points, result.bonuses) == ("big_gin", (59, 0), {"big_gin": 31})
    refused = score_deal("biggin_2p", [KNOCKER, DEFENDER], knocker=0, knock_card=None)
    assert (refused.legal, refused.points) == (False, (0, 0))
    assert "every card must be melded" in refused.reason
    assert "these rules do not have" in score_deal("classic_2p", [ELEVEN, TEN], 0, None).reason


def test_three_rotate() -> None:
    result = score_deal("rotation_3p", ["", KNOCKER, DEFENDER], knocker=1, knock_card="KD")
    assert (result.winner, result.points, result.net_points) == (1, (0, 25, 0), (0, 25, -25))
    assert (result.deadwood, result.layoffs) == ((0, 5, 30), {2: ["7S", "8S"]})
    assert result.spread[0] == []


def test_free_for_all() -> None:
    """Golden case F01: one defender pays 9, the other undercuts by 1."""
    result = score_deal("free_for_all_3p", SEVENS, knocker=0, knock_card="KC")
    assert (result.kind, result.winner, result.points, result.net_points) == ("knock", 2, (9, 0, 26), (-17, -9, 26))
    assert result.bonuses == {"undercut": 25}
    pooled = score_deal(Rules.preset("free_for_all_3p", ffa_scoring="pooled"), SEVENS, 0, "KC")
    # Seat 2 keeps 3 against 4 and 13: 1 + 10, and 25 from the knocker.
    assert (pooled.winner, pooled.points, pooled.net_points) == (2, (0, 0, 36), (-26, -10, 36))
    boxed = score_deal(Rules.preset("free_for_all_3p", box_bonus=10), SEVENS, 0, "KC")
    assert (boxed.points, boxed.net_points) == ((9, 0, 36), (-17 - 10, -9 - 10, 26 + 20))
    assert boxed.bonuses == {"undercut": 25, "box": 10}


@pytest.mark.parametrize(
    ("boasters", "points"),
    [((), (25, 0)), ((0,), (25 + 20, 0)), ((1,), (25 + 10, 0)), ((0, 1), (25 + 20 + 10, 0))],
)
def test_boasts_are_paid_with_a_knock_that_wins(boasters: tuple[int, ...], points: tuple[int, int]) -> None:
    rules = Rules.preset("classic_2p", boast=True)
    result = score_deal(rules, [KNOCKER, DEFENDER], 0, "KD", boasters=boasters)
    assert result.points == points
    assert result.net_points == (points[0] - points[1], points[1] - points[0])
    assert result.bonuses.get("boast", 0) == sum(points) - 25
    assert result.winner == 0


@pytest.mark.parametrize(("boasters", "points"), [((), (0, 25)), ((0,), (0, 25 + 15)), ((1,), (0, 25 + 5))])
def test_boasts_are_paid_with_an_undercut(boasters: tuple[int, ...], points: tuple[int, int]) -> None:
    hands = ["AS 2S 3S 7H 7D 7C JS JH JD 4C KC", "5S 5H 5D 8S 8H 8D TS TH TD 4H"]
    result = score_deal(Rules.preset("classic_2p", boast=True), hands, 0, "KC", boasters=boasters)
    assert (result.kind, result.points) == ("undercut", points)


@pytest.mark.parametrize(("upcard", "points"), [("9S", (25 * 2 + 10 + 20, 0)), ("9D", (25 + 10 + 20, 0))])
def test_a_spade_doubles_neither_the_box_nor_a_boast(upcard: str, points: tuple[int, int]) -> None:
    rules = Rules.preset("palace_2p", boast=True, spade_upcard_doubles=True)
    result = score_deal(rules, [KNOCKER, DEFENDER], 0, "KD", upcard=upcard, boasters=[0])
    assert (result.points, result.bonuses) == (points, {"box": 10, "boast": 20})


def test_a_given_arrangement_is_laid() -> None:
    """3-4-5 of hearts or three fours: both leave 10, but the run lets 13 points be laid off and the set only 4."""
    hands = ["4S 4H 4D 3H 5H TS TH TD AC AD KC", "6H 7H 4C KS KD QS QD 9D 8C 6C"]
    best = score_deal("classic_2p", hands, 0, "KC")
    assert best.layoffs == {1: ["4C"]}
    assert best.points == (80 - 4 - 10, 0)
    as_run = score_deal("classic_2p", hands, 0, "KC", arrangements={0: ["3H 4H 5H", "TS TH TD"]})
    assert as_run.layoffs == {1: ["6H", "7H"]}
    assert as_run.points == (80 - 13 - 10, 0)


def test_the_others_keep_to_the_rules_when_one_arrangement_is_given() -> None:
    """With spread="first" the knocker lays the first of equal arrangements, though another pays more."""
    hands = ["4S 4H 4D 3H 5H TS TH TD AC AD KC", "4C 6S 7S KS KD QS QD 9D 8C 6C"]
    rules = Rules.preset("eaai_2p", spread="first")
    alone = score_deal(rules, hands, 0, "KC")
    assert alone == score_deal(rules, hands, 0, "KC", arrangements={1: []})
    assert alone.points != score_deal("eaai_2p", hands, 0, "KC").points


def test_the_melds_reported_are_the_melds_laid_down() -> None:
    hands = ["AC 2C 3C 7H 7D 7C JS JH JD 4C KC", "3H 4H 5H 4D 4S KS QD QH 9D 2D"]
    for melds in (["3H 4H 5H"], ["4S 4H 4D"]):
        result = score_deal("eaai_2p", hands, 0, "KC", arrangements={1: melds})
        assert [" ".join(meld) for meld in result.spread[1]] == melds


def test_dead_and_unfinished_deals() -> None:
    engine = Engine("classic_2p", 2, seed=1)
    engine.reset()
    with pytest.raises(ValueError, match="the deal in row 1 is not over"):
        describe_result(engine.rules, engine.state, 1)
    engine.state.kind[1] = Kind.DEAD
    dead = describe_result(engine.rules, engine.state, 1)
    assert (dead.kind, dead.winner, dead.points, dead.deadwood) == ("dead", None, (0, 0), None)


def test_greedy_layoffs_equal_the_procedure_card_by_card() -> None:
    """The closed form against the challenge's procedure, on hands made to collide."""
    generator = np.random.default_rng(3)
    order = [39 + rank for rank in range(13)] + [13 + rank for rank in range(13)]
    order += list(range(13)) + [26 + rank for rank in range(13)]  # C H S D
    assert order == CHALLENGE_ORDER
    laid_off = both_places = 0
    for _ in range(1_500):
        knocker = meld_rich_hand(generator, 10, set(range(52)))
        own = least_arrangements(np.array([bits_of(knocker)]))
        index = int(generator.integers(len(own.rows)))
        set_bits, run_bits = own.set_bits[[index]], own.run_bits[[index]]
        melds = sorted(melds_of(set_bits[0], run_bits[0]), key=lambda meld: min(map(order.index, meld)))
        rest = [card for card in range(52) if card not in knocker]
        near = [c for c in rest if any(c % 13 == m % 13 or abs(c - m) < 4 for meld in melds for m in meld)]
        loose = generator.permutation(near or rest)[:8].tolist()
        expected = [step.card for step in lay_off_in_order(melds, loose)]
        found = greedy_layoffs(set_bits, run_bits, np.array([bits_of(loose)]))[0]
        assert card_ids(found) == sorted(expected)
        laid_off += len(expected)
        both_places += len(melds) > 1
    assert laid_off > 1_200
    assert both_places > 500
