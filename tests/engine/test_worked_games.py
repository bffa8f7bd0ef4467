"""Rules of the game, on and off: who deals next, sheets, boxes and bonuses, each worked out by hand.

A deal between a winner and a loser is one of the four ``scripts`` below, whose points test_worked_deals.py works out.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from gin_env.engine.next_dealer import next_dealers
from gin_env.rules import PRESETS, Rules
from tests.helpers.worked import Game, Script, Table, changed, worked
from tests.reference import next_dealer

CLASSIC, PALACE, ROTATION = PRESETS["classic_2p"], PRESETS["palace_4p"], PRESETS["rotation_3p"]
TWO_TABLES, FREE = PRESETS["two_tables_4p"], PRESETS["free_for_all_3p"]

KNOCKS = "3S 4S 5S 6S 9H 9D 9C 2D 2H AC"
LOSES = "7S 8S JH QH KH 5C 5D 4C TD 6H"
HANDS = {
    # What is played: the knocker's hand, the other's; who wins, and what.
    "knock": (KNOCKS, LOSES),  # knocker 25
    "gin": ("3S 4S 5S 6S 9H 9D 9C AC AD AH", LOSES),  # knocker 45 + 25 = 70
    "undercut": (KNOCKS, "7S 8S JH QH KH TD JD QD 2S 2C"),  # the other 3 + 25 = 28
    "dead": (KNOCKS, LOSES),  # nobody knocks
}


def script(what: str, winner: int, dealer: int, seats: int = 2) -> Script:
    """Return the cards and actions of a deal; the knocker discards KD in its first turn. A dead deal has no winner."""
    playing = [(dealer + step) % seats for step in (1, 2)]
    loser = sum(playing) - winner
    knocker = loser if what == "undercut" else winner
    hands = [""] * seats
    hands[knocker], hands[sum(playing) - knocker] = HANDS[what]
    if what == "dead":
        # The drawn card is discarded, 29 times; the stock is the cards that nobody holds, in id order.
        held = ["TC", *" ".join(hands).split()]
        stock = [rank + suit for suit in "SHDC" for rank in "A23456789TJQK" if rank + suit not in held]
        turns = [f"draw, discard {card}" for card in stock[:29]]
        return Script(hands, "TC", " ".join(stock), ", ".join(["pass, pass", *turns]))
    if knocker == playing[0]:
        return Script(hands, "TC", "KD", "pass, pass, draw, knock KD")
    return Script(hands, "TC", "3D KD", "pass, pass, draw, discard 3D, draw, knock KD")


def play(game: Game, *deals: tuple[str, int]) -> list[list[int]]:
    """Play deals of one table, each given as what happens and who wins; return the points of each."""
    return [game.play(script(what, winner, game.dealer, game.rules.num_seats)) for what, winner in deals]


def dealers_after(table: Table) -> int:
    """Return who deals after the deal on a table, by the engine and the reference."""
    dealer = int(next_dealers(table.state, np.arange(1))[0])
    rules, result = dataclasses.asdict(table.rules), table.reference.result
    assert result is not None
    assert next_dealer(rules, table.reference.dealer, result, drawn=dealer) == dealer
    return dealer


def duel_then(rules: Rules, what: str, winner: int, dealer: int) -> int:
    hands, upcard, stock, actions = script(what, winner, dealer)
    return dealers_after(Table(rules, hands, upcard, stock, dealer).play(actions))


@worked("dealer_rule", "dead_redeal")
@pytest.mark.parametrize(
    ("dealer_rule", "after"),
    [
        # Who deals after (dealer 0, seat 0 wins), (dealer 0, seat 1 wins), (dealer 1, seat 0 wins).
        ("clockwise", (1, 1, 0)),
        ("alternate", (1, 1, 0)),
        ("loser", (1, 0, 1)),
        ("winner", (0, 1, 0)),
        ("fixed", (0, 0, 1)),
    ],
)
def test_next_dealer_of_two(dealer_rule: str, after: tuple[int, int, int]) -> None:
    rules = changed(CLASSIC, {"dealer_rule": dealer_rule})
    deals = [("knock", 0, 0), ("undercut", 1, 0), ("gin", 0, 1)]
    assert tuple(duel_then(rules, *deal) for deal in deals) == after
    # A dead deal is dealt again by the same seat, or by the next one; a fixed dealer stays.
    assert duel_then(changed(rules, {"dead_redeal": "same"}), "dead", 0, 0) == 0
    assert duel_then(changed(rules, {"dead_redeal": "next"}), "dead", 0, 0) == (0 if dealer_rule == "fixed" else 1)


@worked("dealer_rule", "dead_redeal")
def test_next_dealer_at_random() -> None:
    """A random dealer cannot be worked out by hand: it depends on the seed, and both seats come up."""
    rules = changed(CLASSIC, {"dealer_rule": "random", "dead_redeal": "same"})
    drawn = set()
    for seed in range(8):
        hands, upcard, stock, actions = script("knock", 0, 0)
        dealt = Table(rules, hands, upcard, stock, 0)
        dealt.engine.seed(seed)
        dealt.play(actions)
        drawn.add(dealers_after(dealt))
    assert drawn == {0, 1}
    assert duel_then(rules, "dead", 0, 1) == 1


@worked("dealer_rule")
@pytest.mark.parametrize(
    ("dealer_rule", "after"),
    [
        # Team 0 wins; seats 0 and 1 deal. The loser's next seat clockwise is 1, then 3; the winner's is 2 both times.
        ("clockwise", (1, 2)),
        ("loser", (1, 3)),
        ("winner", (2, 2)),
        ("fixed", (0, 1)),
    ],
)
def test_next_dealer_of_teams(dealer_rule: str, after: tuple[int, int]) -> None:
    # The chain of test_worked_deals.py: seat 0 knocks and wins 67.
    hands = ["3S 4S 5S 9H 9D 9C 2D", "6S KC QH 8H 5D 3C 2H", "TD JD QD 7H 7C 2C AC", "7S JH TC 6C 5H 4C 3H"]
    rules = changed(PALACE, {"dealer_rule": dealer_rule})
    last = Table(rules, hands, "8C", "KS QS JS KH", 0).play("pass x4").stall(3)  # seats 1, 2, 3, then 0
    middle = Table(rules, hands, "8C", "KS QS KH", 1).play("pass x4").stall(2)
    for table in (last, middle):
        assert table.play("draw, knock KH").points == [67, 0]
    assert (dealers_after(last), dealers_after(middle)) == after


@worked("dealer_rule")
def test_next_dealer_in_free_for_all() -> None:
    # Seat 0 knocks with 2 left. Seats 1 and 2 keep 38 each: points 72, 0, 0. With 1 left seat 1 undercuts: 43, 26, 0.
    knocker = "3S 4S 5S 9H 9D 9C 2D"
    tied = [knocker, "6S KC QH 8H 5D 3C 2H", "7S JH TC 6C 5H 4C 3H"]
    undercut = [knocker, "TH TC TS 8S 8H 8D AH", "7S JH QC 6C 5H 4C 3H"]

    def after(dealer_rule: str, hands: list[str], dealer: int) -> int:
        stock = ["KS", "QS"][: 2 - dealer]  # discarded by the seats between dealer and knocker
        rules = changed(FREE, {"dealer_rule": dealer_rule})
        table = Table(rules, hands, "8C", " ".join([*stock, "KH"]), dealer).play("pass x3").stall(2 - dealer)
        table.play("draw, knock KH")
        assert table.points == ([72, 0, 0] if hands is tied else [43, 26, 0])
        return dealers_after(table)

    assert [after("winner", undercut, dealer) for dealer in (0, 1, 2)] == [0, 0, 0]
    assert [after("loser", undercut, dealer) for dealer in (0, 1, 2)] == [2, 2, 2]
    # Seats 1 and 2 are equally low: the first of them clockwise after the dealer.
    assert [after("loser", tied, dealer) for dealer in (0, 1, 2)] == [1, 2, 1]
    assert [after("clockwise", tied, dealer) for dealer in (0, 1, 2)] == [1, 2, 0]


@worked("rotation", "dead_redeal")
def test_rotation() -> None:
    # Seat 2 deals and sits out, seat 0 beats seat 1, 25 points. The loser deals next; seat 0 plays seat 2, and loses.
    game = Game(changed(ROTATION, {"rotation": "loser"}), 2)
    assert play(game, ("knock", 0)) == [[25, 0, 0]]
    assert game.dealer == 1
    assert play(game, ("undercut", 2)) == [[0, 0, 28]]
    assert game.dealer == 0
    # Clockwise: 2, 0, 1, whoever wins.
    game = Game(changed(ROTATION, {"rotation": "clockwise"}), 2)
    assert play(game, ("knock", 0)) == [[25, 0, 0]]
    assert game.dealer == 0
    assert play(game, ("knock", 1)) == [[0, 25, 0]]
    assert game.dealer == 1
    # Dead: again, or the next seat.
    for dead_redeal, dealer in (("same", 2), ("next", 0)):
        game = Game(changed(ROTATION, {"dead_redeal": dead_redeal}), 2)
        assert play(game, ("dead", 0)) == [[0, 0, 0]]
        assert game.dealer == dealer


@worked("box_bonus", "game_bonus", "shutout_bonus", "target")
@pytest.mark.parametrize(
    ("changes", "shutout", "contested"),
    [
        # Seat 0 wins 25 and 25 and reaches 50. Contested: seat 1 undercuts between, 28.
        # 50 + 2 boxes of 25 + 100 + 100; the loser's one box spoils the shutout: 50 + 50 + 100 against 28 + 25.
        ({}, [300, 0], [200, 53]),
        ({"shutout_bonus": 0}, [200, 0], [200, 53]),
        ({"game_bonus": 0}, [200, 0], [100, 53]),
        ({"box_bonus": 0}, [250, 0], [150, 28]),
        ({"game_bonus": 0, "shutout_bonus": 0, "box_bonus": 10}, [70, 0], [70, 38]),
    ],
)
def test_the_end_of_a_game(changes: dict[str, Any], shutout: list[int], contested: list[int]) -> None:
    rules = changed(CLASSIC, {"target": 50} | changes)
    game = Game(rules, 1)
    play(game, ("knock", 0), ("knock", 0))
    assert (game.over, game.scores) == (True, shutout)
    game = Game(rules, 1)
    play(game, ("knock", 0), ("undercut", 1), ("knock", 0))
    assert (game.over, game.scores) == (True, contested)


@worked("target", "box_timing", "max_deals")
def test_when_a_game_ends() -> None:
    # A target of 25 is reached with the first deal, one of 26 is not: 25 + 25 + 100 + 100.
    game = Game(changed(CLASSIC, {"target": 25}), 1)
    assert play(game, ("knock", 0)) == [[25, 0]]
    assert (game.over, game.scores) == (True, [250, 0])
    game = Game(changed(CLASSIC, {"target": 26}), 1)
    play(game, ("knock", 0))
    assert (game.over, game.scores) == (False, [25, 0])
    # A box paid at once helps towards the target: 25 + 25 = 50 in one deal, and is not paid again.
    game = Game(changed(CLASSIC, {"target": 50, "box_timing": "now"}), 1)
    assert play(game, ("knock", 0)) == [[50, 0]]
    assert (game.over, game.scores) == (True, [50 + 200, 0])
    # Cut short after one deal, or after two, a dead one counted: no bonuses, no winner.
    game = Game(changed(CLASSIC, {"max_deals": 1}), 1)
    play(game, ("knock", 0))
    assert (game.over, game.scores) == (True, [25, 0])
    game = Game(changed(CLASSIC, {"max_deals": 2}), 1)
    play(game, ("dead", 0), ("knock", 0))
    assert (game.over, game.scores) == (True, [25, 0])


@worked("box_bonus")
def test_boxes_may_turn_a_game() -> None:
    # Seat 1 wins three undercuts of 28, seat 0 a gin of 70 and a knock of 25, with which it reaches 90.
    deals = [("undercut", 1)] * 3 + [("gin", 0), ("knock", 0)]
    # 95 + 2 x 50 against 84 + 3 x 50; without boxes 95 against 84.
    for box_bonus, scores, winner in ((50, [195, 234], 1), (0, [95, 84], 0)):
        game = Game(changed(CLASSIC, {"target": 90, "game_bonus": 0, "box_bonus": box_bonus}), 1)
        play(game, *deals)
        assert game.last is not None
        assert (game.over, game.scores, int(game.last.game_winner[0])) == (True, scores, winner)


@worked("score_sheet")
def test_hollywood() -> None:
    # Target 100. Team 0 wins gins of 70, team 1 an undercut of 28 and a knock of 25.
    deals = [("gin", 0), ("undercut", 1), ("gin", 0), ("knock", 1), ("gin", 0), ("gin", 0)]
    sheets_after = [
        [[70, 0], [0, 0], [0, 0]],  # team 0's first win: sheet 1
        [[70, 28], [0, 0], [0, 0]],  # team 1's first win: sheet 1
        [[140, 28], [70, 0], [0, 0]],  # team 0's second: sheets 1 and 2; sheet 1 closes
        [[140, 28], [70, 25], [0, 0]],  # team 1's second: sheet 2 alone is open of 1 and 2
        [[140, 28], [140, 25], [70, 0]],  # team 0's third: sheets 2 and 3; sheet 2 closes
        [[140, 28], [140, 25], [140, 0]],  # team 0's fourth: sheet 3 closes, the game ends
    ]
    game = Game(changed(CLASSIC, {"score_sheet": "hollywood"}), 1)
    for deal, sheets in zip(deals, sheets_after, strict=True):
        assert not game.over
        play(game, deal)
        assert game.last is not None
        assert game.last.finished is not None
        assert game.last.finished.sheet_scores[0].tolist() == sheets
    # Boxes by sheet: 2:1, 2:1, 2:0. Sheets 1 and 2: 140 + 50 + 100 against 28 + 25, 25 + 25; sheet 3, a shutout:
    # 140 + 50 + 100 + 100 against 0. Together 290 + 290 + 390 and 53 + 50.
    assert (game.over, game.scores) == (True, [970, 103])
    # On a single sheet the third deal ends it: 140 + 50 + 100 against 28 + 25.
    game = Game(changed(CLASSIC, {"score_sheet": "single"}), 1)
    play(game, *deals[:3])
    assert (game.over, game.scores) == (True, [290, 53])


@worked("score_sheet", "catch_glass")
def test_hollywood_catches() -> None:
    # In each deal seat 1 catches three sevens, 10, and then seat 0 wins 25: first on sheet 1, then on 1 and 2. Catches
    # of a team that has won no deal count on sheet 1.
    catch = Script(
        [KNOCKS, LOSES],
        "7C",
        "7D 7H KD 3D KC",
        "pass, pass, draw, discard 7D, draw, discard 7H, draw, discard KD, "
        "draw, catch 7C, catch 7D, catch 7H, discard 3D, draw, knock KC",
    )
    game = Game(changed(CLASSIC, {"score_sheet": "hollywood", "catch_glass": True}), 1)
    for sheets in ([[25, 10], [0, 0], [0, 0]], [[50, 20], [25, 0], [0, 0]]):
        assert game.play(catch) == [25, 10]
        assert game.last is not None
        assert game.last.finished is not None
        assert game.last.finished.sheet_scores[0].tolist() == sheets


def two_tables(changes: dict[str, Any], first: tuple[str, int], second: tuple[str, int]) -> Game:
    """Play one deal at two tables, dealt by seat 1 of each."""
    game = Game(changed(TWO_TABLES, changes), (1, 1))
    game.play(script(*first, dealer=1), script(*second, dealer=1))
    return game


@worked("team_score", "box_timing", "target", "dealer_rule")
def test_two_tables() -> None:
    # Table 1: team 0 wins 25. Table 2: team 1 wins gin, 70. Net: 45; gross: 25 and 70. The box of 25 waits for the end.
    one, other = ("knock", 0), ("gin", 1)
    assert two_tables({"team_score": "net"}, one, other).scores == [0, 45]
    assert two_tables({"team_score": "gross"}, one, other).scores == [25, 70]
    # Paid at once, it goes to the team that is ahead over both tables.
    assert two_tables({"team_score": "net", "box_timing": "now"}, one, other).scores == [0, 70]
    assert two_tables({"team_score": "gross", "box_timing": "now"}, one, other).scores == [25, 95]
    # Equal: no winner and no box. A dead table counts 0 and is not played again.
    equal = ("knock", 0), ("knock", 1)
    assert two_tables({"team_score": "net", "box_timing": "now"}, *equal).scores == [0, 0]
    assert two_tables({"team_score": "gross", "box_timing": "now"}, *equal).scores == [25, 25]
    assert two_tables({}, ("dead", 0), ("knock", 1)).scores == [0, 25]
    # Each table's loser deals next there, seat 1 and seat 0; a dead table's dealer again.
    assert two_tables({"dealer_rule": "loser"}, one, other).dealers == [1, 0]
    assert two_tables({"dealer_rule": "winner"}, one, other).dealers == [0, 1]
    assert two_tables({"dealer_rule": "winner"}, one, ("dead", 0)).dealers == [0, 1]
    # Both tables 70 for team 0: 140 of 125, one box of 25, 100 and 100.
    ended = two_tables({"target": 125}, ("gin", 0), ("gin", 0))
    assert (ended.over, ended.scores) == (True, [140 + 25 + 100 + 100, 0])


@worked("team_score", "catch_glass", "box_timing")
def test_catches_at_two_tables() -> None:
    # All that the tables pay is netted and decides. Table 1: seat 0 catches three sevens, 10, and wins 25: 35.
    catch = Script(
        [KNOCKS, LOSES],
        "7C",
        "7D 7H KD",
        "pass, pass, draw, discard 7D, draw, discard 7H, draw, catch 7C, catch 7D, catch 7H, knock KD",
    )
    for what, winner, net, gross in (
        # Table 2 pays team 1 a knock of 25, a draw but for the catch. Net 10, gross 35 and 25; the box of 25.
        ("knock", 0, [35 - 25 + 25, 0], [35 + 25, 25]),
        # Table 2 pays team 1 a gin of 70: net 35, gross 35 and 70; the box of 25.
        ("gin", 1, [0, 70 - 35 + 25], [35, 70 + 25]),
    ):
        for team_score, points in (("net", net), ("gross", gross)):
            rules = changed(TWO_TABLES, {"team_score": team_score, "catch_glass": True, "box_timing": "now"})
            game = Game(rules, (1, 1))
            assert game.play(catch, script(what, 1, dealer=1)) == points
            assert game.last is not None
            assert game.last.winner[0] == winner
