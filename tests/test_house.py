"""The shape of the house: imports run downwards, the core is light, the generated pages are current."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
#: The floors of docs/architecture.md: a module imports only from floors below its own.
FLOORS = {
    "gin_env.cards": 0,
    "gin_env.errors": 0,
    "gin_env.rules": 1,
    "gin_env.melds": 1,
    "gin_env.dealing": 1,
    "gin_env.randomness": 1,
    "gin_env.actions": 2,
    "gin_env.sampling": 3,
    "gin_env.state": 3,
    "gin_env.layoffs": 3,
    "gin_env.showdown": 4,
    "gin_env.engine": 5,
    "gin_env.arranged": 5,
    "gin_env.scoring": 6,
    "gin_env.view": 6,
    "gin_env.scorekeeping": 6,
    "gin_env.rewards": 6,
}
#: What may be imported where, besides the standard library and NumPy.
HEAVY = {"torch", "stable_baselines3", "sb3_contrib"}


def modules() -> dict[str, Path]:
    files = [*(ROOT / "gin_env").rglob("*.py"), *(ROOT / "agents").rglob("*.py")]
    return {".".join(file.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): file for file in files}


def imports_of(path: Path) -> set[str]:
    """Every module that a file imports, at the top or within functions (but not for types alone)."""
    found = set()
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module)
    return found


def test_imports_run_downwards() -> None:
    paths = modules()
    assert set(FLOORS) <= set(paths)
    for name, floor in FLOORS.items():
        for target in imports_of(paths[name]):
            if target.startswith("gin_env"):
                assert FLOORS.get(target, 99) < floor, f"{name} imports {target}, which is not below it"
            else:
                top = target.split(".")[0]
                assert top in sys.stdlib_module_names | {"numpy"}, f"{name} imports {target}"


def test_gin_env_never_imports_agents_and_torch_stays_upstairs() -> None:
    for name, path in modules().items():
        tops = {target.split(".")[0] for target in imports_of(path)}
        if name.startswith("gin_env"):
            assert "agents" not in tops, name
            if name != "gin_env.sb3":
                assert not tops & HEAVY, name
        assert not tops & {"tests", "train", "evaluate"}, name


def test_importing_gin_env_is_light() -> None:
    heavy = {"torch", "stable_baselines3", "sb3_contrib", "matplotlib", "pygame", "agents", "tyro", "rich"}
    code = f"import sys, gin_env; print(sorted(m for m in sys.modules if m.split('.')[0] in {heavy!r}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stdout.strip() == "[]"


def test_generated_pages_are_current() -> None:
    run = subprocess.run(
        [sys.executable, "docs/generate.py", "--check"], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", sorted(modules()))
def test_every_module_says_what_it_is_for(name: str) -> None:
    docstring = ast.get_docstring(ast.parse(modules()[name].read_text(encoding="utf-8")))
    assert docstring, f"{name} has no docstring"
