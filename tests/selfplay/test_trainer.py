"""The trainer keeps the best model, and stops where the training diverges."""

import math

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("sb3_contrib")

from sb3_contrib import MaskablePPO

import train as train_script
from agents.policy.model_files import read_description
from agents.selfplay import trainer
from agents.selfplay.run_folder import read_state
from tests.helpers.training import TINY, run_command, skip_matches, skip_pictures


@pytest.fixture
def quick_main(tmp_path, monkeypatch):
    """Run train.py to its end within this process; measurements return a match that was played before."""
    skip_pictures(monkeypatch)
    skip_matches(monkeypatch)

    def call(*arguments):
        run_command(train_script.main, monkeypatch, tmp_path, " ".join(arguments))

    return call


def test_the_best_model_is_the_one_measured_best(quick_main, tmp_path, monkeypatch):
    """Three measurements, the best in the middle; then a resume whose last one is better than all."""
    results = iter([1.0, 3.0, 2.0])
    monkeypatch.setattr(trainer, "worst_points", lambda _: next(results))
    quick_main(TINY, "--timesteps 1536 --output run")
    run = tmp_path / "run"

    def decisions(folder):
        return read_description(folder)["training"]["decisions"]

    assert decisions(run) == 1536
    assert decisions(run / "best") == 1024
    assert read_state(run)["best"] == 3.0
    results = iter([4.0])
    quick_main("--resume run --timesteps 512")
    assert decisions(run) == decisions(run / "best") == 2048
    assert read_state(run)["best"] == 4.0


def test_a_training_that_diverges_ends_in_one_line(quick_main, tmp_path, monkeypatch, capsys):
    def diverge(model):
        with torch.no_grad():
            model.policy.action_net.bias[0] = math.nan

    monkeypatch.setattr(MaskablePPO, "train", diverge)
    with pytest.raises(SystemExit):
        quick_main(TINY, "--output run")
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert "no longer finite numbers" in line
    assert not (tmp_path / "run" / "weights.npz").exists()
