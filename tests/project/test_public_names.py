"""The public names of gin_env load on first use, and the table that loads them agrees with the imports for types."""

from __future__ import annotations

import ast
import subprocess
import sys

import pytest

import gin_env
from tests.helpers.paths import ROOT


def test_importing_the_package_loads_nothing_heavy() -> None:
    code = "import sys, gin_env; gin_env.Rules, gin_env.Engine, gin_env.score_deal; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "gin_env.engine.engine" in loaded
    assert not loaded & {"torch", "stable_baselines3", "pygame", "matplotlib", "gin_env.envs.aec", "gin_env.envs.sb3"}


def test_every_public_name_loads() -> None:
    assert set(gin_env.__all__) <= set(dir(gin_env))
    assert all(getattr(gin_env, name) is not None for name in gin_env.__all__)
    with pytest.raises(AttributeError, match="no attribute 'Enginge'"):
        gin_env.Enginge  # noqa: B018


def test_names_load_from_the_modules_that_type_checkers_read() -> None:
    tree = ast.parse((ROOT / "gin_env" / "__init__.py").read_text(encoding="utf-8"))
    blocks = [node for node in tree.body if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"]
    imports = [node for node in blocks[0].body if isinstance(node, ast.ImportFrom)]
    module_of = {alias.name: f"{node.module}" for node in imports for alias in node.names}
    assert {name: f"gin_env.{module}" for name, module in gin_env._MODULE_OF.items()} == module_of
    assert {*module_of, "__version__"} == set(gin_env.__all__)
