"""Catching the glass: what a right and a wrong catch pay, and to whom."""

from __future__ import annotations

import pytest

from gin_env.engine import Engine, Phase
from gin_env.rules import Rules
from gin_env.scoring import Kind
from tests.helpers.options import OPTION_SETS
from tests.helpers.play import act, dealt_duel, legal_texts, never_ending, play_on, rich_engine

#: The hands of a duel in which one player will catch.
HANDS = ["AS AH 3D 5C 7S 9H JD", "2S 2H 4D 6C 8S TH QD"]


@pytest.fixture
def catching() -> Engine:
    """A duel in which seat 0 is in its third turn and the pile holds, from below, 2C AS 2S AH 2H."""
    engine = dealt_duel(Rules.preset("palace_2p", hand_size=7, catch_glass=True), HANDS, "2C", "KS KH KD KC QS QH QC")
    act(engine, "pass", "pass", "draw", "discard AS", "draw", "discard 2S", "draw", "discard AH", "draw", "discard 2H")
    act(engine, "draw")
    return engine


def test_a_right_catch_is_paid_at_once_and_its_cards_stay(catching: Engine) -> None:
    state, before = catching.state, catching.state.pile_bits[0]
    act(catching, "catch 2H", "catch 2C")
    assert (state.phase[0], state.points[0].tolist()) == (Phase.CATCH, [0, 0])
    act(catching, "catch 2S")
    assert (state.phase[0], state.points[0].tolist(), state.net_points[0].tolist()) == (Phase.PLAY, [10, 0], [10, -10])
    assert state.pile_bits[0] == before
    assert not any(text.startswith("catch") for text in legal_texts(catching)), "once a turn"
    act(catching, legal_texts(catching)[0], "draw", "catch 2H", "catch 2C", "catch 2S")
    assert state.points[0].tolist() == [20, 0], "these three have served, so the other's catch is wrong"


@pytest.mark.parametrize("cards", ["2C 2S AH", "2C 2S 2D", "AS 2S 3S", "KC AS 2S"])
def test_a_wrong_catch_pays_the_others(catching: Engine, cards: str) -> None:
    act(catching, *(f"catch {card}" for card in cards.split()))
    assert catching.state.points[0].tolist() == [0, 10]
    assert catching.state.net_points[0].tolist() == [-10, 10]
    assert catching.state.caught_bits[0] == 0


@pytest.mark.parametrize(("name", "net"), [("rotation_all", [-10, 10]), ("pooled_all", [-20, 10, 10])])
def test_a_wrong_catch_pays_every_other_team_that_plays(name: str, net: list[int]) -> None:
    engine = Engine(OPTION_SETS[name], seed=1)
    engine.reset(dealers=2)
    act(engine, "take", "catch 2C", "catch 5D", "catch KH")
    assert engine.state.points[0].tolist() == [0, 10, 10 if len(net) == 3 else 0]
    assert engine.state.net_points[0].tolist() == [*net, 0][:3]


def test_a_dead_deal_keeps_what_catches_paid() -> None:
    engine = rich_engine(OPTION_SETS["team_hidden"], 40, seed=4)
    for _ in play_on(engine, policy=never_ending):
        pass
    assert (engine.state.kind == Kind.DEAD).all()
    assert (engine.state.winner == -1).all()
    assert (engine.state.points.sum(axis=1) > 0).mean() > 0.9
