"""The slow reference by itself: worked deals, and results worked out by hand, of all rule systems."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from tests.helpers.paths import DATA
from tests.reference import (
    CARDS,
    PRESETS,
    ReferenceDeal,
    ReferenceGame,
    Result,
    combine_tables,
    complete,
    dead_deal,
    end_bonuses,
    next_dealer,
    score_showdown,
)
from tests.reference.free_for_all import pooled_payments

GOLDEN = json.loads((DATA / "golden.json").read_text())
CASES = {case["id"].split("_")[0]: case for case in GOLDEN["cases"]}


def golden(name: str, boasters: Sequence[int] = (), **overrides: Any) -> Result:
    case = CASES[name]
    upcard = overrides.pop("upcard", case.get("upcard"))
    rules = {**PRESETS[case["preset"]], **overrides}
    return score_showdown(rules, case["hands"], case["knocker"], case["knock_card"], upcard, boasters)


def dealt(rules: dict[str, Any], hands: Sequence[str], dealer: int, upcard: str, stock: str) -> ReferenceDeal:
    """A deal with these hands of the seats from the dealer's left, this upcard and these cards first in the stock."""
    groups = [hand.split() for hand in hands]
    deck = [group[place] for place in range(len(groups[0])) for group in groups] + [upcard, *stock.split()]
    return ReferenceDeal(rules, deck + [card for card in CARDS if card not in deck], dealer)


def play(deal: ReferenceDeal, *actions: str) -> None:
    for action in actions:
        deal.apply(action)


def catch(deal: ReferenceDeal, cards: str) -> None:
    play(deal, *(f"catch {card}" for card in cards.split()))


@pytest.mark.parametrize("name", ["C05", "C11", "C12", "C13", "C14", "C15"])
def test_big_gin_oklahoma_and_straight(name: str) -> None:
    result, expected = golden(name), CASES[name]["expected"]
    if expected.get("legal") is False:
        assert (result.legal, result.kind, result.points) == (False, None, [0, 0])
        assert result.knocker_deadwood == expected["knocker_deadwood"]
        return
    assert (result.kind, result.winner) == (expected["result"], expected["winner"])
    assert result.points == [expected["points"], 0]
    assert result.net_points == [expected["points"], -expected["points"]]


@pytest.mark.parametrize(("name", "net_points"), [("F01", [-17, -9, 26]), ("F02", [134, -54, -31, -49])])
def test_free_for_all(name: str, net_points: list[int]) -> None:
    result, expected = golden(name), CASES[name]["expected"]
    assert (result.kind, result.points, result.net_points) == (
        expected["result"],
        expected["points_by_seat"],
        net_points,
    )
    assert dict(enumerate(result.deadwood)) == {int(seat): left for seat, left in expected["deadwood_after"].items()}
    for seat, cards in expected.get("laid_off", {}).items():
        assert result.layoffs[int(seat)] == sorted(cards)


def test_free_for_all_doubles_pairs_but_not_boxes() -> None:
    """F01 twice: 18 from seat 1, 52 to seat 2, who wins the box of 10 and nets it against both others."""
    result = golden("F01", upcard="9S", spade_upcard_doubles=True, box_bonus=10)
    assert (result.winner, result.points) == (2, [18, 0, 62])
    assert result.net_points == [18 - 52 - 10, -18 - 10, 52 + 20]
    assert result.bonuses == {"undercut": 25, "box": 10}


def test_pooled_scoring() -> None:
    """F01: counts 4, 13 and 3. Seat 2 undercuts: 1 + 10 from both, and 25 from the knocker. F02 is gin either way."""
    result = golden("F01", ffa_scoring="pooled")
    assert (result.points, result.net_points, result.winner) == ([0, 0, 36], [-26, -10, 36], 2)
    assert golden("F02", ffa_scoring="pooled").points == [134, 0, 0, 0]

    def points(counts: list[int], **overrides: Any) -> list[int]:
        paid = [0] * len(counts)
        for payment in pooled_payments({**PRESETS["free_for_all_4p"], **overrides}, counts, knocker=0):
            paid[payment.to_seat] += payment.amount
        return paid

    assert points([2, 7, 9, 3]) == [5 + 7 + 1, 0, 0, 0]
    assert points([9, 4, 4, 20]) == [0, 5 + 25 + 16, 5 + 25 + 16, 0]
    assert points([4, 4, 9, 9]) == [0, 0 + 25 + 5 + 5, 0, 0]
    assert points([4, 4, 9, 9], undercut_on_tie=False) == [0 + 5 + 5, 0, 0, 0]


SET_FIRST = ("5H 6H 7H 8S 8D 8C AC KC", "8H 2S 4D QC JD 3C TS", "9H 2D 4S QD JC KS 3D")
RUN_FOR_TWO = ("5H 6H 7H 8S 8D 8C AC KC", "8H 9H 2S 4D QC JD 3C", "TH 2D 4S QD JC KS 3D")
RUN_FIRST = ("5S 6S 7S 8H 8D 8C AC KC", "8S 2H 4D QC JD 3C TH", "9S 2D 4H QD JC KS 3D")


@pytest.mark.parametrize(
    ("hands", "overrides", "laid", "points"),
    [
        # 8H goes onto the set, whose 8S has a lower id than the 5H of the run: seat 2 is stuck with the 9H.
        (SET_FIRST, {}, {1: ["8H"], 2: []}, 39 - 1 + 48 - 1),
        # 8H and 9H both go only if the 8H is on the run, and then seat 2 continues with the TH.
        (RUN_FOR_TWO, {}, {1: ["8H", "9H"], 2: ["TH"]}, 29 - 1 + 39 - 1),
        (RUN_FOR_TWO, {"cross_chain": False}, {1: ["8H", "9H"], 2: []}, 29 - 1 + 49 - 1),
        # Here the run has the lowest id, the 5S.
        (RUN_FIRST, {}, {1: ["8S"], 2: ["9S"]}, 39 - 1 + 39 - 1),
        (RUN_FIRST, {"cross_chain": False}, {1: ["8S"], 2: []}, 39 - 1 + 48 - 1),
    ],
)
def test_a_card_that_fits_a_set_and_a_run(hands: Sequence[str], overrides: dict, laid: dict, points: int) -> None:
    rules = {**PRESETS["free_for_all_3p"], **overrides}
    result = score_showdown(rules, [hand.split() for hand in hands], 0, "KC")
    assert result.layoffs == laid
    assert result.points == [points, 0, 0]


def test_the_dealer_of_a_free_for_all() -> None:
    result = Result(kind="knock", points=[0, 9, 26, 0])
    for rule, dealer, following in [("loser", 1, 3), ("loser", 3, 0), ("loser", 0, 3), ("winner", 0, 2)]:
        assert next_dealer({**PRESETS["free_for_all_4p"], "dealer_rule": rule}, dealer, result, None) == following
    tied = Result(kind="knock", points=[0, 46, 46, 0])
    assert next_dealer({**PRESETS["free_for_all_4p"], "dealer_rule": "winner"}, 1, tied, None) == 2


def test_rotation() -> None:
    """R01, and C01 as a deal in which seat 2 has dealt and sits out."""
    case = CASES["R01"]
    won = Result(kind="knock", winner=case["winner"], points=[25, 0, 0])
    for order, key in (("loser", "pagat_loser_deals"), ("clockwise", "wikihow_clockwise")):
        dealer, playing = case["expected"][key]
        rules = {**PRESETS["rotation_3p"], "rotation": order}
        assert next_dealer(rules, case["dealer"], won, None) == dealer
        assert ReferenceDeal(rules, CARDS, dealer).playing == playing
        assert next_dealer(rules, 2, dead_deal(rules, [0, 1]), None) == 2
        assert next_dealer({**rules, "dead_redeal": "next"}, 2, dead_deal(rules, [0, 1]), None) == 0

    first, second = (" ".join(hand[:10]) for hand in CASES["C01"]["hands"])
    deal = dealt({**PRESETS["rotation_3p"], "catch_glass": True}, [first, second], 2, "2S", "KD")
    assert (deal.hands[2], len(deal.stock)) == (set(), 31)
    assert (deal.turn_seat, deal.phase) == (0, "upcard_offer")
    play(deal, "pass")
    assert deal.turn_seat == 1
    play(deal, "pass")
    assert (deal.turn_seat, deal.legal_actions()) == (0, ["draw"])
    play(deal, "draw")
    catch(deal, "AS AH AD")  # not in the pile: pays seat 1, not the seat that sits out
    assert (deal.points, deal.net_points) == ([0, 10, 0], [-10, 10, 0])
    play(deal, "knock KD")
    assert (deal.result.winner, deal.result.deadwood) == (0, [5, 30, 0])
    assert (deal.points, deal.net_points) == ([25, 10, 0], [15, -15, 0])


def tables_of_t01() -> list[Result]:
    """The two tables of T01, local seats 0 and 1 at each."""
    rules = PRESETS["two_tables_4p"]
    return [
        score_showdown(rules, [hand.split() for hand in table["hands"]], table["knocker"], table["knock_card"])
        for table in CASES["T01"]["tables"]
    ]


def test_two_tables() -> None:
    tables, expected = tables_of_t01(), CASES["T01"]["expected"]
    for number, (table, wanted) in enumerate(zip(tables, expected["tables"], strict=True)):
        assert (table.kind, 2 * number + table.winner) == (wanted["result"], wanted["winner_seat"])
        assert table.points[table.winner] == sum(table.points) == wanted["points"]
    for score, key in (("net", "team_net"), ("gross", "team_gross")):
        rules = {**PRESETS["two_tables_4p"], "team_score": score}
        result = combine_tables(rules, tables)
        assert (result.kind, result.winner, result.points) == ("two_tables", 1, expected[key])
        assert result.net_points == [-7, 7]
    assert combine_tables({**rules, "box_timing": "now"}, tables).points == [25, 32 + 25]

    game = ReferenceGame(PRESETS["two_tables_4p"], dealer=(0, 0))
    game.record(combine_tables(game.rules, tables))
    assert (game.scores, game.boxes, game.dealers) == ([0, 7], [0, 1], [1, 0])  # the loser of each table deals
    game.record(combine_tables(game.rules, [tables[0], tables[0]]))
    assert (game.scores, game.boxes, game.dealers) == ([50, 7], [1, 1], [1, 1])


def test_catches_count_between_two_tables() -> None:
    """T01 with a catch of team 0 at its first table: 25 + 10 against 32 is a win of 3 for team 0."""
    with_catch = Result(kind="knock", winner=0, points=[35, 0], net_points=[35, -35], catches=[10, 0])
    result = combine_tables(PRESETS["two_tables_4p"], [with_catch, tables_of_t01()[1]])
    assert (result.winner, result.points, result.net_points) == (0, [3, 0], [3, -3])
    dead = Result(kind="dead", points=[10, 0], net_points=[10, -10], catches=[10, 0])
    result = combine_tables(PRESETS["two_tables_4p"], [dead, dead])
    assert (result.kind, result.winner, result.points) == ("dead", None, [20, 0])


@pytest.mark.parametrize(
    ("name", "boasters", "boast", "points"),
    [
        ("C01", [0], 20, [25 + 20, 0]),  # the boaster's side knocks and wins
        ("C03", [0], 15, [0, 32 + 15]),  # ... and is undercut
        ("C01", [1], 10, [25 + 10, 0]),  # the others knock and win
        ("C03", [1], 5, [0, 32 + 5]),  # ... and are undercut
        ("C01", [0, 1], 30, [25 + 30, 0]),
        ("C11", [0], 20, [50 + 20, 0]),  # a spade doubles no boast
    ],
)
def test_boasts_pay_by_outcome(name: str, boasters: list[int], boast: int, points: list[int]) -> None:
    result = golden(name, boasters, boast=True)
    assert (result.points, result.bonuses["boast"]) == (points, boast)
    assert result.net_points == [points[0] - points[1], points[1] - points[0]]


def test_a_boast_in_a_dead_deal_pays_the_others() -> None:
    rules = {**PRESETS["palace_4p"], "boast": True, "boast_points": (20, 15, 10, 5, 7)}
    result = dead_deal(rules, [0, 1, 2, 3], boasters=[0, 2])
    assert (result.kind, result.winner, result.points, result.net_points) == ("dead", None, [0, 14], [-14, 14])


@pytest.mark.parametrize("wait", [1, 2, 3])
def test_a_boaster_waits_with_the_knock(wait: int) -> None:
    first, second = (" ".join(hand[:10]) for hand in CASES["C01"]["hands"])
    rules = {**PRESETS["classic_2p"], "boast": True, "boast_wait_turns": wait}
    deal = dealt(rules, [first, second], 1, "2S", "KD KS KC QS QD TS TC")
    play(deal, "pass", "pass", "draw")
    assert {"boast", "knock KD"} <= set(deal.legal_actions())
    play(deal, "boast")
    assert (deal.boasted, deal.bar) == ({0}, [wait, 0])
    for number, (own, others) in enumerate([("KD", "KS"), ("KC", "QS"), ("QD", "TS")]):
        can_knock = any(action.startswith("knock") for action in deal.legal_actions())
        assert (can_knock, deal.bar[0]) == (number >= wait, max(wait - number, 0))
        assert "boast" not in deal.legal_actions()
        play(deal, f"discard {own}")
        assert deal.bar == [max(wait - number - 1, 0), 0]
        play(deal, "draw", f"discard {others}", "draw")
    play(deal, "knock TC")
    assert (deal.points, deal.result.boasts) == ([45, 0], [20, 0])


def test_last_discard_may_be_taken_for_big_gin_but_not_by_a_barred_boaster() -> None:
    """Three sets of three: big gin, while every discard leaves 20 points."""
    rules = {**PRESETS["biggin_2p"], "hand_size": 8, "last_discard_knock": True, "boast": True, "catch_glass": True}
    deal = dealt(rules, ["KS KH KD QS QH QD JS JH", "2S 4S 6S 8S TS AH 3H 5H"], 1, "2C", "JD")
    play(deal, "pass", "pass", "draw", "discard JD")
    deal.turn_seat = deal.mover = 0
    deal.phase = "last_discard"
    deal.bar[0] = 1
    assert deal.legal_actions() == ["pass"]
    deal.bar[0] = 0
    assert deal.legal_actions() == ["pass", "take"]
    play(deal, "take")
    assert deal.legal_actions() == ["big_gin"]
    play(deal, "big_gin")
    assert (deal.result.kind, deal.points) == ("big_gin", [2 + 4 + 6 + 8 + 10 + 1 + 3 + 5 + 31, 0])


def test_catching_the_glass() -> None:
    rules = {**PRESETS["free_for_all_3p"], "catch_glass": True, "max_turns": 5}
    hands = ["AS 3S 5S 7S 2H 4H 6H", "AC 3C 5C 7C 2D 4D 6D", "9S JS TH QH 8C TC QC"]
    deal = dealt(rules, hands, 2, "KS", "KH KD 8S 8H 8D")
    play(deal, "pass", "pass", "pass", "draw", "discard KH", "draw", "discard KD", "draw")
    assert [action for action in deal.legal_actions() if action.startswith("catch")] == [f"catch {c}" for c in CARDS]
    play(deal, "catch KD")
    assert (deal.phase, deal.mover, deal.named) == ("catch", 2, ["KD"])
    assert deal.legal_actions() == [f"catch {card}" for card in CARDS if card != "KD"]
    play(deal, "catch KS", "catch KH")
    assert (deal.phase, deal.named, deal.caught) == ("play", [], {"KS", "KH", "KD"})
    assert (deal.points, deal.net_points) == ([0, 0, 10], [-10, -10, 20])
    assert not any(action.startswith("catch") for action in deal.legal_actions()), "once a turn"
    assert deal.pile == ["KS", "KH", "KD"]

    play(deal, "discard 8S", "draw")
    catch(deal, "KS KH KD")  # used up: the others are paid
    assert (deal.points, deal.net_points) == ([0, 10, 20], [-30, 0, 30])
    play(deal, "discard 8H", "draw")
    catch(deal, "8S 8H 8D")  # the 8D is in the hand, not in the pile
    assert (deal.points, deal.net_points) == ([10, 10, 30], [-20, -20, 40])
    assert deal.caught == {"KS", "KH", "KD"}
    play(deal, "discard 8D")  # the fifth turn is the last
    assert (deal.result.kind, deal.result.winner, deal.result.points) == ("dead", None, [10, 10, 30])
    assert deal.result.catches == [10, 10, 30]


@pytest.mark.parametrize(
    ("named", "is_right"),
    [("2S 3S 4S", True), ("4S 2S 3S", True), ("2S 3S 5S", False), ("2S 3S AS", False), ("QH KH AH", False)],
)
def test_three_of_the_pile_that_are_a_meld(named: str, is_right: bool) -> None:
    hands = ["6S 8S TS QS AH 3H 5H 7H 9H JH", "6C 8C TC QC AD 3D 5D 7D 9D JD"]
    deal = dealt({**PRESETS["palace_2p"], "catch_glass": True, "catch_points": 7}, hands, 1, "2D", "9C")
    play(deal, "pass", "pass", "draw")
    deal.pile += ["2S", "3S", "4S", "5S", "QH", "KH"]
    catch(deal, named)
    assert (deal.points, deal.net_points) == (([7, 0], [7, -7]) if is_right else ([0, 7], [-7, 7]))


def test_hollywood_sheets() -> None:
    """Target 100, 25 a box, game bonus 100, shutout 100; the scores of the sheets after each deal."""
    game = ReferenceGame({**PRESETS["classic_2p"], "score_sheet": "hollywood"}, dealer=0)
    deals: list[tuple[int | None, list[int], list[list[int]]]] = [
        (0, [60, 0], [[60, 0], [0, 0], [0, 0]]),
        (0, [50, 0], [[110, 0], [50, 0], [0, 0]]),  # sheet 1 closes
        (1, [0, 30], [[110, 0], [50, 0], [0, 0]]),  # a first win counts on sheet 1 alone, which is closed
        (1, [0, 40], [[110, 0], [50, 40], [0, 0]]),
        (None, [10, 0], [[110, 0], [60, 40], [0, 0]]),  # dead, with a catch of a team that has won twice
        (0, [70, 10], [[110, 0], [130, 50], [70, 0]]),  # third win of team 0; the catch of team 1 goes up to sheet 2
        (1, [0, 100], [[110, 0], [130, 50], [70, 100]]),  # sheet 2 is closed
    ]
    for winner, points, sheets in deals:
        assert not game.over
        game.record(Result(kind="dead" if winner is None else "knock", winner=winner, points=points))
        assert [sheet.scores for sheet in game.sheets] == sheets
    assert (game.over, game.truncated, game.boxes) == (True, False, [3, 3])
    assert [sheet.boxes for sheet in game.sheets] == [[2, 0], [2, 1], [1, 1]]
    assert (game.scores, game.net_scores) == ([310, 150], [160, -160])
    # Sheet 1: 2 boxes, game, shutout to team 0. Sheet 2: 2 boxes and game to 0, a box to 1. Sheet 3: game to 1.
    assert game.end_bonuses == [50 + 200 + 50 + 100 + 25, 25 + 25 + 100]
    assert (game.final_scores, game.winner) == ([735, 300], 0)


def test_end_of_a_game() -> None:
    case = CASES["M01"]
    for preset, final in case["expected"]["final_by_preset"].items():
        bonuses = end_bonuses(PRESETS[preset], case["scores"], case["rounds_won"])
        assert [score + bonus for score, bonus in zip(case["scores"], bonuses, strict=True)] == final
    rules = PRESETS["rotation_3p"]
    assert end_bonuses(rules, [120, 104, 0], [4, 2, 0]) == [100 + 100, 50, 0]
    assert end_bonuses(rules, [120, 104, 0], [4, 0, 0]) == [100 + 100 + 100, 0, 0]
    assert end_bonuses(rules, [120, 120, 0], [4, 0, 0]) == [100, 0, 0], "no game bonus for a shared lead"


@pytest.mark.parametrize(
    ("preset", "overrides", "message"),
    [
        ("free_for_all_3p", {"big_gin_bonus": 31}, "big_gin_bonus.*use None"),
        ("palace_4p", {"big_gin_bonus": 31}, "big_gin_bonus.*use None"),
        ("free_for_all_3p", {"boast": True}, "boast in mode"),
        ("rotation_3p", {"score_sheet": "hollywood"}, "hollywood"),
        ("free_for_all_4p", {"score_sheet": "hollywood"}, "hollywood"),
        ("rotation_3p", {"dealer_rule": "loser"}, "`rotation` decides"),
        ("free_for_all_3p", {"num_players": 2}, "seats"),
        ("oklahoma_2p", {"limit_from_upcard": False}, "ace_upcard_gin_only"),
        ("classic_2p", {"team_score": "sum"}, "team_score"),
    ],
)
def test_rules_that_exclude_each_other(preset: str, overrides: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        complete({**PRESETS[preset], **overrides})
