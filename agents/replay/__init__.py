"""Recorded deals and games as a self-contained page: step through them, see what each player knew, read the showdown.

>>> Path("replay.html").write_text(replay_page(records))

``story.py`` replays records and describes them step by step; ``frames.py`` stores the pictures compactly;
``content.py`` collects the data for the page's script, and ``scores.py`` its tables of scores; ``manual.py`` writes the
buttons and the help, and ``page.py`` the HTML; ``command.py`` is ``evaluate.py replay``. In the page, ``replay.js``
handles navigation, and ``panels.js``, ``chart.js`` and ``scores.js`` show the current step. ``agents.pages`` holds what
the replay page shares with the play page. docs/replay.md lists the keys.
"""

from agents.replay.page import replay_page

__all__ = ["replay_page"]
