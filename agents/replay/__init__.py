"""Recorded deals and games as one page that stands alone: step through them, see who knew what, read the showdown.

>>> Path("replay.html").write_text(replay_page(records))

``story.py`` plays records again and says what happened step by step, ``frames.py`` keeps the pictures of a page small,
``content.py`` gathers what the page's script is told, ``scores.py`` its tables of scores, ``manual.py`` has the buttons
and the help, ``page.py`` writes the HTML around styles and scripts, ``command.py`` is ``evaluate.py replay``. In the
page ``replay.js`` moves about, ``panels.js``, ``chart.js`` and ``scores.js`` show what is there; ``agents.pages`` has
what the play page shares. docs/replay.md shows the keys.
"""

from agents.replay.page import replay_page

__all__ = ["replay_page"]
