"""A browser for tests of pages and for docs/gallery.py: Playwright on a Chromium of the system."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

#: Where a Chromium may be found, besides the one that Playwright itself has installed.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
#: What is as wide as a desk's and as a phone's screen, in CSS pixels.
DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}


class NoBrowserError(RuntimeError):
    """There is no browser; the message says what to install."""


@contextlib.contextmanager
def chromium() -> Iterator[Any]:
    """Yield a Playwright browser without a window; raises ``NoBrowserError`` where none can be had."""
    try:
        from playwright.sync_api import Error, sync_playwright
    except ImportError:
        raise NoBrowserError("no Playwright: pip install playwright") from None
    found = next(filter(None, map(shutil.which, NAMES)), None)
    with sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        except Error as error:
            raise NoBrowserError(f"no browser: install chromium ({str(error).splitlines()[0]})") from None
        yield browser
        browser.close()


@contextlib.contextmanager
def open_browser() -> Iterator[Any]:
    """Yield a browser for a test, which is skipped with the reason where none can be had."""
    with contextlib.ExitStack() as stack:
        try:
            browser = stack.enter_context(chromium())
        except NoBrowserError as error:
            pytest.skip(str(error))
        yield browser


@contextlib.contextmanager
def open_page(browser: Any, viewport: dict[str, int] | None = None, **options: Any) -> Iterator[Any]:
    """Yield a page of a context of its own; an error of its scripts fails the test."""
    context = browser.new_context(viewport=viewport or DESKTOP, **options)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    yield page
    context.close()
    assert not errors, errors
