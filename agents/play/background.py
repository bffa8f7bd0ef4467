"""Run work that may take long or never end, such as an agent's, in daemon threads."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import ParamSpec, TypeVar

_Given = ParamSpec("_Given")
_Result = TypeVar("_Result")


def in_thread(work: Callable[_Given, _Result], *args: _Given.args, **named: _Given.kwargs) -> Future[_Result]:
    """Call a function in a new daemon thread; return a future for its result or its error."""
    future: Future[_Result] = Future()
    future.set_running_or_notify_cancel()  # it can no longer be cancelled

    def run() -> None:
        try:
            result = work(*args, **named)
        except Exception as error:
            future.set_exception(error)
        except BaseException as error:  # re-raised, it would end the server that waits for it
            future.set_exception(RuntimeError(f"a thread was ended by {type(error).__name__}"))
        else:
            future.set_result(result)

    threading.Thread(target=run, daemon=True).start()
    return future


def is_ctrl_c(error: BaseException) -> bool:
    """Return whether the user has asked the program to end: Ctrl+C arrives in the main thread only.

    Any other error raised by an agent, including ``KeyboardInterrupt`` in another thread, is the agent's fault.
    """
    return isinstance(error, KeyboardInterrupt) and threading.current_thread() is threading.main_thread()
