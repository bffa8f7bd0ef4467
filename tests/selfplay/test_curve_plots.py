"""A training measures its results and its style, and draws both into its folder."""

from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("sb3_contrib")

import train as train_script
from agents.arena.report import training
from agents.arena.report.training import read_run
from agents.selfplay import trainer
from tests.helpers.training import run_command, skip_matches

PNG = b"\x89PNG"
TINY = "--preset palace_4p --timesteps 1024 --rows 64 --steps 8 --net 16 --minibatch 256 --epochs 1 --threads 1"
TINY += " --eval-every 512 --eval-deals 80 --teacher none --opponents simple:1 --panel simple never-trade --no-outlook"
DUEL_FIGURES = {"knocked", "gin", "undercut", "knock_deadwood", "turns"}


def test_a_training_measures_its_style_in_the_very_deals_of_its_results(tmp_path, monkeypatch, capsys):
    measurements = []
    play_evaluation = trainer.play_evaluation

    def note_matches(*args):
        measurements.append(play_evaluation(*args))
        return measurements[-1]

    monkeypatch.setattr(trainer, "play_evaluation", note_matches)
    run_command(train_script.main, monkeypatch, tmp_path, f"{TINY} --output run")
    folder = tmp_path / "run"
    assert f"curves: {Path('run', 'learning.png')}, {Path('run', 'style.png')}" in capsys.readouterr().out
    for name in ("learning.png", "style.png"):
        assert (folder / name).read_bytes().startswith(PNG)
    assert not list(folder.glob("*.new"))

    run = read_run(folder)
    assert [made for made, _ in run.curves["simple"]] == [512, 1024]
    assert [*run.curves] == ["simple", "never-trade"]  # in the order of --panel
    assert run.styles.keys() == DUEL_FIGURES | {"offers", "exchanges", "melded"}
    for measurement, matches in enumerate(measurements):
        for match in matches:
            style, opponent = match.styles[0], match.names[1]
            for name in run.styles.keys() - {"knocked", "melded"}:
                estimate = run.styles[name][opponent][measurement][1]
                assert estimate.value == pytest.approx(getattr(style, name)), name
            low, high = run.styles["turns"][opponent][measurement][1][1:]
            assert low < style.turns < high
    shares = [share.value for curve in run.styles["melded"].values() for _, share in curve]
    assert all(0 < share < 1 for share in shares)


def test_a_picture_that_cannot_be_drawn_ends_no_training(tmp_path, monkeypatch, capsys):
    def fail(_: Path) -> list[Path]:
        raise OSError("no space left")

    monkeypatch.setattr(training, "write_curves", fail)
    skip_matches(monkeypatch)
    arguments = f"{TINY} --preset classic_2p --timesteps 512 --panel simple --output run"
    run_command(train_script.main, monkeypatch, tmp_path, arguments)
    printed, warning = capsys.readouterr()
    assert "warning: the curves of run were not drawn (OSError: no space left)" in warning
    assert "python evaluate.py --agents run simple" in printed
    assert "curves:" not in printed
    assert not list((tmp_path / "run").glob("*.png"))
