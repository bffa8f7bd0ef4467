"""Load an agent from what a user types: a name, the folder of a saved model, or a class of the user's own.

To add a scripted agent, import its class here and list it in ``_SCRIPTED`` (docs/architecture.md, "How to add").

>>> load_agent("gold-k4", rules)
>>> load_agent("best", rules)                    # the network that is shipped for these rules
>>> load_agent("search:best,worlds=64", rules)   # the same network with search
>>> load_agent("openspiel", rules)               # OpenSpiel's bot, if open_spiel is installed
>>> load_agent("runs/first", rules)              # a folder that train.py wrote
>>> load_agent("my_package.bots:Careful", rules)
>>> load_agent("bots/careful.py:Careful", rules)
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from agents.checkpoints import SHIPPED, shipped_folder
from agents.policy import PolicyAgent
from agents.policy.model_files import DESCRIPTION_FILE
from agents.scripted.gold import GoldAgent, GoldK4Agent
from agents.scripted.lookahead import LookaheadAgent, SharpAgent
from agents.scripted.openspiel import OpenSpielAgent, check_shared
from agents.scripted.simple import GinOnlyAgent, SimpleAgent
from agents.scripted.team_lookahead import NoTradeLookaheadAgent, TeamLookaheadAgent
from agents.scripted.trade_controls import NeverTradeAgent, RandomTradeAgent, TradeGreedyAgent
from agents.search.ablated_agent import PREFIX as ABLATE
from agents.search.ablated_agent import parse_ablate, split_ablate
from agents.search.search_agent import PREFIX as SEARCH
from agents.search.search_agent import parse_search
from gin_env.episodes import Agent, RandomAgent
from gin_env.errors import did_you_mean
from gin_env.rules import Rules

_SCRIPTED: dict[str, Callable[[], Agent]] = {
    agent.name: agent
    for agent in (
        RandomAgent,
        GoldAgent,
        SimpleAgent,
        GoldK4Agent,
        GinOnlyAgent,
        LookaheadAgent,
        SharpAgent,
        RandomTradeAgent,
        NeverTradeAgent,
        TradeGreedyAgent,
        NoTradeLookaheadAgent,
        TeamLookaheadAgent,
    )
}

#: The scripted agents from weakest to strongest under ``eaai_2p``, then those that differ only in partnerships.
AGENT_NAMES = tuple(_SCRIPTED)

__all__ = ["AGENT_NAMES", "SHIPPED", "files_of", "is_model", "load_agent", "parts_of"]


def is_model(spec: str) -> bool:
    """Return whether a text names a folder with a saved model."""
    return spec not in _SCRIPTED and (Path(spec) / DESCRIPTION_FILE).is_file()


def parts_of(spec: str) -> list[str]:
    """Return the agents inside a text: ``a`` and ``b`` for ``search:a,rollout=b``, otherwise the text itself."""
    if spec in _SCRIPTED or is_model(spec):
        return [spec]
    if spec.startswith(SEARCH):
        base, *options = spec.removeprefix(SEARCH).split(",")
        rollouts = [option.partition("=")[2] for option in options if option.startswith("rollout=")]
        return [part for name in (base, *rollouts) for part in parts_of(name)]
    if spec.startswith(ABLATE):
        return parts_of(split_ablate(spec)[0])
    return [spec]


def files_of(spec: str) -> list[Path]:
    """Return the files, other than the project's own, that decide how an agent plays.

    These are the files of saved models, and for a class of the user's own the Python files in the same folder; other
    imports of that class are not followed.
    """
    files = []
    for part in parts_of(spec):
        source, _, name = part.rpartition(":")
        if is_model(part):
            files += sorted(file for file in Path(part).iterdir() if file.suffix in (".npz", ".json"))
        elif source.endswith(".py"):
            files += _python_files_in_folder_of(Path(source))
        elif source and name.isidentifier():
            with contextlib.suppress(ImportError, ValueError):
                found = importlib.util.find_spec(source)
                if found is not None and found.origin is not None and Path(found.origin).is_file():
                    files += _python_files_in_folder_of(Path(found.origin))
    return [file for file in files if file.is_file()]


def _python_files_in_folder_of(file: Path) -> list[Path]:
    return [file, *sorted(other for other in file.parent.glob("*.py") if other.name != file.name)]


def load_agent(spec: str, rules: Rules) -> Agent:
    """Return the agent that a text names.

    Parameters
    ----------
    spec : str
        A name of ``AGENT_NAMES`` or ``SHIPPED``, ``"openspiel"``, the folder of a saved model,
        ``"package.module:ClassName"``, ``"file.py:ClassName"`` (a class that can be called without arguments), or
        ``"search:"`` or ``"ablate:"`` and any of these.
    rules : Rules
        The rules to be played; a model trained for other rules is refused.

    Raises
    ------
    ValueError
        No agent of that name, a model that is damaged or trained for other rules, OpenSpiel's bot where it is not
        installed or does not support the rules, or a class that cannot be loaded or is not an agent. The message
        says what to do.
    """
    if spec in _SCRIPTED:
        return _SCRIPTED[spec]()
    if spec == OpenSpielAgent.name:
        check_shared(rules)
        return OpenSpielAgent()
    if spec.startswith(SEARCH):
        return parse_search(spec, rules, load_agent)
    if spec.startswith(ABLATE):
        return parse_ablate(spec, rules, load_agent)

    # Networks: shipped with the project, or the folder of a saved model.
    if spec in SHIPPED:
        return PolicyAgent.load(shipped_folder(spec, rules), rules, name=spec)
    if is_model(spec):
        return PolicyAgent.load(spec, rules)

    # A class: module:Class or file.py:Class, but not a Windows path such as C:\\runs\\mine.
    if spec.rpartition(":")[2].isidentifier() and ":" in spec:
        return _load_class(spec)

    # Nothing matches: say what is probably meant.
    if spec.endswith(".py"):
        raise ValueError(f"agent {spec!r}: add the class, for example {spec}:MyAgent")
    if Path(spec).name == DESCRIPTION_FILE:
        raise ValueError(f"agent {spec!r}: give the folder that contains it")
    if Path(spec).exists():
        raise ValueError(f"agent {spec!r}: no {DESCRIPTION_FILE} in it; give the folder that train.py wrote")
    if "/" in spec or "\\" in spec:
        raise ValueError(f"agent {spec!r}: no such folder; train.py --output writes one")
    names = [*SHIPPED, *AGENT_NAMES, OpenSpielAgent.name]
    hint = did_you_mean(spec, names)
    raise ValueError(
        f"unknown agent {spec!r}: {hint}one of {', '.join(names)}, "
        "the folder of a saved model, package.module:ClassName or file.py:ClassName"
    )


def _load_class(spec: str) -> Agent:
    """Return an instance of ``module:Class`` or ``file.py:Class``; whatever fails in it becomes one clear error."""
    source, _, class_name = spec.rpartition(":")
    module = _load_file(spec, Path(source)) if source.endswith(".py") else _load_module(spec, source)
    if not hasattr(module, class_name):
        # Before Python 3.11 aliases such as list[int] pass for types.
        classes = {name: value for name, value in vars(module).items() if type(value) is type(Agent)}
        names = [name for name, value in classes.items() if issubclass(value, Agent)]
        raise ValueError(f"agent {spec!r}: {source} has no {class_name!r}; its agents: {', '.join(names) or 'none'}")

    try:
        agent: Any = getattr(module, class_name)()
    except (Exception, SystemExit) as error:  # whatever the class does, the user gets one clear line
        raise ValueError(f"agent {spec!r}: {class_name}() failed: {type(error).__name__}: {error}") from error

    missing = [name for name in ("name", "needs_history", "act", "reset") if not hasattr(agent, name)]
    if missing:
        raise ValueError(f"agent {spec!r}: lacks {', '.join(missing)}; derive it from gin_env.Agent")
    return agent


def _load_module(spec: str, name: str) -> ModuleType:
    try:
        return importlib.import_module(name)
    except (Exception, SystemExit) as error:  # as above
        raise ValueError(f"agent {spec!r}: cannot import {name!r}: {type(error).__name__}: {error}") from error


def _load_file(spec: str, path: Path) -> ModuleType:
    if not path.is_file():
        raise ValueError(f"agent {spec!r}: no file {path}")
    module_spec = importlib.util.spec_from_file_location(f"agent file {path.resolve()}", path)
    if module_spec is None or module_spec.loader is None:
        raise ValueError(f"agent {spec!r}: {path} is not a Python file")
    module = importlib.util.module_from_spec(module_spec)
    sys.modules[module.__name__] = module  # dataclasses and pickle look it up there

    # Let the file import the modules next to it.
    folder = str(path.resolve().parent)
    if folder not in sys.path:
        sys.path.append(folder)

    try:
        module_spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # as above
        raise ValueError(f"agent {spec!r}: {path} failed: {type(error).__name__}: {error}") from error
    return module
