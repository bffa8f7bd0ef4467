"""The logs of a training as curves, on pictures and on the page."""

import csv
import itertools
import math
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from agents.arena.report import write_report
from agents.arena.report.training import read_run, write_curves
from tests.helpers.reports import page_of, write_run


def add_style(log: Path) -> None:
    """Add to a log of ``write_run`` the style of its measurements, in columns of any order."""
    with log.open(newline="") as file:
        lines = list(csv.DictReader(file))
    for line in lines:
        if line["eval/simple"]:
            line |= {"style/turns/gold": "9.5", "style/gin/simple": "0.25", "style_low/gin/simple": "0.2"}
            line |= {"style_high/gin/simple": "0.3", "style/offers/gold": "", "style/unheard_of/simple": "1"}
    heads = dict.fromkeys(itertools.chain.from_iterable(reversed(lines)))
    with log.open("w", newline="") as file:
        writer = csv.DictWriter(file, heads)
        writer.writeheader()
        writer.writerows(lines)


def test_a_run_that_began_without_style_shows_it_from_its_resume_on(tmp_path):
    folder = write_run(tmp_path / "run")
    assert read_run(folder).styles == {}
    assert write_curves(folder) == [folder / "learning.png"]
    add_style(folder / "logs" / "progress-2.csv")
    run = read_run(folder)
    assert run.styles.keys() == {"gin", "turns"}  # what this version does not know is left out
    assert run.styles["gin"] == {"simple": [(4000, (0.25, 0.2, 0.3)), (6000, (0.25, 0.2, 0.3))]}
    ((_, (turns, low, _)), _) = run.styles["turns"]["gold"]
    assert turns == 9.5
    assert math.isnan(low)
    assert len(run.curves["simple"]) == 3
    assert write_curves(folder) == [folder / "learning.png", folder / "style.png"]
    paths = write_report([folder], tmp_path / "page")
    assert {path.name for path in paths[1:]} == {"learning.png", "style.png"}
    text = page_of(tmp_path / "page").text
    assert "Style of play" in text
    assert "25.0 ± 5.0" in text


def test_a_folder_without_a_run_is_refused(tmp_path):
    with pytest.raises(ValueError, match="no training run"):
        write_curves(tmp_path)
