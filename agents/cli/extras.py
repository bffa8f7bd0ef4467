"""Name the extra to install where a command line lacks an optional dependency."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator

#: The project's own packages: a module missing in them is a bug, not an incomplete installation.
_OWN_PACKAGES = ("agents", "gin_env", "tests")


@contextlib.contextmanager
def needs(extra: str, otherwise: str = "") -> Iterator[None]:
    """Guard imports: a library that is not installed ends the program with one line that says how to install it.

    Parameters
    ----------
    extra : str
        The extra of pyproject.toml that contains the imported libraries.
    otherwise : str
        What works without them, as a part of that line.
    """
    try:
        yield
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if not missing or missing in _OWN_PACKAGES:
            raise
        advice = f"; {otherwise}" if otherwise else ""
        sys.exit(f"error: {missing} is not installed: pip install -e '.[{extra}]'{advice}")
