"""Play deals in tests: stated actions, scripted policies, and engines with decks in which melds are frequent."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from gin_env.cards import parse_cards
from gin_env.cards.melds import deadwood_after_each
from gin_env.engine import Engine, Phase, random_actions
from gin_env.rules import Rules
from tests.helpers.decks import all_melds, meld_rich_deck

#: The melds of three cards, as bitboards: what a catch may name.
CATCHES = np.array([sum(1 << card for card in meld) for meld in all_melds() if len(meld) == 3], dtype=np.uint64)


def rich_engine(rules: Rules | str, num_deals: int, seed: int) -> Engine:
    """Return an engine with shuffled decks in its even rows and meld-rich ones in its odd rows."""
    engine = Engine(rules, num_deals, seed)
    generator = np.random.default_rng(seed)
    dealers = generator.integers(engine.rules.num_seats, size=num_deals)
    decks = [
        meld_rich_deck(generator, engine.rules, int(dealers[row])) if row % 2 else generator.permutation(52)
        for row in range(num_deals)
    ]
    engine.reset(decks=np.array(decks), dealers=dealers)
    return engine


def dealt_duel(rules: Rules, hands: list[str], upcard: str, stock: str) -> Engine:
    """Return a duel dealt by seat 1, so that seat 0 begins; the stock starts with the given cards."""
    cards = [parse_cards(hand) for hand in hands]
    dealt = [cards[seat][place] for place in range(rules.hand_size) for seat in (0, 1)]
    dealt += [*parse_cards(upcard), *parse_cards(stock)]
    engine = Engine(rules)
    engine.reset(decks=[*dealt, *(card for card in range(52) if card not in dealt)], dealers=1)
    return engine


def act(engine: Engine, *texts: str) -> None:
    """Take actions, given as texts, in an engine with one deal."""
    for text in texts:
        engine.step([engine.layout.index(text)])


def legal_texts(engine: Engine) -> list[str]:
    """Return the texts of the legal actions in an engine's first deal."""
    return engine.layout.texts(engine.state.legal[0])


def never_ending(engine: Engine, generator: np.random.Generator) -> np.ndarray:
    """Return random actions without a knock, at least half of them discards where one is legal."""
    words = engine.state.legal.copy()
    words[:, engine.layout.knock_word] = 0
    actions = random_actions(words, engine.layout, generator)
    discards = engine.layout.mask(words)[:, engine.layout.discard : engine.layout.discard + 52]
    discarding = discards.any(axis=1) & (generator.random(engine.num_deals) < 0.5)
    return np.where(discarding, engine.layout.discard + discards.argmax(axis=1), actions)


def lively_actions(
    engine: Engine,
    generator: np.random.Generator,
    rows: np.ndarray | None = None,
    eagerness: float | None = None,
    sense: float = 0.5,
) -> np.ndarray:
    """Return actions that reach every rule: random ones, but mostly discards, ends of the deal and right catches.

    For all rows of the engine or some. A seat that may end the deal does so with the probability ``eagerness``, by
    default a half in two rows of four and nearly never in the others. A discard leaves the least deadwood with the
    probability ``sense``.
    """
    rows = np.arange(engine.num_deals) if rows is None else rows
    layout, legal = engine.layout, engine.state.legal[rows]
    count, one = len(rows), np.uint64(1)

    # Anything but an end of the deal, where possible; three quarters of those who may discard do.
    ends = np.zeros_like(legal)
    ends[:, layout.knock_word] = legal[:, layout.knock_word]
    if layout.big_gin >= 0:
        ends[:, 0] = legal[:, 0] & one << np.uint64(layout.big_gin)
    can_continue = (legal & ~ends).any(axis=1)
    actions = random_actions(np.where(can_continue[:, None], legal & ~ends, legal), layout, generator)
    discards = np.zeros_like(legal)
    discards[:, layout.discard_word] = legal[:, layout.discard_word]
    discarding = discards.any(axis=1) & (generator.random(count) < 0.75)
    actions = np.where(discarding, random_actions(discards, layout, generator), actions)
    sensible = np.flatnonzero(discarding & (generator.random(count) < sense))
    if len(sensible):
        actions[sensible] = layout.discard + _best_discards(engine, rows[sensible])
    if layout.catch >= 0:
        actions = _right_catches(engine, rows, actions, generator)

    probability = np.where(rows % 4 < 2, 0.5, 0.02) if eagerness is None else eagerness
    ending = ends.any(axis=1) & (generator.random(count) < probability)
    return np.where(ending, layout.mask(ends).argmax(axis=1), actions)


def _best_discards(engine: Engine, rows: np.ndarray) -> np.ndarray:
    """Return the cards whose discard leaves the movers the least deadwood."""
    state = engine.state
    discardable = state.legal[rows, engine.layout.discard_word]
    index, cards, points = deadwood_after_each(state.hands[rows, state.mover[rows]], discardable)
    order = np.lexsort((points, index))
    return cards[order][np.unique(index[order], return_index=True)[1]]


def _right_catches(engine: Engine, rows: np.ndarray, actions: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Begin half of the catches that would be right, and continue nearly all of those begun."""
    state, layout = engine.state, engine.layout
    named = state.named_bits[rows][:, None]
    free = (state.pile_bits[rows] & ~state.caught_bits[rows])[:, None]
    begun = state.phase[rows] == Phase.CATCH
    may = begun | (state.legal[rows, layout.catch_word] != 0)
    right = ((named & ~CATCHES) == 0) & ((CATCHES & ~free) == 0) & may[:, None]
    chosen = CATCHES[(right * generator.random(right.shape)).argmax(axis=1)] & ~named[:, 0]
    lowest = np.bitwise_count((chosen & (~chosen + np.uint64(1))) - np.uint64(1))
    wanted = right.any(axis=1) & (generator.random(len(rows)) < np.where(begun, 0.9, 0.5))
    return np.where(wanted, layout.catch + lowest.astype(np.intp), actions)


def play_on(
    engine: Engine,
    seed: int = 0,
    policy: Callable[[Engine, np.random.Generator], np.ndarray] = lively_actions,
    steps: int = 10**9,
) -> Iterator[np.ndarray]:
    """Yield the actions about to be taken, then take them, until every deal is over or ``steps`` are done."""
    generator = np.random.default_rng(seed)
    while not engine.over.all() and steps:
        steps -= 1
        actions = policy(engine, generator)
        yield actions
        engine.step(actions)
