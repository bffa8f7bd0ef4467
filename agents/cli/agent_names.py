"""What tables, pictures and sentences call an agent, whose full text may be a path: short, and in one line."""

from __future__ import annotations

import re

#: The longest name that a picture shows.
LONGEST_NAME = 24
#: A drive, a separator at a path's end, and the folders before the name of a file or model; in ``search:runs/mine``
#: what stands before them stays.
_DRIVE = re.compile(r"(?<![^:=,])[A-Za-z]:(?=[/\\])")
_LAST = re.compile(r"[/\\]+(?=,|$)")
_FOLDERS = re.compile(r"[^:=,/\\]*[/\\]+(?=[^/\\,])")


def short_name(agent: str) -> str:
    """Return what to call an agent: of files and models without the folders before, at most ``LONGEST_NAME`` signs.

    >>> short_name("runs/first/"), short_name("bots/careful.py:Careful")
    ('first', 'careful.py:Careful')
    """
    text = " ".join(agent.split())
    return shortened(_FOLDERS.sub("", _DRIVE.sub("", _LAST.sub("", text))) or text)


def shortened(name: str) -> str:
    """Return a name in one line of at most ``LONGEST_NAME`` signs; a longer one ends with an ellipsis."""
    text = " ".join(name.split())
    return text if len(text) <= LONGEST_NAME else f"{text[: LONGEST_NAME - 1]}\N{HORIZONTAL ELLIPSIS}"
