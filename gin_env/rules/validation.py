"""Checks of a ``Rules`` value: each field by itself, then fields that contradict each other.

A wrong value raises a ``ValueError`` that names the field, the value and the way out; nothing is repaired.
"""

from __future__ import annotations

import dataclasses
from typing import Any


def check_value(field: dataclasses.Field[Any], value: Any) -> None:
    """Raise ``ValueError`` unless a field may have this value."""
    if "count" in field.metadata:
        low, high = field.metadata["range"]
        count = field.metadata["count"]
        if (
            not isinstance(value, tuple)
            or len(value) != count
            or not all(_is_within(part, low, high) for part in value)
        ):
            raise ValueError(f"{field.name}={value!r}: must be a tuple of {count} ints from {low} to {high}")
    elif "range" in field.metadata:
        low, high = field.metadata["range"]
        if not _is_within(value, low, high) and not (value is None and field.default is None):
            off = " (or None)" if field.default is None else ""
            raise ValueError(f"{field.name}={value!r}: must be an int from {low} to {high}{off}")
    elif "options" in field.metadata:
        if value not in field.metadata["options"]:
            raise ValueError(f"{field.name}={value!r}: must be one of {', '.join(field.metadata['options'])}")
    elif not isinstance(value, bool):
        raise ValueError(f"{field.name}={value!r}: must be True or False")


def _is_within(value: Any, low: int, high: int) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and low <= value <= high


#: How many play in each mode (row 1).
_PLAYERS = {
    "duel": (2, 2),
    "partnership": (4, 4),
    "free_for_all": (3, 5),
    "rotation": (3, 3),
    "two_tables": (4, 4),
}
_HEADS_UP = ("duel", "rotation", "two_tables")  # one hand against one
#: Fields that mean something in some modes only; elsewhere they must stay at their defaults: nobody sets them in vain.
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
#: Fields that mean something only while another one is on.
_NEEDS = {
    "boast_wait_turns": "boast",
    "boast_points": "boast",
    "catch_points": "catch_glass",
    "ace_upcard_gin_only": "limit_from_upcard",
}


def check_combination(rules: Any) -> None:
    """Raise ``ValueError`` for fields of a ``Rules`` value (which stands a floor above) that contradict each other."""
    low, high = _PLAYERS[rules.mode]
    if not low <= rules.num_players <= high:
        seats = f"{low}" if low == high else f"{low} to {high}"
        raise ValueError(f"num_players={rules.num_players}: mode {rules.mode!r} is for {seats} players")
    if not rules.has_partners and rules.max_trades_per_turn:
        raise ValueError(
            f"max_trades_per_turn={rules.max_trades_per_turn}: mode {rules.mode!r} has no partners to trade with, use 0"
        )
    if rules.mode not in _HEADS_UP and rules.layoff == "greedy":
        raise ValueError("layoff='greedy': defined for one hand against one (docs/rules.md row 29b), use 'optimal'")
    defaults = {field.name: field.default for field in dataclasses.fields(rules)}
    idle = defaults | {"max_trades_per_turn": 0}
    for name, modes in MODES_OF.items():
        if rules.mode not in modes and getattr(rules, name) != idle[name]:
            raise ValueError(
                f"{name}={getattr(rules, name)!r}: not part of mode {rules.mode!r} (of {', '.join(modes)} only), "
                f"leave it at {idle[name]!r}"
            )
    for name, switch in _NEEDS.items():
        if not getattr(rules, switch) and getattr(rules, name) != defaults[name]:
            raise ValueError(
                f"{name}={getattr(rules, name)!r}: has no meaning without {switch}=True, leave it at {defaults[name]!r}"
            )
    if rules.trade_reply == "mover" and not rules.partner_hand_visible:
        raise ValueError(
            "trade_reply='mover': the mover cannot pick from a hand that partner_hand_visible=False hides from him"
        )
    if rules.stock_size <= rules.stock_floor:
        raise ValueError(
            f"num_players={rules.num_players} with hand_size={rules.hand_size} leaves a stock of {rules.stock_size} "
            f"cards: it must be more than stock_floor={rules.stock_floor}; deal fewer cards or lower the floor"
        )
