"""Lock a folder, so that two processes do not write into it at the same time."""

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
    """Another process has locked the folder."""


@contextlib.contextmanager
def hold(folder: Path, program: str = "train.py") -> Iterator[None]:
    """Lock a folder for the block against every other ``program``.

    The lock ends with the process, even if it is killed. On Windows, and on file systems without locks, nothing is
    locked.

    Raises
    ------
    FolderInUseError
        Another process has locked the folder.
    """
    if sys.platform == "win32":
        yield
        return

    descriptor = os.open(folder, os.O_RDONLY)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderInUseError(f"{folder}: in use by another {program}; wait for it or stop it") from None
        except OSError:
            pass  # a file system without locks
        yield
    finally:
        os.close(descriptor)
