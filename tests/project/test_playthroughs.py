"""The code plays the golden playthroughs; ``python -m tests.helpers.playthroughs`` rewrites them."""

from __future__ import annotations

import difflib
import re

import pytest

from gin_env.rules import PRESETS
from tests.helpers.playthroughs import FOLDER, playthrough

MOST_LINES = 150


@pytest.mark.parametrize("preset", PRESETS)
def test_the_code_plays_the_stored_game(preset: str) -> None:
    stored = (FOLDER / f"{preset}.txt").read_text(encoding="utf-8").splitlines()
    now = playthrough(preset).splitlines()

    changes = "\n".join(difflib.unified_diff(stored, now, "stored", "now", lineterm="", n=0))
    assert not changes, (
        f"behaviour has changed; if on purpose: python -m tests.helpers.playthroughs, and read its diff\n{changes}"
    )
    assert len(stored) <= MOST_LINES


def test_each_preset_has_one_file() -> None:
    assert sorted(FOLDER.iterdir()) == sorted(FOLDER / f"{preset}.txt" for preset in PRESETS)


def test_the_games_end_in_every_way() -> None:
    texts = [path.read_text(encoding="utf-8") for path in FOLDER.iterdir()]
    assert all("the game is over" in text for text in texts)
    ends = {re.split(r"[,:] *|  ", line)[1] for text in texts for line in text.splitlines() if line.startswith("End")}
    assert ends == {"knock", "gin", "big_gin", "small_gin", "undercut", "dead"}
