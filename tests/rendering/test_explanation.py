"""How a deal ended, explained: exact sentences for worked deals, and sums that are true under all rules."""

from __future__ import annotations

import re
from collections import Counter
from typing import Any

import numpy as np
import pytest

from gin_env.cards import CARD_POINTS, format_card, parse_card
from gin_env.engine import Engine, State
from gin_env.notation.position import format_position, parse_position
from gin_env.rendering.explanation import TOPICS, Line, explain_deal
from gin_env.rules import Rules
from gin_env.scoring import Kind
from tests.helpers.golden import CASES, dealt
from tests.helpers.options import ALL_RULES
from tests.helpers.play import lively_actions, play_on, rich_engine
from tests.helpers.random_rules import random_rules
from tests.helpers.worked import Table

NAMES = ("Ann", "Bob", "Cid", "Dee", "Eve")


def knocked(case: dict[str, Any]) -> list[Line]:
    """The explanation of seat 0's knock in a worked deal."""
    engine = dealt(case, case.get("upcard"))
    card = case["knock_card"]
    engine.step([engine.layout.index(f"knock {card}" if card else "big_gin")])
    return explain_deal(engine.state)


def about(lines: list[Line], *topics: str) -> list[str]:
    return [line.text for line in lines if line.topic in topics]


# worked deals


def test_a_plain_knock_from_the_first_line_to_the_last() -> None:
    lines = knocked(CASES["C01_plain_knock"])
    assert lines == [
        Line("knock", "player_0 discards KD and knocks with 5 points of deadwood; at most 10 points are allowed."),
        Line(
            "melds",
            "player_0 lays down 3S 4S 5S 6S and 9H 9D 9C; left over are 2H (2), 2D (2) and AC (1): "
            "5 points of deadwood.",
        ),
        Line("open", "player_0 has 5 points of deadwood, so player_1 may lay off on player_0's melds."),
        Line("open", "If player_0 had no deadwood, that would be gin, and nothing could be laid off."),
        Line("open", "Only the other side lays off: player_0 may not add cards to any meld."),
        Line("layoff", "player_1 lays off 7S on player_0's run 3S 4S 5S 6S; it becomes 3S 4S 5S 6S 7S."),
        Line("layoff", "player_1 lays off 8S on player_0's run 3S 4S 5S 6S 7S; it becomes 3S 4S 5S 6S 7S 8S."),
        Line(
            "defence",
            "player_1 lays down JH QH KH; left over are 6H (6), 5D (5), TD (10), 4C (4) and 5C (5): "
            "30 points of deadwood.",
        ),
        Line("count", "The count: player_0 has 5 and player_1 has 30."),
        Line(
            "result",
            "5 is less than 30, so player_0 wins the deal: whoever knocks must have FEWER points than the other side.",
        ),
        Line("points", "Difference (30 - 5) = 25 points for player_0."),
        Line("points", "Winning the deal also earns player_0 a box, 25 points at the end of the game."),
    ]


def test_an_undercut_by_a_chain_across_both_defenders() -> None:
    case = {
        "preset": "palace_4p",
        "hands": [
            "4H 5H 6H 9S 9D 9C KS KD",
            "8H TH AS AD AC 2S 2D",
            "3S 3H 3D 3C 6C 7C 8C",
            "7H 9H 5S 5D 5C 2H 2C",
        ],
        "knock_card": "KD",
    }
    lines = knocked(case)
    assert about(lines, "open") == [
        "player_0 has 10 points of deadwood, so player_1 and player_3 may lay off on player_0's melds.",
        "player_2 has no deadwood, so nobody may lay off on player_2's melds.",
        "Only the other side lays off: player_0 and player_2 may not add cards to any meld.",
    ]
    assert about(lines, "layoff") == [
        "player_3 lays off 7H on player_0's run 4H 5H 6H; it becomes 4H 5H 6H 7H.",
        "player_1 lays off 8H on player_0's run 4H 5H 6H 7H, continuing from the 7H of player_3; "
        "it becomes 4H 5H 6H 7H 8H.",
        "player_3 lays off 9H on player_0's run 4H 5H 6H 7H 8H, continuing from the 8H of player_1; "
        "it becomes 4H 5H 6H 7H 8H 9H.",
        "player_1 lays off TH on player_0's run 4H 5H 6H 7H 8H 9H, continuing from the 9H of player_3; "
        "it becomes 4H 5H 6H 7H 8H 9H TH.",
    ]
    assert about(lines, "count", "result", "points") == [
        "The count: player_0 and player_2 have 10 + 0 = 10, player_1 and player_3 have 4 + 4 = 8.",
        "8 is less than 10, so this is an undercut: the side that knocks must have FEWER points than the other side "
        "(an equal count would not be enough for the knocker). player_1 and player_3 win the deal.",
        "The lay-offs made the difference: without them player_1 and player_3 would have had 22 + 20 = 42 points, not "
        "8, and the 10 of player_0 and player_2 would have won.",
        "Difference (10 - 8) + undercut bonus 20 + box bonus 10 = 32 points for player_1 and player_3.",
    ]


def test_a_partner_whose_hand_costs_the_deal() -> None:
    lines = knocked(CASES["P05_undercut_because_of_partner"])
    assert about(lines, "knock") == [
        "player_0 discards QC and knocks with 5 points of deadwood; at most 10 points are allowed. "
        "For the knock only the knocker's own hand counts; for the win that of player_2 counts too."
    ]
    assert about(lines, "open")[1] == "player_2 has no meld that anybody could lay off on."
    assert (
        about(lines, "result")[1]
        == "The partner's hand made the difference: player_0 alone has 5, but the 50 of player_2 count too."
    )
    gin_undercut = knocked(CASES["P09_knocker_gin_but_team_undercut"])
    assert (
        "player_0 has no deadwood, but that is not enough: under these rules both" in about(gin_undercut, "result")[0]
    )
    assert about(gin_undercut, "layoff") == []


def test_a_knocker_without_deadwood_who_cannot_be_undercut() -> None:
    """The cards of P09 where a knocker without deadwood is safe: 46 against 36 wins, for the bonuses alone."""
    hands = [" ".join(hand[:7]) for hand in CASES["P09_knocker_gin_but_team_undercut"]["hands"]]
    rules = Rules.preset("palace_4p", gin_protects="knocker_zero")
    table = Table(rules, hands, upcard="6H", stock="KC").play("pass x4, draw, knock KC")
    assert about(explain_deal(table.state), "knock")[0].endswith("For the knock only the knocker's own hand counts.")
    assert about(explain_deal(table.state), "result", "points") == [
        "46 is not less than 36, but under these rules a knocker without deadwood is never undercut: player_0 and "
        "player_2 win the deal, but the difference counts as 0. player_0 has no deadwood, which makes it a "
        "small gin.",
        "Difference 0 + small gin bonus 10 + box bonus 10 = 20 points for player_0 and player_2.",
    ]


def test_gin_and_its_kinds() -> None:
    lines = knocked(CASES["C02_gin_no_layoff"])
    assert about(lines, "knock", "open", "result", "points") == [
        "player_0 discards 9H and knocks without any deadwood; at most 10 points would be allowed.",
        "player_0 has no deadwood, and nothing may be laid off on gin.",
        "player_0 has gin, which is never undercut: player_0 wins the deal.",
        "Deadwood of the defender 37 + gin bonus 25 = 62 points for player_0.",
        "Winning the deal also earns player_0 a box, 25 points at the end of the game.",
    ]
    lines = knocked(CASES["P02_team_gin"])
    assert about(lines, "open", "result", "points") == [
        "Neither player_0 nor player_2 has any deadwood, so nobody may lay off on their melds.",
        "player_0 and player_2 have no deadwood at all: that is a team gin, which is never undercut. "
        "player_0 and player_2 win the deal.",
        "Deadwood of the defenders 93 + team gin bonus 30 + box bonus 10 = 133 points for player_0 and player_2.",
    ]
    lines = knocked(CASES["P01_small_gin_partner_deadwood"])
    assert about(lines, "result")[0].endswith("player_0 has no deadwood, which makes it a small gin.")
    assert about(lines, "points") == [
        "Difference (44 - 18) + small gin bonus 10 + box bonus 10 = 46 points for player_0 and player_2."
    ]
    lines = knocked(CASES["C05_big_gin"])
    assert about(lines, "knock", "points")[:2] == [
        "player_0 lays down big gin: all 11 cards are in melds, so nothing is discarded.",
        "Deadwood of the defender 28 + big gin bonus 31 = 59 points for player_0.",
    ]


def test_a_tie() -> None:
    lines = knocked(CASES["C04_tie_3_vs_3"])
    assert about(lines, "result", "points")[:3] == [
        "Both sides have 3, and under these rules equal counts are an undercut: whoever knocks must have FEWER points "
        "than the other side. player_1 wins the deal.",
        "The lay-offs made the difference: without them player_1 would have had 12 points, not 3, and the 3 of "
        "player_0 would have won.",
        "Difference (3 - 3) + undercut bonus 25 = 25 points for player_1.",
    ]


def test_oklahoma() -> None:
    lines = knocked(CASES["C11_oklahoma_spade_upcard_doubles"])
    assert about(lines, "knock")[0].endswith("at most 9 points are allowed, since the first upcard was 9S.")
    assert about(lines, "points")[:2] == [
        "The first upcard was 9S, and a spade doubles what the knock pays.",
        "2 x difference (30 - 5) = 50 points for player_0.",
    ]
    lines = knocked(CASES["C14_oklahoma_gin_on_ace_of_spades"])
    assert about(lines, "knock")[0].endswith("the first upcard was AS, and after an ace nobody may knock with any.")
    assert about(lines, "points")[1] == "2 x (deadwood of the defender 37 + gin bonus 25) = 124 points for player_0."


def test_free_for_all() -> None:
    lines = knocked(CASES["F01_ffa3_knock_with_one_undercutter"])
    assert about(lines, "open", "count", "result", "points") == [
        "player_0 has 4 points of deadwood, so player_1 and player_2 may lay off on player_0's melds.",
        "If player_0 had no deadwood, that would be gin, and nothing could be laid off.",
        "They lay off one after another, clockwise, and may build on cards that others have laid off.",
        "Only the others lay off: player_0 may not add cards to any meld.",
        "The count: player_0 has 4, player_1 has 13 and player_2 has 3.",
        "player_0 is compared with each of the others separately and must have FEWER points than that player.",
        "No lay-off was needed for that: player_2 had no more to begin with.",
        "Against player_1, 4 is less than 13: difference (13 - 4) = 9 points for player_0.",
        "Against player_2, 3 is less than 4, an undercut: difference (4 - 3) + undercut bonus 25 = 26 points for "
        "player_2.",
        "player_2 has the most points from the knock and so wins the deal.",
    ]
    lines = knocked(CASES["F02_ffa4_gin"])
    assert about(lines, "points")[-1] == "54 + 31 + 49 = 134 points for player_0."


def test_the_pool() -> None:
    """The cards of F01, the lowest count taking all: 3 against 4 and 13."""
    rules = Rules.preset("free_for_all_3p", ffa_scoring="pooled")
    case = CASES["F01_ffa3_knock_with_one_undercutter"]
    hands = [" ".join(hand) for hand in case["hands"]]
    table = Table(rules, [hands[0][:-3], *hands[1:]], upcard="KH", stock="KC").play("pass x3, draw, knock KC")
    assert about(explain_deal(table.state, names=NAMES[:3]), "result", "points") == [
        "Cid has 3, fewer than the 4 of Ann, so this is an undercut: whoever knocks must have FEWER points than any "
        "of the others. Cid scores the difference from every player.",
        "No lay-off was needed for that: Cid had no more to begin with.",
        "1 from Ann + 10 from Bob + undercut bonus 25 = 36 points for Cid.",
        "Cid has the most points from the knock and so wins the deal.",
    ]


def test_a_box_on_every_sheet() -> None:
    sheets = Rules.preset("classic_2p", score_sheet="hollywood")
    hands = [" ".join(hand) for hand in CASES["C01_plain_knock"]["hands"]]
    table = Table(sheets, [hands[0][:-3], hands[1]], upcard="3H", stock="KD").play("pass x2, draw, knock KD")
    assert about(explain_deal(table.state), "points")[-1] == (
        "Winning the deal also earns player_0 a box on every sheet that the deal counts on, each 25 points at the end "
        "of the game."
    )


# dead deals


def stalled(rules: Rules, last: str | None = None) -> State:
    """A deal in which everybody draws and discards the drawn card until it is dead."""
    engine = Engine(rules, seed=3)
    engine.reset(dealers=1)
    while not engine.over[0]:
        legal = engine.layout.texts(engine.state.legal[0])
        drawn = f"discard {format_card(int(engine.state.drawn_card[0]))}"
        wanted = (last, "pass", "draw", drawn)
        engine.step([engine.layout.index(next(text for text in wanted if text in legal))])
    assert engine.state.kind[0] == Kind.DEAD
    return engine.state


def test_dead_deals() -> None:
    assert explain_deal(stalled(Rules.preset("classic_2p"))) == [
        Line("dead", "The deal is dead: the stock is down to 2 cards, and nobody has knocked."),
        Line("result", "Nobody wins the deal, and nobody scores. In a game player_1 deals again."),
    ]
    rules = Rules.preset("palace_4p", stock_floor=0, dead_redeal="next")
    assert explain_deal(stalled(rules), names=NAMES[:4]) == [
        Line("dead", "The deal is dead: the stock is used up, and nobody has knocked."),
        Line("result", "Nobody wins the deal, and nobody scores. In a game Cid deals next."),
    ]
    state = stalled(Rules.preset("classic_2p", last_discard_knock=True))
    card = format_card(int(state.upcard[0]))
    passer = int(state.turn_seat[0])
    assert explain_deal(state)[1].text == (
        f"The last discard, {card}, could be taken only to knock; player_{passer} passed."
    )
    tables = stalled(Rules.preset("two_tables_4p"))
    assert explain_deal(tables, first_seat=2)[-1].text == (
        "Nobody wins at this table, and nobody scores. The deal is not played again at this table; in a game "
        "player_3 deals the next one here."
    )


def test_a_deal_that_takes_too_many_turns() -> None:
    """Taking and discarding the same card never uses up the stock."""
    table = Table(Rules.preset("classic_2p", max_turns=50, forbid_return_discard=False), ["AS", "KH"], upcard="5D")
    for _ in range(50):
        table.play("take").play("discard 5D")
    assert explain_deal(table.state)[0].text == (
        "The deal is dead: 50 turns have been played, the most that these rules allow, and nobody has knocked."
    )


def test_boasts_in_a_dead_deal() -> None:
    rules = Rules.preset("classic_2p", boast=True, boast_points=(20, 15, 10, 5, 8))
    assert about(explain_deal(stalled(rules, last="boast")), "result", "points") == [
        "Nobody wins the deal, but points already earned in it are kept. In a game player_1 deals again.",
        "player_0 had boasted, and nobody knocked: that boast pays the other side 8 points.",
        "player_1 had boasted, and nobody knocked: that boast pays the other side 8 points.",
        "Boasts 8 = 8 points for player_0.",
        "Boasts 8 = 8 points for player_1.",
    ]


# all rules


def check(state: State, row: int, caught: list[int], seen: Counter[str]) -> None:
    """Everything that the lines say must be true: cards, counts, sums, who wins, and every point."""
    rules, kind = state.rules, Kind(int(state.kind[row]))
    names = NAMES[: rules.num_seats]
    lines = explain_deal(state, row, names)
    assert {line.topic for line in lines} <= set(TOPICS)
    assert all(re.fullmatch(r"[A-Za-z0-9].*\.", line.text) and "  " not in line.text for line in lines)
    totals: dict[str, int] = {}
    for line in lines:
        for part in re.split(r"[,:;] ", line.text):
            if " = " in part:
                left, right = part.split(" = ")
                tokens = re.findall(r"\d+|[-+()]|\bx\b", left)
                amount = int(right.split()[0].strip("."))
                assert eval(" ".join(tokens).replace("x", "*")) == amount, line.text
                if line.topic == "points":
                    totals[re.fullmatch(r"\d+ points? for (.*)\.", right)[1]] = amount  # type: ignore[index]
                    seen["doubled"] += left.lower().startswith("2 x")
    point_lines = about(lines, "points")
    for team, total in enumerate(state.points[row].tolist()):
        side = " and ".join(name for seat, name in enumerate(names) if rules.team_of(seat) == team)
        assert totals.pop(side, 0) == total, lines
        own_sums = [text.lower() for text in point_lines if text.endswith(f"for {side}.")]
        catches = [
            int(number) for text in own_sums for number in re.findall(r"catches earlier in the deal (\d+)", text)
        ]
        assert sum(catches) == caught[team], lines
        seen["catches"] += caught[team] > 0
    assert not totals
    for_boasts = [int(number) for text in point_lines for number in re.findall(r"that boast pays .* (\d+) point", text)]
    in_sums = [int(number) for text in point_lines for number in re.findall(r"boasts (\d+)", text.lower())]
    assert sum(for_boasts) == sum(in_sums)
    seen["boasts"] += sum(in_sums) > 0
    seen[f"{rules.mode} {kind.name}"] += 1
    if kind is Kind.DEAD:
        assert [line.topic for line in lines[:2]] in (["dead", "dead"], ["dead", "result"])
        return
    check_showdown(state, row, lines, seen)


def check_showdown(state: State, row: int, lines: list[Line], seen: Counter[str]) -> None:
    rules, kind, knocker = state.rules, Kind(int(state.kind[row])), int(state.knocker[row])
    assert lines[0].topic == "knock"
    assert lines[0].text.startswith(f"{NAMES[knocker]} ")
    assert ("lays down big gin" in lines[0].text) == (kind is Kind.BIG_GIN)
    if kind is not Kind.BIG_GIN:
        discarded = [card for card in range(52) if int(state.discarded_bits[row, knocker]) >> card & 1]
        assert lines[0].text.split(" discards ")[1][:2] in [format_card(card) for card in discarded]
    laid = sum(int(bits).bit_count() for bits in state.laid_bits[row])
    layoffs = about(lines, "layoff")
    assert layoffs == ["Nobody lays off a card."] or len(layoffs) == laid
    for text in layoffs:
        seen["chains"] += "continuing from" in text
        seen["sets"] += "it now has all four" in text
    for text in about(lines, "melds", "defence"):
        seat = NAMES.index(text.split()[0])
        left = re.findall(r"(\w\w) \((\d+)\)", text)
        assert all(CARD_POINTS[parse_card(card)] == int(value) for card, value in left)
        assert sum(int(value) for _, value in left) == state.deadwood[row, seat]
        assert f"{state.deadwood[row, seat]} point" in text or "no deadwood" in text
    counted = Counter(int(number) for number in re.findall(r"(\d+)(?! \+| =|\d)", about(lines, "count")[0]))
    plays = [seat for seat in range(rules.num_seats) if rules.mode != "rotation" or seat != state.dealer[row]]
    by_side = Counter({seat: int(state.deadwood[row, seat]) for seat in plays})
    if rules.has_partners:
        for one, other in ((0, 2), (1, 3)):
            parts = f"have {state.deadwood[row, one]} + {state.deadwood[row, other]} ="
            assert f"{NAMES[one]} and {NAMES[other]} {parts}" in about(lines, "count")[0]
        by_side = Counter({team: by_side[team] + by_side[team + 2] for team in range(2)})
    assert counted == Counter(by_side.values()), about(lines, "count")
    results = " ".join(about(lines, "result"))
    whole_text = " ".join(line.text for line in lines)
    assert "FEWER" not in whole_text or rules.undercut_on_tie
    assert "MORE" not in whole_text or not rules.undercut_on_tie
    assert "would have won" not in whole_text or rules.mode != "free_for_all" or rules.ffa_scoring == "pairwise"
    seen["may not have MORE"] += "may not have MORE" in whole_text
    assert ("at this table" in results) == (rules.num_tables > 1)
    if rules.mode != "free_for_all":
        assert ("this is an undercut" in results or "are an undercut" in results) == (kind is Kind.UNDERCUT), results
    winner = int(state.winner[row])
    if winner >= 0:
        assert any(NAMES[seat] in results for seat in range(rules.num_seats) if rules.team_of(seat) == winner)


def play_and_check(rules: Rules, count: int, seed: int, seen: Counter[str]) -> None:
    engine = rich_engine(rules, count, seed)
    generator = np.random.default_rng(seed)
    caught = engine.state.points.copy()
    while not engine.over.all():
        running = ~engine.over
        caught[running] = engine.state.points[running]
        engine.step(lively_actions(engine, generator, eagerness=0.7, sense=0.9))
    for row in range(count):
        check(engine.state, row, caught[row].tolist(), seen)


def test_all_rules() -> None:
    seen: Counter[str] = Counter()
    for number, rules in enumerate(ALL_RULES.values()):
        play_and_check(rules, 24, number, seen)
    generator = np.random.default_rng(8)
    for number in range(8):
        play_and_check(random_rules(generator), 24, number, seen)
    for mode in ("duel", "rotation", "two_tables", "partnership"):
        assert all(seen[f"{mode} {kind}"] > 5 for kind in ("KNOCK", "UNDERCUT", "DEAD")), seen
    gins = ("duel GIN", "duel BIG_GIN", "partnership SMALL_GIN", "partnership TEAM_GIN", "free_for_all GIN")
    assert all(seen[gin] for gin in gins), seen
    assert all(seen[name] > 5 for name in ("catches", "boasts", "doubled", "chains", "sets", "may not have MORE")), seen


@pytest.mark.parametrize("name", ["classic_2p", "palace_4p", "two_tables_4p"])
def test_a_position_without_its_log_is_explained_alike(name: str) -> None:
    engine = rich_engine(name, 20, seed=4)
    for _ in play_on(engine, seed=4):
        pass
    for row in range(0, 20, engine.rules.num_tables):
        rows = np.arange(row, row + engine.rules.num_tables)
        loaded = [parse_position(format_position(engine.state, one)) for one in rows.tolist()]
        explained = [explain_deal(one, first_seat=2 * table) for table, one in enumerate(loaded)]
        assert explained == [explain_deal(engine.state, one) for one in rows.tolist()]


def test_what_is_refused() -> None:
    engine = Engine("classic_2p")
    engine.reset()
    with pytest.raises(ValueError, match="the deal in row 0 is not over"):
        explain_deal(engine.state)
    state = stalled(Rules.preset("classic_2p"))
    with pytest.raises(ValueError, match=r"row.*1"):
        explain_deal(state, row=1)
    with pytest.raises(ValueError, match=r"State.*NoneType"):
        explain_deal(None)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"names.*each of the 2 seats"):
        explain_deal(state, names=["Ann"])
