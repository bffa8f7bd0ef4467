"""Rules on a command line: a preset, or the rules of a model, with some fields replaced.

>>> parse_rules("palace_4p", ["knock_limit=5", "box_timing=end", "boast=on", "boast_points=20,15,10,5,0"])
>>> parse_rules("biggin_2p", ["big_gin_bonus=none"])
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from typing import Any

from agents.cli.parsing import UserError
from gin_env.errors import did_you_mean
from gin_env.rules import Rules, resolve_rules

_SWITCH_WORDS = {"true": True, "on": True, "yes": True, "false": False, "off": False, "no": False}
_NONE_WORDS = ("none", "off", "no")
#: No field takes longer numbers; Python itself refuses to parse much longer ones.
_MOST_DIGITS = 18


def parse_rules(base: str | Rules, overrides: Iterable[str] = ()) -> Rules:
    """Return rules with some fields replaced.

    Parameters
    ----------
    base : str or Rules
        A preset, or any other rules.
    overrides : iterable of str
        Fields and their values, like ``"knock_limit=5"``.

    Raises
    ------
    ValueError
        The preset or a field is unknown, a text has no ``=``, or a field does not take its value.
    """
    rules = resolve_rules(base)
    field_names = [field.name for field in dataclasses.fields(Rules)]

    changes: dict[str, Any] = {}
    for text in overrides:
        name, equals, value = text.partition("=")
        if not equals:
            raise UserError(f"rule {text!r}: write a field and its value, for example knock_limit=5")
        if name not in field_names:
            hint = did_you_mean(name, field_names)
            raise UserError(f"unknown rule {name!r}: {hint}expected one of {', '.join(field_names)}")
        changes[name] = _parse_value(name, value)
    return dataclasses.replace(rules, **changes)


def _parse_value(name: str, value: str) -> Any:
    """Return the value of a field in the field's type; text of another type stays text, which ``Rules`` refuses."""
    field = next(field for field in dataclasses.fields(Rules) if field.name == name)
    if "switch" in field.metadata:
        return _SWITCH_WORDS.get(value.lower(), value)
    if "count" in field.metadata and all(map(_is_int, value.split(","))):
        return tuple(_number(name, part) for part in value.split(","))
    if "range" in field.metadata and _is_int(value):
        return _number(name, value)
    if field.default is None and value.lower() in _NONE_WORDS:
        return None
    return value


def _is_int(text: str) -> bool:
    return text.strip().removeprefix("-").isdecimal()


def _number(name: str, text: str) -> int:
    """Return a field's number; raises ``UserError`` for one with too many digits."""
    num_digits = sum(map(str.isdecimal, text))
    if num_digits > _MOST_DIGITS:
        raise UserError(f"rule {name}: a number of {num_digits} digits is too long, at most {_MOST_DIGITS}")
    return int(text)
