"""Who may end the deal, and what the first upcard changes: big gin and Oklahoma."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.cards import NO_CARD, format_card
from gin_env.engine import Engine
from gin_env.notation.position_checks import card_problems
from gin_env.rules import Rules
from gin_env.scoring import Kind
from tests.helpers.play import act, dealt_duel, legal_texts, play_on, rich_engine

ELEVEN = "2H 3H 4H 5H 8S 8D 8C TC JC QC KC"


OTHERS = "AS AH 9S 9D 9C 6D 6C 4S 3D 7H"


@pytest.mark.parametrize("bonus", [0, 31])
def test_big_gin_ends_the_deal_without_a_discard(bonus: int) -> None:
    rules = Rules.preset("biggin_2p", big_gin_bonus=bonus)
    *ten, drawn = ELEVEN.split()
    engine = dealt_duel(rules, [" ".join(ten), OTHERS], "AC", drawn)
    act(engine, "pass", "pass", "draw")
    assert {"big_gin", "knock KC"} <= set(legal_texts(engine))
    act(engine, "big_gin")
    state = engine.state
    assert (state.kind[0], state.turn[0], state.knocker[0], format_card(state.upcard[0])) == (Kind.BIG_GIN, 1, 0, "AC")
    assert state.points[0].tolist() == [28 + bonus, 0]
    assert int(state.hands[0, 0]).bit_count() == 11
    assert card_problems(state) == []


def test_a_hand_with_deadwood_has_no_big_gin() -> None:
    engine = rich_engine("biggin_2p", 100, seed=7)
    for _ in play_on(engine):
        big = engine.state.legal[:, 0] >> np.uint64(engine.layout.big_gin) & np.uint64(1) == 1
        gin_cards = np.bitwise_count(engine.state.legal[:, engine.layout.knock_word])
        assert (gin_cards[big] > 0).all(), "whoever has big gin can also discard the end of a meld and knock"
    assert (engine.state.kind == Kind.BIG_GIN).any()


@pytest.mark.parametrize(("upcard", "limit"), [("AS", 0), ("AD", 0), ("2H", 2), ("7C", 7), ("TD", 10), ("KS", 10)])
def test_the_first_upcard_caps_the_knock(upcard: str, limit: int) -> None:
    hands = ["3S 4S 5S 6S 9H 9D 9C 8C 8D 8H", "7S 8S JH QH TH 5C 5D 4C TS 6H"]
    for drawn, deadwood in (("AC", 1), ("2C", 2), ("3C", 3), ("7D", 7), ("JC", 10)):
        engine = dealt_duel(Rules.preset("oklahoma_2p"), hands, upcard, f"{drawn} KD KC")
        act(engine, "pass", "pass", "draw", "discard 3S", "draw", "discard KD", "draw")
        # 4S 5S 6S, the nines and the eights are melds; the card drawn first is the only deadwood
        assert ("knock KC" in legal_texts(engine)) == (deadwood <= limit), (drawn, upcard)
        assert engine.state.taken_card[0] == NO_CARD


def test_a_spade_upcard_doubles_the_deal_with_its_bonuses() -> None:
    doubles = Rules.preset("palace_2p", spade_upcard_doubles=True)
    single = Rules.preset("palace_2p")
    one, other = rich_engine(single, 200, seed=8), Engine(doubles, 200)
    other.reset(decks=one.state.deck, dealers=one.state.dealer)
    for actions in play_on(one):
        other.step(actions)
    spade = (one.state.first_upcard < 13)[:, None]
    box = np.where(one.state.points > 0, single.box_bonus, 0)
    assert (other.state.points == np.where(spade, 2 * (one.state.points - box) + box, one.state.points)).all()
    assert (one.state.kind[spade[:, 0]] > Kind.DEAD).sum() > 10
