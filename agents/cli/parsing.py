"""What the command lines share: a wrong input ends in one clear line on stderr, not in a box or a traceback."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Callable
from typing import Any, TypeVar

#: Exit status for bad input, as argument parsers use it.
BAD_INPUT = 2

#: The frames that tyro draws around its messages.
_FRAME = re.compile(r"[╭╮╰╯─│]+|-{5,}")
#: Where a message's advice ends and a repetition of the help begins.
_HELP_BEGINS = ("Argument helptext", "For full helptext")

Arguments = TypeVar("Arguments")


class UserError(ValueError):
    """Something the user can mend; the message names the value and the fix."""


def parse(arguments: type[Arguments], prog: str, **options: Any) -> Arguments:
    """Return the command line's arguments as a dataclass; options as of ``tyro.cli``.

    Raises
    ------
    UserError
        Arguments that cannot be understood, with the parser's reason in one line.
    """
    import tyro  # here, so that importing this package needs no extra

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):
            return tyro.cli(arguments, prog=prog, **options)
    except SystemExit as stop:
        if not stop.code:  # --help
            raise
        lines = [" ".join(_FRAME.sub(" ", line).split()) for line in said.getvalue().splitlines()]
        end = next((index for index, line in enumerate(lines) if line.startswith(_HELP_BEGINS)), len(lines))
        reason = " ".join(line for line in lines[1:end] if line)  # the first is the frame's title
        raise UserError(f"{reason}; python {prog} --help shows all options") from None


def run(main: Callable[[], None]) -> None:
    """Run a command line; print a ``ValueError`` or ``OSError`` as one line and exit with status 2."""
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted")
    except (ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(BAD_INPUT)
