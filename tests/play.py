"""Playing deals in tests."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from gin_env.engine import Engine
from gin_env.rules import Rules
from gin_env.sampling import random_actions
from tests.decks import meld_rich_deck


def rich_engine(rules: Rules | str, num_deals: int, seed: int) -> Engine:
    """An engine with shuffled decks in its even rows and meld-rich ones in its odd rows."""
    engine = Engine(rules, num_deals, seed)
    generator = np.random.default_rng(seed)
    dealers = generator.integers(engine.rules.num_players, size=num_deals)
    decks = [
        meld_rich_deck(generator, engine.rules, int(dealers[row])) if row % 2 else generator.permutation(52)
        for row in range(num_deals)
    ]
    engine.reset(decks=np.array(decks), dealers=dealers)
    return engine


def knock_when_possible(engine: Engine, generator: np.random.Generator) -> np.ndarray:
    """Random actions, but a knock with the lowest possible card in half of the rows that may knock."""
    actions = random_actions(engine.state.legal, engine.layout, generator)
    knocks = engine.legal_mask()[:, engine.layout.knock :]
    knocking = knocks.any(axis=1) & (generator.random(engine.num_deals) < 0.5)
    return np.where(knocking, engine.layout.knock + knocks.argmax(axis=1), actions)


def play_on(
    engine: Engine,
    seed: int = 0,
    policy: Callable[[Engine, np.random.Generator], np.ndarray] = knock_when_possible,
) -> Iterator[np.ndarray]:
    """Yield the actions about to be taken, then take them, until every deal is over."""
    generator = np.random.default_rng(seed)
    while not engine.over.all():
        actions = policy(engine, generator)
        yield actions
        engine.step(actions)
