"""Random valid ``Rules``, from a reading of docs/rules.md that is independent of gin_env/rules/validation.py."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from gin_env.rules import Rules

#: The possible numbers of players in each mode.
PLAYERS = {"duel": (2,), "partnership": (4,), "free_for_all": (3, 4, 5), "rotation": (3,), "two_tables": (4,)}

_ALONE = ("duel", "rotation", "two_tables")  # one hand against one
_PARTNERS = ("partnership",)
#: Fields that have a meaning only in some modes.
ONLY_IN: dict[str, tuple[str, ...]] = {
    "deal_order": ("duel", "partnership", "free_for_all"),
    "dealer_rule": ("duel", "partnership", "free_for_all", "two_tables"),
    "rotation": ("rotation",),
    "max_trades_per_turn": _PARTNERS,
    "trade_reply": _PARTNERS,
    "trade_taken_card": _PARTNERS,
    "partner_hand_visible": _PARTNERS,
    "boast": (*_ALONE, "partnership"),
    "boast_wait_turns": (*_ALONE, "partnership"),
    "boast_points": (*_ALONE, "partnership"),
    "big_gin_bonus": _ALONE,
    "layoff": _ALONE,
    "team_layoff": _PARTNERS,
    "cross_chain": ("partnership", "free_for_all"),
    "gin_protects": _PARTNERS,
    "ffa_scoring": ("free_for_all",),
    "team_score": ("two_tables",),
    "gin_bonus": (*_ALONE, "free_for_all"),
    "small_gin_bonus": _PARTNERS,
    "team_gin_bonus": _PARTNERS,
    "small_gin_for": _PARTNERS,
    "score_sheet": ("duel", "partnership", "two_tables"),
}
#: Fields that have a meaning only while another field is on.
ONLY_WITH = {
    "boast_wait_turns": "boast",
    "boast_points": "boast",
    "catch_points": "catch_glass",
    "ace_upcard_gin_only": "limit_from_upcard",
}


def random_value(field: dataclasses.Field[Any], generator: np.random.Generator) -> Any:
    """Return a uniformly random value of a field; a field that may be None is None half of the time."""
    if "options" in field.metadata:
        return str(generator.choice(field.metadata["options"]))
    if "switch" in field.metadata:
        return bool(generator.integers(2))
    low, high = field.metadata["range"]
    if "count" in field.metadata:
        return tuple(generator.integers(low, high + 1, size=field.metadata["count"]).tolist())
    if field.default is None and generator.integers(2):
        return None
    return int(generator.integers(low, high + 1))


def random_rules(generator: np.random.Generator) -> Rules:
    """Return valid rules: a random mode, then a random value of every field that has a meaning in it."""
    fields = {field.name: field for field in dataclasses.fields(Rules)}
    mode = str(generator.choice(list(PLAYERS)))
    values: dict[str, Any] = {"mode": mode, "num_players": int(generator.choice(PLAYERS[mode]))}
    for name, field in fields.items():
        if name not in values and mode in ONLY_IN.get(name, (mode,)):
            values[name] = random_value(field, generator)

    # Undo what the mode or another field excludes.
    if mode not in _PARTNERS:
        values["max_trades_per_turn"] = 0
    for name, switch in ONLY_WITH.items():
        if not values.get(switch, fields[switch].default):
            values.pop(name, None)
    if values.get("trade_reply") == "mover":
        values["partner_hand_visible"] = True
    if (values["num_players"], values["hand_size"]) == (5, 10):
        values["stock_floor"] = 0  # the stock has a single card
    return Rules(**values)
