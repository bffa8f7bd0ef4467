"""The layout of the project: packages import in one direction, the core is light, the generated pages are current."""

from __future__ import annotations

import ast
import graphlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.helpers.paths import ROOT

#: A package imports only from those before it (docs/architecture.md); names in one tuple do not import each other.
GIN_ENV = (
    "errors", "cards", "rules", "scoring", "engine", "observation", ("rendering", "episodes"), "notation",
    "envs", "sb3",
)  # fmt: skip
AGENTS = (
    ("cli", "pages", "thoughts", "scripted"), "policy", ("checkpoints", "search"), "registry", "arena",
    ("selfplay", "replay"), "play",
)  # fmt: skip
ARENA = ("statistics", "match", "tournament", ("benchmark", "report", "research"))

#: The only modules of gin_env that import anything but NumPy and the standard library.
THIRD_PARTIES = {
    "gin_env.envs": {"gymnasium", "pettingzoo", "stable_baselines3"},
    "gin_env.rendering.raster": {"pygame"},
    "gin_env.rendering.window": {"pygame"},
}
HEAVY = {"torch", "stable_baselines3", "sb3_contrib", "matplotlib", "pygame", "agents", "tyro", "rich"}


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


MODULES = {
    module_name(path): path for package in ("gin_env", "agents") for path in sorted((ROOT / package).rglob("*.py"))
}


def imports_of(path: Path) -> Iterator[str]:
    """Every module that a file imports, at the top or within functions, but not for types alone."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                inner = f"{node.module}.{alias.name}"
                yield inner if inner in MODULES else node.module


def part_of(module: str, parent: str) -> str:
    """The package or module directly below ``parent`` to which a module belongs."""
    return module.removeprefix(f"{parent}.").partition(".")[0]


@pytest.mark.parametrize(("parent", "order"), [("gin_env", GIN_ENV), ("agents", AGENTS), ("agents.arena", ARENA)])
def test_packages_import_only_from_those_before_them(parent: str, order: tuple[str | tuple[str, ...], ...]) -> None:
    level = {
        name: place for place, names in enumerate(order) for name in (names if isinstance(names, tuple) else (names,))
    }
    inside = {name: path for name, path in MODULES.items() if name.startswith(f"{parent}.")}
    assert {part_of(name, parent) for name in inside} == set(level)
    for name, path in inside.items():
        for target in imports_of(path):
            if target.startswith(f"{parent}.") and part_of(target, parent) != part_of(name, parent):
                assert level[part_of(target, parent)] < level[part_of(name, parent)], f"{name} imports {target}"


def test_no_module_imports_itself_through_others() -> None:
    graph = {name: {target for target in imports_of(path) if target in MODULES} for name, path in MODULES.items()}
    graph["gin_env"] = set()  # its names load on first use, and `from gin_env import __version__` needs none of them
    graphlib.TopologicalSorter(graph).prepare()  # raises CycleError, which names the modules


def test_gin_env_needs_numpy_alone_below_envs_and_never_agents() -> None:
    for name, path in MODULES.items():
        tops = {target.partition(".")[0] for target in imports_of(path)}
        assert not tops & {"tests", "train", "evaluate"}, name
        if name.partition(".")[0] == "gin_env":
            allowed = next((names for prefix, names in THIRD_PARTIES.items() if name.startswith(prefix)), set())
            allowed = allowed | sys.stdlib_module_names | {"gin_env", "numpy"}
            assert tops <= allowed, f"{name} imports {tops - allowed}"
            assert "agents/" not in path.read_text(encoding="utf-8"), f"{name} names a file of agents"


def test_gin_env_has_few_entries_at_its_top() -> None:
    entries = [entry.name for entry in (ROOT / "gin_env").iterdir() if entry.name != "__pycache__"]
    assert len(entries) <= 12, entries


def test_the_architecture_page_states_this_order() -> None:
    page = " ".join((ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").split())
    for order in (GIN_ENV, AGENTS, ARENA):
        shown = (f"({' | '.join(names)})" if isinstance(names, tuple) else names for names in order)
        assert " < ".join(shown) in page


def test_every_folder_with_code_is_a_package() -> None:
    """Packages are found by their ``__init__.py``: a folder without one would not be installed."""
    for path in MODULES.values():
        assert (path.parent / "__init__.py").exists(), path.parent


def test_importing_gin_env_is_light() -> None:
    code = f"import sys, gin_env; print(sorted(m for m in sys.modules if m.split('.')[0] in {HEAVY!r}))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert run.stdout.strip() == "[]"


def test_generated_pages_are_current() -> None:
    command = [sys.executable, "docs/generate.py", "--check"]
    run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", sorted(MODULES))
def test_every_module_says_what_it_is_for(name: str) -> None:
    assert ast.get_docstring(ast.parse(MODULES[name].read_text(encoding="utf-8"))), f"{name} has no docstring"


def test_tuples_with_names_have_no_other_base() -> None:
    """Python 3.10, which the README promises, refuses such a class when its module is imported."""
    for name, path in MODULES.items():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                bases = [ast.unparse(base) for base in node.bases]
                assert bases == ["NamedTuple"] or "NamedTuple" not in bases, f"{name}.{node.name}"


def test_no_test_imports_another_test() -> None:
    """What two tests need is in tests/helpers."""
    for path in (ROOT / "tests").rglob("*.py"):
        imported = [target for target in imports_of(path) if target.startswith("tests.")]
        assert all(target.split(".")[1] in ("helpers", "reference") for target in imported), path
