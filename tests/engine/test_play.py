"""The main game move by move: offers, the taken discard, trades, the turn cap, lay-offs and ties."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.cards import CARD_BITS, bits_of, format_card, format_cards, parse_cards
from gin_env.engine import Engine, Phase
from gin_env.rules import Rules
from gin_env.scoring import Kind, score_deal
from gin_env.scoring.challenge_2021 import greedy_layoffs
from tests.helpers.play import act, legal_texts, play_on, rich_engine


def test_the_upcard_is_offered_to_every_seat_once_and_then_only_the_stock_is_left() -> None:
    engine = Engine("palace_4p", seed=1)
    engine.reset(dealers=2)
    for seat in (3, 0, 1, 2):
        assert engine.state.mover[0] == seat
        assert legal_texts(engine) == ["pass", "take"]
        act(engine, "pass")
    assert Phase(int(engine.state.phase[0])) is Phase.FORCED_DRAW
    assert engine.state.mover[0] == 3
    assert legal_texts(engine) == ["draw"]


def test_the_taker_of_the_upcard_has_the_first_turn() -> None:
    engine = Engine("palace_4p", seed=1)
    engine.reset(dealers=0)
    act(engine, "pass", "take")
    assert (engine.state.mover[0], engine.state.turn_seat[0]) == (2, 2)
    act(engine, next(text for text in legal_texts(engine) if text.startswith("discard")))
    assert engine.state.mover[0] == 3


@pytest.mark.parametrize("preset", ["classic_2p", "palace_4p"])
def test_a_taken_card_is_neither_discarded_nor_the_knock_card_in_that_turn(preset: str) -> None:
    engine = rich_engine(preset, 300, seed=8)
    seen = 0
    for _ in play_on(engine):
        state = engine.state
        taken = CARD_BITS[state.taken_card]
        playing = state.phase == Phase.PLAY
        for word in (engine.layout.discard_word, engine.layout.knock_word):
            assert not (state.legal[playing, word] & taken[playing]).any()
        seen += (playing & (taken != 0) & (state.legal[:, engine.layout.knock_word] != 0)).sum()
    assert seen > 20, "the case must have come up with a knock possible"


def test_a_taken_card_that_comes_back_in_a_trade_may_not_be_discarded() -> None:
    engine = Engine("palace_4p", seed=3)
    engine.reset(dealers=3)
    act(engine, "take")
    taken = format_card(int(engine.state.taken_card[0]))
    act(engine, f"give {taken}")
    assert engine.state.mover[0] == 2
    act(engine, f"give {taken}")
    assert f"discard {taken}" not in legal_texts(engine)
    assert not any(text.startswith("give") for text in legal_texts(engine)), "one trade a turn"
    act(engine, legal_texts(engine)[0])
    assert engine.state.mover[0] == 1


def test_after_a_trade_a_known_card_is_known_to_be_with_the_team() -> None:
    engine = Engine("palace_4p", seed=3)
    engine.reset(dealers=3)
    act(engine, "take")
    taken = CARD_BITS[engine.state.taken_card[0]]
    assert engine.state.known_bits[0].tolist() == [taken, 0, 0, 0]
    other = next(text for text in legal_texts(engine) if text.startswith("give"))
    act(engine, other, other)
    assert engine.state.known_bits[0].tolist() == [0, 0, 0, 0]
    assert engine.state.team_known_bits[0].tolist() == [taken, 0]


def test_endless_cycling_is_a_dead_deal_at_the_turn_cap() -> None:
    engine = Engine(Rules.preset("classic_2p", max_turns=50), seed=2)
    engine.reset()
    while not engine.over[0]:
        choices = legal_texts(engine)
        act(engine, "take" if "take" in choices else next(text for text in choices if text.startswith("discard")))
    assert (int(engine.state.kind[0]), int(engine.state.turn[0])) == (Kind.DEAD, 50)
    assert engine.state.points[0].tolist() == [0, 0]


def test_a_knock_on_the_last_turn_counts() -> None:
    rules = Rules.preset("classic_2p", max_turns=50, knock_limit=10)
    engine = rich_engine(rules, 400, seed=12)
    generator = np.random.default_rng(0)

    def cycle(engine: Engine, _: np.random.Generator) -> np.ndarray:
        mask = engine.legal_mask().copy()
        last = engine.state.turn == 49
        mask[~last, engine.layout.knock :] = False
        can_knock = mask[:, engine.layout.knock :].any(axis=1)
        mask[can_knock, : engine.layout.knock] = False
        takes = mask[:, 1]
        mask[takes] = np.arange(engine.layout.size) == 1
        return np.where(mask.any(axis=1), (mask * generator.random(mask.shape)).argmax(axis=1), 0)

    for _ in play_on(engine, policy=cycle):
        pass
    assert (engine.state.turn == 50).all()
    assert (engine.state.kind == Kind.DEAD).any()
    assert (engine.state.kind == Kind.KNOCK).any()


def test_a_run_may_be_extended_by_any_number_of_lay_offs() -> None:
    """5-6-7S takes 8S and 9S above and 4S and 3S below, or 8S 9S TS (another implementation refused more than one)."""
    hand = "8S 9S JS 4S 3S KD KH 7H 9D 2C"
    result = score_deal("classic_2p", ["5S 6S 7S QH QD QC 2D AC AH AD KC", hand], knocker=0, knock_card="KC")
    assert result.layoffs == {1: ["3S", "4S", "8S", "9S"]}
    assert result.deadwood == (2, 10 + 10 + 10 + 7 + 9 + 2)
    runs = np.array([bits_of(parse_cards("5S 6S 7S"))])
    loose = np.array([bits_of(parse_cards("8S 9S TS 2H"))])
    assert format_cards(greedy_layoffs(np.zeros(1, np.uint64), runs, loose)[0]) == "8S 9S TS"


def test_a_tie_is_an_undercut_unless_the_rules_say_otherwise() -> None:
    hands = ["AS 2S 3S 7H 7D 7C JS JH JD 4C KC", "5S 5H 5D 8S 8H 8D TS TH TD 4H"]
    assert score_deal("classic_2p", hands, 0, "KC").kind == "undercut"
    assert score_deal("classic_2p", hands, 0, "KC").points == (0, 25)
    assert score_deal(Rules.preset("classic_2p", undercut_on_tie=False), hands, 0, "KC").kind == "knock"
