"""Pictures of the positions of a deal, and readers of a table as text."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from gin_env import Engine, player_view
from gin_env.rendering.picture import picture_of
from gin_env.rendering.shapes import Picture
from gin_env.rendering.table import Table, table_of_state, table_of_view
from tests.helpers.options import ALL_RULES
from tests.helpers.play import lively_actions

#: Each seat's picture is made of every n-th position.
SEEN = 5


class Scene(NamedTuple):
    """A picture with its table, the cards that the viewer may not know, and all hands."""

    picture: Picture
    table: Table
    unseen: int
    hands: list[int]


@lru_cache(None)
def scenes(name: str) -> tuple[list[Scene], list[Scene]]:
    """Return every position of a deal with all hands open, and some, with the last, as each seat sees them."""
    rules, generator, engine = ALL_RULES[name], np.random.default_rng(2), Engine(ALL_RULES[name], 1, seed=2)
    engine.reset()
    shown, seen = [], []
    while True:
        state, over = engine.state, bool(engine.over[0])
        hands = state.hands[0].tolist()
        table = table_of_state(state)
        shown.append(Scene(picture_of([table]), table, 0, hands))
        for seat in range(rules.num_seats) if over or len(shown) % SEEN == 1 else ():
            view = player_view(state, seats=seat, history=True)
            own = table_of_view(view)
            seen.append(Scene(picture_of([own]), own, int(view.unseen_bits[0]), hands))
        if over:
            return shown, seen
        engine.step(lively_actions(engine, generator, eagerness=0.5, sense=0.8))


def open_scenes(name: str) -> list[Scene]:
    return scenes(name)[0]


CARD = re.compile(r"\b[A23456789TJQK][SHDC]\b")


def hand_line(text, seat):
    return next(line for line in text.splitlines() if line[2:].startswith(f"player_{seat}"))
