"""Rules of the turn, on and off, move by move from a stated deck, each with its points worked out by hand.

Seat 0 begins unless a dealer is given. ``Table.play`` also asks the reference after every action.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from gin_env.cards import format_cards
from gin_env.engine import Engine
from gin_env.observation import player_view
from gin_env.rules import PRESETS
from tests.helpers.worked import Table, changed, worked

CLASSIC, PALACE, FREE = PRESETS["classic_2p"], PRESETS["palace_4p"], PRESETS["free_for_all_3p"]

# As in tests/scoring/test_worked_deals.py: KNOCKS leaves 5, LOSES lays off 7S 8S and keeps 30: 25 points. On gin LOSES
# keeps 45.
KNOCKS = "3S 4S 5S 6S 9H 9D 9C 2D 2H AC"
LOSES = "7S 8S JH QH KH 5C 5D 4C TD 6H"
GIN = "3S 4S 5S 6S 9H 9D 9C AC AD AH"
# Partners: seat 0 needs 9C of its partner to knock. Nothing fits anybody's melds.
TRADERS = [
    "3S 4S 5S 9H 9D KD QC",
    "KC QH 8D 5D 3C 2H TS",  # 48, no meld
    "9C 2S JH 6D 6C 8H 3H",
    "KS QD TC 7C 5H 4C 7D",  # 53, no meld
]


def table(changes: dict[str, Any], upcard: str = "KC", stock: str = "KD", hands: tuple[str, ...] = ()) -> Table:
    return Table(changed(CLASSIC, changes), hands or [KNOCKS, LOSES], upcard, stock)


@worked("upcard_offer", "all_pass_forces_stock")
def test_the_first_upcard() -> None:
    # The knocker draws KD and discards it: 30 - 5. Without the offer it draws at once.
    assert table({"upcard_offer": True}).play("pass, pass, draw, knock KD").points == [25, 0]
    without = table({"upcard_offer": False})
    assert without.legal == ["take", "draw"]
    assert without.play("draw, knock KD").points == [25, 0]
    # After two passes the declined 2C is out of reach, or seat 0 takes it: 2D 2H 2C, AC discarded, gin, 45 + 25.
    forced = table({"all_pass_forces_stock": True}, "2C").play("pass, pass")
    assert forced.legal == ["draw"]
    assert forced.play("draw, knock KD").points == [25, 0]
    assert table({"all_pass_forces_stock": False}, "2C").play("pass, pass, take, knock AC").points == [70, 0]


@worked("stock_floor")
@pytest.mark.parametrize("floor", range(5))
def test_stock_floor(floor: int) -> None:
    # 52 - 20 - 1 = 31 cards in the stock; the turn that leaves `floor` of them is the last.
    draws = 31 - floor
    dead = table({"stock_floor": floor}, stock="").play("pass, pass").stall(draws)
    assert (dead.kind, dead.points, int(dead.state.turn[0])) == ("dead", [0, 0], draws)
    # Seats take turns, so seat 0 has the last one where `draws` is odd; its knock then still counts.
    if draws % 2:
        last = table({"stock_floor": floor}, stock=f"{draws - 1} KD").play("pass, pass").stall(draws - 1)
        assert last.play("draw, knock KD").points == [25, 0]


@worked("last_discard_knock")
def test_last_discard() -> None:
    # Seat 0 draws and discards AC as the 29th and last card. Seat 1 lacks it to knock: KD goes, 5 are left, 30 - 5.
    hands = (LOSES, "3S 4S 5S 6S 9H 9D 9C 2D 2H KD")

    def last_discard(last_discard_knock: bool) -> Table:
        dealt = table({"last_discard_knock": last_discard_knock}, stock="28 AC", hands=hands)
        return dealt.play("pass, pass").stall(29)

    assert last_discard(False).kind == "dead"
    offered = last_discard(True)
    assert (offered.mover, offered.legal) == (1, ["pass", "take"])
    assert offered.play("take").legal == ["knock KD"]
    assert offered.play("knock KD").points == [0, 25]
    assert last_discard(True).play("pass").kind == "dead"
    # 8C makes no knock: KD discarded, 2 + 2 + 8 = 12 are left. It may not be taken.
    useless = table({"last_discard_knock": True}, stock="28 8C", hands=hands).play("pass, pass").stall(29)
    assert useless.legal == ["pass"]
    assert useless.play("pass").points == [0, 0]


@worked("max_turns")
def test_max_turns() -> None:
    # Three cards go round: seat 0 takes TD and discards AC, seat 1 takes AC and discards KD, seat 0 takes KD, ...
    hands = ("7S 8S JH QH KH 5C 5D 4C 6H AC", "3S 4S 5S 6S 9H 9D 9C 2D 2H KD")
    discarded = ["AC", "KD", "TD"] * 17
    cycle = ", ".join(f"take, discard {card}" for card in discarded[:49]) + ", take"
    # Turn 50 is seat 1's; it holds KNOCKS and KD, seat 0 LOSES.
    assert table({"max_turns": 50}, "TD", "", hands).play(f"{cycle}, discard KD").kind == "dead"
    assert table({"max_turns": 50}, "TD", "", hands).play(f"{cycle}, knock KD").points == [0, 25]
    assert table({"max_turns": 51}, "TD", "", hands).play(f"{cycle}, discard KD").kind is None


@worked("forbid_return_discard")
def test_returning_the_discard() -> None:
    # Seat 0 takes the upcard KD with no use for it. Thrown back with a knock it pays 30 - 5.
    free = table({"forbid_return_discard": False}, "KD", "").play("take")
    assert {"discard KD", "knock KD"} <= set(free.legal)
    assert free.play("knock KD").points == [25, 0]
    bound = table({"forbid_return_discard": True}, "KD", "").play("take")
    assert not {"discard KD", "knock KD"} & set(bound.legal)
    # Another card must go; 2 + 1 + 10 are more than ten.
    assert not any(text.startswith("knock") for text in bound.legal)


@worked("max_trades_per_turn")
@pytest.mark.parametrize("trades", range(5))
def test_trades(trades: int) -> None:
    rules = changed(PALACE, {"max_trades_per_turn": trades})
    dealt = Table(rules, TRADERS, "8S", "AH").play("pass x4, draw")
    # 9 + 9 + 10 + 10 + 1 and one card less: no knock.
    assert not any(text.startswith("knock") for text in dealt.legal)
    for _ in range(trades - 2):  # KD there and back again, until two trades are left
        dealt.play("give KD, give KD")
    if trades == 0:
        assert not any(text.startswith("give") for text in dealt.legal)
        return
    dealt.play("give KD, give 9C")
    if trades == 1:
        # QC discarded, AH left: 1, and 10 + 2 + 10 + 6 + 6 + 8 + 3 = 45 with the partner.
        # 48 + 53 - 46, and the box of 10.
        assert not any(text.startswith("give") for text in dealt.legal)
        assert dealt.play("knock QC").points == [101 - 46 + 10, 0]
        return
    # QC against 2S: a run of four, AH discarded, nothing left; 53 with the partner. 101 - 53, small gin 10, box 10.
    dealt.play("give QC, give 2S")
    assert not any(text.startswith("give") for text in dealt.legal)
    assert (dealt.play("knock AH").kind, dealt.points) == ("small_gin", [101 - 53 + 10 + 10, 0])


@worked("trade_reply")
def test_who_picks_the_reply() -> None:
    # Either way KD goes for 9C: 65 points as with one trade above.
    for trade_reply, chooser in (("partner", 2), ("mover", 0)):
        rules = changed(PALACE, {"trade_reply": trade_reply})
        dealt = Table(rules, TRADERS, "8S", "AH").play("pass x4, draw, give KD")
        assert (dealt.mover, dealt.legal) == (chooser, [f"give {card}" for card in dealt.hand(2).split()])
        assert dealt.play("give 9C, knock QC").points == [65, 0]


@worked("trade_taken_card")
def test_trading_the_taken_card() -> None:
    # 8S, just taken, for 9C; KD discarded, 10 left (QC), and 8 + 2 + 10 + 6 + 6 + 8 + 3 = 43 with the partner:
    # 101 - 53 + 10.
    may = Table(changed(PALACE, {"trade_taken_card": True}), TRADERS, "8S").play("take")
    assert may.play("give 8S, give 9C, knock KD").points == [58, 0]
    # It may come back, and then still may not be discarded.
    back = Table(changed(PALACE, {"trade_taken_card": True}), TRADERS, "8S").play("take, give 8S, give 8S")
    assert "discard 8S" not in back.legal
    # Where it may not be offered, QC goes: 8 left (8S), and 45 with the partner: the same 53.
    may_not = Table(changed(PALACE, {"trade_taken_card": False}), TRADERS, "8S").play("take")
    assert "give 8S" not in may_not.legal
    assert may_not.play("give QC, give 9C, knock KD").points == [58, 0]


@worked("partner_hand_visible")
def test_what_the_partner_sees() -> None:
    for visible in (True, False):
        rules = changed(PALACE, {"partner_hand_visible": visible})
        dealt = Table(rules, TRADERS, "8S", "AH").play("pass x4, draw, give KD")
        seen = player_view(dealt.state, 2)
        # The mover's seven cards, or none of them; the offered card is seen in any case, by the partner alone.
        assert format_cards(seen.partner_bits[0]) == ("3S 4S 5S AH 9H 9D QC" if visible else "")
        assert seen.offered_card[0] != player_view(dealt.state, 1).offered_card[0]
        # 52, less the partner's own 8 and the upcard, less the mover's 7 where they are seen.
        assert int(np.bitwise_count(seen.unseen_bits[0])) == 43 - 7 * visible
        assert dealt.play("give 9C, knock QC").points == [65, 0]


@worked("boast", "boast_wait_turns")
@pytest.mark.parametrize("wait", [1, 2, 3])
def test_boasting_bars_the_knock(wait: int) -> None:
    stock = "KD 3D KC 3C QD 7D QC 8D"  # seat 0 draws court cards and discards them
    dealt = table({"boast": True, "boast_wait_turns": wait}, "TC", stock).play("pass, pass, draw")
    assert {"boast", "knock KD"} <= set(dealt.legal)
    dealt.play("boast")
    for own, other in list(zip(("KD", "KC", "QD"), ("3D", "3C", "7D"), strict=True))[:wait]:
        # Once in a deal; no knock in the boasting turn and in wait - 1 own turns after it. Seat 1 is free.
        assert not {"boast", f"knock {own}"} & set(dealt.legal)
        dealt.play(f"discard {own}, draw")
        assert "boast" in dealt.legal
        dealt.play(f"discard {other}, draw")
    # 30 - 5, and 20 for a boast that came true.
    assert dealt.play(f"knock {('KC', 'QD', 'QC')[wait - 1]}").points == [25 + 20, 0]
    assert "boast" not in table({"boast": False}).play("pass, pass, draw").legal


@worked("boast", "boast_points")
def test_boasts_in_a_dead_deal() -> None:
    # The fifth amount goes to the others.
    boasting = {"boast": True, "boast_points": (20, 15, 10, 5, 7)}
    dead = table(boasting, "TC", "KD").play("pass, pass, draw, boast, discard KD").stall(28)
    assert (dead.kind, dead.points) == ("dead", [0, 7])
    dead = table(boasting, "TC", "KD 3D").play("pass, pass, draw, boast, discard KD, draw, boast, discard 3D").stall(27)
    assert (dead.kind, dead.points) == ("dead", [7, 7])
    dead = table({"boast": True}, "TC", "KD").play("pass, pass, draw, boast, discard KD").stall(28)
    assert dead.points == [0, 0]
    # Three that rotate: seat 2 deals and sits out, and gets nothing.
    rotating = changed(PRESETS["rotation_3p"], boasting)
    dead = Table(rotating, [KNOCKS, LOSES, ""], "TC", "KD").play("pass, pass, draw, boast, discard KD").stall(28)
    assert (dead.points, dead.net_points) == ([0, 7, 0], [-7, 7, 0])


@worked("catch_glass", "catch_points")
def test_catching_the_glass() -> None:
    def sevens(**changes: Any) -> Table:
        """Deal 7C as the upcard; 7D and 7H are drawn and discarded; seat 0, who can knock for 25, draws KD."""
        dealt = table(changes, "7C", "7D 7H KD 3D KC")
        return dealt.play("pass, pass, draw, discard 7D, draw, discard 7H, draw")

    assert not any(text.startswith("catch") for text in sevens(catch_glass=False).legal)
    # Right: 10 for the catcher, once a turn; the knock pays its 25 on top.
    right = sevens(catch_glass=True).play("catch 7C, catch 7H, catch 7D")
    assert right.points == [10, 0]
    assert not any(text.startswith("catch") for text in right.legal)
    assert right.play("knock KD").points == [35, 0]
    assert sevens(catch_glass=True, catch_points=40).play("catch 7C, catch 7D, catch 7H").points == [40, 0]
    # Wrong: seat 1 holds 7S; 7C 7D KC is no meld: 10 for the others.
    for third in ("7S", "KC"):
        wrong = sevens(catch_glass=True).play(f"catch 7C, catch 7D, catch {third}")
        assert wrong.points == [0, 10]
        assert wrong.play("knock KD").points == [25, 10]
    # Cards that served once are used up: the second catch of the sevens is wrong.
    used = sevens(catch_glass=True).play("catch 7C, catch 7H, catch 7D, discard KD, draw, discard 3D, draw")
    assert used.play("catch 7C, catch 7H, catch 7D").points == [10, 10]
    assert used.play("knock KC").points == [35, 10]
    # After three turns and 26 more the deal is dead; the points of the catch are kept.
    dead = sevens(catch_glass=True).play("catch 7C, catch 7H, catch 7D, discard KD").stall(26)
    assert (dead.kind, dead.result.winner, dead.points) == ("dead", None, [10, 0])


@worked("catch_glass")
def test_who_is_paid_for_a_catch() -> None:
    def seven_hearts(preset: str, hands: list[str], third: str) -> Table:
        seats = PRESETS[preset].num_hands
        rules = changed(PRESETS[preset], {"catch_glass": True})
        dealt = Table(rules, hands, "7C", " ".join(["7D", "7H", "JS", "JD"][:seats]) + " KD")
        dealt.play(f"pass x{seats}").stall(seats)
        return dealt.play(f"draw, catch 7C, catch 7D, catch {third}")

    # Three alone: a wrong catch pays each other seat 10, against the catcher and each other.
    three = ["3S 4S 5S 9H 9D 9C 2D", "6S KC QH 8H 5D 3C 2H", "8S JH TC 6C 5H 4C 3H"]
    right, wrong = (seven_hearts("free_for_all_3p", three, third) for third in ("7H", "7S"))
    assert (right.points, right.net_points) == ([10, 0, 0], [20, -10, -10])
    assert (wrong.points, wrong.net_points) == ([0, 10, 10], [-20, 10, 10])
    # The knock: 2 left against 38 (6S laid off) and 46: 36 and 44.
    right.play("knock KD")
    assert (right.points, right.net_points) == ([10 + 80, 0, 0], [20 + 80, -10 - 36, -10 - 44])
    # Partners: the team gets it, or the other team.
    four = [*three, ""]
    assert seven_hearts("palace_4p", four, "7H").points == [10, 0]
    assert seven_hearts("palace_4p", four, "7S").points == [0, 10]
    # Three that rotate: seat 2 sits out.
    wrong = seven_hearts("rotation_3p", [KNOCKS, LOSES, ""], "7S")
    assert (wrong.points, wrong.net_points) == ([0, 10, 0], [-10, 10, 0])


@worked("big_gin_bonus")
def test_big_gin() -> None:
    # GIN and 9S: nothing left of eleven cards: 45 + 31. Without the rule, 9S or 6S discarded: gin, 45 + 25.
    big = table({"big_gin_bonus": 31}, stock="9S", hands=(GIN, LOSES)).play("pass, pass, draw")
    assert (big.play("big_gin").kind, big.points) == ("big_gin", [76, 0])
    small = table({"big_gin_bonus": None}, stock="9S", hands=(GIN, LOSES)).play("pass, pass, draw")
    assert (small.play("knock 9S").kind, small.points) == ("gin", [70, 0])


@worked("knock_limit", "limit_from_upcard", "ace_upcard_gin_only", "spade_upcard_doubles")
@pytest.mark.parametrize(
    ("changes", "upcard", "points"),
    [
        # The knock leaves 5 and pays 25. None: no knock.
        ({"knock_limit": 5}, "QC", 25),
        ({"knock_limit": 4}, "QC", None),
        ({"limit_from_upcard": True}, "QC", 25),
        ({"limit_from_upcard": True}, "4H", None),
        ({"limit_from_upcard": True, "ace_upcard_gin_only": True}, "AH", None),
        ({"spade_upcard_doubles": True}, "9S", 50),
        ({"spade_upcard_doubles": False}, "9S", 25),
    ],
)
def test_limits_at_the_table(changes: dict[str, Any], upcard: str, points: int | None) -> None:
    dealt = table(changes, upcard).play("pass, pass, draw")
    assert ("knock KD" in dealt.legal) == (points is not None)
    if points is not None:
        assert dealt.play("knock KD").points == [points, 0]


@worked("hand_size")
@pytest.mark.parametrize(("size", "points"), [(7, 36), (8, 45), (9, 54), (10, 60)])
def test_hand_size(size: int, points: int) -> None:
    # Left for the knocker: 2D; 2D A; 2D A A; 2D, as three aces are a set: 2, 3, 4, 2.
    # Left for the defender, 6S laid off: 38; with JS 48; with TC 58; with 4H 62.
    knocker = ["3S", "4S", "5S", "9H", "9D", "9C", "2D", "AC", "AD", "AH"]
    defender = ["6S", "KC", "QH", "8H", "5D", "3C", "2H", "JS", "TC", "4H"]
    hands = (" ".join(knocker[:size]), " ".join(defender[:size]))
    dealt = table({"hand_size": size}, "QS", "KH", hands)
    assert int(dealt.state.stock_count[0]) == 52 - 2 * size - 1
    assert dealt.play("pass, pass, draw, knock KH").points == [points, 0]


@worked("deal_order")
def test_deal_order() -> None:
    # An unshuffled deck AS 2S 3S ... KS AH ...; seat 0 deals, seat 1 is left of it and is offered the upcard 8H first.
    for deal_order, first in (("left_of_dealer", 1), ("seat_zero", 0)):
        engine = Engine(changed(CLASSIC, {"deal_order": deal_order}))
        engine.reset(decks=np.arange(52), dealers=0)
        hands = [format_cards(hand) for hand in engine.state.hands[0]]
        assert hands[first] == "AS 3S 5S 7S 9S JS KS 2H 4H 6H"
        assert hands[1 - first] == "2S 4S 6S 8S TS QS AH 3H 5H 7H"
        assert format_cards([engine.state.upcard[0]]) == "8H"
        assert engine.state.mover[0] == 1
