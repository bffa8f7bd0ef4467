"""The optional rules move by move: rotation, boast, catch, last discard, big gin and Oklahoma (docs/rules.md)."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.cards import CARD_BITS, NO_CARD, format_card, parse_cards
from gin_env.engine import Engine, Phase, random_actions
from gin_env.notation.position_checks import card_problems
from gin_env.rules import Rules
from gin_env.scoring import Kind
from gin_env.scoring.deal_result import describe_result
from tests.helpers.options import OPTION_SETS
from tests.helpers.play import lively_actions, play_on, rich_engine

#: What the two of a duel are dealt where one of them will catch.
HANDS = ["AS AH 3D 5C 7S 9H JD", "2S 2H 4D 6C 8S TH QD"]


def act(engine: Engine, *texts: str) -> None:
    for text in texts:
        engine.step([engine.layout.index(text)])


def legal(engine: Engine) -> list[str]:
    return engine.layout.texts(engine.state.legal[0])


def dealt(rules: Rules, hands: list[str], upcard: str, stock: str) -> Engine:
    """A duel dealt by seat 1: seat 0 begins; the stock starts with the cards given."""
    cards = [parse_cards(hand) for hand in hands]
    first = [*parse_cards(upcard), *parse_cards(stock)]
    order = [cards[seat][place] for place in range(rules.hand_size) for seat in (0, 1)] + first
    engine = Engine(rules)
    engine.reset(decks=[*order, *(card for card in range(52) if card not in order)], dealers=1)
    return engine


# ------------------------------------------------------------------ rotation


@pytest.mark.parametrize("rules", [Rules.preset("rotation_3p"), OPTION_SETS["rotation_all"]], ids=["preset", "all"])
def test_the_dealer_of_three_sits_out(rules: Rules) -> None:
    engine = rich_engine(rules, 30, seed=1)
    state, rows = engine.state, np.arange(30)
    assert (state.mover == (state.dealer + 1) % 3).all()
    assert (state.offers_left == 2).all()
    for _ in play_on(engine):
        going_on = state.phase != Phase.OVER
        assert (state.mover != state.dealer)[going_on].all()
        assert not state.hands[rows, state.dealer].any()
    assert set(state.dealer.tolist()) == {0, 1, 2}


def test_two_of_three_are_offered_the_upcard() -> None:
    engine = Engine("rotation_3p", seed=1)
    engine.reset(dealers=0)
    for seat in (1, 2):
        assert engine.state.mover[0] == seat
        act(engine, "pass")
    assert (engine.state.mover[0], legal(engine)) == (1, ["draw"])


# ------------------------------------------------------------------ boast (row 37)


@pytest.mark.parametrize("wait", [1, 2, 3])
def test_a_boaster_waits_for_its_knock(wait: int) -> None:
    rules = Rules.preset("palace_2p", hand_size=7, boast=True, boast_wait_turns=wait)
    hands = ["AS 2S 3S 7H 7D 7C 2H", "KS KH TD TC 9S 8H 5D"]
    engine = dealt(rules, hands, "QD", "QS QC JD JC JS 6S 6D 9D")
    act(engine, "pass", "pass", "draw")
    assert "knock QS" in legal(engine)
    act(engine, "boast")
    assert "boast" not in legal(engine)
    drawn = ["QS", "JD", "JS", "6D"]
    for turn in range(wait):
        assert not any(text.startswith("knock") for text in legal(engine))
        act(engine, f"discard {drawn[turn]}", "draw")
        act(engine, next(text for text in legal(engine) if "discard" in text), "draw")
    assert f"knock {drawn[wait]}" in legal(engine)
    act(engine, f"knock {drawn[wait]}")
    assert engine.state.kind[0] == Kind.KNOCK
    told = describe_result(rules, engine.state, 0)
    assert (told.winner, told.bonuses) == (0, {"box": 10, "boast": 20})
    assert told.points == (told.deadwood[1] - told.deadwood[0] + 10 + 20, 0)
    assert engine.state.boasted[0].tolist() == [1, 0]


@pytest.mark.parametrize("name", [name for name, rules in OPTION_SETS.items() if rules.boast])
def test_a_seat_boasts_once_and_is_barred_from_ending_the_deal(name: str) -> None:
    engine = rich_engine(OPTION_SETS[name], 60, seed=3)
    state, layout, rows = engine.state, engine.layout, np.arange(60)
    knocks_after_a_boast = 0
    for _ in play_on(engine):
        playing = state.phase == Phase.PLAY
        mine = state.mover
        may_boast = state.legal[:, 0] >> np.uint64(layout.boast) & np.uint64(1) == 1
        assert not (may_boast & (state.boasted[rows, mine] == 1) & playing).any()
        barred = playing & (state.boast_bar[rows, mine] > 0)
        ends = state.legal[:, layout.knock_word] != 0
        if layout.big_gin >= 0:
            ends |= state.legal[:, 0] >> np.uint64(layout.big_gin) & np.uint64(1) == 1
        assert not ends[barred].any()
        knocks_after_a_boast += (ends & playing & (state.boasted[rows, mine] == 1)).sum()
    assert knocks_after_a_boast


# ------------------------------------------------------------------ catch (row 38)


@pytest.fixture
def catching() -> Engine:
    """A duel in which seat 0 is in its third turn and the pile holds, from below, 2C AS 2S AH 2H."""
    engine = dealt(Rules.preset("palace_2p", hand_size=7, catch_glass=True), HANDS, "2C", "KS KH KD KC QS QH QC")
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
    assert not any(text.startswith("catch") for text in legal(catching)), "once a turn"
    act(catching, legal(catching)[0], "draw", "catch 2H", "catch 2C", "catch 2S")
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


def never_ending(engine: Engine, generator: np.random.Generator) -> np.ndarray:
    """Random actions without a knock, throws more often than not."""
    words = engine.state.legal.copy()
    words[:, engine.layout.knock_word] = 0
    actions = random_actions(words, engine.layout, generator)
    discards = engine.layout.mask(words)[:, engine.layout.discard : engine.layout.discard + 52]
    throwing = discards.any(axis=1) & (generator.random(engine.num_deals) < 0.5)
    return np.where(throwing, engine.layout.discard + discards.argmax(axis=1), actions)


# ------------------------------------------------------------------ last discard (row 12)


def patient(engine: Engine, generator: np.random.Generator) -> np.ndarray:
    """Nobody knocks before the last discard, which half take if they can."""
    return lively_actions(engine, generator, eagerness=0.0, sense=1.0)


@pytest.mark.parametrize("name", [name for name, rules in OPTION_SETS.items() if rules.last_discard_knock])
def test_the_last_discard_is_for_a_knock_alone(name: str) -> None:
    engine = rich_engine(OPTION_SETS[name], 100, seed=5)
    state, layout, rules = engine.state, engine.layout, engine.rules
    ends = np.uint64(0 if layout.big_gin < 0 else 1 << layout.big_gin)
    offered = taken = 0
    for actions in play_on(engine, policy=patient):
        last = state.phase == Phase.LAST_DISCARD
        offered += last.sum()
        assert (state.stock_count[last] == rules.stock_floor).all()
        assert np.isin(state.legal[last, 0], [0b01, 0b11]).all()
        assert not state.legal[last, 1:].any()
        takes = np.flatnonzero(last & (actions == 1))
        taken += len(takes)
        after = engine.state.clone()
        if len(takes):
            twin = Engine(rules, len(takes))
            twin.load(after.take(takes))
            twin.step(actions[takes])
            words = twin.state.legal
            assert not (words[:, 0] & ~ends).any()
            assert not np.delete(words, [0, layout.knock_word], axis=1).any()
            assert (words != 0).any(axis=1).all()
            assert not (words[:, layout.knock_word] & CARD_BITS[twin.state.taken_card]).any()
    assert offered > 20
    assert taken


def test_passing_the_last_discard_is_a_dead_deal() -> None:
    engine = Engine(Rules.preset("classic_2p", last_discard_knock=True, stock_floor=4), seed=3)
    engine.reset()
    while engine.state.phase[0] != Phase.LAST_DISCARD:
        choices = legal(engine)
        act(engine, next(text for text in ("pass", "draw", *choices) if text in choices and "knock" not in text))
    act(engine, "pass")
    assert (engine.state.kind[0], engine.state.stock_count[0]) == (Kind.DEAD, 4)


def test_where_the_turn_cap_falls_on_the_last_discard_the_deal_is_dead() -> None:
    rules = Rules.preset("classic_2p", last_discard_knock=True, max_turns=50)
    engine = Engine(rules, 30, seed=6)
    engine.reset()
    for _ in play_on(engine, policy=_cycling):
        at_cap = engine.state.turn == 50
        assert (engine.state.phase[at_cap] == Phase.OVER).all()
    assert (engine.state.turn == 50).any()


def _cycling(engine: Engine, generator: np.random.Generator) -> np.ndarray:
    """Take from the pile in the first 21 turns, then draw: the stock reaches its floor with turn 50."""
    actions = never_ending(engine, generator)
    drawing = engine.state.phase == Phase.DRAW
    return np.where(drawing, np.where(engine.state.turn < 21, 1, 2), actions)


# ------------------------------------------------------------------ big gin (row 23), Oklahoma (row 20)

ELEVEN = "2H 3H 4H 5H 8S 8D 8C TC JC QC KC"
OTHERS = "AS AH 9S 9D 9C 6D 6C 4S 3D 7H"


@pytest.mark.parametrize("bonus", [0, 31])
def test_big_gin_ends_the_deal_without_a_discard(bonus: int) -> None:
    rules = Rules.preset("biggin_2p", big_gin_bonus=bonus)
    *ten, drawn = ELEVEN.split()
    engine = dealt(rules, [" ".join(ten), OTHERS], "AC", drawn)
    act(engine, "pass", "pass", "draw")
    assert {"big_gin", "knock KC"} <= set(legal(engine))
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
        assert (gin_cards[big] > 0).all(), "whoever has big gin can also throw the end of a meld and knock"
    assert (engine.state.kind == Kind.BIG_GIN).any()


@pytest.mark.parametrize(("upcard", "limit"), [("AS", 0), ("AD", 0), ("2H", 2), ("7C", 7), ("TD", 10), ("KS", 10)])
def test_the_first_upcard_caps_the_knock(upcard: str, limit: int) -> None:
    hands = ["3S 4S 5S 6S 9H 9D 9C 8C 8D 8H", "7S 8S JH QH TH 5C 5D 4C TS 6H"]
    for drawn, deadwood in (("AC", 1), ("2C", 2), ("3C", 3), ("7D", 7), ("JC", 10)):
        engine = dealt(Rules.preset("oklahoma_2p"), hands, upcard, f"{drawn} KD KC")
        act(engine, "pass", "pass", "draw", "discard 3S", "draw", "discard KD", "draw")
        # 4S 5S 6S, the nines and the eights are melds; what was drawn first is all the deadwood
        assert ("knock KC" in legal(engine)) == (deadwood <= limit), (drawn, upcard)
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
