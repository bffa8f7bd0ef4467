"""The table as text: what it shows of a position, and that a seat's picture shows no more than the seat may know."""

from __future__ import annotations

import re

import numpy as np
import pytest

import gin_env
from gin_env import PRESETS, Engine, player_view
from gin_env.cards import card_ids, format_card
from gin_env.rendering.text import render_state, render_view
from gin_env.state import Kind, Phase

CARD = re.compile(r"\b[A23456789TJQK][SHDC]\b")


def hand_line(text, seat):
    return next(line for line in text.splitlines() if line[2:].startswith(f"player_{seat}"))


def positions(preset, seed=0, deals=4):
    """Positions of random play that knocks when it can, one after another, the last of each deal included."""
    generator = np.random.default_rng(seed)
    engine = Engine(preset, 1, seed=seed)
    for _ in range(deals):
        engine.reset()
        while True:
            yield engine
            legal = np.flatnonzero(engine.legal_mask()[0])
            if not len(legal):
                break
            knock = legal[-1] >= engine.layout.knock
            engine.step([int(legal[-1] if knock else generator.choice(legal))])


@pytest.mark.parametrize("preset", PRESETS)
def test_the_open_table_shows_every_hand_and_the_pile(preset):
    for engine in positions(preset):
        state, text = engine.state, render_state(engine.state)
        assert text.startswith(f"{preset}  deal 1  turn {int(state.turn[0])}  stock {int(state.stock_count[0])}  ")
        for seat in range(engine.rules.num_players):
            shown = CARD.findall(hand_line(text, seat))
            assert sorted(shown) == sorted(format_card(card) for card in card_ids(state.hands[0, seat]))
        pile = [format_card(card) for card in state.pile[0, : state.pile_size[0]].tolist()]
        discards = next(line for line in text.splitlines() if line.startswith("discards"))
        assert CARD.findall(discards) == pile[::-1]
        if state.phase[0] != Phase.OVER:
            assert hand_line(text, int(state.mover[0])).startswith(">")


@pytest.mark.parametrize("preset", PRESETS)
def test_a_seats_picture_shows_only_what_the_seat_may_know(preset):
    for engine in positions(preset, deals=2):
        state = engine.state
        for seat in range(engine.rules.num_players):
            view = player_view(state, seats=seat, history=True)
            text = render_view(view)
            opponents = [
                other
                for other in range(engine.rules.num_players)
                if engine.rules.team_of(other) != engine.rules.team_of(seat)
            ]
            for other in opponents:
                line = hand_line(text, other)
                shown = sorted(CARD.findall(line))
                cards = state.hands[0, other] if state.kind[0] > Kind.DEAD else state.known_bits[0, other]
                assert shown == sorted(format_card(card) for card in card_ids(cards))
                if state.kind[0] <= Kind.DEAD:
                    assert f" {int(state.hands[0, other]).bit_count()} cards" in line
            unseen = {format_card(card) for card in card_ids(view.unseen_bits[0])}
            assert not unseen & set(CARD.findall(text.split("\nlately")[0]))
            assert sorted(CARD.findall(hand_line(text, seat))) == sorted(
                format_card(card) for card in card_ids(state.hands[0, seat])
            )


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
    for seed in range(6):
        for engine in positions("palace_4p", seed=seed, deals=30):
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
