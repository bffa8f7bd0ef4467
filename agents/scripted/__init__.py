"""Agents that follow written strategies, from greedy to looking ahead."""
