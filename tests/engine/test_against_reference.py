"""The engine and the slow reference agree move by move: legal actions, places of all cards, settlement."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
import pytest

from gin_env.cards import format_card, format_cards
from gin_env.cards.melds import deadwood
from gin_env.engine import Engine, Phase
from gin_env.engine.state import unpack_events
from gin_env.notation.position_checks import card_problems
from gin_env.rules import PRESETS, Rules
from gin_env.scoring import Kind
from gin_env.scoring.deal_result import describe_result
from gin_env.scoring.showdown import settle
from tests.helpers.decks import SHORT_MELDS, meld_rich_deck, meld_rich_hand
from tests.helpers.knowledge import Bookkeeper, book_actions
from tests.helpers.random_rules import random_rules
from tests.reference import PRESETS as REFERENCE_PRESETS
from tests.reference import ReferenceDeal, score_showdown

CARDS = [format_card(card) for card in range(52)]
BITS = {text: 1 << card for card, text in enumerate(CARDS)}
PHASES = [phase.name.lower() for phase in Phase]

MELDS_OF_THREE = [{CARDS[card] for card in meld} for meld in SHORT_MELDS if len(meld) == 3]

#: How the seats of a deal choose: uniformly, or knocking whenever that is legal.
STYLES = ("random", "knocks")

OPTIONS = {
    "palace_4p": [
        {"cross_chain": False},
        {"team_layoff": "knocker_only", "small_gin_for": "any_member"},
        {"team_layoff": "all", "gin_protects": "knocker_zero"},
        {"layoff_on_gin": True, "undercut_on_tie": False},
        {"layoff_on_gin": True, "team_layoff": "all", "spread": "first"},
        {"layoff_on_gin": True, "team_layoff": "knocker_only", "hand_size": 10, "stock_floor": 0},
        {"spread": "first", "forbid_return_discard": False, "hand_size": 9},
        {"max_trades_per_turn": 3, "trade_reply": "mover", "trade_taken_card": False},
        {"max_trades_per_turn": 0, "partner_hand_visible": False, "upcard_offer": False},
        {"all_pass_forces_stock": False, "max_turns": 50, "stock_floor": 4, "knock_limit": 3},
        {"boast": True, "catch_glass": True, "last_discard_knock": True, "stock_floor": 4, "max_trades_per_turn": 2},
        {"limit_from_upcard": True, "ace_upcard_gin_only": True, "spade_upcard_doubles": True},
    ],
    "classic_2p": [
        {"spread": "first", "layoff_on_gin": True},
        {"undercut_on_tie": False, "all_pass_forces_stock": False, "knock_limit": 0},
        {"hand_size": 7, "upcard_offer": False, "forbid_return_discard": False, "stock_floor": 0, "max_turns": 50},
    ],
    "eaai_2p": [{"undercut_on_tie": False, "hand_size": 8}, {"layoff_on_gin": True, "spread": "first"}],
    "biggin_2p": [
        {"hand_size": 8, "layoff_on_gin": True, "last_discard_knock": True, "boast": True, "boast_wait_turns": 3},
        {"spade_upcard_doubles": True, "catch_glass": True, "stock_floor": 4, "box_timing": "now"},
    ],
    "rotation_3p": [
        {"big_gin_bonus": 31, "boast": True, "catch_glass": True, "last_discard_knock": True, "stock_floor": 4},
        {"layoff": "greedy", "upcard_offer": False, "box_timing": "now", "limit_from_upcard": True},
    ],
    "free_for_all_3p": [
        {"ffa_scoring": "pooled", "hand_size": 10, "last_discard_knock": True, "stock_floor": 4},
        {"cross_chain": False, "layoff_on_gin": True, "box_bonus": 10, "hand_size": 9},
    ],
    "free_for_all_5p": [
        {"ffa_scoring": "pooled", "undercut_on_tie": False, "box_bonus": 10, "catch_glass": True},
        {"spade_upcard_doubles": True, "undercut_on_tie": False, "spread": "first", "hand_size": 9},
    ],
    "two_tables_4p": [{"big_gin_bonus": 31, "boast": True, "catch_glass": True, "box_timing": "now"}],
}


def compare(rules: Rules, num_deals: int, seed: int) -> Engine:
    """Play deals on both sides, comparing everything; return the engine with all deals over."""
    generator = np.random.default_rng(seed)
    engine = Engine(rules, num_deals, seed)
    dealers = generator.integers(rules.num_seats, size=num_deals)
    decks = [generator.permutation(52).tolist() for _ in range(num_deals)]
    for row in range(num_deals // 2):
        decks[row] = meld_rich_deck(generator, rules, int(dealers[row]))
    for row in range(num_deals // 20 if rules.has_big_gin else 0):
        decks[row] = big_gin_deck(generator, rules)
    engine.reset(decks=decks, dealers=dealers)
    settings = dataclasses.asdict(rules)
    references = [
        ReferenceDeal(settings, [format_card(card) for card in deck], int(dealer))
        for deck, dealer in zip(decks, dealers, strict=True)
    ]
    bookkeepers = [Bookkeeper(rules) for _ in range(num_deals)]
    styles = [STYLES[row % 2] for row in range(num_deals)]
    live = list(range(num_deals))
    texts = [engine.layout.text(action) for action in range(engine.layout.size)]
    while live:
        chosen = np.full(num_deals, -1)
        for row, legal in zip(live, engine.legal_mask(live), strict=True):
            found = [texts[action] for action in legal.nonzero()[0]]
            assert sorted(found) == sorted(references[row].legal_actions()), (row, format_cards(decks[row]))
            compare_position(engine, row, references[row])
            bookkeepers[row].check(engine.state, row)
            action = pick(generator, styles[row], found, references[row])
            references[row].apply(action)
            chosen[row] = engine.layout.index(action)
        book_actions(bookkeepers, engine, chosen.tolist())
        engine.step(chosen)
        for row in live:
            if references[row].over:
                compare_result(engine, row, references[row])
        live = [row for row in live if not references[row].over]
        assert np.flatnonzero(~engine.over).tolist() == live
    return engine


def big_gin_deck(generator: np.random.Generator, rules: Rules) -> list[int]:
    """A deck that gives the first player a melded hand and an upcard which melds with it, too."""
    while True:
        cards = meld_rich_hand(generator, rules.hand_size + 1, set(range(52)))
        if deadwood(np.array([sum(1 << card for card in cards)], dtype=np.uint64))[0] == 0:
            break
    rest = generator.permutation(sorted(set(range(52)) - set(cards))).tolist()
    generator.shuffle(cards)
    deck = [card for pair in zip(cards, rest[: rules.hand_size], strict=False) for card in pair]
    return [*deck, cards[-1], *rest[rules.hand_size :]]


def kinds_of(engine: Engine) -> np.ndarray:
    return np.bincount(engine.state.kind, minlength=len(Kind))


def pick(generator: np.random.Generator, style: str, legal: list[str], reference: ReferenceDeal) -> str:
    """Choose an action; half of the catches name three cards of the pile that form a meld, used ones too."""
    catches = [action for action in legal if action.startswith("catch")]
    if catches and (reference.named or generator.random() < 0.3):
        melds = [meld for meld in MELDS_OF_THREE if set(reference.named) < meld <= set(reference.pile)]
        if melds and (reference.named or generator.random() < 0.5):
            left = sorted(melds[generator.integers(len(melds))] - set(reference.named))
            return f"catch {left[generator.integers(len(left))]}"
        return catches[generator.integers(len(catches))]
    if "big_gin" in legal and generator.random() < 0.5:
        return "big_gin"
    knocks = [action for action in legal if action.startswith(("knock", "big_gin"))]
    if style == "knocks" and knocks:
        return knocks[generator.integers(len(knocks))]
    return legal[generator.integers(len(legal))]


def compare_position(engine: Engine, row: int, reference: ReferenceDeal) -> None:
    state, rules = engine.state, engine.rules
    assert PHASES[state.phase[row]] == reference.phase
    assert (state.mover[row], state.turn_seat[row], state.turn[row]) == (
        reference.mover,
        reference.turn_seat,
        reference.turns,
    )
    assert state.hands[row].tolist() == [sum(BITS[card] for card in hand) for hand in reference.hands]
    assert [CARDS[card] for card in state.deck[row, state.stock_next[row] :]] == list(reference.stock)
    assert [CARDS[card] for card in state.pile[row, : state.pile_size[row]]] == list(reference.pile)
    if rules.catch_glass:
        assert state.points[row].tolist() == list(reference.points)
        assert state.net_points[row].tolist() == list(reference.net_points)
        assert int(state.caught_bits[row]) == sum(BITS[card] for card in reference.caught)
        assert int(state.named_bits[row]) == sum(BITS[card] for card in reference.named)
    if rules.boast:
        assert set(np.flatnonzero(state.boasted[row]).tolist()) == reference.boasted
        assert state.boast_bar[row].tolist() == list(reference.bar)


def compare_result(engine: Engine, row: int, reference: ReferenceDeal) -> None:
    state, expected = engine.state, reference.result
    assert Kind(int(state.kind[row])).name.lower() == expected.kind
    assert state.points[row].tolist() == list(expected.points)
    assert state.net_points[row].tolist() == list(expected.net_points)
    assert card_problems(state, row) == []
    if expected.kind == "dead":
        assert state.winner[row] == -1
        return
    found = describe_result(engine.rules, state, row)
    assert found.winner == expected.winner
    assert list(found.deadwood) == list(expected.deadwood)
    assert found.bonuses == expected.bonuses
    assert {seat: sorted(cards) for seat, cards in found.layoffs.items()} == expected.layoffs
    spread = {seat: sorted(sorted(meld) for meld in melds) for seat, melds in expected.spread.items()}
    assert {seat: sorted(sorted(meld) for meld in found.spread[seat]) for seat in spread} == spread


def test_presets_equal_those_of_the_reference() -> None:
    """Two readings of docs/rules.md, written apart, agree in every field."""
    from tests.reference import NO_EFFECT

    for name, rules in PRESETS.items():
        ours, theirs = dataclasses.asdict(rules), REFERENCE_PRESETS[name]
        common = (set(ours) & set(theirs)) - set(NO_EFFECT[rules.mode])
        assert len(common) >= 20
        assert {key: ours[key] for key in common} == {key: theirs[key] for key in common}, name


@pytest.mark.parametrize("preset", PRESETS)
def test_presets_agree_with_the_reference_move_by_move(preset: str) -> None:
    rules = Rules.preset(preset)
    kinds = kinds_of(compare(rules, num_deals=60, seed=11))
    assert kinds[Kind.KNOCK] >= (4 if rules.knock_limit else 0)
    assert kinds.sum() - kinds[Kind.KNOCK] >= 1


@pytest.mark.parametrize(
    ("preset", "overrides"),
    [(preset, overrides) for preset, cases in OPTIONS.items() for overrides in cases],
    ids=lambda value: value if isinstance(value, str) else ",".join(f"{k}={v}" for k, v in value.items()),
)
def test_options_agree_with_the_reference_move_by_move(preset: str, overrides: dict[str, object]) -> None:
    compare(Rules.preset(preset, **overrides), num_deals=30, seed=12)


@pytest.mark.parametrize("part", range(8))
def test_random_rules_agree_with_the_reference_move_by_move(part: int) -> None:
    """200 randomly drawn rule systems of all modes; half of the decks are rich in melds."""
    compare_random_rules(part, num_deals=2)


def compare_random_rules(part: int, num_deals: int) -> None:
    generator = np.random.default_rng(100 + part)
    for index in range(25):
        compare(random_rules(generator), num_deals, seed=1000 * part + index)


def test_the_comparison_reaches_the_optional_rules() -> None:
    """Right and wrong catches, boasts that are paid, last discards taken to knock, big gin."""
    rules = Rules.preset("biggin_2p", catch_glass=True, boast=True)
    engine = compare(rules, num_deals=100, seed=14)
    state, layout = engine.state, engine.layout
    length = int(state.log_size.max())
    _, actions, _ = unpack_events(np.where(np.arange(length) < state.log_size[:, None], state.log[:, :length], 0))
    named = (layout.verb_of[actions] == layout.verbs.index("catch")) & (actions > 0)
    right = np.bitwise_count(state.caught_bits).sum() // 3
    assert right >= 10
    assert named.sum() // 3 - right >= 10
    assert (state.boasted.any(axis=1) & (state.kind > Kind.DEAD)).sum() >= 5
    assert kinds_of(engine)[Kind.BIG_GIN] >= 2

    rules = Rules.preset("free_for_all_5p", hand_size=9, stock_floor=4, last_discard_knock=True)
    state = compare(rules, num_deals=200, seed=15).state
    at_floor = state.stock_next >= 52 - rules.stock_floor
    assert (at_floor & (state.taken_card != 52) & (state.kind > Kind.DEAD)).sum() >= 3


#: Options of the showdown alone: the same deals can be settled with and without them.
SHOWDOWN_OPTIONS = [
    ("palace_4p", "cross_chain", False),
    ("palace_4p", "team_layoff", "knocker_only"),
    ("palace_4p", "team_layoff", "all"),
    ("palace_4p", "small_gin_for", "any_member"),
    ("palace_4p", "gin_protects", "knocker_zero"),
    ("palace_4p", "layoff_on_gin", True),
    ("palace_4p", "undercut_on_tie", False),
    ("palace_4p", "spread", "first"),
    ("classic_2p", "layoff_on_gin", True),
    ("classic_2p", "undercut_on_tie", False),
    ("classic_2p", "spread", "first"),
    ("classic_2p", "layoff", "greedy"),
    ("free_for_all_3p", "ffa_scoring", "pooled"),
    ("free_for_all_4p", "cross_chain", False),
    ("free_for_all_4p", "layoff_on_gin", True),
    ("free_for_all_4p", "spread", "first"),
    ("free_for_all_5p", "undercut_on_tie", False),
    ("free_for_all_5p", "box_bonus", 10),
]


@pytest.mark.parametrize(("preset", "option", "value"), SHOWDOWN_OPTIONS)
def test_options_of_the_showdown_change_it_as_in_the_reference(preset: str, option: str, value: object) -> None:
    """Meld-rich showdowns with and without the option: they differ somewhere, and the reference agrees everywhere."""
    without, rules = Rules.preset(preset), Rules.preset(preset, **{option: value})
    generator = np.random.default_rng(13)
    settings = dataclasses.asdict(rules)
    differing = 0
    count = 800 if option == "spread" else 400 if rules.has_partners else 150
    for hands, knocker in meld_rich_showdowns(generator, rules, count):
        bits = np.array([[sum(1 << card for card in hand) for hand in hands]], dtype=np.uint64)
        found = settle(rules, bits, np.array([knocker]))
        texts = [[CARDS[card] for card in hand] for hand in hands]
        discarded = next(card for card in CARDS if all(card not in hand for hand in texts))
        texts[knocker] = [*texts[knocker], discarded]
        expected = score_showdown(settings, texts, knocker, discarded)
        assert found.points[0].tolist() == list(expected.points)
        differing += found.points[0].tolist() != settle(without, bits, np.array([knocker])).points[0].tolist()
    assert differing >= 1


def meld_rich_showdowns(
    generator: np.random.Generator, rules: Rules, count: int
) -> Iterator[tuple[list[list[int]], int]]:
    """Yield hands after the knock card is discarded, and the seat that knocks with them."""
    while count:
        deck = meld_rich_deck(generator, rules, dealer=rules.num_seats - 1)
        dealt = rules.num_seats * rules.hand_size
        hands = [deck[seat : dealt : rules.num_seats] for seat in range(rules.num_seats)]
        counts = deadwood(np.array([sum(1 << card for card in hand) for hand in hands], dtype=np.uint64))
        able = (counts <= rules.knock_limit).nonzero()[0]
        if len(able):
            yield hands, int(generator.choice(able))
            count -= 1


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_presets_agree_over_10_000_deals(preset: str) -> None:
    kinds = sum(kinds_of(compare(Rules.preset(preset), num_deals=1_000, seed=seed)) for seed in range(10))
    assert kinds.sum() == 10_000
    assert kinds[Kind.DEAD] >= 1
    rules = Rules.preset(preset)
    assert kinds[Kind.KNOCK] >= (1_000 if rules.knock_limit else 0)
    assert kinds[Kind.UNDERCUT] >= (rules.mode != "free_for_all" and rules.knock_limit > 0)
    assert kinds[Kind.GIN] + kinds[Kind.SMALL_GIN] >= 1
    assert kinds[Kind.BIG_GIN] >= rules.has_big_gin


@pytest.mark.slow
def test_random_rules_agree_over_10_000_deals() -> None:
    for part in range(8):
        compare_random_rules(part, num_deals=50)


@pytest.mark.slow
@pytest.mark.parametrize("preset", OPTIONS)
def test_options_agree_over_2_000_deals(preset: str) -> None:
    for index, overrides in enumerate(OPTIONS[preset]):
        compare(Rules.preset(preset, **overrides), num_deals=2_000, seed=100 + index)
