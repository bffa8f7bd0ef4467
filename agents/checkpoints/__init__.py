"""The networks that come with the project: which there are, and which of them plays given rules.

Each is a model folder (agents/policy/model_files.py) named after its preset, with its model card in ``README.md``.
``python -m agents.selfplay.ship_checkpoint`` puts a trained one here.
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

from agents.policy.model_files import DESCRIPTION_FILE, HARMLESS_RULES
from gin_env.rules import PRESETS, Rules

#: What may be asked for, and how its folder's name continues after the preset's.
SHIPPED = {"best": "", "best-no-trade": "-no-trade"}

_HERE = Path(__file__).parent


def shipped_folder(name: str, rules: Rules) -> Path:
    """Return the folder of the network called ``name`` (of ``SHIPPED``) for some rules.

    Raises ``ValueError`` where none is shipped for them; the message says for which presets there is one.
    """
    there = [preset for preset in PRESETS if (_HERE / (preset + SHIPPED[name]) / DESCRIPTION_FILE).is_file()]
    wanted = _what_matters(rules)
    for preset in there:
        if _what_matters(PRESETS[preset]) == wanted:
            return _HERE / (preset + SHIPPED[name])
    raise ValueError(
        f"agent {name!r}: no network is shipped for {rules.name}, only for {', '.join(there) or 'none'}; "
        "train one with train.py and name its folder"
    )


def _what_matters(rules: Rules) -> dict[str, object]:
    """Return the rules that a decision depends on."""
    values = dataclasses.asdict(rules)
    return {name: value for name, value in values.items() if name not in HARMLESS_RULES}
