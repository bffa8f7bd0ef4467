"""The shape of the house: imports run downwards, the core is light, the generated pages are current."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
#: The floors of docs/architecture.md: a module imports only from floors below its own.
FLOORS = {
    "cards": 0,
    "errors": 0,
    "rule_checks": 0,
    "version": 0,
    "rules": 1,
    "melds": 1,
    "randomness": 1,
    "rewards": 1,
    "notation.lines": 1,
    "prospects": 2,
    "actions": 2,
    "layoffs": 2,
    "spreads": 2,
    "rulebook.play": 2,
    "rendering.shapes": 2,
    "state": 3,
    "sampling": 3,
    "rulebook.score": 3,
    "rendering.svg": 3,
    "rendering.raster": 3,
    "rendering.window": 4,
    "legal": 4,
    "checking": 4,
    "dealing": 4,
    "events": 4,
    "gathering": 4,
    "scorekeeping": 4,
    "free_for_all": 4,
    "placing": 4,
    "rulebook": 4,
    "trade": 5,
    "catch": 5,
    "showdown": 5,
    "view": 5,
    "sections": 5,
    "notation.records": 5,
    "booking": 6,
    "arranged": 6,
    "agent": 6,
    "plans": 6,
    "worlds": 6,
    "rendering.table": 6,
    "rendering.log": 5,
    "engine": 7,
    "scoring": 7,
    "team_outlook": 7,
    "notation.soundness": 7,
    "rendering.words": 7,
    "rendering.text": 8,
    "rendering.picture": 8,
    "explaining.deal": 8,
    "episodes": 8,
    "outlook": 8,
    "notation.position": 8,
    "rendering": 9,
    "explaining.knock": 9,
    "explaining.laying_off": 9,
    "explaining.sums": 9,
    "learner": 9,
    "learner_step": 8,
    "observation": 9,
    "notation.recorder": 9,
    "notation.replay": 10,
    "notation.challenge": 10,
    "notation": 10,
    "explaining.dead": 10,
    "explaining.free_for_all": 10,
    "explaining.two_sides": 10,
    "central": 10,
    "symmetry": 10,
    "interface": 10,
    "explaining": 11,
    "wrappers": 11,
    "sb3": 11,
    "aec": 12,
    "single": 11,
    "vector": 11,
    "registration": 11,
    "": 13,
}
#: Third-party packages, by the modules that may import them; NumPy is everywhere.
THIRD_PARTIES = {
    "interface": {"gymnasium"},
    "wrappers": {"pettingzoo"},
    "aec": {"gymnasium", "pettingzoo"},
    "single": {"gymnasium"},
    "vector": {"gymnasium"},
    "registration": {"gymnasium", "pettingzoo"},
    "sb3": {"gymnasium", "stable_baselines3"},
    "rendering.raster": {"pygame"},
    "rendering.window": {"pygame"},
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
    paths = {name.removeprefix("gin_env").removeprefix("."): path for name, path in modules().items() if "gin" in name}
    paths = {name: path for name, path in paths.items() if not name.startswith("agents")}
    assert set(FLOORS) == set(paths)
    for name, floor in FLOORS.items():
        for target in imports_of(paths[name]):
            top, _, inner = target.partition(".")
            if top == "gin_env":
                assert FLOORS[inner] < floor, f"gin_env.{name} imports {target}, which is not below it"
            else:
                allowed = sys.stdlib_module_names | {"numpy"} | THIRD_PARTIES.get(name, set())
                assert top in allowed, f"gin_env.{name} imports {target}"


def test_the_architecture_page_shows_these_floors() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    shown = {name: int(floor) for name, floor in re.findall(r"^  (\w+)(?:\.py|/) .* (\d+)$", page, flags=re.MULTILINE)}
    assert shown == {name: floor for name, floor in FLOORS.items() if name and "." not in name}


def test_gin_env_never_imports_agents_and_torch_stays_upstairs() -> None:
    for name, path in modules().items():
        tops = {target.split(".")[0] for target in imports_of(path)}
        if name.startswith("gin_env"):
            assert "agents" not in tops, name
            if name != "gin_env.sb3":
                assert not tops & HEAVY, name
        assert not tops & {"tests", "train", "evaluate"}, name


def test_every_package_is_installed() -> None:
    """An editable install hides what is missing in the list of packages."""
    listed = re.findall(r'"([\w.]+)"', (ROOT / "pyproject.toml").read_text().split("packages = [")[1].split("]")[0])
    folders = {path.parent.relative_to(ROOT) for top in ("gin_env", "agents") for path in (ROOT / top).rglob("*.py")}
    assert sorted(listed) == sorted(".".join(folder.parts) for folder in folders)


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


def test_tuples_with_names_have_no_other_base() -> None:
    """Python 3.10, which the README promises, refuses such a class when its module is imported."""
    for name, path in modules().items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(base) for base in node.bases]
                assert bases == ["NamedTuple"] or "NamedTuple" not in bases, f"{name}.{node.name}"
