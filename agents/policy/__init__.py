"""A trained network as an agent: run by NumPy, saved as weights and JSON."""

from __future__ import annotations

from agents.policy.policy_agent import ACTIVATIONS, Network, PolicyAgent, actor_weights, network_weights, save_policy

__all__ = ["ACTIVATIONS", "Network", "PolicyAgent", "actor_weights", "network_weights", "save_policy"]
