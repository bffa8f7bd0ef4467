"""Playing deals in tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from gin_env.cards.melds import deadwood_after_each
from gin_env.engine import Engine, Phase, random_actions
from gin_env.rules import Rules
from tests.helpers.decks import all_melds, meld_rich_deck

#: The melds of three cards, as bitboards: what a catch may name.
CATCHES = np.array([sum(1 << card for card in meld) for meld in all_melds() if len(meld) == 3], dtype=np.uint64)


def rich_engine(rules: Rules | str, num_deals: int, seed: int) -> Engine:
    """An engine with shuffled decks in its even rows and meld-rich ones in its odd rows."""
    engine = Engine(rules, num_deals, seed)
    generator = np.random.default_rng(seed)
    dealers = generator.integers(engine.rules.num_seats, size=num_deals)
    decks = [
        meld_rich_deck(generator, engine.rules, int(dealers[row])) if row % 2 else generator.permutation(52)
        for row in range(num_deals)
    ]
    engine.reset(decks=np.array(decks), dealers=dealers)
    return engine


def lively_actions(
    engine: Engine,
    generator: np.random.Generator,
    rows: np.ndarray | None = None,
    eagerness: float | None = None,
    sense: float = 0.5,
) -> np.ndarray:
    """Actions that bring all that the rules have: random ones, but mostly throws, knocks, big gins and right catches.

    For all rows of the engine or some. A seat that may end the deal does so with the probability ``eagerness``,
    by default a half in two rows of four and nearly never in the others; that share of the throws leaves the least
    deadwood which ``sense`` says.
    """
    rows = np.arange(engine.num_deals) if rows is None else rows
    layout, legal = engine.layout, engine.state.legal[rows]
    count, one = len(rows), np.uint64(1)
    ends = np.zeros_like(legal)
    ends[:, layout.knock_word] = legal[:, layout.knock_word]
    if layout.big_gin >= 0:
        ends[:, 0] = legal[:, 0] & one << np.uint64(layout.big_gin)
    goes_on = (legal & ~ends).any(axis=1)
    actions = random_actions(np.where(goes_on[:, None], legal & ~ends, legal), layout, generator)
    discards = np.zeros_like(legal)
    discards[:, layout.discard_word] = legal[:, layout.discard_word]
    throwing = discards.any(axis=1) & (generator.random(count) < 0.75)
    actions = np.where(throwing, random_actions(discards, layout, generator), actions)
    sensible = np.flatnonzero(throwing & (generator.random(count) < sense))
    if len(sensible):
        actions[sensible] = layout.discard + _best_throws(engine, rows[sensible])
    if layout.catch >= 0:
        actions = _right_catches(engine, rows, actions, generator)
    chances = np.where(rows % 4 < 2, 0.5, 0.02) if eagerness is None else eagerness
    ending = ends.any(axis=1) & (generator.random(count) < chances)
    return np.where(ending, layout.mask(ends).argmax(axis=1), actions)


def _best_throws(engine: Engine, rows: np.ndarray) -> np.ndarray:
    """The cards whose discard leaves the movers the least deadwood."""
    state = engine.state
    discardable = state.legal[rows, engine.layout.discard_word]
    index, cards, points = deadwood_after_each(state.hands[rows, state.mover[rows]], discardable)
    order = np.lexsort((points, index))
    return cards[order][np.unique(index[order], return_index=True)[1]]


def _right_catches(engine: Engine, rows: np.ndarray, actions: np.ndarray, generator: np.random.Generator) -> np.ndarray:
    """Begin half of the catches that would be right, and go on with nearly all of those begun."""
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
    """Yield the actions about to be taken, then take them, until every deal is over or so many steps are done."""
    generator = np.random.default_rng(seed)
    while not engine.over.all() and steps:
        steps -= 1
        actions = policy(engine, generator)
        yield actions
        engine.step(actions)
