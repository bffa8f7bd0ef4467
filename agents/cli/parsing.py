"""Parse and run command lines: invalid input ends with one clear line on stderr, not with a box or a traceback."""

from __future__ import annotations

import contextlib
import io
import re
import sys
from collections.abc import Callable
from typing import Any, TypeVar

#: Exit status for invalid input, the usual one of argument parsers.
BAD_INPUT = 2

#: The frames that tyro draws around its messages.
_FRAME = re.compile(r"[╭╮╰╯─│]+|-{5,}")
#: How the lines begin that follow a message and repeat the help.
_HELP_STARTS = ("Argument helptext", "For full helptext")

Arguments = TypeVar("Arguments")


class UserError(ValueError):
    """Something that the user can correct; the message names the value and the fix."""


def parse(arguments: type[Arguments], prog: str, **options: Any) -> Arguments:
    """Return the command line's arguments as a dataclass.

    Parameters
    ----------
    arguments : type
        The dataclass.
    prog : str
        What follows ``python`` on the command line.
    **options
        Passed on to ``tyro.cli``.

    Raises
    ------
    UserError
        The arguments cannot be parsed; the message is the parser's reason in one line.
    """
    import tyro  # not above: agents.cli.extras, which names the extra that brings tyro, must work without it

    stderr = io.StringIO()
    try:
        with contextlib.redirect_stderr(stderr):
            return tyro.cli(arguments, prog=prog, **options)
    except SystemExit as stop:
        if not stop.code:  # --help
            raise

        # Keep the sentences of the message: without its frame, its title (the first line) and the help that follows.
        lines = [" ".join(_FRAME.sub(" ", line).split()) for line in stderr.getvalue().splitlines()]
        end = next((index for index, line in enumerate(lines) if line.startswith(_HELP_STARTS)), len(lines))
        reason = " ".join(line for line in lines[1:end] if line)
        raise UserError(f"{reason}; python {prog} --help shows all options") from None


def run(main: Callable[[], None]) -> None:
    """Run a command line; print a ``ValueError`` or ``OSError`` as one line and exit with ``BAD_INPUT``."""
    try:
        main()
    except KeyboardInterrupt:
        sys.exit("interrupted")
    except (ValueError, OSError) as error:
        print(f"error: {' '.join(str(error).split())}", file=sys.stderr)
        sys.exit(BAD_INPUT)
