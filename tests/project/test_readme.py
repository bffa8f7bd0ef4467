"""The Python code of README.md and docs/*.md runs, and the files, links and commands that the pages name exist."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
#: Pages whose blocks continue one another; on all others each block is a complete program.
CONTINUED = {"records.md"}

page_by_page = pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)


def code_blocks(text: str) -> list[str]:
    """Return the Python blocks of a page, each after as many empty lines as bring its code to its line in the page."""
    blocks = re.finditer(r"^```python\n(.*?)^```", text, flags=re.DOTALL | re.MULTILINE)
    return ["\n" * text.count("\n", 0, block.start(1)) + block[1] for block in blocks]


def program(page: Path) -> str:
    """Return a program that runs all blocks of a page; its tracebacks name the page and the line in it."""
    new_names = "names = {'__name__': '__main__'}"
    lines = [new_names]
    for block in code_blocks(page.read_text(encoding="utf-8")):
        if page.name not in CONTINUED:
            lines.append(new_names)
        lines.append(f"exec(compile({block!r}, {str(page)!r}, 'exec'), names)")
    return "\n".join(lines)


@pytest.mark.parametrize(
    "page", [page for page in PAGES if code_blocks(page.read_text(encoding="utf-8"))], ids=lambda page: page.name
)
def test_code_runs(page: Path, tmp_path: Path) -> None:
    (tmp_path / "tests").symlink_to(ROOT / "tests")  # records.md reads a file of tests/data
    environment = os.environ | {"PYTHONPATH": str(ROOT), "OMP_NUM_THREADS": "1"}
    run = subprocess.run(
        [sys.executable, "-c", program(page)],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr


def anchors(page: Path) -> set[str]:
    """Return the anchors that GitHub gives the headings of a page."""
    headings = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    return {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@page_by_page
def test_links_lead_to_files_and_headings(page: Path) -> None:
    for link in re.findall(r"\]\(([^)]+)\)", page.read_text(encoding="utf-8")):
        if "://" in link:
            continue
        file, _, anchor = link.partition("#")
        target = (page.parent / file).resolve() if file else page
        assert target.exists(), link
        assert not anchor or anchor in anchors(target), link


@page_by_page
def test_commands_name_scripts_and_modules_that_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for script in re.findall(r"python ((?:\w+/)*\w+\.py)", text):
        assert (ROOT / script).exists(), script
    for module in re.findall(r"python -m ((?:\w+\.)*\w+)", text):
        assert find_spec(module) is not None, module


@page_by_page
def test_no_placeholder_is_left(page: Path) -> None:
    assert not re.search(r"TODO|TABLE|XXX", page.read_text(encoding="utf-8"))


def test_readme_holds_the_install_and_test_commands() -> None:
    """``.ci/run`` runs the same commands."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert "pip install -e '.[train]' && python train.py" in text
    assert "pip install -e '.[dev]' && pytest -n 2" in text
