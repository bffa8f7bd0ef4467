"""Playing against agents: ``python -m agents.play`` opens a page; with ``--text`` it plays in the terminal."""
