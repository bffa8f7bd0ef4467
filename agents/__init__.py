"""Strategies for gin_env, from uniform random to trained networks, and what measures them."""
