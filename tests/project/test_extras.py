"""Without an extra's libraries, commands and render modes say what to install, in one line."""

from __future__ import annotations

import subprocess
import sys

import pytest

import gin_env
from agents.cli.extras import needs
from tests.helpers.paths import ROOT


@pytest.mark.parametrize(
    ("script", "library", "extra"),
    [
        ("evaluate.py", "tyro", "cli"),
        ("evaluate.py", "rich", "cli"),
        ("train.py", "torch", "train"),
        ("docs/gallery.py", "matplotlib", "dev"),
    ],
)
def test_a_command_names_the_extra_that_it_lacks(script: str, library: str, extra: str) -> None:
    code = f"import runpy, sys; sys.modules[{library!r}] = None; runpy.run_path({script!r}, run_name='__main__')"
    run = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=False)
    assert (run.returncode, run.stderr) == (1, f"error: {library} is not installed: pip install -e '.[{extra}]'\n")


def test_a_fault_of_ours_is_no_missing_library() -> None:
    with pytest.raises(ModuleNotFoundError), needs("cli"):
        import agents.no_such_module  # type: ignore[import-not-found]  # noqa: F401


@pytest.mark.parametrize("mode", ["rgb_array", "human"])
def test_an_environment_that_cannot_draw_says_so_when_it_is_made(mode: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pygame", None)
    for make in (gin_env.raw_env, gin_env.GinRummySingleEnv):
        with pytest.raises(ValueError, match=r"pip install -e '\.\[render\]'"):
            make("classic_2p", render_mode=mode)
    gin_env.raw_env("classic_2p", render_mode="ansi").reset()
