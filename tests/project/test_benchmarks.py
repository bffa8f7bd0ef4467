"""The benchmarks measure what the product does, and run as scripts and as modules."""

import inspect
import os
import subprocess
import sys

import pytest

pytest.importorskip("sb3_contrib")

from agents.selfplay.arguments import Arguments
from benchmarks.training import measure_training
from tests.helpers.paths import ROOT

#: Imported before a benchmark, ends every measurement at once.
STAND_IN = """
import importlib.abc, importlib.machinery, itertools, sys, time
time.perf_counter = map(float, itertools.count(step=10)).__next__

class Training(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name, path, target=None):
        if name in ("training", "benchmarks.training"):
            found = importlib.machinery.PathFinder.find_spec(name, path)
            return found and importlib.machinery.ModuleSpec(name, self)
    def exec_module(self, module):
        module.main = lambda: print("MaskablePPO measured")

sys.meta_path.insert(0, Training())
"""


def test_the_benchmark_measures_what_train_py_does_by_default():
    defaults = Arguments()
    parameters = inspect.signature(measure_training).parameters
    for name in ("rows", "steps", "minibatch", "epochs", "net", "threads"):
        assert parameters[name].default == getattr(defaults, name)


@pytest.mark.parametrize("command", [["benchmarks/speed.py"], ["-m", "benchmarks.speed"]])
def test_the_benchmark_runs_as_a_script_and_as_a_module(command, tmp_path):
    """The clock is a fast one, and MaskablePPO's part is replaced once it is found."""
    (tmp_path / "sitecustomize.py").write_text(STAND_IN)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, *command, "--quick"], capture_output=True, text=True, cwd=ROOT, env=environment, timeout=300
    )
    assert done.returncode == 0, done.stderr
    assert "MaskablePPO measured" in done.stdout
