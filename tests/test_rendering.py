"""The table as text: what it shows of a position, and that a seat's picture shows no more than the seat may know."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gin_env
from gin_env import Engine, player_view
from gin_env.cards import card_ids, format_card
from gin_env.legal import knock_limits
from gin_env.rendering.text import render_state, render_view
from gin_env.state import Kind, Phase
from tests.options import ALL_RULES
from tests.play import lively_actions

CARD = re.compile(r"\b[A23456789TJQK][SHDC]\b")


def hand_line(text, seat):
    return next(line for line in text.splitlines() if line[2:].startswith(f"player_{seat}"))


def positions(rules, seed=0, deals=3):
    """Positions of play, one after another, the last of each deal included."""
    generator = np.random.default_rng(seed)
    engine = Engine(rules, 1, seed=seed)
    for _ in range(deals):
        engine.reset()
        while not engine.over[0]:
            yield engine
            engine.step(lively_actions(engine, generator, eagerness=0.8, sense=1.0))
        yield engine


@pytest.mark.parametrize("name", ALL_RULES)
def test_the_open_table_shows_every_hand_and_the_pile(name):
    rules = ALL_RULES[name]
    for step, engine in enumerate(positions(rules)):
        state = engine.state
        if step % 3 and state.phase[0] != Phase.OVER:
            continue
        text = render_state(state)
        head = text.splitlines()[0]
        assert head.startswith(f"{rules.name}  deal 1  turn {int(state.turn[0])}  ")
        assert f"  stock {int(state.stock_count[0])}  dealer player_{int(state.dealer[0])}" in head
        limit = int(np.max(knock_limits(state, np.zeros(1, dtype=int))))
        assert (f"  knock limit {limit}  " in head) == rules.limit_from_upcard
        assert ("counts double" in head) == (rules.spade_upcard_doubles and bool(state.first_upcard[0] < 13))
        for seat in range(rules.num_seats):
            line = hand_line(text, seat)
            assert sorted(CARD.findall(line)) == sorted(format_card(card) for card in card_ids(state.hands[0, seat]))
            assert ("sits out" in line) == (rules.mode == "rotation" and seat == state.dealer[0])
            assert ("(boasted)" in line) == bool(state.boasted[0, seat])
        pile = [format_card(card) for card in state.pile[0, : state.pile_size[0]].tolist()]
        discards = next(line for line in text.splitlines() if line.startswith("discards"))
        assert CARD.findall(discards) == pile[::-1]
        caught = [line for line in text.splitlines() if line.startswith("caught")]
        assert bool(caught) == bool(state.caught_bits[0])
        assert not caught or CARD.findall(caught[0]) == [format_card(card) for card in card_ids(state.caught_bits[0])]
        if state.phase[0] != Phase.OVER:
            assert hand_line(text, int(state.mover[0])).startswith(">")
        else:
            for team, points in enumerate(state.points[0].tolist()):
                seats = "+".join(f"player_{seat}" for seat in rules.seats_of(team))
                assert (f"{points} points to {seats}" in text.splitlines()[-1]) == (points > 0)


@pytest.mark.parametrize("name", ALL_RULES)
def test_a_seats_picture_shows_only_what_the_seat_may_know(name):
    rules = ALL_RULES[name]
    for step, engine in enumerate(positions(rules, deals=2)):
        state = engine.state
        over = state.kind[0] > Kind.DEAD
        for seat in range(rules.num_seats) if step % 5 == 0 or over else ():
            view = player_view(state, seats=seat, history=True)
            text = render_view(view)
            unseen = {format_card(card) for card in card_ids(view.unseen_bits[0])}
            assert not unseen & set(CARD.findall(text.split("\nlately")[0]))
            partner = rules.partner_of(seat)
            for other in range(rules.num_seats):
                line, cards = hand_line(text, other), state.hands[0, other]
                if rules.mode == "rotation" and other == state.dealer[0]:
                    assert line.endswith("sits out")
                    continue
                if other == seat or over or (other == partner and rules.sees_partner):
                    assert sorted(CARD.findall(line)) == sorted(format_card(card) for card in card_ids(cards))
                    continue
                known = state.known_bits[0, other] | (state.gave_bits[0, seat] if other == partner else np.uint64(0))
                assert sorted(CARD.findall(line)) == sorted(format_card(card) for card in card_ids(known))
                assert f" {int(cards).bit_count()} cards" in line


def test_two_tables_are_shown_one_after_the_other_with_their_seats():
    env = gin_env.env("two_tables_4p", render_mode="ansi")
    env.reset(seed=1)
    one, other, next_move = env.render().split("\n\n")
    assert (one.splitlines()[0], other.splitlines()[0]) == ("table 1", "table 2")
    assert next_move == f"{env.agent_selection} moves at table 1"
    assert all(len(CARD.findall(hand_line(one, seat))) == 10 for seat in (0, 1))
    assert "player_2" not in one
    assert "player_0" not in other
    assert all(len(CARD.findall(hand_line(other, seat))) == 10 for seat in (2, 3))
    single = gin_env.GinRummySingleEnv("two_tables_4p", seat=3, partner=gin_env.RandomAgent(), render_mode="ansi")
    single.reset(seed=1)
    assert len(CARD.findall(hand_line(single.render(), 3))) >= 10
    assert " cards" in hand_line(single.render(), 2)
    assert "player_1" not in single.render()


def test_a_trade_is_told_with_its_cards_to_the_team_alone():
    engine = Engine("palace_4p", 1, seed=3)
    engine.reset(dealers=[3])
    engine.step([engine.layout.index("take")])
    given = format_card(card_ids(player_view(engine.state).legal_give_bits[0])[0])
    engine.step([engine.layout.index(f"give {given}")])
    texts = [render_view(player_view(engine.state, seats=seat, history=True)) for seat in range(4)]
    for seat in (0, 2):
        assert f"player_0 gave {given}" in texts[seat]
        assert f"player_2: give a card back for {given}" in texts[seat]
    for seat in (1, 3):
        assert "player_0 gave a card" in texts[seat]
        assert "give a card back for the one on offer" in texts[seat]
    taken = format_card(int(engine.state.taken_card[0]))
    assert f"traded    {taken} with player_0+player_2" in texts[1]


def test_the_showdown_shows_melds_layoffs_and_points():
    seen = set()
    for seed in range(2):
        for engine in positions("palace_4p", seed=seed, deals=20):
            state = engine.state
            if state.phase[0] != Phase.OVER:
                continue
            text, kind = render_state(state), Kind(int(state.kind[0]))
            seen.add(kind)
            if kind is Kind.DEAD:
                assert text.endswith("dead deal, no points")
                continue
            winners = "+".join(f"player_{seat}" for seat in range(4) if seat % 2 == state.winner[0])
            assert text.splitlines()[-1].startswith(f"result    player_{int(state.knocker[0])} knocked: ")
            assert text.endswith(f"{int(state.points[0].max())} points to {winners}")
            for seat in range(4):
                line = hand_line(text, seat)
                assert line.endswith(f"deadwood {int(state.deadwood[0, seat])}")
                if state.laid_bits[0, seat]:
                    seen.add("laid off")
                    laid = " ".join(format_card(card) for card in card_ids(state.laid_bits[0, seat]))
                    assert f"laid off {laid}" in line
    assert {Kind.KNOCK, Kind.UNDERCUT, "laid off"} <= seen


def test_a_game_shows_the_deal_that_ended_before_the_next_one():
    generator = np.random.default_rng(2)
    env = gin_env.env("classic_2p", episode="game", render_mode="ansi")
    env.reset(seed=1)
    while not env.unwrapped.episodes.state.deals_played[0]:
        legal = np.flatnonzero(env.last()[4]["action_mask"])
        env.step(int(legal[-1] if legal[-1] >= env.layout.knock else generator.choice(legal)))
    ended, begun = env.render().split("\n\n")
    assert "deal 1  " in ended
    assert "result" in ended
    assert "deal 2  turn 0" in begun
    env.step(env.layout.index("pass"))
    assert "\n\n" not in env.render()


def test_human_mode_prints_and_returns_nothing(capsys):
    env = gin_env.env("classic_2p", render_mode="human")
    env.reset(seed=1)
    assert "deal 1  turn 0" in capsys.readouterr().out
    env.step(env.layout.index("pass"))
    assert "passed" in capsys.readouterr().out
    assert env.render() is None


def test_the_learners_picture_is_its_own_view():
    env = gin_env.GinRummySingleEnv("classic_2p", render_mode="ansi")
    env.reset(seed=1)
    assert "player_1  10 cards" in env.render() or "player_1  11 cards" in env.render()
    envs = gin_env.GinRummyVectorEnv(3, "palace_4p", render_mode="ansi")
    envs.reset(seed=1)
    assert [text.count(" cards") for text in envs.render()] == [2, 2, 2]
