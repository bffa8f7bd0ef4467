"""Agents made of other agents: improved by search, or without a part of the partners' communication."""
