"""The networks that are shipped with the project, and which of them plays which rules.

Each is a model folder (agents/policy/model_files.py) named after its preset, with its model card in ``README.md``.
``python -m agents.selfplay.ship_checkpoint`` puts a trained one here.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from agents.policy.model_files import DESCRIPTION_FILE, HARMLESS_RULES
from gin_env.rules import PRESETS, Rules

#: Names of the shipped networks as agents, and what follows the preset in the names of their folders.
SHIPPED = {"best": "", "best-no-trade": "-no-trade"}

_HERE = Path(__file__).parent


def checkpoint_folder(name: str, preset: str) -> Path:
    """Return the folder of the network called ``name`` (of ``SHIPPED``) for a preset, whether or not there is one."""
    return _HERE / (preset + SHIPPED[name])


def shipped_folder(name: str, rules: Rules) -> Path:
    """Return the folder of the network called ``name`` (of ``SHIPPED``) for some rules.

    Raises
    ------
    ValueError
        No network is shipped for them; the message names the presets for which there is one.
    """
    presets = [preset for preset in PRESETS if (checkpoint_folder(name, preset) / DESCRIPTION_FILE).is_file()]
    wanted = _rules_that_matter(rules)
    for preset in presets:
        if _rules_that_matter(PRESETS[preset]) == wanted:
            return checkpoint_folder(name, preset)
    raise ValueError(
        f"agent {name!r}: no network is shipped for {rules.name}, only for {', '.join(presets) or 'none'}; "
        "train one with train.py and name its folder"
    )


def _rules_that_matter(rules: Rules) -> dict[str, object]:
    """Return the fields of the rules on which a decision may depend."""
    values = dataclasses.asdict(rules)
    return {name: value for name, value in values.items() if name not in HARMLESS_RULES}
