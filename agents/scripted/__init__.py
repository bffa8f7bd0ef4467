"""Agents that play by written rules: ``simple``, ``gold``, ``lookahead``, ``team-lookahead`` and their variants."""
