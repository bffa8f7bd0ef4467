"""Short names of agents, for tables, pictures and sentences: an agent's full name may be a path."""

from __future__ import annotations

import re

#: The longest name that a picture shows, in characters.
LONGEST_NAME = 24

# A drive, a separator at the end of a path, and the folders of a path; "search:" in "search:runs/mine" is none of them.
_DRIVE = re.compile(r"(?<![^:=,])[A-Za-z]:(?=[/\\])")
_TRAILING_SEPARATOR = re.compile(r"[/\\]+(?=,|$)")
_FOLDERS = re.compile(r"[^:=,/\\]*[/\\]+(?=[^/\\,])")


def short_name(agent: str) -> str:
    """Return an agent's name without the folders of files and models, at most ``LONGEST_NAME`` characters long.

    >>> short_name("runs/first/"), short_name("bots/careful.py:Careful")
    ('first', 'careful.py:Careful')
    """
    text = " ".join(agent.split())
    name = _TRAILING_SEPARATOR.sub("", text)
    name = _FOLDERS.sub("", _DRIVE.sub("", name))
    return shortened(name or text)


def shortened(name: str) -> str:
    """Return a name on one line, of at most ``LONGEST_NAME`` characters; a longer one ends with an ellipsis."""
    text = " ".join(name.split())
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}\N{HORIZONTAL ELLIPSIS}"
