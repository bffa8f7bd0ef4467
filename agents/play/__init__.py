"""Play against agents: ``python -m agents.play`` opens a page, ``--text`` plays in the terminal."""
