"""Intervals, tests and ratings."""
