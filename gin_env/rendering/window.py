"""A window on the screen that shows a table: ``render_mode="human"``.

The user may close it: the program then continues without it. Several windows can be open at once, each with its own
pictures.
"""

from __future__ import annotations

import math
import os
import time
import weakref
from typing import TYPE_CHECKING

from gin_env.rendering.raster import load_pygame, painted
from gin_env.rendering.shapes import WIDTH, Picture

if TYPE_CHECKING:
    from pygame import Window as SystemWindow

#: The largest share of the screen's width and height: the rest is for the window's frame and the system's bars.
_SCREEN_SHARE = 0.88
#: Seconds between two looks at the events of the windows.
_PAUSE = 0.02
#: The colour around a picture in a window of another shape.
_SURROUND = "#10161c"
#: The driver that SDL falls back to without a display; it shows nothing.
_INVISIBLE = "offscreen"

_open_windows: weakref.WeakSet[Window] = weakref.WeakSet()


class Window:
    """A window that shows one picture after another; it opens with the first one.

    Parameters
    ----------
    title : str
        The text in its frame.
    pictures_per_second : float
        The maximum number of new pictures per second: ``show`` returns when this time has passed.

    Notes
    -----
    A copied or unpickled window has not been opened yet.
    """

    def __init__(self, title: str, pictures_per_second: float) -> None:
        self.title = title
        self.pictures_per_second = pictures_per_second
        self._window: SystemWindow | None = None
        self._picture: Picture | None = None  # the one on the screen
        self._closed_by_user = False

    def __reduce__(self) -> tuple[type[Window], tuple[str, float]]:
        return Window, (self.title, self.pictures_per_second)

    @property
    def is_open(self) -> bool:
        """Whether it is on the screen."""
        return self._window is not None

    def show(self, picture: Picture) -> None:
        """Show a picture and wait until the next one may follow; do nothing once the user has closed the window.

        A picture that is already shown takes no time.

        Raises
        ------
        ValueError
            pygame is not installed, or there is no display.
        """
        if self._window is not None and not load_pygame().display.get_init():
            self.close()  # pygame.quit() was called elsewhere, and the window is gone
        if self._closed_by_user:
            return
        if self._window is None:
            self._window = _opened(self.title, picture)
            # The system's window closes with the last environment that uses this one.
            self._destroy = weakref.finalize(self, self._window.destroy)
            _open_windows.add(self)

        is_new, self._picture = picture != self._picture, picture
        end = time.monotonic()
        if is_new:
            self._draw()
            end += 1 / self.pictures_per_second

        # While waiting, answer the user, who may close the window.
        _handle_events()
        while self.is_open and (seconds_left := end - time.monotonic()) > 0:
            time.sleep(min(seconds_left, _PAUSE))
            _handle_events()

    def close(self) -> None:
        """Close the window, if it is open; the next picture would open it again."""
        if self._window is None:
            return
        _open_windows.discard(self)
        self._destroy()
        self._window = self._picture = None

    def _draw(self) -> None:
        """Draw the picture as large as the window allows."""
        if self._window is None or self._picture is None:
            return
        pygame, screen = load_pygame(), self._window.get_surface()
        width, height = screen.get_size()

        scale = min(width / WIDTH, height / self._picture.height)
        size = max(round(WIDTH * scale), 1), max(round(self._picture.height * scale), 1)
        surface = painted(self._picture)
        if scale != 1:
            surface = pygame.transform.smoothscale(surface, size)

        screen.fill(_SURROUND)
        screen.blit(surface, ((width - size[0]) // 2, (height - size[1]) // 2))
        self._window.flip()


def _opened(title: str, picture: Picture) -> SystemWindow:
    """Open a window as large as a picture, or as the screen allows."""
    pygame = load_pygame()
    if not hasattr(pygame, "Window"):
        raise ValueError("a window needs pygame-ce 2.5, not pygame: pip install -e '.[render]'")

    os.environ.setdefault("SDL_NO_SIGNAL_HANDLERS", "1")  # otherwise the program could not be terminated
    try:
        pygame.display.init()
        if pygame.display.get_driver() == _INVISIBLE and not os.environ.get("SDL_VIDEODRIVER"):
            pygame.display.quit()
            raise pygame.error("none found")
        width, height = (side * _SCREEN_SHARE for side in pygame.display.get_desktop_sizes()[0])
        scale = min(width / WIDTH, height / picture.height, 1)
        size = math.floor(WIDTH * scale), math.floor(picture.height * scale)
        window: SystemWindow = pygame.Window(title, size, resizable=True)
    except pygame.error as error:
        raise ValueError(
            f"render_mode='human' needs a display ({error}): set DISPLAY if there is one, "
            "or use render_mode='rgb_array' or 'ansi'"
        ) from error
    return window


def _handle_events() -> None:
    """Close the windows that the user has closed, and redraw those that were uncovered or resized.

    The events of other windows are put back for the rest of the program.
    """
    pygame = load_pygame()
    events_of_others = []
    for event in pygame.event.get():
        own_windows = [window for window in _open_windows if getattr(event, "window", None) is window._window]
        if event.type == pygame.QUIT or (own_windows and event.type == pygame.WINDOWCLOSE):
            for window in own_windows or list(_open_windows):
                window.close()
                window._closed_by_user = True
        elif own_windows and event.type in (pygame.WINDOWEXPOSED, pygame.WINDOWSIZECHANGED):
            own_windows[0]._draw()
        elif not own_windows:
            events_of_others.append(event)

    for event in events_of_others:
        pygame.event.post(event)
