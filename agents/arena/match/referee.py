"""Who watches the agents: what an agent does wrong costs it the match, and never stops a tournament.

An agent forfeits a match when it raises, answers with anything but one legal action for each row, or takes too
long. It is stopped in the middle of a call where the system can do that; on Windows, outside the main thread and
inside compiled code the clock is read after the call, so that a call which never ends there never ends.
"""

from __future__ import annotations

import contextlib
import signal
import threading
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from gin_env.episodes import Agent
from gin_env.episodes.agent import decide
from gin_env.errors import AgentError
from gin_env.observation import PlayerView

Answer = TypeVar("Answer")

#: Seconds after which an agent that swallowed its alarm gets the next one.
_AGAIN = 1.0

#: Seconds that an agent may take for a call besides those for its decisions: to load, compile, warm up.
ALLOWANCE = 10.0
#: Seconds that it may take for each decision of a call, by default: twice what a search with 64 worlds takes.
TIME_LIMIT = 0.1

#: What an agent can do wrong.
REASONS = ("raised", "illegal", "slow", "died")


class AgentFault(Exception):
    """An agent did something for which it forfeits the match; ``row`` is where, if it is known."""

    def __init__(self, reason: str, text: str, row: int | None = None) -> None:
        super().__init__(text)
        self.reason, self.text, self.row = reason, text, row


class _TimeIsUpError(BaseException):
    """Raised inside an agent; no ``except Exception`` of its own catches it."""


class Referee:
    """Asks agents for decisions.

    Parameters
    ----------
    time_limit : float
        Seconds for each decision, on average over a call; ``ALLOWANCE`` comes on top of every call.
    on_ask : callable
        Told the side and the place of each agent before it is asked.
    """

    def __init__(
        self, time_limit: float = TIME_LIMIT, on_ask: Callable[[int, int], object] = lambda side, place: None
    ) -> None:
        self.time_limit = time_limit
        self.on_ask = on_ask

    def decide(self, agent: Agent, view: PlayerView) -> NDArray[np.intp]:
        """Return an agent's actions (M,); raises ``AgentFault`` for any fault of it."""
        return self.watch(lambda: decide(agent, view), len(view))

    def reset(self, agent: Agent, seed: int) -> None:
        """Start an agent's own chances anew; raises ``AgentFault`` as ``decide`` does."""
        self.watch(lambda: agent.reset(seed), 0)

    def watch(self, question: Callable[[], Answer], num_decisions: int) -> Answer:
        """Return the answer to a question to an agent about so many decisions; raises ``AgentFault`` for any fault."""
        allowed = ALLOWANCE + self.time_limit * num_decisions
        started = time.perf_counter()
        try:
            with _alarm(allowed):
                answer = question()
        except _TimeIsUpError:
            raise self._too_slow(num_decisions, allowed) from None
        except AgentError as error:
            raise AgentFault("illegal", str(error), error.row) from error
        except KeyboardInterrupt:
            raise
        except BaseException as error:  # whatever it is, it is the agent's
            raise AgentFault("raised", f"{type(error).__name__}: {_text(error)}{_where(error)}") from error
        if time.perf_counter() - started > allowed:
            raise self._too_slow(num_decisions, allowed)
        return answer

    def _too_slow(self, num_decisions: int, allowed: float) -> AgentFault:
        each = f"{self.time_limit:g} s for each decision and {ALLOWANCE:g} s for the call"
        return AgentFault("slow", f"more than {allowed:.1f} s for {num_decisions} decisions ({each}; --time-limit)")


def _where(error: BaseException) -> str:
    """Return the line that raised, for the agent's author."""
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""


def _text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(its text cannot be read)"


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Interrupt what runs inside after some seconds, where that can be done."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise _TimeIsUpError

    earlier = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, _AGAIN)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, earlier)
