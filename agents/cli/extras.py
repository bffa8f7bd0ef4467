"""What a command line says where a library that it needs is not installed: which extra brings it."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

#: Our own packages: what is missing in them is a fault of ours, not of the installation.
_OURS = ("agents", "gin_env", "tests")


@contextlib.contextmanager
def needs(extra: str, otherwise: str = "") -> Iterator[None]:
    """Import within this; a library that is not installed ends the program with one line that says how to get it.

    Parameters
    ----------
    extra : str
        The extra of pyproject.toml that brings what is imported.
    otherwise : str
        What can be done without it.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if not missing or missing in _OURS:
            raise
        advice = f"; {otherwise}" if otherwise else ""
        sys.exit(f"error: {missing} is not installed: pip install -e '.[{extra}]'{advice}")
