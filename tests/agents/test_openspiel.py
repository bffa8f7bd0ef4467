"""The agent ``openspiel`` chooses what OpenSpiel's bot chooses in OpenSpiel's own game, and differs only as told."""

from __future__ import annotations

import dataclasses
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest

from agents.arena import play_match
from agents.registry import AGENT_NAMES, load_agent
from agents.scripted.openspiel import NEEDED_RULES, OpenSpielAgent, discard, wants_upcard
from gin_env.cards import RANKS, bits_of, format_cards, parse_card, parse_cards
from gin_env.cards.melds import legal_knocks
from gin_env.engine import Engine, Phase
from gin_env.episodes.agent import decide
from gin_env.observation import player_view
from gin_env.rules import PRESETS, Rules
from gin_env.scoring import score_deal
from tests.helpers.decks import meld_rich_deck
from tests.helpers.play import play_on, rich_engine

#: OpenSpiel's rules in our words; its player 0 is our seat 0, who begins.
NATIVE = Rules.preset("classic_2p", forbid_return_discard=False, last_discard_knock=True)
DEALER = 1
#: OpenSpiel's actions; below them the cards, from the last on the melds.
TAKE, DRAW, PASS, KNOCK, MELDS = 52, 53, 54, 55, 56
WORDS = {TAKE: "take", DRAW: "draw", PASS: "pass"}
SUITS = "SCDH"  #: in OpenSpiel's order

#: 11 cards that can be left with 9 and with 0 points, where OpenSpiel counts 11 and 1.
MISCOUNTED = [
    ("2S 5S 6S 3C 4C 5C 6C 2H 4H 5H 6H", 10, "6S"),
    ("AS 4S AC 2C 3C 4C AD 2D 3D 4D AH", 0, "4S"),
]


@pytest.fixture
def pyspiel() -> Any:
    return pytest.importorskip("pyspiel")


def theirs(text: str) -> int:
    return 13 * SUITS.index(text[1]) + RANKS.index(text[0])


def ours(card: int) -> str:
    return RANKS[card % 13] + SUITS[card // 13]


class Move(NamedTuple):
    text: str  #: what was played, in our words
    choice: str | None  #: what the bot chose; None where nobody asked it


def native_deal(
    pyspiel: Any, empty: Any, bots: list[Any], deck: list[str], generator: np.random.Generator, patient: bool
) -> Iterator[Move]:
    """Play one deal in OpenSpiel on a deck of ours, up to the knock; seats without a bot act at random.

    Patient players ask the bot, but take nothing and knock only with the last discard, so that they often can then.
    """
    state, phases = empty.clone(), pyspiel.gin_rummy.Phase
    dealt = [theirs(card) for card in deck]
    chances = iter(dealt[:20:2] + dealt[1:20:2] + dealt[20:])
    for bot in filter(None, bots):
        bot.restart()
    while not state.is_terminal():
        if state.is_chance_node():
            state.apply_action(next(chances))
            continue
        bot, phase = bots[state.current_player()], state.current_phase()
        played = chosen = bot.step(state) if bot else int(generator.choice(state.legal_actions()))
        if patient and chosen == TAKE:
            played = state.legal_actions()[-1]  # draw or pass
        if chosen != KNOCK:
            text = WORDS.get(chosen) or f"discard {ours(chosen)}"
            asked = bot and chosen in state.legal_actions()  # having passed what it wanted, it still asks for it
            yield Move(WORDS.get(played) or text, text if asked else None)
            state.apply_action(played)
            continue
        after = state.clone()
        after.apply_action(KNOCK)
        card = bot.step(after) if bot else int(generator.choice(after.legal_actions()))
        text = f"knock {ours(card)}"
        if patient and phase == phases.DISCARD:
            bot.restart()
            yield Move(f"discard {ours(card)}", text)
            state.apply_action(card)
            continue
        if phase == phases.WALL:
            yield Move("take", "take" if bot else None)
        yield Move(text, text if bot else None)
        return


@pytest.mark.parametrize(
    ("limit", "who"), [(10, "both"), (10, "one"), (3, "one"), (0, "both"), (10, "patient"), (4, "patient")]
)
def test_it_chooses_what_the_bot_chooses_in_its_own_game(pyspiel: Any, limit: int, who: str) -> None:
    """Half of the decks are rich in melds; with one bot its seat alternates, and the other plays at random."""
    num_deals, generator = 80, np.random.default_rng(limit)
    rules = dataclasses.replace(NATIVE, knock_limit=limit)
    game = pyspiel.load_game("gin_rummy", {"knock_card": limit})
    empty = game.new_initial_state()
    seats = [pyspiel.make_simple_gin_rummy_bot(game.get_parameters(), seat) for seat in range(2)]
    decks, deals = [], []
    for row in range(num_deals):
        decks.append(meld_rich_deck(generator, rules, DEALER) if row % 2 else generator.permutation(52))
        bots = seats if who != "one" else [seats[0], None] if row % 4 < 2 else [None, seats[1]]
        texts = format_cards(list(decks[-1])).split()
        deals.append(list(native_deal(pyspiel, empty, bots, texts, generator, who == "patient")))
    engine, agent, seen = Engine(rules, num_deals), OpenSpielAgent(), Counter[tuple[Phase, str]]()
    engine.reset(decks=np.array(decks), dealers=DEALER)
    for turn in range(max(map(len, deals))):
        rows = np.array([row for row in range(num_deals) if turn < len(deals[row])])
        moves = [deals[row][turn] for row in rows]
        for row, move, action in zip(rows, moves, decide(agent, player_view(engine.state, rows=rows)), strict=True):
            if move.choice:
                assert engine.layout.text(action) == move.choice, f"deal {row}, move {turn}"
                seen[Phase(engine.state.phase[row]), move.choice.split()[0]] += 1
        engine.step(np.array([engine.layout.index(move.text) for move in moves]), rows)
    assert seen[Phase.UPCARD_OFFER, "take"] > 10
    assert seen[Phase.UPCARD_OFFER, "pass"] > 10
    assert seen[Phase.DRAW, "take"] > 40
    assert seen[Phase.DRAW, "draw"] > 200
    assert seen[Phase.PLAY, "discard"] > 200
    assert seen[Phase.PLAY, "knock"] > 60
    if who == "patient":
        assert seen[Phase.LAST_DISCARD, "take"] > 20


def test_it_plays_duplicate_deals_about_as_well_as_simple(pyspiel: Any) -> None:
    rules = Rules.preset("eaai_2p")
    match = play_match(rules, load_agent("openspiel", rules), load_agent("simple", rules), 150, seed=1)
    assert match.num_deals == 300
    assert abs(match.points_per_deal.value) < 5


@pytest.mark.parametrize(
    "rules",
    [
        Rules.preset("eaai_2p", last_discard_knock=True),
        Rules.preset("straight_2p"),
        Rules.preset("oklahoma_2p", last_discard_knock=True, forbid_return_discard=False),
    ],
    ids=lambda rules: rules.name,
)
def test_it_chooses_legally_wherever_others_have_led(pyspiel: Any, rules: Rules) -> None:
    engine, agent, discarded_again = rich_engine(rules, 30, seed=5), OpenSpielAgent(), 0
    for _ in play_on(engine, seed=5):
        rows = np.flatnonzero(~engine.over)
        view = player_view(engine.state, rows=rows)
        actions = decide(agent, view)
        discards = np.flatnonzero(view.phase == Phase.PLAY)
        discarded_again += int((engine.layout.card_of[actions[discards]] == view.taken_card[discards]).sum())
    assert (discarded_again == 0) == rules.forbid_return_discard


@pytest.mark.parametrize(("cards", "limit", "discardable"), MISCOUNTED)
def test_it_refuses_a_legal_knock_where_openspiel_miscounts(
    pyspiel: Any, cards: str, limit: int, discardable: str
) -> None:
    hand = np.array([bits_of(parse_cards(cards))])
    assert int(legal_knocks(hand, hand, limit)[0]) >> parse_card(discardable) & 1
    card, knocks = discard(limit, parse_cards(cards))
    assert not knocks
    assert card != parse_card(discardable)
    assert not wants_upcard(limit, parse_cards(cards)[1:], parse_card("KS"))


def knocked(pyspiel: Any, knocker: str, discarded: str, defender: str) -> Any:
    """Return OpenSpiel's state in which seat 0 has just laid its melds and seat 1 may lay off."""
    state = pyspiel.load_game("gin_rummy").new_initial_state()
    for card in [*knocker.split(), *defender.split(), "KS"]:
        state.apply_action(theirs(card))
    for action in (PASS, PASS, DRAW, theirs(discarded), KNOCK, theirs(discarded)):
        state.apply_action(action)
    while state.current_player() == 0:
        state.apply_action(max([move for move in state.legal_actions() if move >= MELDS], default=PASS))
    return state


def test_openspiel_pays_nothing_for_equal_counts(pyspiel: Any) -> None:
    hands = ["AS 2S 3S 7C 8C 9C JH JD JC 5S", "5H 5D 6D 7D 2C 3C 4C TH TD TS"]
    state = knocked(pyspiel, hands[0], "KH", hands[1])
    state.apply_action(PASS)
    while not state.is_terminal():
        state.apply_action(max(state.legal_actions()))
    assert state.deadwood() == [5, 5]
    assert state.returns() == [0, 0]
    assert score_deal(NATIVE, [f"{hands[0]} KH", hands[1]], knocker=0, knock_card="KH").points == (0, 25)


def test_openspiel_refuses_a_third_layoff_in_a_row_and_its_bot_lays_off_nothing(pyspiel: Any) -> None:
    state = knocked(pyspiel, "5S 6S 7S 7C 8C 9C JH JD JC 2S", "KH", "8S 9S TS 7D 2C 3C 4C TH KD QS")
    bot = pyspiel.make_simple_gin_rummy_bot(state.get_game().get_parameters(), 1)
    assert theirs("8S") in state.legal_actions()
    assert bot.step(state) == PASS
    for card in ("8S", "9S"):
        state.apply_action(theirs(card))
    assert state.legal_actions() == [PASS]


def test_openspiel_lets_a_player_lay_less_than_he_could(pyspiel: Any) -> None:
    state = knocked(pyspiel, "AS 2S 3S 7C 8C 9C JH JD JC 2H", "KH", "5H 5D 6D 7D 2C 3C 4C TH TD TS")
    while not state.is_terminal():
        state.apply_action(PASS)
    assert state.returns()[0] == 5 + 5 + 6 + 7 + 2 + 3 + 4 + 30 - 2


def dealt_in_order(pyspiel: Any) -> Any:
    """Return OpenSpiel's state after the cards were dealt in id order: seat 0 holds a run of ten."""
    state = pyspiel.load_game("gin_rummy").new_initial_state()
    for card in range(21):
        state.apply_action(card)
    return state


def test_openspiel_ends_deals_in_which_cards_go_to_and_fro(pyspiel: Any) -> None:
    dealt = dealt_in_order(pyspiel)
    state, taken = dealt.clone(), dealt.upcard()
    for _ in range(2):
        assert not state.is_terminal()
        state.apply_action(TAKE)
        state.apply_action(taken)
    assert state.is_terminal()
    state, takes = dealt.clone(), 0
    while not state.is_terminal():
        taken = state.upcard()
        state.apply_action(TAKE)
        takes += 1
        if not state.is_terminal():
            discards = [card for card in state.legal_actions() if card < TAKE and card != taken]
            state.apply_action(discards[takes % len(discards)])
    assert takes == 1 + pyspiel.gin_rummy.MAX_NUM_DRAW_UPCARD_ACTIONS == 51


def test_openspiels_bot_asks_for_the_upcard_that_was_passed(pyspiel: Any) -> None:
    state = dealt_in_order(pyspiel)
    bot = pyspiel.make_simple_gin_rummy_bot(state.get_game().get_parameters(), 0)
    for _ in range(2):
        state.apply_action(PASS)
    assert state.legal_actions() == [DRAW]
    assert bot.step(state) == TAKE
    engine = Engine(NATIVE, 1)
    ranks_of_spades, others = np.arange(10), np.arange(10, 52)
    engine.reset(decks=np.r_[np.c_[ranks_of_spades, others[:10]].ravel(), others[10:]], dealers=DEALER)
    for _ in range(2):
        engine.step([engine.layout.index("pass")])
    assert engine.layout.text(decide(OpenSpielAgent(), player_view(engine.state))[0]) == "draw"


def test_without_the_package_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(ValueError, match="agent 'openspiel': needs the package open_spiel; pip install open_spiel"):
        load_agent("openspiel", Rules.preset("eaai_2p"))
    assert "openspiel" not in AGENT_NAMES


def test_rules_that_are_not_shared_are_refused_by_name() -> None:
    message = (
        r"'openspiel' cannot play palace_4p: OpenSpiel's rules have mode='duel', hand_size=10, "
        "as the presets eaai_2p and classic_2p do"
    )
    with pytest.raises(ValueError, match=message):
        load_agent("openspiel", Rules.preset("palace_4p"))
    with pytest.raises(ValueError, match="all_pass_forces_stock=True, big_gin_bonus=None"):
        load_agent("openspiel", Rules.preset("biggin_2p"))
    shared = {
        name for name, rules in PRESETS.items() if all(getattr(rules, key) == NEEDED_RULES[key] for key in NEEDED_RULES)
    }
    assert shared == {"palace_2p", "classic_2p", "pagat_2p", "oklahoma_2p", "straight_2p", "eaai_2p"}
