"""What the command lines share: a wrong input ends in one clear line, not in a traceback."""

from __future__ import annotations

import sys
from collections.abc import Callable

#: Exit status for bad input, as argument parsers use it.
BAD_INPUT = 2


class UserError(ValueError):
    """Something the user can mend; the message names the value and the fix."""


def run(main: Callable[[], None]) -> None:
    """Run a command line; print a ``ValueError`` or ``OSError`` as one line and exit with status 2."""
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted")
    except (ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(BAD_INPUT)
