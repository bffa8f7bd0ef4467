"""Decks and dealers: drawn from seeds, uniform, and refused by name where they cannot be played."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.engine import Engine
from gin_env.engine.dealing import parse_deck
from gin_env.errors import InvalidPosition


def test_seeds_decide_all_decks() -> None:
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


@pytest.mark.parametrize(
    ("deck", "said"),
    [
        ([0, *range(51)], "not a permutation of the 52 cards: it lacks KC"),
        ([52, *range(51)], "lacks KC"),
        ([0.5, *range(51)], "hold float64 values"),
    ],
)
def test_wrong_decks_are_refused_by_name(deck: list[int], said: str) -> None:
    with pytest.raises(InvalidPosition, match=said):
        parse_deck(deck)
    with pytest.raises(InvalidPosition, match=said):
        Engine("classic_2p").reset(decks=deck)


def test_wrong_dealers_and_sizes_are_refused_by_name() -> None:
    with pytest.raises(InvalidPosition, match=r"dealer 4 .*0 to 3"):
        Engine("palace_4p").reset(dealers=4)
    for dealer in (0.5, "left", True):
        with pytest.raises(InvalidPosition, match=f"dealer {dealer!r}"):
            Engine("palace_4p").reset(dealers=dealer)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="num_deals=0"):
        Engine("palace_4p", 0)
    engine = Engine("classic_2p", 3)
    engine.reset()
    with pytest.raises(ValueError, match=r"actions have shape \(1,\).*3 deals"):
        engine.step([0])


def test_a_refused_deck_does_not_use_up_a_deal() -> None:
    one, other = Engine("classic_2p", seed=4), Engine("classic_2p", seed=4)
    for engine in (one, other):
        engine.reset()
    with pytest.raises(InvalidPosition):
        one.reset(dealers=9)
    for engine in (one, other):
        engine.reset()
    assert one.state.equals(other.state)
