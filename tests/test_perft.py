"""Perft: how many positions lie so many actions ahead of curated, knock-rich positions.

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

from gin_env.engine import Engine
from gin_env.rules import Rules
from gin_env.state import State
from tests.reference import ReferenceDeal
from tests.worked import Table

# Two players' hands with many melds and ties, see tests/test_worked_deals.py.
KNOCKS = "3S 4S 5S 6S 9H 9D 9C 2D 2H AC"
LOSES = "7S 8S JH QH KH 5C 5D 4C TD 6H"
GIN = "3S 4S 5S 6S 9H 9D 9C AC AD AH"
UNDERCUTS = "7S 8S JH QH KH TD JD QD 2S 2C"
#: The hand of docs/rules.md section 5, less one card: with it 9 are left after 6S, by one of several arrangements.
TIED = "2S 5S 6S 3C 4C 5C 6C 2H 4H 5H"
TRADERS = ("3S 4S 5S 9H 9D 9C QC", "TS TH TC 8S 8H 8D AH", "2S 2D 2C JH QH KH 6D", "KS KC KD 7C 6C 5C 4H")
THREE = ("3S 4S 5S 9H 9D 9C 2D", "TH TC TS 8S 8H 8D AH", "7S JH JC JD 5H 4H 3H")


@dataclasses.dataclass(frozen=True)
class Position:
    """Where a count starts, and what it finds after 1, 2, ... actions; the last count is for the slow run."""

    preset: str
    hands: tuple[str, ...]
    counts: tuple[int, ...]
    actions: str = "pass, pass, draw"
    upcard: str = "KC"
    stock: str = "KD QC"
    stall: int = 0  #: turns of throwing the drawn card after the actions
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
    "opening, two players": Position("classic_2p", (KNOCKS, LOSES), (), actions=""),
    "opening, partners": Position("palace_4p", TRADERS, (), actions="", upcard="AS", stock="AD 3D"),
    "opening, no forced stock": Position("biggin_2p", (KNOCKS, LOSES), (), actions="pass", upcard="2C"),
    "knock-rich": Position("palace_2p", (GIN, UNDERCUTS), (), stock="9S 7D"),
    "tied arrangements": Position("classic_2p", (TIED, UNDERCUTS.replace("2S", "AS")), (), stock="6H 3D"),
    "gin only": Position("straight_2p", (GIN, UNDERCUTS), (), stock="2D 2H"),
    "greedy lay-offs": Position("eaai_2p", (KNOCKS, UNDERCUTS), (), stock="KD 3C"),
    "last stock card": Position("classic_2p", (KNOCKS, LOSES), (), "pass, pass", stock="28 KD", stall=28),
    "no stock floor": Position(
        "classic_2p", (GIN, UNDERCUTS), (), "pass, pass", stock="30 9S", stall=30, rules={"stock_floor": 0}
    ),
    "trade": Position("palace_4p", TRADERS, (), "pass x4, draw", "AS", "AD 3D"),
    "trade answer": Position("palace_4p", TRADERS, (), "pass x4, draw, give QC", "AS", "AD 3D"),
    "two trades, the mover picks": Position(
        "palace_4p",
        TRADERS,
        (),
        "take",
        "3D",
        "AD AC",
        rules={"max_trades_per_turn": 2, "trade_reply": "mover", "trade_taken_card": False},
    ),
    "big gin": Position("biggin_2p", (GIN, UNDERCUTS), (), stock="9S 2D"),
    "Oklahoma, an ace": Position("oklahoma_2p", (GIN, UNDERCUTS), (), upcard="AS", stock="2H 2D"),
    "Oklahoma, a four": Position("oklahoma_2p", (KNOCKS, LOSES), (), upcard="4H", stock="2C QC"),
    "boast": Position("classic_2p", (KNOCKS, LOSES), (), rules={"boast": True, "boast_wait_turns": 2}),
    "boast, partners": Position("palace_4p", TRADERS, (), "pass x4, draw, boast", "AS", "AD", rules={"boast": True}),
    "catch": Position(
        "classic_2p",
        (KNOCKS, LOSES),
        (),
        "pass, pass, draw, discard 7D, draw, discard 7H, draw",
        "7C",
        "7D 7H KD",
        rules={"catch_glass": True},
    ),
    "catch under way": Position(
        "classic_2p",
        (KNOCKS, LOSES),
        (),
        "pass, pass, draw, discard 7D, draw, discard 7H, draw, catch 7C, catch 7H",
        "7C",
        "7D 7H KD",
        rules={"catch_glass": True},
    ),
    "last discard": Position(
        "biggin_2p",
        (LOSES, KNOCKS.replace("AC", "KD")),
        (),
        "pass, pass",
        stock="28 AC",
        stall=28,
        then="draw",
        rules={"last_discard_knock": True},
    ),
    "free for all": Position("free_for_all_3p", THREE, (), "pass x3, draw", stock="KD AC"),
    "free for all, pooled": Position(
        "free_for_all_3p", THREE, (), "pass, take", "AC", "3D", rules={"ffa_scoring": "pooled"}
    ),
    "rotation": Position("rotation_3p", (KNOCKS, UNDERCUTS, ""), (), stock="KD 3D"),
    "one of two tables": Position("two_tables_4p", (KNOCKS, UNDERCUTS), (), stock="KD 3D"),
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
def test_counts(name: str) -> None:
    check(name, POSITIONS[name].counts[:-1])


@pytest.mark.slow
@pytest.mark.parametrize("name", POSITIONS)
def test_deeper_counts(name: str) -> None:
    check(name, POSITIONS[name].counts)


def test_the_positions_are_what_they_claim() -> None:
    legal = {name: set(position.table().legal) for name, position in POSITIONS.items()}
    assert "knock 6S" in legal["tied arrangements"], "docs/rules.md section 5: 9 are left"
