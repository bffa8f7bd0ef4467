"""Agents as users write them, most of them at fault; tests copy this file to a folder outside the project."""

import time
from pathlib import Path

import numpy as np

from gin_env import Agent


class Hasty(Agent):
    """Knocks as soon as it may, otherwise discards its highest card."""

    name = "hasty"

    def act(self, view):
        mask = view.legal_mask
        for verb, instead in (("take", "pass"), ("take", "draw")):
            mask[:, view.layout.index(verb)] &= ~mask[:, view.layout.index(instead)]
        return mask.shape[1] - 1 - mask[:, ::-1].argmax(axis=1)


class Raises(Hasty):
    name = "raises"

    def act(self, view):
        if (view.turn > 2).any():
            raise RuntimeError("lost <b>track</b>")
        return super().act(view)


class Illegal(Hasty):
    name = "illegal"

    def act(self, view):
        return np.full(len(view), view.layout.knock)


class Slow(Hasty):
    name = "slow"

    def act(self, view):
        while True:
            time.sleep(0.01)


class Exits(Hasty):
    name = "exits"

    def act(self, view):
        raise SystemExit("bye")


class Cancelled(Hasty):
    name = "cancelled"

    def act(self, view):
        raise __import__("asyncio").CancelledError


class Stubborn(Hasty):
    """Catches its first alarm; a file next to this one shows that no second one came."""

    name = "stubborn"

    def act(self, view):
        try:
            time.sleep(60)
        except BaseException:
            time.sleep(60)
            Path(__file__).with_name("not interrupted").touch()


class Forger(Hasty):
    """Writes into its view that everything is legal."""

    name = "forger"

    def act(self, view):
        view.legal[:] = ~np.zeros_like(view.legal)
        return np.full(len(view), view.layout.knock)


class Dies(Hasty):
    name = "dies"

    def act(self, view):
        __import__("os")._exit(3)


class NoReset(Hasty):
    name = "no-reset"

    def reset(self, seed):
        if seed:
            raise KeyError("seed")
