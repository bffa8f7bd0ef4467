"""The README's code runs as it stands, block by block, and it holds no placeholder."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

README = (ROOT / "README.md").read_text(encoding="utf-8")
ARENA = (ROOT / "docs" / "arena.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```python\n(.*?)```", README + ARENA, flags=re.DOTALL)


@pytest.mark.parametrize("number", range(len(BLOCKS)))
def test_block_runs(number: int, tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", BLOCKS[number]],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def test_every_file_and_link_that_it_names_exists() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", README):
        assert (ROOT / link).exists(), link
    for script in re.findall(r"python ((?:\w+/)*\w+\.py)", README):
        assert (ROOT / script).exists(), script
    assert not re.search(r"TODO|TABLE|XXX", README)
