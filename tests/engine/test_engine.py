"""The engine: invariants of play, independence of rows, and bad input refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.engine import Engine, State
from gin_env.engine.dealing import parse_deck
from gin_env.engine.state import log_capacity
from gin_env.errors import IllegalAction, InvalidPosition
from gin_env.notation.position_checks import card_problems
from gin_env.observation import player_view
from gin_env.observation.view import single_view
from gin_env.scoring import Kind
from tests.helpers.knowledge import Bookkeeper, book_actions
from tests.helpers.options import ALL_RULES, swept
from tests.helpers.play import lively_actions, play_on, rich_engine
from tests.helpers.random_rules import random_rules


def cards_are_conserved(state: State) -> bool:
    """Whether every row has each of the 52 cards in one place: a hand, the pile or the stock."""
    in_stock = np.arange(52) >= state.stock_next[:, None]
    in_pile = np.arange(52) < state.pile_size[:, None]
    one = np.uint64(1)
    bits = [
        state.hands,
        in_stock * (one << state.deck.astype(np.uint64)),
        in_pile * (one << state.pile.astype(np.uint64)),
    ]
    counts = sum(np.bitwise_count(board).sum(axis=1, dtype=int) for board in bits)
    together = np.bitwise_or.reduce(np.concatenate(bits, axis=1), axis=1)
    return bool((counts == 52).all() and (together == 2**52 - 1).all())


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_invariants_hold_at_every_step(name: str) -> None:
    rules, num_deals = ALL_RULES[name], 20
    engine = rich_engine(rules, num_deals, seed=1)
    state = engine.state
    bookkeepers = [Bookkeeper(rules) for _ in range(num_deals)]
    for steps, actions in enumerate(play_on(engine), start=1):
        mask = engine.legal_mask()
        assert mask[~engine.over].any(axis=1).all()
        assert not mask[engine.over].any()
        assert cards_are_conserved(state)
        looked_at = range(steps % 6, num_deals, 6)
        assert [problem for row in looked_at for problem in card_problems(state, row)] == []
        for row in looked_at:
            if not engine.over[row]:
                bookkeepers[row].check(state, row)
        assert (state.points >= 0).all()
        assert (state.net_points.sum(axis=1) == 0).all()
        assert steps <= log_capacity(rules)
        book_actions(bookkeepers, engine, actions.tolist())
    assert [problem for row in range(num_deals) for problem in card_problems(state, row)] == []
    assert (state.turn <= rules.max_turns).all()
    catches = np.array([book.score_gains(int(state.dealer[row])) for row, book in enumerate(bookkeepers)])
    check_points_and_winners(state, catches)
    hardest = name == "straight_2p"
    assert {Kind.DEAD, Kind.GIN if hardest else Kind.KNOCK} <= set(state.kind.tolist())


def check_points_and_winners(state: State, catches: np.ndarray) -> None:
    """Points, net points and winners of deals that are over, given what catches paid each team."""
    rules = state.rules
    dead = state.kind == Kind.DEAD
    of_showdown = state.points - catches - boasts_of_dead_deals(state) * dead[:, None]
    assert not of_showdown[dead].any()
    assert (state.winner[dead] == -1).all()
    if rules.mode == "free_for_all":
        best = of_showdown.max(axis=1)
        alone = (of_showdown == best[:, None]).sum(axis=1) == 1
        assert (state.winner == np.where(alone & ~dead, of_showdown.argmax(axis=1), -1)).all()
        return
    assert (state.winner[~dead] >= 0).all()
    if not rules.boast:
        rows = np.arange(len(dead))
        assert (of_showdown.sum(axis=1) == np.where(dead, 0, of_showdown[rows, state.winner])).all()
    if rules.mode == "rotation":
        sits_out = np.arange(3) == state.dealer[:, None]
        assert not state.points[sits_out].any()
        assert not state.net_points[sits_out].any()
        assert (state.winner != state.dealer).all()
        totals = state.points.sum(axis=1, keepdims=True)
        assert (state.net_points == np.where(sits_out, 0, 2 * state.points - totals)).all()
    else:
        assert (state.net_points == state.points - state.points[:, ::-1]).all()


def boasts_of_dead_deals(state: State) -> np.ndarray:
    """What boasts pay each team if nobody knocks: each boast the fifth amount to the other side."""
    rules = state.rules
    by_team = np.stack(
        [state.boasted[:, team :: rules.num_teams].sum(axis=1) for team in range(rules.num_teams)], axis=1
    )
    paid = rules.boast_points[4] * (by_team.sum(axis=1, keepdims=True, dtype=int) - by_team)
    return paid * (np.arange(rules.num_teams) != state.dealer[:, None]) if rules.mode == "rotation" else paid


def test_random_rules_hold_the_invariants() -> None:
    generator = np.random.default_rng(8)
    for _ in range(15):
        engine = rich_engine(random_rules(generator), 6, seed=2)
        for steps, _ in enumerate(play_on(engine), start=1):
            assert engine.legal_mask()[~engine.over].any(axis=1).all()
            assert steps % 5 or cards_are_conserved(engine.state)
            assert steps <= log_capacity(engine.rules)
        assert [problem for row in range(6) for problem in card_problems(engine.state, row)] == []


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_rows_are_independent(name: str) -> None:
    """Row i of a batch equals a batch of one with that row's stream, over several deals."""
    rules = ALL_RULES[name]
    together = Engine(rules, 3, seed=9)
    alone = [Engine(rules) for _ in range(3)]
    for row, engine in enumerate(alone):
        engine.seed(9, streams=[row])
    generator = np.random.default_rng(0)
    for engine in (together, *alone):
        engine.reset()
    for step in range(150):
        actions = lively_actions(together, generator, eagerness=0.9, sense=0.9)
        together.step(actions)
        for row, engine in enumerate(alone):
            engine.step(actions[[row]])
        over = np.flatnonzero(together.over)
        if len(over):
            together.reset(over)
            for row in over:
                alone[row].reset()
        if len(over) or step % 5 == 0:
            for row, engine in enumerate(alone):
                assert together.state.take(row).differences(engine.state) == []
    assert (together.state.deal_number > 0).any()


def test_rows_are_given_as_numbers_or_a_mask() -> None:
    engine = Engine("classic_2p", 4, seed=1)
    engine.reset()
    decks = engine.state.deck.copy()
    engine.reset(np.array([False, False, True, True]))
    assert (engine.state.deck == decks).all(axis=1).tolist() == [True, True, False, False]
    for rows, said in (([4], "row 4 .* 0 to 3"), ([-1], "row -1"), ([0.5], "rows.*float64")):
        for call in (engine.reset, engine.legal_mask, lambda rows: player_view(engine.state, rows=rows)):
            with pytest.raises(ValueError, match=said):
                call(rows)
    with pytest.raises(ValueError, match=r"mask of rows.*\(2,\)"):
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
        with pytest.raises(ValueError, match=r"seat.* from 0 to 1"):
            player_view(engine.state, seat)
        with pytest.raises(ValueError, match=r"seat.* from 0 to 1"):
            single_view(engine.state, seat)  # type: ignore[arg-type]
    with pytest.raises(InvalidPosition, match=r"dealers have shape \(2,\)"):
        Engine("classic_2p", 3).reset(dealers=[0, 1])
    with pytest.raises(InvalidPosition, match=r"deck of 2 cards.*52"):
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


def test_actions_in_finished_deals_are_ignored() -> None:
    engine = rich_engine("classic_2p", 8, seed=5)
    for _ in play_on(engine):
        pass
    before = engine.state.clone()
    engine.step(np.full(8, -1))
    assert engine.state.equals(before)
