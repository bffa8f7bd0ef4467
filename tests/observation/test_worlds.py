"""Worlds drawn from a view: sound states that show the viewer what it saw, each possible one with the same chance."""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np
import pytest

from gin_env.cards import card_ids
from gin_env.engine import Engine, Phase, State, random_actions
from gin_env.notation.position import status
from gin_env.notation.position_checks import card_problems
from gin_env.observation import PlayerView, player_view
from gin_env.observation.worlds import sample_worlds, world_keys
from gin_env.rules import PRESETS
from tests.helpers.options import ALL_RULES, swept
from tests.helpers.play import play_on, rich_engine

#: Chi-square is above it once in a hundred thousand times (normal approximation).
_FAR = 4.3


def going_on(engine: Engine) -> np.ndarray:
    return np.flatnonzero(~engine.over)


def same_views(first: PlayerView, second: PlayerView) -> list[str]:
    """The fields in which two views differ, the history aside."""
    names = [field.name for field in dataclasses.fields(PlayerView) if field.name not in ("rules", "layout", "history")]
    return [name for name in names if not np.array_equal(getattr(first, name), getattr(second, name))]


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_worlds_are_sound_and_show_the_viewer_what_it_saw(name: str) -> None:
    rules = ALL_RULES[name]
    engine = rich_engine(rules, 12, seed=5)
    phases, hidden_moves = set(), 0
    for step, _ in enumerate(play_on(engine, seed=6, steps=90)):
        rows = going_on(engine)
        seats = np.full(len(rows), step % rules.num_seats)
        seats = engine.state.mover[rows] if step % 3 == 0 else seats
        view = player_view(engine.state, seats=seats, rows=rows)
        worlds = sample_worlds(view, 2, world_keys(step, len(view)))
        again = player_view(worlds, seats=np.repeat(view.seat, 2))
        assert same_views(again, view.choose(np.repeat(np.arange(len(view)), 2))) == []
        if step % 5 == 0:
            for row in range(worlds.num_deals):
                assert status(worlds, row) == []
        phases |= set(view.phase.tolist())
        hidden_moves += int((view.mover != 0).sum())
    assert hidden_moves
    assert {Phase.DRAW, Phase.PLAY} <= phases
    assert (Phase.TRADE_ANSWER in phases) == rules.trades


@pytest.mark.parametrize("name", ["eaai_2p", "palace_4p", "free_for_all_3p", "rotation_3p"])
def test_play_continues_from_worlds_to_the_deals_end(name: str) -> None:
    engine = rich_engine(name, 16, seed=1)
    for _ in play_on(engine, seed=2, steps=12):
        pass
    view = player_view(engine.state, rows=going_on(engine))
    worlds = Engine(name, 4 * len(view))
    worlds.load(sample_worlds(view, 4, world_keys(0, len(view))))
    generator = np.random.default_rng(0)
    while not worlds.over.all():
        worlds.step(random_actions(worlds.state.legal, worlds.layout, generator))
    np.testing.assert_array_equal(worlds.state.net_points.sum(axis=1), 0)
    assert not any(card_problems(worlds.state, row) for row in range(len(view)))


@pytest.mark.parametrize("name", ["classic_2p", "palace_4p"])
def test_hidden_cards_change_no_world(name: str) -> None:
    """Worlds are drawn from the view alone, row by row."""
    engine = rich_engine(name, 24, seed=3)
    for _ in play_on(engine, seed=4, steps=14):
        pass
    view = player_view(engine.state, rows=going_on(engine))
    keys = world_keys(9, len(view))
    worlds = sample_worlds(view, 3, keys)
    truth = sample_worlds(view, 1, world_keys(10, len(view)))  # another state that shows the same
    seen = player_view(truth, seats=view.seat)
    assert worlds.differences(sample_worlds(seen, 3, keys)) == []
    last = len(view) - 1
    alone = sample_worlds(view.choose([last]), 3, keys[[last]])
    assert worlds.take(np.arange(3 * last, 3 * last + 3)).differences(alone) == []
    assert worlds.differences(sample_worlds(view, 3, world_keys(11, len(view))))


def excess(counts: np.ndarray, expected: np.ndarray) -> float:
    """How many standard deviations chi-square lies above its mean."""
    freedom = counts.size - 1
    return float((((counts - expected) ** 2 / expected).sum() - freedom) / np.sqrt(2 * freedom))


def test_every_hand_and_every_stock_is_as_likely() -> None:
    engine = Engine("eaai_2p", seed=2)
    engine.reset()
    generator = np.random.default_rng(0)
    while engine.state.stock_count[0] > 4:  # apart from knocks and gin: discards only
        words = engine.state.legal.copy()
        words[:, engine.layout.knock_word] = 0
        engine.step(random_actions(words, engine.layout, generator))
    view = player_view(engine.state, seats=0)
    hidden = card_ids(view.unseen_bits[0])
    stock = int(view.stock_count[0])
    count = 40_000
    worlds = sample_worlds(view, count, world_keys(1, 1))
    stocks = worlds.deck[:, 52 - stock :].astype(np.intp)
    pairs = dict.fromkeys(itertools.permutations(hidden, 2), 0)
    for first, second in zip(stocks[:, 0].tolist(), stocks[:, -1].tolist(), strict=True):
        pairs[first, second] += 1
    observed = np.array(list(pairs.values()))
    assert abs(excess(observed, np.full(len(observed), count / len(observed)))) < _FAR
    assert not (np.unique(worlds.hands[:, 0]) != view.hand_bits[0]).any()


def partnership_after_a_trade() -> State:
    """A position in which a card that seat 1 took lies with one of seats 1 and 3."""
    for seed in itertools.count():
        engine = rich_engine("palace_4p", 32, seed)
        for _ in play_on(engine, seed=seed, steps=60):
            known = np.bitwise_count(engine.state.team_known_bits[:, 1])
            rows = np.flatnonzero((known >= 2) & ~engine.over & (engine.state.mover % 2 == 0))
            if len(rows):
                return engine.state.take(rows[:1])
    raise AssertionError


def test_a_card_of_a_team_is_with_either_seat() -> None:
    """Every hand of the two seats that fits is as likely: the number of shared cards with a seat tells."""
    state = partnership_after_a_trade()
    view = player_view(state)
    count = 20_000
    worlds = sample_worlds(view, count, world_keys(3, 1))
    left = (int(view.seat[0]) + 1) % 4
    shared = view.team_known_bits[0, 1]
    mine = worlds.hands[:, left] & shared
    sizes = [
        int(np.bitwise_count(worlds.hands[0, seat] & ~view.known_bits[0, seat - int(view.seat[0])]))
        for seat in (left, (left + 2) % 4)
    ]
    total, many = sum(sizes), int(np.bitwise_count(shared))
    for card in card_ids(shared):
        share = ((mine >> np.uint64(card)) & np.uint64(1)).mean()
        assert share == pytest.approx(sizes[0] / total, abs=0.02)
    both = (mine == shared).mean()
    expected = np.prod([(sizes[0] - place) / (total - place) for place in range(many)])
    assert both == pytest.approx(expected, abs=0.02)


def test_what_cannot_be_dealt_is_refused() -> None:
    engine = Engine("classic_2p", 3)
    engine.reset()
    view = player_view(engine.state)
    keys = world_keys(0, 3)
    with pytest.raises(ValueError, match="num_worlds=0"):
        sample_worlds(view, 0, keys)
    with pytest.raises(ValueError, match=r"keys.*uint64 \(3,\), got"):
        sample_worlds(view, 1, keys[:2])
    damaged = view.choose([0, 1, 2])
    damaged.stock_count[1] -= 1
    with pytest.raises(ValueError, match="row 1 of the view"):
        sample_worlds(damaged, 1, keys)
    for _ in play_on(engine):
        pass
    with pytest.raises(ValueError, match=r"row 0 of the view.*over"):
        sample_worlds(player_view(engine.state, seats=0), 1, keys)


def test_every_preset_is_supported() -> None:
    assert set(PRESETS) <= set(ALL_RULES)
