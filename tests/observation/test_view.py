"""What a seat is shown: the facts that must be there, seats counted from the viewer, and the same for one row or many.

What must not be there is the subject of test_leaks.py.
"""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.cards import ALL_CARDS, CARD_BITS, NO_CARD, bits_of, card_ids, format_cards
from gin_env.engine import Engine, Phase
from gin_env.engine.state import NO_SEAT
from gin_env.observation import ObservationEncoder, PlayerView, player_view
from gin_env.observation.view import single_view
from gin_env.rules import Rules
from gin_env.scoring import Kind
from tests.helpers.options import ALL_RULES, swept
from tests.helpers.play import play_on, rich_engine


def relative(seats: np.ndarray, viewer: int, num_seats: int) -> np.ndarray:
    return np.where(seats == NO_SEAT, NO_SEAT, (seats.astype(int) - viewer) % num_seats)


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_views_hold_what_a_seat_may_know(name: str) -> None:
    rules = ALL_RULES[name]
    engine = rich_engine(rules, 20, seed=22)
    state, seats = engine.state, range(rules.num_seats)
    for step, _ in enumerate(play_on(engine, steps=90)):
        if step % 5:
            continue
        stock = np.array([bits_of(state.deck[row, state.stock_next[row] :]) for row in range(20)])
        for viewer in seats:
            view = player_view(state, viewer)
            assert (view.hand_bits == state.hands[:, viewer]).all()
            partner = state.hands[:, (viewer + 2) % 4] if rules.sees_partner else np.zeros(20, dtype=np.uint64)
            assert (view.partner_bits == partner).all()
            assert (view.legal_mask == engine.legal_mask() & (state.mover == viewer)[:, None]).all()
            others = [seat for seat in seats if seat != viewer]
            elsewhere = np.bitwise_or.reduce(state.hands[:, others], axis=1)
            assert not (view.unseen_bits & ~(elsewhere | stock)).any()
            assert not (stock & ~view.unseen_bits).any()
            if not rules.has_partners:
                shown = np.where(view.kind > Kind.DEAD, elsewhere, np.uint64(0))
                located = view.hand_bits | view.pile_bits | np.bitwise_or.reduce(view.known_bits, axis=1) | shown
                assert (view.unseen_bits == ALL_CARDS & ~located).all()
            check_open_facts(view, engine, viewer)
    over = player_view(state, 0)
    for seat in seats:
        assert (over.shown_bits[:, seat] == np.where(state.kind > Kind.DEAD, state.hands[:, seat], 0)).all()


def check_open_facts(view: PlayerView, engine: Engine, viewer: int) -> None:
    """What everybody sees, counted from the viewer."""
    state, rules = engine.state, engine.rules
    for name in ("mover", "turn_seat", "dealer", "knocker"):
        assert (getattr(view, name) == relative(getattr(state, name), viewer, rules.num_seats)).all(), name
    for name in ("known_bits", "discarded_bits", "declined_bits", "set_bits", "run_bits", "laid_bits"):
        assert (getattr(view, name) == np.roll(getattr(state, name), -viewer, axis=1)).all(), name
    for name in ("points", "scores", "boxes", "team_known_bits"):
        assert (getattr(view, name) == np.roll(getattr(state, name), -(viewer % rules.num_teams), axis=1)).all(), name
    for name in ("kind", "phase", "turn", "stock_count", "pile_bits", "upcard", "taken_card", "trades", "offers_left"):
        assert (getattr(view, name) == getattr(state, name)).all(), name
    for name, is_there in (("boasted", rules.boast), ("boast_bar", rules.boast)):
        shown = getattr(view, name)
        assert (shown is not None) == is_there
        assert shown is None or (shown == np.roll(getattr(state, name), -viewer, axis=1)).all(), name
    for name in ("named_bits", "caught_bits", "catches"):
        shown = getattr(view, name)
        assert (shown is not None) == rules.catch_glass
        assert shown is None or (shown == getattr(state, name)).all(), name
    has_upcard = rules.limit_from_upcard or rules.spade_upcard_doubles
    assert (view.first_upcard is not None) == has_upcard
    assert view.first_upcard is None or (view.first_upcard == state.first_upcard).all()


def test_the_seat_that_sits_out_sees_no_hand() -> None:
    engine = rich_engine("rotation_3p", 20, seed=4)
    state = engine.state
    for _ in play_on(engine):
        view = player_view(state, seats=state.dealer)
        assert not view.hand_bits.any()
        assert not view.partner_bits.any()
        assert not view.legal_mask.any()
        going_on = state.phase != Phase.OVER
        assert not view.shown_bits[going_on].any()
        assert (view.drawn_card[going_on] == NO_CARD).all()
        known = np.bitwise_or.reduce(view.known_bits, axis=1)
        assert (view.unseen_bits == ALL_CARDS & ~(view.pile_bits | known))[going_on].all()


def test_the_sheets_are_seen_own_team_first() -> None:
    engine = Engine(ALL_RULES["duel_all"], 2, seed=1)
    engine.reset()
    engine.state.sheet_scores[:] = np.arange(12).reshape(2, 3, 2)
    engine.state.sheet_boxes[:] = 100 + np.arange(12).reshape(2, 3, 2)
    for viewer in (0, 1):
        view = player_view(engine.state, viewer)
        step = -1 if viewer else 1
        assert (view.sheet_scores == engine.state.sheet_scores[:, :, ::step]).all()
        assert (view.sheet_boxes == engine.state.sheet_boxes[:, :, ::step]).all()


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


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_a_single_view_holds_the_same_facts(name: str) -> None:
    rules = ALL_RULES[name]
    engine = rich_engine(rules, 4, seed=24)
    engine.state.scores[:] = np.arange(4 * rules.num_teams).reshape(4, -1)
    for step, _ in enumerate(play_on(engine, steps=90)):
        for viewer in range(rules.num_seats) if step % 5 == 0 else ():
            view = player_view(engine.state, viewer)
            for row in range(4):
                one = single_view(engine.state, viewer, row)
                for field, value in vars(view).items():
                    if isinstance(value, np.ndarray):
                        assert value[row].tolist() == getattr(one, field), field


def test_choose_returns_rows() -> None:
    engine = rich_engine(ALL_RULES["team_all"], 5, seed=3)
    chosen = player_view(engine.state, history=True).choose([3, 1])
    expected = player_view(engine.state, rows=[3, 1], history=True)
    for one, other in ((chosen, expected), (chosen.history, expected.history)):
        for field, value in vars(one).items():
            assert not isinstance(value, np.ndarray) or np.array_equal(value, getattr(other, field)), field
