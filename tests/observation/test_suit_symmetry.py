"""Renaming suits and turning the table change nothing, but where a rule names a suit or an order (docs/rules.md)."""

from __future__ import annotations

import numpy as np
import pytest

from gin_env.cards import NO_CARD
from gin_env.engine import Engine, Phase
from gin_env.observation import ObservationEncoder, player_view
from gin_env.observation.critic import HiddenEncoder
from gin_env.observation.encoder import ObservationOptions
from gin_env.observation.suit_symmetry import (
    SUIT_ORDERS,
    observation_columns,
    relabelled_actions,
    relabelled_cards,
    suit_orders,
)
from gin_env.scoring import Kind
from tests.helpers.options import ALL_RULES
from tests.helpers.play import lively_actions, play_on, rich_engine

#: The greedy lay-offs go by card ids, and so does the choice among equal spreads with spread="first".
ANY_SUIT = [name for name, rules in ALL_RULES.items() if (rules.layoff, rules.spread) == ("optimal", "least")]
#: Where seat 0 always gets the first card, seats are not alike.
ANY_SEAT = [name for name, rules in ALL_RULES.items() if rules.deal_order == "left_of_dealer"]


def eager(engine: Engine, generator: np.random.Generator) -> np.ndarray:
    return lively_actions(engine, generator, eagerness=0.7, sense=1.0)


@pytest.mark.parametrize("name", ANY_SUIT)
def test_renaming_suits_changes_nothing(name: str) -> None:
    """S H D C become H D C S; where a spade as the first upcard doubles the points, spades stay."""
    rules = ALL_RULES[name]
    one, other = rich_engine(rules, 24, seed=6), Engine(rules, 24)
    suits = np.array([0, 2, 3, 1]) if rules.spade_upcard_doubles else np.array([1, 2, 3, 0])
    renamed = np.append((suits[:, None] * 13 + np.arange(13)).ravel(), NO_CARD).astype(np.uint8)
    other.reset(decks=renamed[one.state.deck], dealers=one.state.dealer)
    layout = one.layout
    actions = np.arange(layout.size)
    mapped = np.where(layout.word_of > 0, actions - layout.card_of + renamed[layout.card_of], actions)
    for chosen in play_on(one, policy=eager):
        assert (one.legal_mask() == other.legal_mask()[:, mapped]).all()
        other.step(mapped[np.maximum(chosen, 0)])
    for field in ("kind", "winner", "points", "net_points", "turn"):
        assert (getattr(one.state, field) == getattr(other.state, field)).all(), field
    if rules.mode != "free_for_all":  # there, of equal lay-offs the lowest cards are laid
        assert (one.state.deadwood.sum(axis=1) == other.state.deadwood.sum(axis=1)).all()
    assert (one.state.kind > Kind.DEAD).any()


@pytest.mark.parametrize("name", ANY_SEAT)
def test_turning_the_table_changes_nothing(name: str) -> None:
    rules = ALL_RULES[name]
    one, other = rich_engine(rules, 24, seed=7), Engine(rules, 24)
    seats, teams = rules.num_seats, rules.num_teams
    other.reset(decks=one.state.deck, dealers=(one.state.dealer + 1) % seats)
    for actions in play_on(one, policy=eager):
        assert ((one.state.mover + 1) % seats == other.state.mover).all()
        assert (one.state.legal == other.state.legal).all()
        other.step(actions)
    for field in ("hands", "deadwood", "known_bits", "discarded_bits", "declined_bits", "gave_bits", "boasted"):
        assert (getattr(one.state, field) == np.roll(getattr(other.state, field), -1, axis=1)).all(), field
    for field in ("laid_bits", "set_bits", "run_bits", "points", "net_points", "team_known_bits"):
        assert (getattr(one.state, field) == np.roll(getattr(other.state, field), -1, axis=1)).all(), field
    winners = one.state.winner.astype(int)
    assert (np.where(winners < 0, -1, (winners + 1) % teams) == other.state.winner).all()
    assert (one.state.kind == other.state.kind).all()


# gin_env/observation/suit_symmetry.py

#: Sections in which ties between equal arrangements or plans go by card ids.
_WITH_TIES = (
    *("melded", "partner_melded", "melding_upcard", "value_of_throw", "plan_of_gift", "plan_of_throw"),
    *("knock_of_gift", "team_left_by_knock", "clean_knock"),
)


@pytest.mark.parametrize("number", range(24))
def test_each_relabeling_is_undone_by_another(number: int) -> None:
    order, layout = SUIT_ORDERS[number], Engine("palace_4p").layout
    inverse = np.argsort(order)
    cards = relabelled_cards(order)
    assert (relabelled_cards(inverse)[cards] == np.arange(52)).all()
    assert (cards % 13 == np.arange(52) % 13).all()
    assert (cards // 13 == order[np.arange(52) // 13]).all()
    actions = relabelled_actions(layout, order)
    assert (relabelled_actions(layout, inverse)[actions] == np.arange(layout.size)).all()
    assert (layout.verb_of[actions] == layout.verb_of).all()
    sections = ObservationEncoder("palace_4p").sections
    columns = observation_columns(sections, order)
    assert (columns[observation_columns(sections, inverse)] == np.arange(len(columns))).all()
    assert (number == 0) == (columns == np.arange(len(columns))).all()


def of_one_suit_only(encoder: ObservationEncoder | HiddenEncoder) -> np.ndarray:
    """Which features (F,) are free of ties that card ids decide."""
    return np.concatenate(
        [np.full(part.width, not part.name.startswith(("melded", *_WITH_TIES))) for part in encoder.sections]
    )


@pytest.mark.parametrize("name", ANY_SUIT)
def test_a_relabelled_game_is_seen_relabelled(name: str) -> None:
    """Features with lookahead, hidden cards and masks, for every viewer, in several orders of the suits."""
    rules = ALL_RULES[name]
    options = ObservationOptions(derived=True, outlook=True)
    encoder, hidden = ObservationEncoder(rules, options), HiddenEncoder(rules)
    plain, hidden_plain = of_one_suit_only(encoder), of_one_suit_only(hidden)
    orders = suit_orders(rules)
    looked_at = 0
    for number in np.random.default_rng(len(name)).choice(np.arange(1, len(orders)), 2, replace=False):
        order = orders[number]
        one, other = rich_engine(rules, 8, seed=16), Engine(rules, 8)
        cards, actions = relabelled_cards(order), relabelled_actions(one.layout, order)
        columns = observation_columns(encoder.sections, order)
        hidden_columns = observation_columns(hidden.sections, order)
        other.reset(decks=cards[one.state.deck].astype(np.uint8), dealers=one.state.dealer)
        for step, chosen in enumerate(play_on(one, policy=eager)):
            assert (one.legal_mask() == other.legal_mask()[:, actions]).all()
            for viewer in range(rules.num_seats) if step % 8 == 0 else ():
                rows = np.flatnonzero(one.state.phase != Phase.OVER)
                views = [player_view(engine.state, viewer, rows) for engine in (one, other)]
                seen = [encoder.encode(view) for view in views]
                assert (seen[0][:, columns][:, plain] == seen[1][:, plain]).all()
                seats = np.full(len(rows), viewer)
                unseen = [hidden.encode(engine.state, rows, seats) for engine in (one, other)]
                assert (unseen[0][:, hidden_columns][:, hidden_plain] == unseen[1][:, hidden_plain]).all()
                looked_at += len(rows)
            other.step(actions[np.maximum(chosen, 0)])
    assert looked_at > 50
