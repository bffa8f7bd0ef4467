"""What each field of ``Rules`` may hold, and which fields contradict each other.

The four kinds of fields (:func:`integer`, :func:`integers`, :func:`choice`, :func:`switch`) keep their range and
description in the field's ``metadata``, from which :func:`check_value`, docs/generate.py and the tests read them.
An invalid value raises a ``ValueError`` that names the field, the value and the fix. Nothing is silently corrected.
"""

from __future__ import annotations

import dataclasses
from typing import Any


def integer(default: int | None, low: int, high: int, text: str) -> Any:
    """Define a field of integers from ``low`` to ``high``; if the default is None, also None for "off"."""
    return dataclasses.field(default=default, metadata={"range": (low, high), "help": text})


def integers(default: tuple[int, ...], low: int, high: int, text: str) -> Any:
    """Define a field of a fixed number of integers: as many as the default has."""
    return dataclasses.field(default=default, metadata={"range": (low, high), "count": len(default), "help": text})


def choice(default: str, options: tuple[str, ...], text: str) -> Any:
    """Define a field that takes one of several strings."""
    return dataclasses.field(default=default, metadata={"options": options, "help": text})


def switch(default: bool, text: str) -> Any:
    """Define a field that is on or off."""
    return dataclasses.field(default=default, metadata={"switch": True, "help": text})


def check_value(field: dataclasses.Field[Any], value: Any) -> None:
    """Raise ``ValueError`` unless a field may have this value."""
    expected = _expected_instead(field, value)
    if expected:
        raise ValueError(f"{field.name}={value!r}: must be {expected}")


def _expected_instead(field: dataclasses.Field[Any], value: Any) -> str:
    """Return what the field may hold if the value is not allowed, else an empty string."""
    if "range" in field.metadata:
        low, high = field.metadata["range"]
        if "count" in field.metadata:
            count = field.metadata["count"]
            is_right = isinstance(value, tuple) and len(value) == count and all(_is_within(v, low, high) for v in value)
            expected = f"a tuple of {count} ints from {low} to {high}"
        else:
            may_be_off = field.default is None
            is_right = _is_within(value, low, high) or (value is None and may_be_off)
            expected = f"an int from {low} to {high}{' (or None)' if may_be_off else ''}"
    elif "options" in field.metadata:
        is_right = value in field.metadata["options"]
        expected = f"one of {', '.join(field.metadata['options'])}"
    else:
        is_right = isinstance(value, bool)
        expected = "True or False"

    return "" if is_right else expected


def _is_within(value: Any, low: int, high: int) -> bool:
    """Whether a value is an int (not a bool) within the range."""
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


#: Fewest and most players of each mode.
_PLAYERS = {
    "duel": (2, 2),
    "partnership": (4, 4),
    "free_for_all": (3, 5),
    "rotation": (3, 3),
    "two_tables": (4, 4),
}
_HEADS_UP = ("duel", "rotation", "two_tables")  # one hand against one
#: Fields that have a meaning in some modes only. Elsewhere they must keep their defaults, so that none is set in vain.
MODES_OF = dict.fromkeys(
    (
        "trade_reply",
        "trade_taken_card",
        "partner_hand_visible",
        "team_layoff",
        "gin_protects",
        "small_gin_bonus",
        "team_gin_bonus",
        "small_gin_for",
    ),
    ("partnership",),
) | {
    "max_trades_per_turn": ("partnership",),
    "layoff": _HEADS_UP,
    "gin_bonus": (*_HEADS_UP, "free_for_all"),
    "big_gin_bonus": _HEADS_UP,
    "cross_chain": ("partnership", "free_for_all"),
    "boast": (*_HEADS_UP, "partnership"),
    "boast_wait_turns": (*_HEADS_UP, "partnership"),
    "boast_points": (*_HEADS_UP, "partnership"),
    "score_sheet": ("duel", "partnership", "two_tables"),
    "deal_order": ("duel", "partnership", "free_for_all"),
    "dealer_rule": ("duel", "partnership", "free_for_all", "two_tables"),
    "rotation": ("rotation",),
    "ffa_scoring": ("free_for_all",),
    "team_score": ("two_tables",),
}
#: Fields that have a meaning only while another field is on.
_NEEDS = {
    "boast_wait_turns": "boast",
    "boast_points": "boast",
    "catch_points": "catch_glass",
    "ace_upcard_gin_only": "limit_from_upcard",
}


def check_combination(rules: Any) -> None:
    """Raise ``ValueError`` if fields of a ``Rules`` value contradict each other.

    The argument is not annotated as ``Rules`` because rules.py imports this module.
    """
    _check_players(rules)
    _check_unused_fields(rules)

    if rules.trade_reply == "mover" and not rules.partner_hand_visible:
        raise ValueError(
            "trade_reply='mover': the mover cannot choose from a hand that partner_hand_visible=False hides from them"
        )
    if rules.stock_size <= rules.stock_floor:
        raise ValueError(
            f"num_players={rules.num_players} with hand_size={rules.hand_size} leaves a stock of {rules.stock_size} "
            f"cards: it must be more than stock_floor={rules.stock_floor}; deal fewer cards or lower stock_floor"
        )


def _check_players(rules: Any) -> None:
    """Raise ``ValueError`` for a number of players, a trade or a kind of lay-off that the mode does not have."""
    low, high = _PLAYERS[rules.mode]
    if not low <= rules.num_players <= high:
        players = f"{low}" if low == high else f"{low} to {high}"
        raise ValueError(f"num_players={rules.num_players}: mode {rules.mode!r} is for {players} players")

    if not rules.has_partners and rules.max_trades_per_turn:
        raise ValueError(
            f"max_trades_per_turn={rules.max_trades_per_turn}: mode {rules.mode!r} has no partners to trade with, use 0"
        )
    if rules.mode not in _HEADS_UP and rules.layoff == "greedy":
        raise ValueError("layoff='greedy': defined for one hand against one only, use 'optimal'")


def _check_unused_fields(rules: Any) -> None:
    """Raise ``ValueError`` for a field that was set but has no meaning under the other fields."""
    defaults = {field.name: field.default for field in dataclasses.fields(rules)}

    # Without partners there is nobody to trade with, though the default is one trade.
    unused_values = defaults | {"max_trades_per_turn": 0}
    for name, modes in MODES_OF.items():
        value = getattr(rules, name)
        if rules.mode not in modes and value != unused_values[name]:
            raise ValueError(
                f"{name}={value!r}: not part of mode {rules.mode!r} (of {', '.join(modes)} only), "
                f"leave it at {unused_values[name]!r}"
            )

    for name, switch_name in _NEEDS.items():
        value = getattr(rules, name)
        if not getattr(rules, switch_name) and value != defaults[name]:
            raise ValueError(
                f"{name}={value!r}: has no meaning without {switch_name}=True, leave it at {defaults[name]!r}"
            )
