"""A window on the screen that shows a table: ``render_mode="human"``.

It is the user's to close: then the program plays on without it. Several can be open at once, each with its own
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

#: How much of the screen's width and height a window takes at most: the rest is for its frame and the system's bars.
_SCREEN_SHARE = 0.88
#: Seconds between two looks at what the user does with the windows.
_PAUSE = 0.02
#: What lies beside a picture in a window of another shape.
_BESIDE = "#10161c"
#: The driver that SDL falls back to where there is no display: it shows nothing.
_NOWHERE = "offscreen"

_open_windows: weakref.WeakSet[Window] = weakref.WeakSet()


class Window:
    """A window that shows one picture after another; it opens with the first one.

    Parameters
    ----------
    title : str
        What stands in its frame.
    pictures_per_second : float
        How many new pictures it shows in a second at most: ``show`` returns when the picture has stood so long.

    Notes
    -----
    A copied or pickled window is one that has not been opened yet.
    """

    def __init__(self, title: str, pictures_per_second: float) -> None:
        self.title = title
        self.pictures_per_second = pictures_per_second
        self._window: SystemWindow | None = None
        self._picture: Picture | None = None  # what it shows
        self._closed_by_user = False

    def __reduce__(self) -> tuple[type[Window], tuple[str, float]]:
        return Window, (self.title, self.pictures_per_second)

    @property
    def is_open(self) -> bool:
        """Whether it is on the screen."""
        return self._window is not None

    def show(self, picture: Picture) -> None:
        """Show a picture and let it stand; does nothing once the user has closed the window.

        A picture that is shown already costs no time.

        Raises
        ------
        ValueError
            pygame is not installed, or there is no display.
        """
        if self._window is not None and not load_pygame().display.get_init():
            self.close()  # somebody else has called pygame.quit(), and the window is gone
        if self._closed_by_user:
            return
        if self._window is None:
            self._window = _opened(self.title, picture)
            self._destroy = weakref.finalize(self, self._window.destroy)  # with the last environment that shows in it
            _open_windows.add(self)
        is_new, self._picture = picture != self._picture, picture
        stands_until = time.monotonic()
        if is_new:
            self._draw()
            stands_until += 1 / self.pictures_per_second
        _answer_the_user()
        while self.is_open and (left := stands_until - time.monotonic()) > 0:
            time.sleep(min(left, _PAUSE))
            _answer_the_user()

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
        screen.fill(_BESIDE)
        place = (width - size[0]) // 2, (height - size[1]) // 2
        screen.blit(surface if scale == 1 else pygame.transform.smoothscale(surface, size), place)
        self._window.flip()


def _opened(title: str, picture: Picture) -> SystemWindow:
    """Open a window as large as a picture, or as the screen allows."""
    pygame = load_pygame()
    if not hasattr(pygame, "Window"):
        raise ValueError("a window needs pygame-ce 2.5 in place of pygame: pip install -e '.[render]'")
    os.environ.setdefault("SDL_NO_SIGNAL_HANDLERS", "1")  # else a program with a window could not be terminated
    try:
        pygame.display.init()
        if pygame.display.get_driver() == _NOWHERE and not os.environ.get("SDL_VIDEODRIVER"):
            pygame.display.quit()
            raise pygame.error("none found")
        width, height = (side * _SCREEN_SHARE for side in pygame.display.get_desktop_sizes()[0])
        scale = min(width / WIDTH, height / picture.height, 1)
        size = math.floor(WIDTH * scale), math.floor(picture.height * scale)
        window: SystemWindow = pygame.Window(title, size, resizable=True)
    except pygame.error as error:
        raise ValueError(
            f"render_mode='human' needs a display ({error}): set DISPLAY where there is one, "
            "or take render_mode='rgb_array' or 'ansi'"
        ) from error
    return window


def _answer_the_user() -> None:
    """Close the windows that the user has closed and draw those anew that he has moved, uncovered or resized.

    What happens in other windows is left for the program around.
    """
    pygame = load_pygame()
    others = []
    for event in pygame.event.get():
        own = [one for one in _open_windows if getattr(event, "window", None) is one._window]
        if event.type == pygame.QUIT or (own and event.type == pygame.WINDOWCLOSE):
            for window in own or list(_open_windows):
                window.close()
                window._closed_by_user = True
        elif own and event.type in (pygame.WINDOWEXPOSED, pygame.WINDOWSIZECHANGED):
            own[0]._draw()
        elif not own:
            others.append(event)
    for event in others:
        pygame.event.post(event)
