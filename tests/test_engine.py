"""The engine: invariants of random play, independence of rows, symmetry, and the rules that neighbours get wrong."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

from gin_env.cards import CARD_BITS, NO_CARD, bits_of, format_card, format_cards, parse_cards
from gin_env.dealing import parse_deck
from gin_env.engine import Engine
from gin_env.errors import IllegalAction, InvalidPosition
from gin_env.layoffs import greedy_layoffs
from gin_env.rules import PRESETS, Rules
from gin_env.scoring import score_deal
from gin_env.state import Kind, Phase, array_fields, log_capacity
from gin_env.view import player_view, single_view
from tests.play import play_on, rich_engine

PALACE, CLASSIC = PRESETS["palace_4p"], PRESETS["classic_2p"]


def act(engine: Engine, *texts: str) -> None:
    for text in texts:
        engine.step([engine.layout.index(text)])


def legal(engine: Engine) -> list[str]:
    return engine.layout.texts(engine.state.legal[0])


@pytest.mark.parametrize("preset", PRESETS)
def test_invariants_at_every_step(preset: str) -> None:
    engine = rich_engine(preset, 60, seed=1)
    state = engine.state
    for steps, _ in enumerate(play_on(engine), start=1):
        mask = engine.legal_mask()
        assert mask[~engine.over].any(axis=1).all()
        assert not mask[engine.over].any()
        assert [problem for row in range(60) for problem in state.problems(row)] == []
        assert steps <= log_capacity(engine.rules)
    assert (state.points >= 0).all()
    assert ((state.points > 0).sum(axis=1) <= 1).all(), "only one team writes down points"
    assert (state.winner[state.kind == Kind.DEAD] == -1).all()
    assert (state.winner[state.kind != Kind.DEAD] >= 0).all()
    assert {Kind.DEAD, Kind.KNOCK, Kind.UNDERCUT} <= set(state.kind.tolist())


@pytest.mark.parametrize("preset", PRESETS)
def test_rows_are_independent(preset: str) -> None:
    """Row i of a batch equals a batch of one with that row's stream, over several deals."""
    together = Engine(preset, 5, seed=9)
    alone = [Engine(preset) for _ in range(5)]
    for row, engine in enumerate(alone):
        engine.seed(9, streams=[row])
    generator = np.random.default_rng(0)
    for engine in (together, *alone):
        engine.reset()
    for _ in range(400):
        mask = together.legal_mask()
        actions = np.array([generator.choice(np.flatnonzero(row)) if row.any() else 0 for row in mask])
        together.step(actions)
        for row, engine in enumerate(alone):
            engine.step(actions[[row]])
        over = np.flatnonzero(together.over)
        if len(over):
            together.reset(over)
            for row in over:
                alone[row].reset()
        for row, engine in enumerate(alone):
            assert together.state.take(row).differences(engine.state) == []


def test_seeds_decide_everything() -> None:
    decks = []
    for seed in (4, 4, 5):
        engine = Engine("palace_4p", 50, seed)
        engine.reset()
        first = engine.state.deck.copy()
        engine.reset()
        decks.append(np.stack([first, engine.state.deck]))
        assert not (first == engine.state.deck).all(axis=1).any(), "each deal has its own deck"
        assert len(np.unique(first, axis=0)) == 50
    assert (decks[0] == decks[1]).all()
    assert not (decks[0] == decks[2]).all(axis=2).any()


def test_decks_and_dealers_are_uniform() -> None:
    engine = Engine("palace_4p", 20_000, seed=1)
    engine.reset()
    counts = np.stack([np.bincount(engine.state.deck[:, place], minlength=52) for place in range(52)])
    expected = 20_000 / 52
    chi_squared = ((counts - expected) ** 2 / expected).sum()
    assert abs(chi_squared - 51 * 51) < 6 * np.sqrt(2 * 51 * 51)
    dealers = np.bincount(engine.state.dealer, minlength=4)
    assert np.abs(dealers - 5_000).max() < 5 * np.sqrt(20_000 * 3 / 16)


@pytest.mark.parametrize("copying", [copy.deepcopy, lambda engine: pickle.loads(pickle.dumps(engine))])
def test_copies_go_on_alike(copying: object) -> None:
    engine = rich_engine(Rules.preset("palace_4p", knock_limit=7), 20, seed=2)
    for step, _ in enumerate(play_on(engine)):
        if step == 20:
            break
    twin = copying(engine)  # type: ignore[operator]
    assert twin.rules == engine.rules
    for one, other in zip(play_on(engine, seed=3), play_on(twin, seed=3), strict=True):
        assert (one == other).all()
        assert twin.state.equals(engine.state)


def test_clone_take_and_put() -> None:
    engine = rich_engine("palace_4p", 6, seed=3)
    before = engine.state.clone()
    for step, _ in enumerate(play_on(engine)):
        if step == 10:
            break
    assert not engine.state.equals(before)
    assert before.problems(0) == []
    engine.state.put([1, 2], before.take([1, 2]))
    assert engine.state.take([2]).equals(before.take([2]))
    assert not engine.state.take([0]).equals(before.take([0]))


def test_state_says_what_is_wrong() -> None:
    engine = Engine("palace_4p", 1, seed=0)
    engine.reset()
    assert engine.state.problems() == []
    broken = engine.state.clone()
    broken.hands[0, 1] |= broken.hands[0, 0] & ~(broken.hands[0, 0] - np.uint64(1))
    assert any("cards in two places" in problem for problem in broken.problems())
    broken = engine.state.clone()
    broken.hands[0, 2] &= broken.hands[0, 2] - np.uint64(1)
    assert any("cards missing" in problem for problem in broken.problems())
    assert any("seat 2 holds 6 cards instead of 7" in problem for problem in broken.problems())
    assert {field.name for field in array_fields()} >= {"hands", "deck", "log"}


# ------------------------------------------------------------------ bad input


@pytest.mark.parametrize(
    ("deck", "said"),
    [
        ([0, *range(51)], "not a permutation of the 52 cards: it lacks KC"),
        ([52, *range(51)], "lacks KC"),
        ([0.5, *range(51)], "hold float64 values"),
    ],
)
def test_wrong_decks(deck: list[int], said: str) -> None:
    with pytest.raises(InvalidPosition, match=said):
        parse_deck(deck)
    with pytest.raises(InvalidPosition, match=said):
        Engine("classic_2p").reset(decks=deck)


def test_wrong_dealers_and_sizes() -> None:
    with pytest.raises(InvalidPosition, match="dealer 4 is no seat: the seats are 0 to 3"):
        Engine("palace_4p").reset(dealers=4)
    for dealer in (0.5, "left", True):
        with pytest.raises(InvalidPosition, match=f"dealer {dealer!r} is no seat"):
            Engine("palace_4p").reset(dealers=dealer)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="num_deals=0"):
        Engine("palace_4p", 0)
    engine = Engine("classic_2p", 3)
    engine.reset()
    with pytest.raises(ValueError, match="one action for each of 3 deals"):
        engine.step([0])


def test_rows_are_numbers_or_a_mask() -> None:
    engine = Engine("classic_2p", 4, seed=1)
    engine.reset()
    decks = engine.state.deck.copy()
    engine.reset(np.array([False, False, True, True]))
    assert (engine.state.deck == decks).all(axis=1).tolist() == [True, True, False, False]
    for rows, said in (([4], "row 4 is none: the rows are 0 to 3"), ([-1], "row -1"), ([0.5], "rows hold float64")):
        for call in (engine.reset, engine.legal_mask, lambda rows: player_view(engine.state, rows=rows)):
            with pytest.raises(ValueError, match=said):
                call(rows)
    with pytest.raises(ValueError, match=r"a mask of rows has shape \(2,\)"):
        engine.reset(np.array([True, False]))


def test_numbers_and_seats_are_checked() -> None:
    with pytest.raises(ValueError, match=r"num_deals=2.5: must be a whole number of at least 1"):
        Engine("classic_2p", 2.5)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="seed=None: must be a whole number"):
        Engine("classic_2p", seed=None)  # type: ignore[arg-type]
    engine = Engine("classic_2p", 2)
    with pytest.raises(ValueError, match=r"call reset\(\) first"):
        engine.step([0, 0])
    engine.reset()
    with pytest.raises(ValueError, match="actions hold float64 values"):
        engine.step([0.9, 0.0])
    for seat in (2, -1, 0.5):
        with pytest.raises(ValueError, match="must be a seat from 0 to 1"):
            player_view(engine.state, seat)
        with pytest.raises(ValueError, match="must be a seat from 0 to 1"):
            single_view(engine.state, seat)  # type: ignore[arg-type]
    with pytest.raises(InvalidPosition, match=r"dealers have shape \(2,\)"):
        Engine("classic_2p", 3).reset(dealers=[0, 1])
    with pytest.raises(InvalidPosition, match="deck of 2 cards: all 52 are needed"):
        parse_deck("AS 2S")
    with pytest.raises(InvalidPosition, match=r"decks have shape \(1, 51\)"):
        Engine("classic_2p").reset(decks=list(range(51)))
    with pytest.raises(InvalidPosition, match="unknown card '1S'"):
        parse_deck(["1S"] * 52)


@pytest.mark.parametrize("action", [2, 3, 60, -1, -107, 107, 10_000])
def test_illegal_actions_change_nothing(action: int) -> None:
    engine = Engine("classic_2p", 2, seed=1)
    engine.reset()
    before = engine.state.clone()
    with pytest.raises(IllegalAction, match=r"in phase upcard_offer of deal 1; legal: pass, take"):
        engine.step([0, action])
    assert engine.state.equals(before)


def test_a_refused_deck_does_not_use_up_a_deal() -> None:
    one, other = Engine("classic_2p", seed=4), Engine("classic_2p", seed=4)
    for engine in (one, other):
        engine.reset()
    with pytest.raises(InvalidPosition):
        one.reset(dealers=9)
    for engine in (one, other):
        engine.reset()
    assert one.state.equals(other.state)


def test_actions_in_finished_deals_are_ignored() -> None:
    engine = rich_engine("classic_2p", 8, seed=5)
    for _ in play_on(engine):
        pass
    before = engine.state.clone()
    engine.step(np.full(8, -1))
    assert engine.state.equals(before)


# ------------------------------------------------------------------ symmetry


@pytest.mark.parametrize("preset", [name for name in PRESETS if name != "eaai_2p"])
def test_renaming_suits_changes_nothing(preset: str) -> None:
    one, other = rich_engine(preset, 40, seed=6), Engine(preset, 40)
    renamed = np.append((np.arange(52) + 13) % 52, NO_CARD).astype(np.uint8)
    other.reset(decks=renamed[one.state.deck], dealers=one.state.dealer)
    layout = one.layout
    with_card = layout.word_of > 0
    card = layout.card_of
    mapped = np.where(with_card, np.arange(layout.size) - card + renamed[card], np.arange(layout.size))
    for actions in play_on(one):
        assert (one.legal_mask() == other.legal_mask()[:, mapped]).all()
        other.step(mapped[np.maximum(actions, 0)])
    for name in ("kind", "winner", "points", "turn"):
        assert (getattr(one.state, name) == getattr(other.state, name)).all()
    assert (one.state.kind > Kind.DEAD).sum() > 10


@pytest.mark.parametrize("preset", [name for name in PRESETS if name != "eaai_2p"])
def test_turning_the_table_changes_nothing(preset: str) -> None:
    one, other = rich_engine(preset, 40, seed=7), Engine(preset, 40)
    seats = one.rules.num_players
    other.reset(decks=one.state.deck, dealers=(one.state.dealer + 1) % seats)
    for actions in play_on(one):
        assert ((one.state.mover + 1) % seats == other.state.mover).all()
        assert (one.state.legal == other.state.legal).all()
        other.step(actions)
    assert (one.state.points == other.state.points[:, ::-1]).all()
    assert (one.state.hands == np.roll(other.state.hands, -1, axis=1)).all()
    for name in ("deadwood", "known_bits", "discarded_bits", "declined_bits", "laid_bits", "set_bits", "run_bits"):
        assert (getattr(one.state, name) == np.roll(getattr(other.state, name), -1, axis=1)).all(), name


# ------------------------------------------------------------------ the rules, move by move


def test_upcard_is_offered_to_every_seat_once_and_then_only_the_stock_is_left() -> None:
    engine = Engine("palace_4p", seed=1)
    engine.reset(dealers=2)
    for seat in (3, 0, 1, 2):
        assert engine.state.mover[0] == seat
        assert legal(engine) == ["pass", "take"]
        act(engine, "pass")
    assert Phase(int(engine.state.phase[0])) is Phase.FORCED_DRAW
    assert engine.state.mover[0] == 3
    assert legal(engine) == ["draw"]


def test_taker_of_the_upcard_has_the_first_turn() -> None:
    engine = Engine("palace_4p", seed=1)
    engine.reset(dealers=0)
    act(engine, "pass", "take")
    assert (engine.state.mover[0], engine.state.turn_seat[0]) == (2, 2)
    act(engine, next(text for text in legal(engine) if text.startswith("discard")))
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


def test_a_card_that_comes_back_in_a_trade_still_may_not_be_thrown() -> None:
    engine = Engine("palace_4p", seed=3)
    engine.reset(dealers=3)
    act(engine, "take")
    taken = format_card(int(engine.state.taken_card[0]))
    act(engine, f"give {taken}")
    assert engine.state.mover[0] == 2
    act(engine, f"give {taken}")
    assert f"discard {taken}" not in legal(engine)
    assert not any(text.startswith("give") for text in legal(engine)), "one trade a turn"
    act(engine, legal(engine)[0])
    assert engine.state.mover[0] == 1


def test_a_trade_veils_what_was_known() -> None:
    engine = Engine("palace_4p", seed=3)
    engine.reset(dealers=3)
    act(engine, "take")
    taken = CARD_BITS[engine.state.taken_card[0]]
    assert engine.state.known_bits[0].tolist() == [taken, 0, 0, 0]
    other = next(text for text in legal(engine) if text.startswith("give"))
    act(engine, other, other)
    assert engine.state.known_bits[0].tolist() == [0, 0, 0, 0]
    assert engine.state.team_known_bits[0].tolist() == [taken, 0]


def test_endless_cycling_ends_dead_at_the_turn_cap() -> None:
    engine = Engine(Rules.preset("classic_2p", max_turns=50), seed=2)
    engine.reset()
    while not engine.over[0]:
        choices = legal(engine)
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
    """5-6-7S takes 8S and 9S above and 4S and 3S below, or 8S 9S TS (a neighbour refused more than one)."""
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
