"""Keep two processes from writing into one folder."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from agents.cli.parsing import UserError

if sys.platform != "win32":
    import fcntl


class FolderInUseError(UserError):
    """Another process writes into a folder."""


@contextlib.contextmanager
def hold(folder: Path, program: str = "train.py") -> Iterator[None]:
    """Keep every other ``program`` out of a folder, also when this one is killed; on Windows nothing is kept out.

    Raises ``FolderInUseError`` where another one is at work there.
    """
    if sys.platform == "win32":
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderInUseError(f"{folder}: another {program} is at work there; wait for it or stop it") from None
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(descriptor)
