"""Showdowns under every rule that bears on them, on and off, each with its points worked out by hand.

Read with tests/engine/test_worked_play.py (rules of the turn) and tests/engine/test_worked_games.py (rules of the
game). Seat 0 always knocks. "The rest" of a hand is what is in no meld; points in brackets are [seat or team 0, 1,
...].
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from gin_env.rules import PRESETS, Rules
from tests.helpers.worked import changed, showdown, worked, worked_fields

CLASSIC, PALACE = PRESETS["classic_2p"], PRESETS["palace_4p"]

# Two players. The knocker discards KD.
KNOCKS = "3S 4S 5S 6S 9H 9D 9C 2D 2H AC"  # the rest: 2 + 2 + 1 = 5
GIN = "3S 4S 5S 6S 9H 9D 9C AC AD AH"  # nothing left
BIG_GIN = GIN + " 9S"  # eleven cards, nothing left
LOSES = "7S 8S JH QH KH 5C 5D 4C TD 6H"  # the rest: 5 + 5 + 4 + 10 + 6 = 30, and 7S 8S to lay off, else 45
UNDERCUTS = "7S 8S JH QH KH TD JD QD 2S 2C"  # lays off 7S 8S 2S; the rest: 2
TIES = "7S 8S JH QH KH TD JD QD 4C AD"  # lays off 7S 8S; the rest: 4 + 1 = 5

# Partners. Seat 0 discards KH.
NO_DEADWOOD = "3S 4S 5S 6S 9H 9D 9C"  # nothing left
LOADED = "TD JD QD 7H 7C 2C AC"  # the rest: 7 + 7 + 2 + 1 = 17
LEFT = "7S KC QH 8H 5D 3C 2H"  # no meld, 7 + 38 = 45; 7S fits the run of NO_DEADWOOD
RIGHT = "KD JH TC 6C 5H 4C 3H"  # no meld, 10 + 38 = 48; KD fits the run of LOADED
SMALL_GIN = [NO_DEADWOOD, LEFT, LOADED, RIGHT]  # the knocker has nothing left, the team 17
# Both knockers hold deadwood: 2 + 17 = 19. LEFT can lay off 6S, and then RIGHT 7S.
CHAIN = ["3S 4S 5S 9H 9D 9C 2D", "6S KC QH 8H 5D 3C 2H", LOADED, "7S JH TC 6C 5H 4C 3H"]

# Free for all, three seats. The knocker's rest is 2; 6S and then 7S can be laid off; 38 and 38 are left.
THREE = [CHAIN[0], CHAIN[1], CHAIN[3]]
ONE_LEFT = "TH TC TS 8S 8H 8D AH"
TWO_LEFT = "TH TC TS 8S 8H 8D 2H"
FORTY_FIVE = "7S JH QC 6C 5H 4C 3H"  # 7 + 10 + 10 + 6 + 5 + 4 + 3; without a 6S on the table 7S is stuck


@worked("undercut_on_tie", "undercut_bonus")
def test_undercut() -> None:
    # 5 against 2: the difference 3 and the bonus go to the defender.
    for bonus, points in ((25, 28), (10, 13), (0, 3)):
        result = showdown(changed(CLASSIC, {"undercut_bonus": bonus}), [KNOCKS, UNDERCUTS], "KD")
        assert (result.kind, result.points) == ("undercut", (0, points))
    # 5 against 5: an undercut of 0 + 25, or a knock won by 0.
    result = showdown(changed(CLASSIC, {"undercut_on_tie": True}), [KNOCKS, TIES], "KD")
    assert (result.kind, result.winner, result.points) == ("undercut", 1, (0, 25))
    result = showdown(changed(CLASSIC, {"undercut_on_tie": False}), [KNOCKS, TIES], "KD")
    assert (result.kind, result.winner, result.points) == ("knock", 0, (0, 0))


@worked("gin_bonus", "layoff_on_gin", "big_gin_bonus")
def test_gin_and_big_gin() -> None:
    # Nothing is laid off on gin: 45 and the bonus.
    for bonus, points in ((25, 70), (20, 65), (0, 45)):
        result = showdown(changed(CLASSIC, {"gin_bonus": bonus}), [GIN, LOSES], "KD")
        assert (result.kind, result.points) == ("gin", (points, 0))
    # With lay-offs 7S and 8S go: 30 + 25.
    laid = changed(CLASSIC, {"layoff_on_gin": True})
    assert showdown(laid, [GIN, LOSES], "KD").points == (55, 0)
    # Big gin pays its own bonus instead: 45 + 31, with lay-offs 30 + 31; where it is off, 9S or 6S must be discarded.
    big = changed(CLASSIC, {"big_gin_bonus": 31})
    assert showdown(big, [BIG_GIN, LOSES], None).points == (76, 0)
    assert showdown(changed(big, {"layoff_on_gin": True}), [BIG_GIN, LOSES], None).points == (61, 0)
    assert not showdown(changed(big, {"big_gin_bonus": None}), [BIG_GIN, LOSES], None).legal
    assert showdown(CLASSIC, [GIN, LOSES], "9S").points == (70, 0)


@worked("box_bonus", "box_timing")
@pytest.mark.parametrize(
    ("changes", "knock", "undercut"),
    [
        # Knock: 30 - 5 = 25 and the box; undercut: 5 - 2 = 3, the bonus of 20, and the box.
        ({"box_bonus": 10, "box_timing": "now"}, 35, 33),
        ({"box_bonus": 0, "box_timing": "now"}, 25, 23),
        ({"box_bonus": 10, "box_timing": "end"}, 25, 23),
    ],
)
def test_boxes(changes: dict[str, Any], knock: int, undercut: int) -> None:
    rules = changed(PRESETS["palace_2p"], changes)
    assert showdown(rules, [KNOCKS, LOSES], "KD").points == (knock, 0)
    assert showdown(rules, [KNOCKS, UNDERCUTS], "KD").points == (0, undercut)


@worked("spread")
def test_equal_spreads() -> None:
    # Three tens, and 4S 4H 4D (left: 3H 5H A A = 10) or 3H 4H 5H (left: 4S 4D A A = 10). The defender holds 80 points,
    # no meld, no heart, and 4C: on the fours 4C is laid off and 76 are kept, on the run nothing.
    hands = ["4S 4H 4D 3H 5H TS TH TD AC AD", "4C 6S 7S KS KD QS QD 9D 8C 6C"]
    assert showdown(changed(CLASSIC, {"spread": "least"}), hands, "KC").points == (80 - 10, 0)
    # The fours meld 4S, the lowest card in which the two differ: they come first.
    assert showdown(changed(CLASSIC, {"spread": "first"}), hands, "KC").points == (76 - 10, 0)


@worked("layoff")
def test_how_layoffs_are_found() -> None:
    # The knocker has 3S-6S and 5 left. Best: meld 7H 7D 7C, lay off 7S and 8S; TD 5C = 15 are left.
    # Greedy: meld all four sevens first, then 8S is stuck: 23 are left.
    hands = [KNOCKS, "7S 7H 7D 7C 8S JH QH KH TD 5C"]
    assert showdown(changed(CLASSIC, {"layoff": "optimal"}), hands, "KD").points == (15 - 5, 0)
    assert showdown(changed(CLASSIC, {"layoff": "greedy"}), hands, "KD").points == (23 - 5, 0)


@worked("knock_limit")
def test_knock_limit() -> None:
    # 5 are left: a limit of 5 allows the knock, 30 - 5; a limit of 4 or 0 does not; gin always goes.
    for limit, points in ((10, 25), (5, 25), (4, 0), (0, 0)):
        result = showdown(changed(CLASSIC, {"knock_limit": limit}), [KNOCKS, LOSES], "KD")
        assert (result.legal, result.points) == (points > 0, (points, 0))
        assert showdown(changed(CLASSIC, {"knock_limit": limit}), [GIN, LOSES], "KD").points == (70, 0)


@worked("limit_from_upcard", "ace_upcard_gin_only")
def test_limit_from_the_upcard() -> None:
    plain = changed(CLASSIC, {"limit_from_upcard": False})
    from_card = changed(CLASSIC, {"limit_from_upcard": True})
    # 5 are left: legal after 5H or a court card, not after 4H; without the rule after any card.
    for upcard, is_legal in (("5H", True), ("QC", True), ("4H", False)):
        assert showdown(from_card, [KNOCKS, LOSES], "KD", upcard).points == (25 * is_legal, 0)
        assert showdown(plain, [KNOCKS, LOSES], "KD", upcard).points == (25, 0)
    # knock_limit stays a cap: 5 are too much for a limit of 4, whatever the card.
    assert not showdown(changed(from_card, {"knock_limit": 4}), [KNOCKS, LOSES], "KD", "QC").legal
    # AC is left, 1 point; 6S is missing, so nothing can be laid off: 45 - 1 = 44. An ace makes the limit 1, or 0.
    hands = ["3S 4S 5S 9H 9D 9C 2D 2H 2C AC", LOSES]
    assert showdown(changed(from_card, {"ace_upcard_gin_only": False}), hands, "KD", "AH").points == (44, 0)
    gin_only = changed(from_card, {"ace_upcard_gin_only": True})
    assert not showdown(gin_only, hands, "KD", "AH").legal
    assert showdown(gin_only, hands, "KD", "2S").points == (44, 0)
    assert showdown(gin_only, [GIN, LOSES], "KD", "AS").points == (70, 0)


@worked("spade_upcard_doubles")
def test_a_spade_doubles_all_but_the_box() -> None:
    rules = changed(CLASSIC, {"box_bonus": 25, "box_timing": "now"})
    once, twice = (changed(rules, {"spade_upcard_doubles": on}) for on in (False, True))
    # Knock 25, undercut 3 + 25 = 28, gin 45 + 25 = 70; the box of 25 comes on top, once.
    for hands, points in (([KNOCKS, LOSES], 25), ([GIN, LOSES], 70)):
        assert showdown(twice, hands, "KD", "9S").points == (2 * points + 25, 0)
        assert showdown(twice, hands, "KD", "TH").points == (points + 25, 0)
        assert showdown(once, hands, "KD", "9S").points == (points + 25, 0)
    assert showdown(twice, [KNOCKS, UNDERCUTS], "KD", "9S").points == (0, 2 * 28 + 25)
    # Big gin: 2 x (45 + 31) + 25.
    big = changed(twice, {"big_gin_bonus": 31})
    assert showdown(big, [BIG_GIN, LOSES], None, "TS").points == (177, 0)


@worked("team_layoff", "layoff_on_gin")
@pytest.mark.parametrize(
    ("changes", "defence"),
    [
        # The knocker has 0, the partner 17. 7S (7) fits the knocker's run, KD (10) the partner's; 45 + 48 = 93.
        ({"team_layoff": "per_member"}, 93 - 10),
        ({"team_layoff": "knocker_only"}, 93),
        ({"team_layoff": "all"}, 93 - 10 - 7),
        ({"team_layoff": "per_member", "layoff_on_gin": True}, 93 - 10 - 7),
        ({"team_layoff": "knocker_only", "layoff_on_gin": True}, 93 - 7),
    ],
)
def test_whose_melds_are_open(changes: dict[str, Any], defence: int) -> None:
    result = showdown(changed(PALACE, changes), SMALL_GIN, "KH")
    # The difference, the small gin of 10 and the box of 10.
    assert (result.kind, result.points) == ("small_gin", (defence - 17 + 10 + 10, 0))


@worked("small_gin_bonus", "team_gin_bonus", "small_gin_for")
def test_gin_of_a_team() -> None:
    # Small gin as above: 83 - 17 = 66, 10 for the box, and the bonus.
    assert showdown(changed(PALACE, {"small_gin_bonus": 10}), SMALL_GIN, "KH").points == (86, 0)
    assert showdown(changed(PALACE, {"small_gin_bonus": 0}), SMALL_GIN, "KH").points == (76, 0)
    # The whole team without deadwood: nothing is open, 93 - 0, 10 for the box, and the bonus.
    team_gin = [NO_DEADWOOD, LEFT, "TD JD QD AC AD AH AS", RIGHT]
    assert showdown(changed(PALACE, {"team_gin_bonus": 30}), team_gin, "KH").points == (133, 0)
    assert showdown(changed(PALACE, {"team_gin_bonus": 0}), team_gin, "KH").points == (103, 0)
    # The partner has 0, the knocker 2 + 1 + 3 + 4 = 10, and KD fits the knocker's run: 93 - 10 - 10 = 73, box 10.
    partner_without_deadwood = ["TD JD QD 2C AC 3D 4D", LEFT, NO_DEADWOOD, RIGHT]
    result = showdown(changed(PALACE, {"small_gin_for": "knocker"}), partner_without_deadwood, "KH")
    assert (result.kind, result.points) == ("knock", (83, 0))
    result = showdown(changed(PALACE, {"small_gin_for": "any_member"}), partner_without_deadwood, "KH")
    assert (result.kind, result.points) == ("small_gin", (93, 0))


@worked("gin_protects")
def test_who_cannot_be_undercut() -> None:
    # The knocker has 0, the team 17; the defenders have 2 (2H) + 3 (3D) = 5, and nothing to lay off.
    hands = [NO_DEADWOOD, "AS AH AD 4H 5H 6H 2H", LOADED, "TS TH TC 8S 8H 8D 3D"]
    # By teams it is an undercut: 12, the bonus of 20, the box of 10.
    result = showdown(changed(PALACE, {"gin_protects": "team_zero"}), hands, "KH")
    assert (result.kind, result.points) == ("undercut", (0, 42))
    # A knocker without deadwood cannot be undercut: the difference counts as 0; small gin 10 and the box 10.
    result = showdown(changed(PALACE, {"gin_protects": "knocker_zero"}), hands, "KH")
    assert (result.kind, result.points) == ("small_gin", (20, 0))


@worked("cross_chain")
def test_chains_across_the_defenders() -> None:
    # 44 + 45 = 89. With 6S and 7S off it is 76, with 6S alone 83; less 19, and 10 for the box.
    assert showdown(changed(PALACE, {"cross_chain": True}), CHAIN, "KH").points == (76 - 19 + 10, 0)
    assert showdown(changed(PALACE, {"cross_chain": False}), CHAIN, "KH").points == (83 - 19 + 10, 0)
    # Free for all, 2 left for the knocker: 38 - 2 from each; without chains seat 2 keeps 7S, 45 - 2.
    free = PRESETS["free_for_all_3p"]
    result = showdown(changed(free, {"cross_chain": True}), THREE, "KH")
    assert (result.points, result.net_points) == ((36 + 36, 0, 0), (72, -36, -36))
    result = showdown(changed(free, {"cross_chain": False}), THREE, "KH")
    assert (result.points, result.net_points) == ((36 + 43, 0, 0), (79, -36, -43))


@worked("ffa_scoring", "box_bonus", "spade_upcard_doubles")
@pytest.mark.parametrize(
    ("changes", "points", "net_points"),
    [
        # 2 for the knocker, 1 and 45 for the others. Pairs: seat 1 gets 1 + 25, the knocker 43 from seat 2.
        ({}, (43, 26, 0), (43 - 26, 26, -43)),
        # Pooled: seat 1 is lowest: 1 + 25 from the knocker, 44 from seat 2.
        ({"ffa_scoring": "pooled"}, (0, 70, 0), (-26, 70, -44)),
        # A box of 10 for the most points, counted against both others: +20, -10, -10.
        ({"box_bonus": 10}, (53, 26, 0), (17 + 20, 26 - 10, -43 - 10)),
        # A spade: every pair twice, but not the box.
        ({"spade_upcard_doubles": True}, (86, 52, 0), (34, 52, -86)),
        ({"spade_upcard_doubles": True, "box_bonus": 10}, (96, 52, 0), (34 + 20, 52 - 10, -86 - 10)),
    ],
)
def test_free_for_all_undercut(changes: dict[str, Any], points: tuple[int, ...], net_points: tuple[int, ...]) -> None:
    rules = Rules.preset("free_for_all_3p", ffa_scoring=changes.get("ffa_scoring", "pairwise"))
    result = showdown(changed(rules, changes), [THREE[0], ONE_LEFT, FORTY_FIVE], "KH", "9S")
    assert (result.kind, result.points, result.net_points) == ("knock", points, net_points)


@worked("gin_bonus", "layoff_on_gin", "undercut_on_tie", "ffa_scoring")
def test_free_for_all_gin_and_ties() -> None:
    free = PRESETS["free_for_all_3p"]
    # Gin: 1 + 25 from seat 1 and 45 + 25 from seat 2; with lay-offs 7S goes, 38 + 25. Pooled pays the same.
    hands = [NO_DEADWOOD, ONE_LEFT, FORTY_FIVE]
    for scoring in ("pairwise", "pooled"):
        rules = changed(free, {"ffa_scoring": scoring})
        assert showdown(rules, hands, "KH").points == (26 + 70, 0, 0)
        assert showdown(changed(rules, {"layoff_on_gin": True}), hands, "KH").points == (26 + 63, 0, 0)
        assert showdown(changed(rules, {"gin_bonus": 0}), hands, "KH").points == (1 + 45, 0, 0)
    # 2 against 2 and 45. Pairs: a tie is an undercut of 0 + 25, or worth nothing; 43 come from seat 2.
    hands = [THREE[0], TWO_LEFT, FORTY_FIVE]
    assert showdown(changed(free, {"undercut_on_tie": True}), hands, "KH").points == (43, 25, 0)
    assert showdown(changed(free, {"undercut_on_tie": False}), hands, "KH").points == (43, 0, 0)
    # Pooled: the tie lets seat 1 score 0 + 25 and 43, or leaves the knocker lowest.
    pooled = changed(free, {"ffa_scoring": "pooled"})
    assert showdown(changed(pooled, {"undercut_on_tie": True}), hands, "KH").points == (0, 68, 0)
    assert showdown(changed(pooled, {"undercut_on_tie": False}), hands, "KH").points == (43, 0, 0)


@worked("boast", "boast_points")
def test_what_boasts_pay() -> None:
    rules = changed(CLASSIC, {"boast": True, "boast_points": (20, 15, 10, 5, 0)})
    won, undercut = [KNOCKS, LOSES], [KNOCKS, UNDERCUTS]  # 25 to seat 0; 3 + 25 = 28 to seat 1
    for hands, boasters, points in (
        (won, (), (25, 0)),
        (won, (0,), (25 + 20, 0)),  # the boaster knocks and wins
        (undercut, (0,), (0, 28 + 15)),  # ... and is undercut
        (won, (1,), (25 + 10, 0)),  # the others knock and win
        (undercut, (1,), (0, 28 + 5)),  # ... and are undercut
        (won, (0, 1), (25 + 20 + 10, 0)),  # both boasted: both amounts
        (undercut, (0, 1), (0, 28 + 15 + 5)),
    ):
        assert showdown(rules, hands, "KD", boasters=boasters).points == points
    # A spade doubles the deal, not the boast.
    doubling = changed(rules, {"spade_upcard_doubles": True})
    assert showdown(doubling, won, "KD", "9S", boasters=(0,)).points == (2 * 25 + 20, 0)
    # Partners: 67 as in the chain above; both partners boasted, and one opponent.
    partners = changed(PALACE, {"boast": True})
    assert showdown(partners, CHAIN, "KH", boasters=(0, 2)).points == (67 + 20 + 20, 0)
    assert showdown(partners, CHAIN, "KH", boasters=(2, 3)).points == (67 + 20 + 10, 0)


def test_every_rule_has_a_worked_deal() -> None:
    """A new field of Rules needs one: mode and num_players are what the deals are played in."""
    fields = {field.name for field in dataclasses.fields(Rules)}
    assert fields - {"mode", "num_players"} - worked_fields() == set(), "rules without a worked deal"
    assert fields >= worked_fields()
