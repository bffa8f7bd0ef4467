"""The window of render_mode="human": whose events it takes, how large it is, when it closes."""

from __future__ import annotations

import gc
import itertools
import os
import signal
import subprocess
import sys

import numpy as np
import pytest

from gin_env.rendering import raster
from gin_env.rendering.shapes import WIDTH
from gin_env.rendering.window import Window
from tests.helpers.paths import ROOT
from tests.helpers.pictures import open_scenes

pygame = pytest.importorskip("pygame", reason="no pygame: pip install -e '.[render]'")


@pytest.fixture
def invisible(monkeypatch):
    """Open windows without a display."""
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")


def closing(window: Window):
    return pygame.event.Event(pygame.WINDOWCLOSE, window=window._window)


def test_the_user_may_close_a_window_and_the_others_stay(invisible):
    first, second, third = (scene.picture for scene in open_scenes("classic_2p")[:3])
    windows = [Window("one", 1000), Window("other", 1000)]
    for window in windows:
        window.show(first)
    assert all(window.is_open for window in windows)
    pygame.event.post(closing(windows[0]))
    windows[1].show(second)
    assert [window.is_open for window in windows] == [False, True]
    windows[0].show(third)
    assert not windows[0].is_open
    windows[1].close()
    windows[1].close()
    assert not windows[1].is_open


def test_a_window_takes_its_own_events_and_leaves_the_others(invisible):
    first, second = (scene.picture for scene in open_scenes("classic_2p")[:2])
    window = Window("one", 1000)
    window.show(first)
    pygame.event.clear()
    others = [pygame.event.Event(pygame.USEREVENT, number=number) for number in range(3)]
    own = [pygame.event.Event(pygame.MOUSEMOTION, pos=(1, 1), window=window._window) for _ in range(100)]
    for event in (*own, *others):
        pygame.event.post(event)
    window.show(second)
    left = [event for event in pygame.event.get() if event.type in (pygame.USEREVENT, pygame.MOUSEMOTION)]
    assert [event.number for event in left] == [0, 1, 2]
    window.close()


def test_a_window_closes_when_nothing_refers_to_it(invisible):
    window = Window("one", 1000)
    window.show(open_scenes("classic_2p")[0].picture)
    destroy = window._destroy
    del window
    gc.collect()
    assert not destroy.alive


def test_a_window_shows_the_picture_as_large_as_the_screen_allows(invisible):
    for name in ("classic_2p", "free_for_all_5p"):
        window, picture = Window("a table", 1000), open_scenes(name)[0].picture
        window.show(picture)
        width, height = window._window.size
        screen = pygame.display.get_desktop_sizes()[0]
        assert width <= min(WIDTH, screen[0])
        assert height <= min(picture.height, screen[1])
        assert width / height == pytest.approx(WIDTH / picture.height, abs=0.01)
        shown = pygame.surfarray.array3d(window._window.get_surface()).swapaxes(0, 1)
        small = pygame.transform.smoothscale(raster.painted(picture), (width, height))
        assert np.abs(shown.astype(int) - pygame.surfarray.array3d(small).swapaxes(0, 1)).max() <= 1
        window.close()


def test_a_new_picture_is_shown_for_a_while_and_the_same_one_takes_no_time(invisible, monkeypatch):
    slept = []
    monkeypatch.setattr("gin_env.rendering.window.time.sleep", slept.append)
    clock = itertools.count()
    monkeypatch.setattr("gin_env.rendering.window.time.monotonic", lambda: next(clock) / 100)
    window, (first, second) = Window("a table", 2), (scene.picture for scene in open_scenes("classic_2p")[:2])
    window.show(first)
    assert len(slept) == pytest.approx(50, abs=2)
    window.show(first)
    assert len(slept) == pytest.approx(50, abs=2)
    window.show(second)
    assert len(slept) == pytest.approx(100, abs=4)
    window.close()


PROGRAM = """
import os, signal, sys, time
from gin_env import Engine
from gin_env.rendering.picture import picture_of
from gin_env.rendering.table import table_of_state
from gin_env.rendering.window import Window
engine = Engine("classic_2p")
engine.reset()
try:
    Window("a table", 100).show(picture_of([table_of_state(engine.state)]))
except ValueError as error:
    sys.exit(str(error))
os.kill(os.getpid(), signal.SIGTERM)
time.sleep(20)
"""


def run_program(**environment: str) -> subprocess.CompletedProcess[str]:
    left_out = ("SDL_VIDEODRIVER", "DISPLAY", "WAYLAND_DISPLAY")
    inherited = {name: value for name, value in os.environ.items() if name not in left_out}
    command = [sys.executable, "-c", PROGRAM]
    return subprocess.run(command, env=inherited | environment, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a display")
def test_without_a_display_the_error_says_what_to_do():
    for environment in ({}, {"SDL_VIDEODRIVER": "x11"}):
        ended = run_program(**environment)
        assert ended.returncode == 1
        assert "render_mode='human' needs a display (" in ended.stderr
        assert "render_mode='rgb_array' or 'ansi'" in ended.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="no such signals")
def test_a_program_with_a_window_can_be_terminated():
    assert run_program(SDL_VIDEODRIVER="dummy").returncode == -signal.SIGTERM
