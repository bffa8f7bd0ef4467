"""Shared by the replay page and the play page: style sheet, cards within text, and the glossary.

``page.css`` has the colours, light and dark, and the look of panels, buttons and cards within text; ``cards.js``
creates elements and cards within text; ``words.py`` has a short glossary and the rules in sentences. The replay page
contains these files, the play page serves them.
"""

from __future__ import annotations

import functools
import importlib.resources


@functools.lru_cache
def asset(name: str, package: str = "agents.pages") -> str:
    """Return the text of a file in a package, for example ``page.css``."""
    return importlib.resources.files(package).joinpath(name).read_text(encoding="utf-8")
