"""Agents made of other agents: improved by search, or with a channel taken away."""
