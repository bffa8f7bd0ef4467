"""An agent that waits until it is let go, as the source of a file."""

from __future__ import annotations

#: Agents that wait for a file named "open" beside them.
WAITING = """
import time
from pathlib import Path
from gin_env import RandomAgent

GATE = Path(__file__).parent / "open"

def wait():
    (Path(__file__).parent / "waits").touch()
    while not GATE.exists():
        time.sleep(0.01)

class Slow(RandomAgent):
    def act(self, view):
        wait()
        return super().act(view)

class SlowToLoad(RandomAgent):
    def __init__(self):
        wait()
        super().__init__()
"""
