"""Gin rummy for reinforcement learning: four-player partnerships with trading, two players, and the classic variants."""
