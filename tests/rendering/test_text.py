"""The table as text: what it shows of a position, and that a seat's shows no more than the seat may know."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import numpy as np
import pytest

import gin_env
from gin_env import Engine, player_view
from gin_env.cards import card_ids, format_card, parse_card
from gin_env.engine import Phase
from gin_env.engine.knocking import knock_limits
from gin_env.rendering.picture import picture_of
from gin_env.rendering.svg import svg_document
from gin_env.rendering.table import table_of_state, table_of_view
from gin_env.rendering.text import render_state, render_table, render_tables, render_view
from gin_env.scoring import Kind
from tests.helpers.options import ALL_RULES, swept
from tests.helpers.pictures import CARD, hand_line
from tests.helpers.play import lively_actions
from tests.helpers.worked import Table


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


@pytest.mark.parametrize("name", swept(ALL_RULES))
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


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_a_seats_picture_shows_only_what_the_seat_may_know(name):
    rules = ALL_RULES[name]
    for step, engine in enumerate(positions(rules, deals=2)):
        state = engine.state
        over = state.kind[0] > Kind.DEAD
        for seat in range(rules.num_seats) if step % 5 == 0 or over else ():
            view = player_view(state, seats=seat, history=True)
            text = render_view(view)
            unseen = {format_card(card) for card in card_ids(view.unseen_bits[0])}
            assert not unseen & set(CARD.findall(text.split("\nrecent")[0]))
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


def test_only_the_team_sees_the_cards_of_its_trade():
    engine = Engine("palace_4p", 1, seed=3)
    engine.reset(dealers=[3])
    engine.step([engine.layout.index("take")])
    given = format_card(card_ids(player_view(engine.state).legal_give_bits[0])[0])
    engine.step([engine.layout.index(f"give {given}")])
    texts = [render_view(player_view(engine.state, seats=seat, history=True)) for seat in range(4)]
    for seat in (0, 2):
        assert f"player_0 offered {given}" in texts[seat]
        assert f"player_2: give a card back for {given}" in texts[seat]
    for seat in (1, 3):
        assert "player_0 offered a card" in texts[seat]
        assert "give a card back for the offered card" in texts[seat]
    taken = format_card(int(engine.state.taken_card[0]))
    assert f"traded    {taken} with player_0+player_2" in texts[1]


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_a_seat_that_knows_the_events_knows_the_order_of_the_pile(name):
    piles = 0
    for step, engine in enumerate(positions(ALL_RULES[name], deals=2)):
        if step % 4 == 0:
            pile = table_of_state(engine.state).below
            assert table_of_view(player_view(engine.state, seats=0, history=True)).below == pile
            assert sorted(table_of_view(player_view(engine.state, seats=0)).below) == sorted(pile)
            piles += len(pile) > 1
    assert piles or name == "five_with_one_card_in_the_stock"


@pytest.mark.parametrize(("reply", "answer"), [("partner", "player_2 gave"), ("mover", "player_0 picked")])
def test_the_offer_and_the_answer_of_a_trade_are_worded_differently(reply, answer):
    rules = gin_env.Rules.preset("palace_4p", trade_reply=reply, max_trades_per_turn=2)
    engine = Engine(rules, 1, seed=3)
    engine.reset(dealers=[3])
    engine.step([engine.layout.index("take")])
    cards = [format_card(card) for card in card_ids(engine.state.hands[0, 0])]
    back = [format_card(card) for card in card_ids(engine.state.hands[0, 2])]
    texts = []
    for card in (cards[0], back[0], cards[1], back[1]):
        engine.step([engine.layout.index(f"give {card}")])
        texts.append(render_state(engine.state).split("recent    ")[1].split("\n")[0].split(", ")[-1])
    end = " back" if reply == "partner" else " in return"
    assert texts == [
        f"player_0 offered {cards[0]}",
        f"{answer} {back[0]}{end}",
        f"player_0 offered {cards[1]}",
        f"{answer} {back[1]}{end}",
    ]
    table = table_of_state(engine.state)
    assert table.hands[0].arrived.keys() >= {parse_card(back[0]), parse_card(back[1])}
    assert table.hands[2].arrived == {parse_card(cards[0]): "got", parse_card(cards[1]): "got"}


def test_given_names_are_used_everywhere():
    names, seen = ["Ann", "<Bob & Co>", "Cy\x1bd", "Dee"], set()
    for engine in positions("palace_4p", seed=1, deals=6):
        table = table_of_state(engine.state, names=names)
        text, svg = render_table(table), svg_document(picture_of([table]))
        assert "player_" not in text
        assert "player_" not in svg
        ElementTree.fromstring(svg)
        seen |= {side for side in ("Ann+Cy d", "<Bob & Co>+Dee") if f"points to {side}" in text}
    assert len(seen) == 2
    for wrong in (["x"], "abcd", (), [1, 2, 3, 4]):
        with pytest.raises(ValueError, match=r"names.*each of the 4 seats"):
            table_of_state(engine.state, names=wrong)
        with pytest.raises(ValueError, match=r"names.*each of the 4 seats"):
            table_of_view(player_view(engine.state, seats=0), names=wrong)


def test_a_mover_who_picks_the_partners_card_is_asked_for_it():
    rules = gin_env.Rules.preset("palace_4p", trade_reply="mover")
    engine = Engine(rules, 1, seed=3)
    engine.reset(dealers=[3])
    engine.step([engine.layout.index("take")])
    given = format_card(card_ids(player_view(engine.state).legal_give_bits[0])[0])
    engine.step([engine.layout.index(f"give {given}")])
    assert render_state(engine.state).endswith(f"player_0: pick a card of player_2 for {given}")


def test_a_position_without_its_log_tags_the_cards_of_its_turn():
    engine = Engine("palace_4p", 1, seed=3)
    engine.reset(dealers=[3])
    engine.step([engine.layout.index("take")])
    taken = int(engine.state.taken_card[0])
    loaded = gin_env.parse_position(gin_env.format_position(engine.state))
    assert table_of_state(loaded).hands[0].arrived == {taken: "took"}
    given = card_ids(player_view(engine.state).legal_give_bits[0] & ~np.uint64(1 << taken))[0]
    engine.step([engine.layout.index(f"give {format_card(given)}")])
    loaded = gin_env.parse_position(gin_env.format_position(engine.state))
    for table in (table_of_state(loaded), table_of_view(player_view(loaded, seats=2))):
        assert table.hands[2].arrived == {given: "offer"}
        assert table.hands[0].arrived == {taken: "took"}
    assert table_of_view(player_view(loaded, seats=1)).hands[2].arrived == {}


def test_a_long_turn_still_tags_its_first_card():
    rules = gin_env.Rules.preset("palace_4p", max_trades_per_turn=4)
    engine = Engine(rules, 1, seed=3)
    engine.reset(dealers=[3])
    engine.step([engine.layout.index("take")])
    taken = int(engine.state.taken_card[0])
    for _ in range(4):
        for _ in range(2):
            legal = player_view(engine.state).legal_give_bits[0] & ~np.uint64(1 << taken)
            engine.step([engine.layout.index(f"give {format_card(card_ids(legal)[0])}")])
    table = table_of_state(engine.state)
    assert len(table.events) == 6
    assert table.hands[0].arrived[taken] == "took"


def test_a_table_that_waits_for_the_other_has_the_number_of_the_same_deal():
    generator, waited = np.random.default_rng(4), 0
    env = gin_env.env("two_tables_4p", episode="game", render_mode="ansi")
    env.reset(seed=4)
    state = env.unwrapped.episodes.state
    while state.deals_played[0] < 2:
        env.step(int(generator.choice(np.flatnonzero(env.last()[4]["action_mask"]))))
        state = env.unwrapped.episodes.state
        if state.deals_played[0] == 1 and (state.phase[0] == Phase.OVER) != (state.phase[1] == Phase.OVER):
            assert re.findall(r"deal (\d+)  turn", render_tables(state)) == ["2", "2"]
            waited += 1
    assert waited


def test_another_seats_options_are_shown_as_far_as_everybody_knows_them():
    rules = gin_env.Rules.preset("classic_2p", boast=True)
    engine = Engine(rules, 1, seed=5)
    engine.reset(dealers=[1])
    for text in ("pass", "pass", "draw", "boast"):
        engine.step([engine.layout.index(text)])
    assert render_view(player_view(engine.state, seats=1)).endswith("player_0: discard")
    rules = gin_env.Rules.preset("classic_2p", last_discard_knock=True)
    hands = ["7S 8S JH QH KH 5C 5D 4C TD 6H", "3S 4S 5S 6S 9H 9D 9C 2D 2H KD"]
    table = Table(rules, hands, upcard="KS", stock="28 AC").play("pass, pass").stall(29).play("take")
    assert render_view(player_view(table.state, seats=0)).endswith("player_1: knock")


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
            assert text.splitlines()[-1].startswith(f"result    player_{int(state.knocker[0])} knocked")
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


def test_the_learners_picture_is_its_own_view():
    env = gin_env.GinRummySingleEnv("classic_2p", render_mode="ansi")
    env.reset(seed=1)
    assert "player_1  10 cards" in env.render() or "player_1  11 cards" in env.render()
    envs = gin_env.GinRummyVectorEnv(3, "palace_4p", render_mode="ansi")
    envs.reset(seed=1)
    assert [text.count(" cards") for text in envs.render()] == [2, 2, 2]
