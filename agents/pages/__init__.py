"""What the replay page and the play page share: looks, cards in words, and the words of the game.

``page.css`` has the colours, light and dark, and what panels, buttons and cards in words look like, ``cards.js`` makes
elements and draws cards in words; ``words.py`` has a short glossary and the rules in sentences. The replay page holds
the files' texts in itself, the play page serves them.
"""

from __future__ import annotations

import functools
import importlib.resources


@functools.lru_cache
def asset(name: str, package: str = "agents.pages") -> str:
    """Return the text of a file that comes with a package, ``page.css`` or ``cards.js`` here."""
    return importlib.resources.files(package).joinpath(name).read_text(encoding="utf-8")
