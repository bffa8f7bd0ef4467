"""``python -m agents.play``: play against agents in the browser, or with ``--text`` in the terminal."""

from __future__ import annotations

import os
import sys

# The matrix products of a model are small: several threads would make them slower.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

from agents.cli.extras import needs

with needs("play"):
    from agents.cli import parse, run
    from agents.play.options import PlayArguments


def main() -> None:
    """Run the command line."""
    arguments = parse(PlayArguments, "-m agents.play")
    arguments.check()
    if arguments.text:
        from agents.play.terminal import play_in_terminal

        play_in_terminal(arguments, sys.stdin, sys.stdout)
        return
    with needs("play", "or play in the terminal: python -m agents.play --text"):
        from agents.play.server import serve
    serve(arguments)


if __name__ == "__main__":
    run(main)
