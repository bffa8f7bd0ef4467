"""Agents and random actions for tests of the environments with one learner."""

from __future__ import annotations

import numpy as np

from gin_env import Agent


class FirstLegal(Agent):
    """Always the lowest legal action index, so that nothing depends on random numbers."""

    name = "first-legal"

    def act(self, view):
        return view.legal_mask.argmax(axis=1)


class Eager(Agent):
    """Knocks as soon as it can, otherwise draws and discards the highest card."""

    name = "eager"

    def act(self, view):
        return view.legal_mask.shape[1] - 1 - view.legal_mask[:, ::-1].argmax(axis=1)


def random_action(mask, generator):
    return int(generator.choice(np.flatnonzero(mask)))
