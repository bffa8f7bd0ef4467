"""The table as text, and what the environments render: no more than the one who looks may know, in every mode."""

from __future__ import annotations

import copy
import pickle
import re
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import gin_env
from gin_env import Engine, player_view
from gin_env.cards import card_ids, format_card, parse_card
from gin_env.legal import knock_limits
from gin_env.rendering.picture import picture_of
from gin_env.rendering.raster import rgb_array
from gin_env.rendering.shapes import WIDTH
from gin_env.rendering.table import table_of_state, table_of_view
from gin_env.rendering.text import render_state, render_view
from gin_env.state import Kind, Phase
from tests.learners import Eager, random_action
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
        assert f"player_0 offered {given}" in texts[seat]
        assert f"player_2: give a card back for {given}" in texts[seat]
    for seat in (1, 3):
        assert "player_0 offered a card" in texts[seat]
        assert "give a card back for the one on offer" in texts[seat]
    taken = format_card(int(engine.state.taken_card[0]))
    assert f"traded    {taken} with player_0+player_2" in texts[1]


@pytest.mark.parametrize("name", ALL_RULES)
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
def test_a_trade_tells_the_offer_from_the_answer(reply, answer):
    rules = gin_env.Rules.preset("palace_4p", trade_reply=reply, max_trades_per_turn=2)
    engine = Engine(rules, 1, seed=3)
    engine.reset(dealers=[3])
    engine.step([engine.layout.index("take")])
    cards = [format_card(card) for card in card_ids(engine.state.hands[0, 0])]
    back = [format_card(card) for card in card_ids(engine.state.hands[0, 2])]
    told = []
    for card in (cards[0], back[0], cards[1], back[1]):
        engine.step([engine.layout.index(f"give {card}")])
        told.append(render_state(engine.state).split("lately    ")[1].split("\n")[0].split(", ")[-1])
    end = " back" if reply == "partner" else " in return"
    assert told == [
        f"player_0 offered {cards[0]}",
        f"{answer} {back[0]}{end}",
        f"player_0 offered {cards[1]}",
        f"{answer} {back[1]}{end}",
    ]
    table = table_of_state(engine.state)
    assert table.hands[0].arrived.keys() >= {parse_card(back[0]), parse_card(back[1])}
    assert table.hands[2].arrived == {parse_card(cards[0]): "got", parse_card(cards[1]): "got"}


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


# ---------------------------------------------------------------------- pictures and windows of the environments


@pytest.fixture
def nowhere(monkeypatch):
    """Let windows open where nobody sees them, and show pictures without a pause."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    for kind in (gin_env.GinRummyEnv, gin_env.GinRummySingleEnv):
        monkeypatch.setitem(kind.metadata, "render_fps", 1000)


def open_picture(state):
    return rgb_array(picture_of([table_of_state(state, row) for row in range(state.num_deals)]))


def seats_picture(state, seat):
    """What a seat, counted over all tables, sees at its own."""
    table, at_table = divmod(seat, state.rules.num_seats)
    view = player_view(state, seats=at_table, rows=[table], history=True)
    return rgb_array(picture_of([table_of_view(view, first_seat=table * state.rules.num_seats)]))


def knock_or_any(env, generator):
    legal = np.flatnonzero(env.last()[4]["action_mask"])
    return int(legal[-1] if legal[-1] >= env.layout.knock else generator.choice(legal))


@pytest.mark.parametrize("name", ["classic_2p", "palace_4p", "two_tables_4p", "rotation_all"])
def test_pictures_show_all_hands_or_those_of_a_viewer(name):
    rules, generator = ALL_RULES[name], np.random.default_rng(1)
    env = gin_env.env(rules, render_mode="rgb_array")
    seats = [gin_env.env(rules, render_mode="rgb_array", viewer=agent) for agent in env.possible_agents]
    for one in (env, *seats):
        one.reset(seed=1)
    for _ in range(12):
        state = env.unwrapped.episodes.state
        pixels = env.render()
        assert (pixels.shape[1:], pixels.dtype) == ((WIDTH, 3), np.uint8)
        assert np.array_equal(pixels, open_picture(state))
        for seat, one in enumerate(seats):
            assert np.array_equal(one.render(), seats_picture(state, seat))
        action = knock_or_any(env, generator)
        for one in (env, *seats):
            one.step(action)


def test_a_viewers_text_hides_the_other_hands():
    env = gin_env.env("palace_4p", render_mode="ansi", viewer="player_1")
    env.reset(seed=1)
    hidden = {seat: " cards" in hand_line(env.render(), seat) for seat in range(4)}
    assert hidden == {0: True, 1: False, 2: True, 3: False}
    tables = gin_env.env("two_tables_4p", render_mode="ansi", viewer="player_3")
    tables.reset(seed=1)
    assert "player_1" not in tables.render()
    assert " 10 cards" in hand_line(tables.render(), 2)
    assert len(CARD.findall(hand_line(tables.render(), 3))) == 10
    copied = pickle.loads(pickle.dumps(env))
    assert copied.render() == env.render()


@pytest.mark.parametrize("viewer", ["player_2", 0, "ann"])
def test_an_unknown_viewer_is_named(viewer):
    with pytest.raises(ValueError, match=f"viewer={viewer!r}: must be one of None, 'player_0', 'player_1'"):
        gin_env.env("classic_2p", viewer=viewer)


@pytest.mark.parametrize("name", ["classic_2p", "two_tables_4p"])
@pytest.mark.parametrize("viewer", [None, "player_1"])
def test_pictures_show_a_deal_that_ended_until_the_next_action(name, viewer):
    generator, ended = np.random.default_rng(2), []
    env = gin_env.env(name, episode="game", render_mode="rgb_array", viewer=viewer)
    env.unwrapped.episodes.watch = lambda transition: ended.append(transition.finished)

    def picture(state):
        return open_picture(state) if viewer is None else seats_picture(state, 1)

    env.reset(seed=1)
    shapes = {env.render().shape}
    while not ended or ended[-1] is None:
        env.step(knock_or_any(env, generator))
    shapes.add(env.render().shape)
    assert (ended[-1].phase == Phase.OVER).all()
    assert np.array_equal(env.render(), picture(ended[-1]))
    env.step(knock_or_any(env, generator))
    assert np.array_equal(env.render(), picture(env.unwrapped.episodes.state))
    assert len(shapes) == 1


def test_human_mode_shows_every_step_in_a_window_and_returns_nothing(nowhere, capsys):
    pygame = pytest.importorskip("pygame")
    env = gin_env.env("classic_2p", render_mode="human")
    window = env.unwrapped._window
    assert not window.is_open
    env.reset(seed=1)
    assert window.is_open
    dealt = pygame.surfarray.array3d(window._window.get_surface())
    env.step(env.layout.index("pass"))
    assert not np.array_equal(pygame.surfarray.array3d(window._window.get_surface()), dealt)
    assert env.render() is None
    assert "turn" not in capsys.readouterr().out
    copies = [copy.deepcopy(env), pickle.loads(pickle.dumps(env))]
    for other in copies:
        assert not other.unwrapped._window.is_open
        other.render()
        assert other.unwrapped._window.is_open
        other.close()
    assert window.is_open
    pygame.event.post(pygame.event.Event(pygame.WINDOWCLOSE, window=window._window))
    generator = np.random.default_rng(1)
    for _ in range(5):
        env.step(knock_or_any(env, generator))
    assert not window.is_open
    env.close()


def test_a_learners_window_follows_its_steps(nowhere):
    env = gymnasium.make("gin_env/palace_4p-v0", render_mode="human")
    generator = np.random.default_rng(1)
    _, info = env.reset(seed=1)
    window = env.unwrapped._window
    shown = {window._picture}
    for _ in range(4):
        info = env.step(random_action(info["action_mask"], generator))[4]
        shown.add(window._picture)
    assert len(shown) == 5
    env.close()
    assert not window.is_open


@pytest.mark.parametrize("name", ["classic_2p", "palace_4p", "two_tables_4p"])
def test_gymnasiums_wrappers_collect_the_learners_pictures(name):
    """As RecordVideo does: one picture after each step, all of one size, showdowns included."""
    env = gymnasium.wrappers.RenderCollection(
        gymnasium.make(f"gin_env/{name}-v0", render_mode="rgb_array", episode="game", opponents=Eager())
    )
    table, ended = env.unwrapped.table, []
    table.episodes.watch = lambda transition: ended.extend(() if transition.finished is None else [transition.finished])
    _, info = env.reset(seed=1)
    expected = [seats_picture(table.state, info["seat"])]
    while len(ended) < 2:
        seat, before = info["seat"], len(ended)
        *_, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))  # knocks as soon as it may
        new = len(ended) > before
        expected.append(seats_picture(ended[-1], seat) if new else seats_picture(table.state, info["seat"]))
    pictures = env.render()
    assert len(pictures) == len(expected)
    for picture, right in zip(pictures, expected, strict=True):
        assert np.array_equal(picture, right)


def test_gymnasiums_own_window_shows_the_pictures(nowhere):
    env = gymnasium.wrappers.HumanRendering(gymnasium.make("gin_env/classic_2p-v0", render_mode="rgb_array"))
    _, info = env.reset(seed=1)
    env.step(random_action(info["action_mask"], np.random.default_rng(1)))
    env.close()  # quits pygame
    again = gin_env.GinRummySingleEnv("classic_2p", render_mode="rgb_array")
    again.reset(seed=1)
    assert again.render().any()


def test_a_batch_returns_a_picture_for_each_row_with_the_deals_that_ended():
    envs = gymnasium.make_vec("gin_env/palace_4p-v0", num_envs=5, render_mode="rgb_array", opponents=Eager())
    table, ended, generator = envs.unwrapped.table, [], np.random.default_rng(1)
    _, infos = envs.reset(seed=1)
    for _ in range(40):
        before = table.seat.copy()
        ended.clear()
        table.episodes.watch = ended.append
        _, _, terminated, _, infos = envs.step([random_action(mask, generator) for mask in infos["action_mask"]])
        if terminated.any():
            break
    pictures = envs.render()
    assert isinstance(pictures, tuple)
    assert len(pictures) == 5
    row = int(np.flatnonzero(terminated)[0])
    transition = next(one for one in ended if row in one.finished_rows)
    place = transition.finished_rows.tolist().index(row)
    assert np.array_equal(pictures[row], seats_picture(transition.finished.take(np.array([place])), before[row]))
    going_on = int(np.flatnonzero(~terminated)[0])
    state = table.state.take(np.array([going_on]))
    assert np.array_equal(pictures[going_on], seats_picture(state, int(infos["seat"][going_on])))
    assert envs.metadata["render_fps"] > 0


def test_environments_load_no_drawing_library_before_they_draw():
    code = """
import sys
import gin_env
for mode in (None, "ansi"):
    env = gin_env.env("palace_4p", render_mode=mode)
    env.reset(seed=1)
    env.step(int(env.last()[4]["action_mask"].argmax()))
    single = gin_env.GinRummySingleEnv(render_mode=mode)
    envs = gin_env.GinRummyVectorEnv(2, render_mode=mode)
    for learner in (single, envs):
        _, info = learner.reset(seed=1)
        learner.step(info["action_mask"].argmax(axis=-1))
    if mode:
        assert env.render() and single.render() and envs.render()
    for one in (env, single, envs):
        one.close()
print(sorted({"pygame", "matplotlib", "PIL", "torch"} & set(sys.modules)))
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"
