"""How fast tables are drawn, on one core: ``python benchmarks/rendering.py``.

Prints pictures per second while deals are played: reading the table from the state, laying the picture out and
painting it as pixels (``render_mode="rgb_array"``); next to it the same as SVG and as text (``"ansi"``). The time for
play is not counted. ``--quick`` measures a tenth as long.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

# As a script too, find the packages next to this folder.
sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import numpy as np

import gin_env
from gin_env.engine import State, random_actions
from gin_env.episodes import Episodes
from gin_env.rendering.picture import picture_of
from gin_env.rendering.raster import rgb_array
from gin_env.rendering.shapes import Picture
from gin_env.rendering.svg import svg_document
from gin_env.rendering.table import table_of_state
from gin_env.rendering.text import render_tables

SECONDS = 0.3 if "--quick" in sys.argv else 3.0
PRESETS = ("classic_2p", "palace_4p", "free_for_all_5p", "two_tables_4p")


def picture_of_state(state: State) -> Picture:
    """Return the picture of the tables of one deal."""
    return picture_of([table_of_state(state, row) for row in range(state.num_deals)])


FORMS: dict[str, Callable[[State], object]] = {
    "rgb_array": lambda state: rgb_array(picture_of_state(state)),
    "svg": lambda state: svg_document(picture_of_state(state)),
    "ansi": render_tables,
}


def pictures_per_second(preset: str, draw: Callable[[State], object]) -> float:
    """Return the speed of drawing every position of random deals."""
    episodes, generator = Episodes(preset, 1, seed=1), np.random.default_rng(0)
    row, pictures, spent = np.zeros(1, dtype=np.intp), 0, 0.0
    while spent < SECONDS:
        episodes.reset()
        while not episodes.over[0] and spent < SECONDS:
            start = time.perf_counter()
            draw(episodes.state)
            spent += time.perf_counter() - start
            pictures += 1
            episodes.step(random_actions(episodes.legal(row), episodes.layout, generator))
    return pictures / spent


def main() -> None:
    """Measure and print all speeds."""
    print(f"gin_env {gin_env.__version__}, pictures per second on one core\n")
    print(f"{'':20s}" + "".join(f"{form:>12s}" for form in FORMS))
    for preset in PRESETS:
        figures = (pictures_per_second(preset, draw) for draw in FORMS.values())
        print(f"  {preset:18s}" + "".join(f"{figure:12,.0f}" for figure in figures))


if __name__ == "__main__":
    main()
