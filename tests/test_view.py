"""What a seat may know: the leak test, and the facts that must be there."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.cards import ALL_CARDS, CARD_BITS, NO_CARD, bits_of, card_ids, format_cards
from gin_env.engine import Engine
from gin_env.observation import ObservationEncoder, ObservationOptions
from gin_env.rules import PRESETS, Rules
from gin_env.state import Kind, Phase, State, pack_event, unpack_events
from gin_env.view import PlayerView, player_view, single_view
from tests.knowledge import Bookkeeper, book_actions
from tests.play import play_on, rich_engine

CASES = [Rules.preset(name) for name in PRESETS] + [
    Rules.preset("palace_4p", partner_hand_visible=False, max_trades_per_turn=2),
    Rules.preset("palace_4p", max_trades_per_turn=0, hand_size=10),
]


def equal_views(one: PlayerView, other: PlayerView) -> list[str]:
    """The names of the arrays in which two views differ."""
    differing = [
        name
        for name, value in vars(one).items()
        if isinstance(value, np.ndarray) and not np.array_equal(value, getattr(other, name))
    ]
    for name in ("seats", "verbs", "cards"):
        if not np.array_equal(getattr(one.history, name), getattr(other.history, name)):
            differing.append(f"history.{name}")
    return differing


def deal_unknown_cards_anew(
    state: State, row: int, viewer: int, seen: Bookkeeper, generator: np.random.Generator
) -> int:
    """Exchange all cards that the viewer may not place; return how many cards moved.

    What may be known comes from the bookkeeper, which is written from docs/rules.md row 19, not from the engine.
    """
    rules = state.rules
    own_side = [viewer]
    sees_partner = rules.has_partners and rules.partner_hand_visible
    if sees_partner:
        own_side.append((viewer + 2) % 4)
    seats = range(rules.num_players)
    fixed = int(np.bitwise_or.reduce(state.hands[row, own_side])) | int(state.pile_bits[row])
    everybody_knows = set().union(*seen.known, *seen.team_known)
    fixed |= int(bits_of(everybody_knows | seen.gave[viewer]))
    if rules.has_partners and (viewer + int(state.turn_seat[row])) % 2 == 0:
        fixed |= int(CARD_BITS[seen.offered])
    movable = [card for card in range(52) if not fixed >> card & 1]
    renamed = np.arange(53)
    renamed[movable] = generator.permutation(movable)
    for seat in seats:
        state.hands[row, seat] = bits_of(renamed[card_ids(state.hands[row, seat])])
    # Cards known to lie with the other team may lie with either of its seats.
    for team in range(2):
        for card in sorted(seen.team_known[team]):
            holder = next(seat for seat in rules.seats_of(team) if int(state.hands[row, seat]) >> card & 1)
            partner = (holder + 2) % 4
            swappable = [c for c in card_ids(state.hands[row, partner]) if c in movable]
            if set(rules.seats_of(team)) & set(own_side) or not swappable or generator.random() < 0.5:
                continue
            swap = CARD_BITS[card] | CARD_BITS[swappable[0]]
            state.hands[row, [holder, partner]] ^= swap
    stock = slice(int(state.stock_next[row]), 52)
    state.deck[row, stock] = generator.permutation(renamed[state.deck[row, stock]])
    state.deck[row, : state.stock_next[row]] = generator.permutation(state.deck[row, : state.stock_next[row]])
    for name in ("drawn_card", "offered_card"):
        array = getattr(state, name)
        array[row] = renamed[array[row]]
    for seat in seats:
        if seat != viewer:
            state.gave_bits[row, seat] = generator.integers(0, 2**52)
    rename_hidden_events(state, row, own_side, renamed)
    if state.mover[row] != viewer:
        state.legal[row] = generator.integers(0, 2**52, state.legal.shape[1], dtype=np.uint64)
    return int((renamed[movable] != movable).sum())


def rename_hidden_events(state: State, row: int, own_side: list[int], renamed: np.ndarray) -> None:
    """Rewrite the cards of draws by others and of the other team's trades in the log."""
    size = int(state.log_size[row])
    seats, actions, cards = (array.astype(np.intp) for array in unpack_events(state.log[row, :size]))
    layout = Engine(state.rules).layout
    verbs = np.array(layout.verbs)[layout.verb_of[actions]]
    team = own_side[0] % 2
    hidden = (verbs == "draw") & ~np.isin(seats, own_side) | (verbs == "give") & (seats % 2 != team)
    new_cards = np.where(hidden, renamed[cards], cards)
    new_actions = np.where(hidden & (verbs == "give"), actions - cards + new_cards, actions)
    state.log[row, :size] = pack_event(seats, new_actions, new_cards)


@pytest.mark.parametrize("rules", CASES, ids=lambda rules: rules.name)
def test_leak(rules: Rules) -> None:
    """Deal the cards that a seat may not know anew: its view, features and mask are bit-identical."""
    engine = rich_engine(rules, 30, seed=21)
    encoder = ObservationEncoder(rules, ObservationOptions(derived=True, showdown=True))
    generator = np.random.default_rng(5)
    bookkeepers = [Bookkeeper(rules) for _ in range(30)]
    moved = compared = 0
    for step, actions in enumerate(play_on(engine)):
        if step % 3 or step > 75:
            book_actions(bookkeepers, engine, actions.tolist())
            continue
        rows = np.flatnonzero((engine.state.phase != Phase.OVER) | (engine.state.kind == Kind.DEAD))
        for viewer in range(rules.num_players):
            other = engine.state.clone()
            moved += sum(
                deal_unknown_cards_anew(other, row, viewer, bookkeepers[row], generator) for row in rows.tolist()
            )
            one_view = player_view(engine.state, viewer, rows, history=True)
            other_view = player_view(other, viewer, rows, history=True)
            assert equal_views(one_view, other_view) == []
            assert (encoder.encode(one_view) == encoder.encode(other_view)).all()
            assert (one_view.legal_mask == other_view.legal_mask).all()
            compared += len(rows)
        book_actions(bookkeepers, engine, actions.tolist())
    assert compared > 500
    assert moved > 10 * compared, "most of the pack is hidden and must have moved"


@pytest.mark.parametrize("rules", CASES, ids=lambda rules: rules.name)
def test_views_hold_what_a_seat_may_know(rules: Rules) -> None:
    engine = rich_engine(rules, 40, seed=22)
    state = engine.state
    for _ in play_on(engine):
        for viewer in range(rules.num_players):
            view = player_view(state, viewer)
            assert (view.hand_bits == state.hands[:, viewer]).all()
            if rules.has_partners:
                partner = state.hands[:, (viewer + 2) % 4] if rules.partner_hand_visible else 0
                assert (view.partner_bits == partner).all()
            assert (view.legal_mask == engine.legal_mask() & (state.mover == viewer)[:, None]).all()
            hidden = [seat for seat in range(rules.num_players) if seat != viewer]
            elsewhere = np.bitwise_or.reduce(state.hands[:, hidden], axis=1)
            stock = np.array([bits_of(state.deck[row, state.stock_next[row] :]) for row in range(40)])
            assert not (view.unseen_bits & ~(elsewhere | stock)).any()
            assert not (stock & ~view.unseen_bits).any()
            if not rules.has_partners:
                shown = np.where(view.kind > Kind.DEAD, state.hands[:, hidden[0]], np.uint64(0))
                located = view.hand_bits | view.pile_bits | view.known_bits[:, 1] | shown
                assert (view.unseen_bits == ALL_CARDS & ~located).all()
    over = player_view(state, 0)
    assert (over.shown_bits[:, 1] == np.where(state.kind > Kind.DEAD, state.hands[:, 1], 0)).all()
    assert (over.kind == state.kind).all()


def test_seats_count_from_the_viewer() -> None:
    engine = Engine("palace_4p", seed=2)
    engine.reset(dealers=0)
    for viewer in range(4):
        view = player_view(engine.state, viewer)
        assert view.dealer[0] == -viewer % 4
        assert view.mover[0] == (1 - viewer) % 4
    engine.step([1])
    for viewer in range(4):
        known = player_view(engine.state, viewer).known_bits[0]
        assert np.flatnonzero(known).tolist() == [(1 - viewer) % 4]


def test_opponents_see_a_trade_but_not_its_cards() -> None:
    engine = Engine("palace_4p", seed=2)
    engine.reset(dealers=3)
    layout = engine.layout
    engine.step([layout.index("take")])
    card = card_ids(engine.state.legal[0, layout.give_word])[0]
    engine.step([layout.give + card])
    views = [player_view(engine.state, viewer, history=True) for viewer in range(4)]
    assert [int(view.offered_card[0]) for view in views] == [card, NO_CARD, card, NO_CARD]
    assert [int(view.history.cards[0, -1]) for view in views] == [card, NO_CARD, card, NO_CARD]
    assert all(layout.verbs[view.history.verbs[0, -1]] == "give" for view in views)
    assert [int(view.trades[0]) for view in views] == [1, 1, 1, 1]


def test_hidden_partner_hand_hides_the_hand_but_not_the_trade() -> None:
    engine = Engine(Rules.preset("palace_4p", partner_hand_visible=False), seed=2)
    engine.reset(dealers=3)
    layout = engine.layout
    engine.step([layout.index("take")])
    taken = int(engine.state.taken_card[0])
    card = next(card for card in card_ids(engine.state.legal[0, layout.give_word]) if card != taken)
    engine.step([layout.give + card])
    giver, receiver = player_view(engine.state, 0), player_view(engine.state, 2)
    assert giver.partner_bits[0] == receiver.partner_bits[0] == 0
    assert format_cards(giver.gave_bits[0]) == format_cards(CARD_BITS[card])
    assert int(receiver.offered_card[0]) == card


def test_after_refused_upcards_the_observation_says_only_the_stock_is_left() -> None:
    for preset, offers in (("classic_2p", 2), ("palace_4p", 4)):
        engine = Engine(preset, seed=1)
        engine.reset()
        encoder = ObservationEncoder(engine.rules)
        phase = encoder.section("phase")
        for _ in range(offers):
            engine.step([0])
        features = encoder.encode(player_view(engine.state))[0]
        assert np.flatnonzero(features[phase.start : phase.start + phase.width]).tolist() == [Phase.FORCED_DRAW]
        assert features[encoder.section("offers_left").start] == 0


@pytest.mark.parametrize("rules", CASES, ids=lambda rules: rules.name)
def test_a_single_view_holds_the_same_facts(rules: Rules) -> None:
    engine = rich_engine(rules, 6, seed=24)
    engine.state.scores[:] = np.arange(12).reshape(6, 2)
    for _ in play_on(engine):
        for viewer in range(rules.num_players):
            view = player_view(engine.state, viewer)
            for row in range(6):
                one = single_view(engine.state, viewer, row)
                for name, value in vars(view).items():
                    if isinstance(value, np.ndarray):
                        assert value[row].tolist() == getattr(one, name), name


def test_choose_returns_rows() -> None:
    engine = rich_engine("palace_4p", 5, seed=3)
    view = player_view(engine.state, history=True)
    assert equal_views(view.choose([3, 1]), player_view(engine.state, rows=[3, 1], history=True)) == []
