"""Recorded deals and games as one page that stands alone: step through them, see who knew what, read the showdown.

>>> Path("replay.html").write_text(replay_page(records))

``story.py`` plays records again and says what happened step by step, ``frames.py`` keeps the pictures of a page small,
``content.py`` gathers what the page's script is told, ``page.py`` writes the HTML around ``replay.css`` and
``replay.js``, ``command.py`` is ``evaluate.py replay``; docs/replay.md shows the page's keys.
"""

from agents.replay.page import replay_page

__all__ = ["replay_page"]
