"""A browser for tests of pages: Playwright on a Chromium of the system, or the reason why there is none."""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Iterator
from typing import Any

import pytest

#: Where a Chromium may be found, besides the one that Playwright itself has installed.
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "microsoft-edge")
DESKTOP, PHONE = {"width": 1280, "height": 860}, {"width": 390, "height": 844}


@contextlib.contextmanager
def open_browser() -> Iterator[Any]:
    """Yield a Playwright browser without a window; skips the test, with the reason, where none can be had."""
    playwright = pytest.importorskip("playwright.sync_api", reason="no Playwright: pip install playwright")
    found = next(filter(None, map(shutil.which, NAMES)), None)
    with playwright.sync_playwright() as driver:
        try:
            browser = driver.chromium.launch(executable_path=found, args=["--no-sandbox", "--disable-gpu"])
        except playwright.Error as error:
            pytest.skip(f"no browser: install chromium ({str(error).splitlines()[0]})")
        yield browser
        browser.close()


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
