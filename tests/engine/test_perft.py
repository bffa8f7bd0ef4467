"""Perft: the number of positions a few actions ahead of curated, knock-rich positions.

The batch engine counts whole levels at once (``State.take`` and ``Engine.load``), the reference one copy at a time;
both must find the counts written here. A deal that has ended is one leaf, at its own depth and at every later one, so
"knock with discard c" counts once for each c.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from gin_env.engine import Engine, State
from gin_env.rules import Rules
from tests.helpers.worked import Table
from tests.reference import ReferenceDeal

# Two players' hands with many melds and ties, see tests/scoring/test_worked_deals.py.
KNOCKS = "3S 4S 5S 6S 9H 9D 9C 2D 2H AC"
LOSES = "7S 8S JH QH KH 5C 5D 4C TD 6H"
GIN = "3S 4S 5S 6S 9H 9D 9C AC AD AH"
UNDERCUTS = "7S 8S JH QH KH TD JD QD 2S 2C"
#: A hand without its eleventh card 6H: with that, 9 points are left after 6S, but only in one of several arrangements.
TIED = "2S 5S 6S 3C 4C 5C 6C 2H 4H 5H"
TRADERS = ("3S 4S 5S 9H 9D 9C QC", "TS TH TC 8S 8H 8D AH", "2S 2D 2C JH QH KH 6D", "KS KC KD 7C 6C 5C 4H")
THREE = ("3S 4S 5S 9H 9D 9C 2D", "TH TC TS 8S 8H 8D AH", "7S JH JC JD 5H 4H 3H")


@dataclasses.dataclass(frozen=True)
class Position:
    """Where a count starts, and the counts after 1, 2, ... actions; the last count is for the slow run."""

    preset: str
    hands: tuple[str, ...]
    counts: tuple[int, ...]
    actions: str = "pass, pass, draw"
    upcard: str = "KC"
    stock: str = "KD QC"
    stall: int = 0  #: turns of discarding the drawn card after the actions
    then: str = ""  #: actions after these
    rules: dict[str, Any] = dataclasses.field(default_factory=dict)

    def table(self) -> Table:
        table = Table(Rules.preset(self.preset, **self.rules), self.hands, self.upcard, self.stock)
        for actions in (self.actions, self.then):
            if actions:
                table.play(actions)
            if actions is self.actions:
                table.stall(self.stall)
        return table


POSITIONS = {
    "opening, two players": Position("classic_2p", (KNOCKS, LOSES), (2, 12, 31, 242, 686, 5141, 13_772), actions=""),
    "opening, partners": Position(
        "palace_4p", TRADERS, (2, 18, 97, 831, 2901, 29_352), actions="", upcard="AS", stock="AD 3D"
    ),
    "opening, no forced stock": Position(
        "biggin_2p", (KNOCKS, LOSES), (2, 12, 47, 291, 900, 5331, 18_808), actions="pass", upcard="2C"
    ),
    "knock-rich": Position("palace_2p", (GIN, UNDERCUTS), (20, 31, 244, 475, 7171, 12_022), stock="9S 7D"),
    "tied arrangements": Position(
        "classic_2p", (TIED, UNDERCUTS.replace("2S", "AS")), (13, 24, 235, 466, 5245, 10_096), stock="6H 3D"
    ),
    "gin only": Position("straight_2p", (GIN, UNDERCUTS), (12, 23, 232, 463, 4991, 9842), stock="2D 2H"),
    "seat 0 is dealt first": Position(
        "eaai_2p", (TIED, "3S 4S 3D 3H 9H 9D 9C AC AD AH"), (13, 24, 348, 579, 6070, 10_921), stock="6H 2D"
    ),
    "last stock card": Position(
        "classic_2p", (KNOCKS, LOSES), (2, 22, 32, 222, 322, 2245, 3245), "pass, pass", stock="28 KD", stall=28
    ),
    "no stock floor": Position(
        "classic_2p",
        (GIN, UNDERCUTS),
        (2, 32, 42, 254, 354, 2512, 3512),
        "pass, pass",
        stock="30 9S",
        stall=30,
        rules={"stock_floor": 0},
    ),
    "trade": Position("palace_4p", TRADERS, (18, 82, 838, 2366, 29_950), "pass x4, draw", "AS", "AD 3D"),
    "trade answer": Position(
        "palace_4p", TRADERS, (8, 83, 147, 2195, 10_323, 97_411), "pass x4, draw, give QC", "AS", "AD 3D"
    ),
    "two trades, the mover picks": Position(
        "palace_4p",
        TRADERS,
        (15, 71, 1032, 5008, 51_901),
        "take",
        "3D",
        "AD AC",
        rules={"max_trades_per_turn": 2, "trade_reply": "mover", "trade_taken_card": False},
    ),
    "big gin": Position("biggin_2p", (GIN, UNDERCUTS), (21, 32, 267, 498, 7357, 12_208), stock="9S 2D"),
    "Oklahoma, an ace": Position(
        "oklahoma_2p", (GIN, UNDERCUTS), (12, 23, 232, 463, 4991, 9842), upcard="AS", stock="2H 2D"
    ),
    "Oklahoma, a four": Position(
        "oklahoma_2p", (KNOCKS, LOSES), (14, 25, 234, 465, 5071, 9922), upcard="4H", stock="2C QC"
    ),
    "boast": Position(
        "classic_2p", (KNOCKS, LOSES), (13, 34, 276, 947, 6692, 25_626), rules={"boast": True, "boast_wait_turns": 2}
    ),
    "boast, partners": Position(
        "palace_4p", TRADERS, (16, 80, 800, 2560, 33_448), "pass x4, draw, boast", "AS", "AD", rules={"boast": True}
    ),
    "catch": Position(
        "classic_2p",
        (KNOCKS, LOSES),
        (64, 2675, 133_976),
        "pass, pass, draw, discard 7D, draw, discard 7H, draw",
        "7C",
        "7D 7H KD",
        rules={"catch_glass": True},
    ),
    "catch under way": Position(
        "classic_2p",
        (KNOCKS, LOSES),
        (50, 600, 1150, 68_800),
        "pass, pass, draw, discard 7D, draw, discard 7H, draw, catch 7C, catch 7H",
        "7C",
        "7D 7H KD",
        rules={"catch_glass": True},
    ),
    "last discard": Position(
        "biggin_2p",
        (LOSES, KNOCKS.replace("AC", "KD")),
        (11, 17, 17, 17),
        "pass, pass",
        stock="28 AC",
        stall=28,
        then="draw",
        rules={"last_discard_knock": True},
    ),
    "free for all": Position("free_for_all_3p", THREE, (10, 18, 146, 266, 2186, 3986), "pass x3, draw", stock="KD AC"),
    "free for all, pooled": Position(
        "free_for_all_3p",
        THREE,
        (8, 15, 127, 232, 1968, 3543),
        "pass, take",
        "AC",
        "3D",
        rules={"ffa_scoring": "pooled"},
    ),
    "rotation": Position("rotation_3p", (KNOCKS, UNDERCUTS, ""), (17, 28, 243, 474, 5827, 10_678), stock="AD 3D"),
    "one of two tables": Position("two_tables_4p", (GIN, LOSES), (17, 28, 237, 468, 6069, 10_920), stock="3D 3C"),
}


def count_with_the_engine(state: State, depth: int) -> list[int]:
    counts, ended = [], 0
    while True:
        layout_mask = Engine(state.rules).layout.mask(state.legal)
        counts.append(ended + int(layout_mask.sum()))
        if len(counts) == depth:
            return counts
        rows, actions = np.nonzero(layout_mask)
        if not len(rows):
            continue
        engine = Engine(state.rules, len(rows))
        children = state.take(rows)
        engine.load(children)
        assert (engine.state.legal == children.legal).all(), "load finds the legal actions that play left behind"
        engine.step(actions)
        ended += int(engine.over.sum())
        state = engine.state.take(np.flatnonzero(~engine.over))


def count_with_the_reference(deal: ReferenceDeal, depth: int) -> list[int]:
    counts, ended, level = [], 0, [deal]
    while True:
        legal = [deal.legal_actions() for deal in level]
        counts.append(ended + sum(map(len, legal)))
        if len(counts) == depth:
            return counts
        children = []
        for deal, actions in zip(level, legal, strict=True):
            for action in actions:
                child = copy.deepcopy(deal)
                child.apply(action)
                children.append(child)
        level = [child for child in children if not child.over]
        ended += len(children) - len(level)


def check(name: str, counts: Sequence[int]) -> None:
    table = POSITIONS[name].table()
    assert count_with_the_engine(table.state, len(counts)) == list(counts)
    assert count_with_the_reference(table.reference, len(counts)) == list(counts)


@pytest.mark.parametrize("name", POSITIONS)
def test_engine_and_reference_count_the_same_positions(name: str) -> None:
    check(name, POSITIONS[name].counts[:-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", POSITIONS)
def test_deeper_counts_agree_too(name: str) -> None:
    check(name, POSITIONS[name].counts)


def test_the_positions_are_what_they_claim() -> None:
    tables = {name: position.table() for name, position in POSITIONS.items()}

    def num_ends(name: str) -> int:
        return sum(text == "big_gin" or text.startswith("knock") for text in tables[name].legal)

    assert "knock 6S" in tables["tied arrangements"].legal, "9 are left"
    assert num_ends("knock-rich") == 9
    assert "big_gin" in tables["big gin"].legal
    assert num_ends("gin only") == num_ends("Oklahoma, an ace") == 1, "gin alone"
    assert num_ends("Oklahoma, a four") == 3
    assert int(tables["last stock card"].state.stock_count[0]) == 3
    assert int(tables["no stock floor"].state.stock_count[0]) == 1
    assert (tables["trade answer"].mover, tables["two trades, the mover picks"].mover) == (2, 0)
    assert sum(text.startswith("catch") for text in tables["catch under way"].legal) == 50
    assert "boast" in tables["boast"].legal
    assert num_ends("boast, partners") == 0, "the boaster may not knock"
    assert tables["last discard"].play("discard 4C").legal == ["pass", "take"]
