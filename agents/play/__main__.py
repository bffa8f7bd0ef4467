"""``python -m agents.play``: the page, or with ``--text`` the same in the terminal."""

from __future__ import annotations

import os
import sys

# A model's matrix products are small: threads that wait for each other would make them slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

_NEEDS_ALL = "pip install -e '.[play]'"


def main() -> None:
    """Run the command line."""
    try:
        from agents.cli import parse
        from agents.play.options import PlayArguments
    except ModuleNotFoundError as error:
        if error.name != "tyro":
            raise
        sys.exit(f"error: tyro, which reads the command line, is not installed: {_NEEDS_ALL}")
    arguments = parse(PlayArguments, "-m agents.play")
    arguments.check()
    if arguments.text:
        from agents.play.terminal import play_in_terminal

        play_in_terminal(arguments, sys.stdin, sys.stdout)
        return
    try:
        from agents.play.server import serve
    except ModuleNotFoundError as error:
        missing = (error.name or "").partition(".")[0]
        if missing not in ("starlette", "uvicorn"):
            raise
        sys.exit(
            f"error: the page needs {missing}, which is not installed: {_NEEDS_ALL}; "
            "or play in the terminal: python -m agents.play --text"
        )
    serve(arguments)


if __name__ == "__main__":
    try:
        from agents.cli import run
    except ModuleNotFoundError:
        main()
    else:
        run(main)
