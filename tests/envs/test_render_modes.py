"""What the environments' render modes give: pictures, text and a window, for all hands or for one seat."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys

import gymnasium
import numpy as np
import pytest

import gin_env
from gin_env import player_view
from gin_env.engine import Phase
from gin_env.rendering.picture import picture_of
from gin_env.rendering.raster import rgb_array
from gin_env.rendering.shapes import WIDTH
from gin_env.rendering.table import table_of_state, table_of_view
from tests.helpers.learners import Eager, random_action
from tests.helpers.options import ALL_RULES
from tests.helpers.pictures import CARD, hand_line


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
