"""The leak test: cards that a seat may not know change nothing in what it sees, and a leak would be noticed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest

import gin_env
from gin_env.cards import ALL_CARDS
from gin_env.engine import Engine, Phase, State
from gin_env.engine.state import unpack_events
from gin_env.observation import ObservationEncoder, PlayerView, player_view
from gin_env.observation import view as view_module
from gin_env.observation.encoder import ObservationOptions
from gin_env.observation.view import History
from gin_env.rules import Rules
from gin_env.scoring import Kind
from tests.helpers.hidden import deal_unknown_cards_again, exchange_buried_cards
from tests.helpers.knowledge import Bookkeeper, book_actions
from tests.helpers.options import ALL_RULES, OPTION_SETS, swept
from tests.helpers.play import play_on, rich_engine

EVERYTHING = ObservationOptions(derived=True, showdown=True, outlook=True)
WITHOUT_BURIED_PILE = ObservationOptions(derived=True, showdown=True, buried_pile=False)

Exchange = Callable[[State, int, int, Bookkeeper, np.random.Generator], int]


@dataclass
class Comparison:
    """The result of dealing hidden cards again: what changed for a viewer, and how much was compared."""

    changed: set[str] = field(default_factory=set)
    phases: Counter[Phase] = field(default_factory=Counter)
    moved: int = 0


def differences(one: PlayerView, other: PlayerView) -> set[str]:
    """The names of the arrays in which two views with their histories differ."""
    names = {name for name, value in vars(one).items() if isinstance(value, np.ndarray)}
    changed = {name for name in names if not np.array_equal(getattr(one, name), getattr(other, name))}
    histories = (vars(one.history), vars(other.history))
    return changed | {f"history.{name}" for name in histories[0] if not np.array_equal(*(h[name] for h in histories))}


def moments(engine: Engine, bookkeepers: list[Bookkeeper]) -> Iterator[np.ndarray]:
    """Yield rows to look at while deals are played: all at every ninth step, the last discards at every one."""
    state = engine.state
    for step, actions in enumerate(play_on(engine, seed=5)):
        rows = np.flatnonzero(state.phase != Phase.OVER if step % 9 == 0 else state.phase == Phase.LAST_DISCARD)
        if len(rows):
            yield rows
        book_actions(bookkeepers, engine, actions.tolist())
    dead = np.flatnonzero(state.kind == Kind.DEAD)
    if len(dead):
        yield dead


def compare(rules: Rules, exchange: Exchange, options: ObservationOptions, num_deals: int = 10) -> Comparison:
    """Play deals; at many steps deal again what each seat may not know, and compare what it sees."""
    engine = rich_engine(rules, num_deals, seed=21)
    bookkeepers = [Bookkeeper(rules) for _ in range(num_deals)]
    encoder = ObservationEncoder(rules, options)
    generator = np.random.default_rng(5)
    found = Comparison()
    for rows in moments(engine, bookkeepers):
        found.phases.update(Phase(phase) for phase in engine.state.phase[rows].tolist())
        for viewer in range(rules.num_seats):
            other = engine.state.clone()
            found.moved += sum(exchange(other, row, viewer, bookkeepers[row], generator) for row in rows.tolist())
            views = [player_view(state, viewer, rows, history=True) for state in (engine.state, other)]
            if not np.array_equal(*map(encoder.encode, views)):
                found.changed.add("features")
            if not np.array_equal(*(view.legal_mask for view in views)):
                found.changed.add("legal_mask")
            if options.buried_pile:
                found.changed |= differences(*views)
    return found


def possible_phases(rules: Rules) -> set[Phase]:
    optional = {
        Phase.UPCARD_OFFER: rules.upcard_offer,
        Phase.FORCED_DRAW: rules.upcard_offer and rules.all_pass_forces_stock,
        Phase.TRADE_ANSWER: rules.max_trades_per_turn > 0,
        Phase.CATCH: rules.catch_glass,
        Phase.LAST_DISCARD: rules.last_discard_knock,
    }
    return {phase for phase in Phase if optional.get(phase, True)}


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_unknown_cards_dealt_again_change_nothing(name: str) -> None:
    """Views, histories, features and masks are bit-identical, in every phase that the rules have."""
    rules = ALL_RULES[name]
    found = compare(rules, deal_unknown_cards_again, EVERYTHING)
    assert found.changed == set()
    assert possible_phases(rules) - set(found.phases) <= {Phase.FORCED_DRAW}
    hidden = 52 - rules.hand_size * (2 if rules.sees_partner else 1)
    assert found.moved > 0.3 * hidden * found.phases.total() * rules.num_seats


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_without_the_buried_pile_the_features_do_not_tell_it(name: str) -> None:
    """Nor does the mask: what a catch may name is the same whatever lies in the pile."""
    found = compare(ALL_RULES[name], exchange_buried_cards, WITHOUT_BURIED_PILE, num_deals=6)
    assert found.changed == set()
    assert found.moved > found.phases.total() or name == "five_with_one_card_in_the_stock"


def test_a_catch_may_name_any_card() -> None:
    """The bitmasks of legal catches are all cards, then all but those named."""
    engine = rich_engine(OPTION_SETS["team_hidden"], 40, seed=2)
    state, word = engine.state, engine.layout.catch_word
    for _ in play_on(engine):
        playing = state.phase == Phase.PLAY
        assert np.isin(state.legal[playing, word], [0, ALL_CARDS]).all()
        assert ((state.legal[playing, word] == 0) == (state.catches[playing] > 0)).all()
        catching = state.phase == Phase.CATCH
        assert (state.legal[catching, word] == ALL_CARDS & ~state.named_bits[catching]).all()


@pytest.mark.parametrize("name", ["two_tables_4p", "tables_gross", "tables_net"])
def test_nothing_of_the_other_table_is_seen(name: str) -> None:
    """Whatever the other table's row holds, observations, masks and views do not change."""
    env = gin_env.raw_env(ALL_RULES[name], episode="game", derived=True, showdown=True)
    env.reset(seed=4)
    generator = np.random.default_rng(3)
    other_deals = rich_engine(ALL_RULES[name], 1, seed=9)
    for actions in play_on(other_deals):
        env.step(int(generator.choice(np.flatnonzero(env.last()[4]["action_mask"]))))
        state = env.episodes.state
        for table in (0, 1):
            agents = env.possible_agents[2 * table : 2 * table + 2]
            before = [(env.observe(agent)["observation"], env.view(agent, history=True)) for agent in agents]
            kept, env._seen = state.clone(), {}
            state.put([1 - table], other_deals.state)
            after = [(env.observe(agent)["observation"], env.view(agent, history=True)) for agent in agents]
            for (one_features, one_view), (other_features, other_view) in zip(before, after, strict=True):
                assert np.array_equal(one_features, other_features)
                assert differences(one_view, other_view) == set()
            state.put([0, 1], kept)
        assert actions.shape == (1,)


# a leak would be noticed

#: Ways to show a seat too much: each changes one entry of what a seat is shown, given the gathered table.
LEAKS: dict[str, Callable[[Any], Any]] = {
    "drawn_card": lambda table: table.byte("drawn_card"),
    "offered_card": lambda table: table.byte("offered_card"),
    "partner_bits": lambda table: table.of_seat(table.per_seat("hands"), 1),
    "gave_bits": lambda table: table.of_seat(table.per_seat("gave_bits"), 1),
    "shown_bits": lambda table: table.hands_if(table.byte("kind") >= int(Kind.DEAD), table.per_seat("hands")),
    "legal": lambda table: table.legal_if(table.mover >= 0),
}


@pytest.mark.parametrize("entry", LEAKS)
def test_a_leak_in_the_view_is_noticed(monkeypatch: pytest.MonkeyPatch, entry: str) -> None:
    look = view_module._visible_facts
    monkeypatch.setattr(view_module, "_visible_facts", lambda *given: {**look(*given), entry: LEAKS[entry](given[1])})
    found = compare(ALL_RULES["team_hidden"], deal_unknown_cards_again, EVERYTHING, num_deals=6)
    assert entry in found.changed


@pytest.mark.parametrize("name", ["classic_2p", "rotation_3p", "free_for_all_3p", "two_tables_4p", "palace_4p"])
def test_a_leak_in_the_history_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    def open_history(state: State, rows: np.ndarray, viewer: np.ndarray) -> History:
        seats, actions, cards = unpack_events(state.log[rows, : int(state.log_size[rows].max())])
        return History(seats, state.layout.verb_of[actions].astype(np.int8), cards)

    monkeypatch.setattr(view_module, "_history", open_history)
    found = compare(ALL_RULES[name], deal_unknown_cards_again, EVERYTHING, num_deals=4)
    assert found.changed >= {"history.cards"}


@pytest.mark.parametrize("name", ["duel_all", "rotation_all", "palace_4p"])
def test_a_mask_or_a_feature_that_tells_the_buried_pile_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    options = ObservationOptions(derived=True, showdown=True)
    assert "features" in compare(ALL_RULES[name], exchange_buried_cards, options, num_deals=4).changed
    if not ALL_RULES[name].catch_glass:
        return
    import tests.helpers.hidden as hidden

    def revealing(state: State, rows: np.ndarray) -> np.ndarray:
        words = legal_words(state, rows)
        words[:, state.layout.catch_word] &= state.pile_bits[rows]
        return words

    legal_words = hidden.legal_words
    monkeypatch.setattr(hidden, "legal_words", revealing)
    found = compare(ALL_RULES[name], exchange_buried_cards, WITHOUT_BURIED_PILE, num_deals=4)
    assert "legal_mask" in found.changed


@pytest.mark.parametrize("kind", [gin_env.raw_env, gin_env.GinRummySingleEnv, gin_env.GinRummyVectorEnv])
def test_every_environment_can_hide_the_buried_pile(kind: Callable[..., Any]) -> None:
    env = kind(rules=OPTION_SETS["duel_all"], buried_pile=False)
    assert env.encoder.options == ObservationOptions(buried_pile=False)
    names = {section.name for section in env.encoder.sections}
    assert "pile" not in names
    assert not {name for name in names if name.startswith(("discarded", "declined"))}
    with pytest.raises(ValueError, match="outlook=True: counts the cards of the pile"):
        kind(rules="classic_2p", buried_pile=False, outlook=True)
