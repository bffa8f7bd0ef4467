"""The referee: an agent at fault forfeits its match, and never stops a tournament.

An agent forfeits a match when it raises, answers with anything but one legal action per row, or takes too long.
Where the system allows it, a call that takes too long is interrupted. On Windows, outside the main thread and inside
compiled code the time is only checked after the call, so a call that never returns there blocks forever.
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

#: Seconds after which an agent that caught its alarm gets the next one.
_ALARM_INTERVAL = 1.0

#: Seconds allowed for each call in addition to those for its decisions: to load, compile, warm up.
ALLOWANCE = 10.0
#: Default number of seconds allowed for each decision: twice what a search with 64 worlds takes.
TIME_LIMIT = 0.1

#: The kinds of fault.
REASONS = ("raised", "illegal", "slow", "died")


class AgentFault(Exception):
    """An agent is at fault and forfeits the match; ``row`` is the row of the decision, if known."""

    def __init__(self, reason: str, text: str, row: int | None = None) -> None:
        super().__init__(text)
        self.reason, self.text, self.row = reason, text, row


class Forfeit(Exception):
    """An agent lost a match by its own fault.

    Attributes
    ----------
    side, place : int
        The agent's side and its place in the team (``agents.arena.match.lineup``).
    agent : str
        The name of its side in the match.
    reason : str
        One of ``REASONS``.
    text : str
        What happened.
    pair : int
        The pair in which it happened; if unknown, the first of the pairs that the agent was asked about.
    """

    def __init__(self, side: int, place: int, agent: str, fault: AgentFault, pair: int) -> None:
        super().__init__(f"{agent} forfeits: {fault.text}")
        self.side, self.place, self.agent, self.pair = side, place, agent, pair
        self.reason, self.text = fault.reason, fault.text


class _TimeIsUpError(BaseException):
    """Raised inside an agent's call; an ``except Exception`` of the agent does not catch it."""


class Referee:
    """Asks agents for decisions and turns whatever goes wrong into ``AgentFault``.

    Parameters
    ----------
    time_limit : float
        Seconds for each decision, averaged over a call; every call gets ``ALLOWANCE`` on top.
    on_ask : callable
        Called with the side and the place of each agent before it is asked.
    """

    def __init__(
        self, time_limit: float = TIME_LIMIT, on_ask: Callable[[int, int], object] = lambda side, place: None
    ) -> None:
        self.time_limit = time_limit
        self.on_ask = on_ask

    def decide(self, agent: Agent, view: PlayerView) -> NDArray[np.intp]:
        """Return an agent's actions (M,); raises ``AgentFault`` for any fault."""
        return self.watch(lambda: decide(agent, view), len(view))

    def reset(self, agent: Agent, seed: int) -> None:
        """Reset an agent's random stream; raises ``AgentFault`` as ``decide`` does."""
        self.watch(lambda: agent.reset(seed), 0)

    def watch(self, question: Callable[[], Answer], num_decisions: int) -> Answer:
        """Call an agent for ``num_decisions`` decisions and return its answer; raises ``AgentFault`` for any fault."""
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
        except BaseException as error:  # whatever an agent raises is its own fault
            raise AgentFault(
                "raised", f"{type(error).__name__}: {_error_text(error)}{_error_location(error)}"
            ) from error

        if time.perf_counter() - started > allowed:
            raise self._too_slow(num_decisions, allowed)
        return answer

    def _too_slow(self, num_decisions: int, allowed: float) -> AgentFault:
        each = f"{self.time_limit:g} s for each decision and {ALLOWANCE:g} s for the call"
        return AgentFault("slow", f"more than {allowed:.1f} s for {num_decisions} decisions ({each}; --time-limit)")


def _error_location(error: BaseException) -> str:
    """Return the file, line and function that raised, for the agent's author."""
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno} in {frames[-1].name})" if frames else ""


def _error_text(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return "(the error's text cannot be read)"


@contextlib.contextmanager
def _alarm(seconds: float) -> Iterator[None]:
    """Interrupt the body after the given seconds, where the system allows it."""
    if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(*_: Any) -> None:
        raise _TimeIsUpError

    previous_handler = signal.signal(signal.SIGALRM, stop)
    signal.setitimer(signal.ITIMER_REAL, seconds, _ALARM_INTERVAL)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous_handler)
