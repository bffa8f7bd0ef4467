"""A position as one line of text, written and read back exactly, and why a position is impossible.

>>> text = format_position(engine.state, row=0)
>>> engine.load(parse_position(text))

A line is ``Rules.name``, then ``key=value`` tokens with a space between them, in the order of the arrays of ``State``:
``classic_2p first_upcard=KD stock=2CAS... hands=5H6H.../9S... pile=KD4S phase=draw mover=1 ...``. Sets of cards are
card texts in id order; the stock is written from the top and the pile from the bottom. Values by seat or team are
joined by ``/``, score sheets by ``;``. An array with its blank value (zero, no card, no seat, no team) is left out.
What follows from the rest (the set of the pile's cards, the legal actions) is not written. Each position has exactly
one text, and any other is refused.

The text has all that decides how play continues and ends, and what each seat may know. It does not have the row's
random stream, the log of past events, and the order of the cards that have left the stock.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Sequence
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NO_CARD, NUM_CARDS, bits_of, format_card, format_cards, parse_card, parse_cards
from gin_env.engine import Phase, State
from gin_env.engine.legal import legal_words
from gin_env.engine.state import array_fields
from gin_env.errors import InvalidPosition, did_you_mean, whole_number
from gin_env.notation.position_checks import out_of_range, problems_of
from gin_env.rules import Rules, resolve_rules
from gin_env.scoring import Kind

#: Arrays of the row or of the past, and arrays that follow from the others.
_NOT_WRITTEN = ("stream_key", "deal_number", "log_size", "log")
_DERIVED = ("stock_next", "pile_size", "pile_bits", "upcard", "legal")
_ENUMS: dict[str, type[IntEnum]] = {"phase": Phase, "kind": Kind}
#: What joins the parts of an array, by its dimensions: none, one (seats, teams), two (sheets).
_SEPARATORS = ("", "/", ";")
_NUMBER = re.compile(r"-?(0|[1-9][0-9]{0,18})")


@dataclasses.dataclass(frozen=True)
class _Element:
    """How one value of an array is written and read."""

    write: Callable[[int], str]
    read: Callable[[str], int]


def format_position(state: State, row: int = 0) -> str:
    """Return the text of one row of a state, which is one table: a deal at two tables takes two texts.

    Raises
    ------
    ValueError
        The row does not exist, or its arrays have values that cannot be written, such as a bit beyond the 52 cards.
    """
    if not isinstance(state, State):
        raise ValueError(f"expected a State (engine.state or env.unwrapped.episodes.state), got {state!r}")
    whole_number("row", row, 0, state.num_deals - 1, "row")
    if wrong := out_of_range(state, row):
        raise InvalidPosition(f"row {row} cannot be written: {'; '.join(wrong)}")

    tokens = [_name(state.rules)]
    blank = _blank(state.rules)
    for name in _written(state.rules):
        if name == "first_upcard":
            tokens.append(f"first_upcard={format_card(int(state.first_upcard[row]))}")
        elif name == "stock":
            tokens += _card_tokens("stock", state.deck[row, state.stock_next[row] :])
        elif name == "pile":
            tokens += _card_tokens("pile", state.pile[row, : state.pile_size[row]])
        else:
            value = getattr(state, name)[row]
            if name == "phase" or not np.array_equal(value, getattr(blank, name)[0]):
                tokens.append(f"{name}={_write(value, _element(name))}")
    return " ".join(tokens)


def parse_position(text: str) -> State:
    """Return the state (one row) of a position's text; the exact inverse of :func:`format_position`.

    Raises
    ------
    InvalidPosition
        The text is malformed or not the one text of its position, and the message names the token and what was
        expected; or the position is impossible, and the message gives every reason that :func:`status` finds.
    """
    if isinstance(text, str):
        text = text.removesuffix("\n")  # the text may be a line of a file
    state = _read_text(text)

    # The legal actions follow from a position with values in range, and are needed to check it.
    problems = out_of_range(state, 0)
    if not problems:
        state.legal[:] = legal_words(state, np.arange(1))
        problems = problems_of(state, 0)
    if problems:
        raise InvalidPosition(f"impossible position: {'; '.join(problems)}")

    _check_canonical(text, format_position(state))
    return state


def _check_canonical(text: str, canonical: str) -> None:
    """Raise ``InvalidPosition``, naming the first token that differs, unless a text is the one of its position."""
    if text == canonical:
        return
    pairs = zip(text.split(" "), canonical.split(" "), strict=False)
    given, expected = next((pair for pair in pairs if pair[0] != pair[1]), (text, canonical))
    raise InvalidPosition(f"this position is written differently: expected {expected!r}, got {given!r}")


def status(position: str | State, row: int = 0) -> list[str]:
    """Return why a position, as text or as a row of a state, is impossible; an empty list for a possible one."""
    if isinstance(position, State):
        whole_number("row", row, 0, position.num_deals - 1, "row")
        return out_of_range(position, row) or problems_of(position, row)
    try:
        parse_position(position)
    except InvalidPosition as error:
        return [str(error)]
    return []


def _read_text(text: str) -> State:
    """Return the state that a text describes, possible or not, without its legal actions."""
    if not isinstance(text, str):
        raise InvalidPosition(f"expected the text of a position, got {text!r}")
    name, *tokens = text.split(" ")
    try:
        rules = resolve_rules(name)
    except (ValueError, TypeError, RecursionError, MemoryError) as error:
        raise InvalidPosition(f"a position begins with its rules, for example classic_2p; {error}") from None

    state = State.allocate(rules, 1)
    values = _split(tokens, _written(rules))
    first_upcard, stock, pile = values.pop("first_upcard"), values.pop("stock", ""), values.pop("pile", "")
    for key, value in values.items():
        cells = getattr(state, key)[0]
        try:
            getattr(state, key)[0] = _read(value, cells.shape, cells.dtype, _element(key))
        except ValueError as error:
            raise InvalidPosition(f"{key}={value}: {error}") from None
    _lay_out(state, first_upcard, stock, pile)
    return state


def _split(tokens: Sequence[str], known: Sequence[str]) -> dict[str, str]:
    """Return the values of tokens by key; raises ``InvalidPosition`` unless each key is known, once and in order."""
    values: dict[str, str] = {}
    last_index = -1
    for token in tokens:
        key, equals, value = token.partition("=")
        if not equals or not value:
            raise InvalidPosition(f"{token!r} is not a key=value token: write one space between tokens such as turn=4")
        if key not in known:
            hint = did_you_mean(key, known)
            raise InvalidPosition(f"unknown key {key!r} in {token!r}: {hint}one of {', '.join(known)}")
        if key in values:
            raise InvalidPosition(f"key {key!r} occurs twice: {key}={values[key]} and {token}")
        if known.index(key) < last_index:
            raise InvalidPosition(f"{token!r} is out of order: write it before {known[last_index]}=")
        last_index = known.index(key)
        values[key] = value
    for key in ("first_upcard", "phase"):
        if key not in values:
            raise InvalidPosition(f"{key}= is missing")
    return values


def _lay_out(state: State, first_upcard: str, stock: str, pile: str) -> None:
    """Fill in deck and pile from their texts.

    Cards that have left the stock come in id order at the head of the deck, but the first upcard keeps its place.
    """
    try:
        first, in_stock, in_pile = parse_card(first_upcard), _parse_ids(stock), _parse_ids(pile)
    except ValueError as error:
        raise InvalidPosition(str(error)) from None
    if first in in_stock:
        raise InvalidPosition(f"first_upcard={first_upcard}: this card is also in the stock")
    if len(in_stock) > state.rules.stock_size:
        raise InvalidPosition(f"stock={stock}: expected at most {state.rules.stock_size} cards, got {len(in_stock)}")

    place = state.rules.num_hands * state.rules.hand_size
    head = [card for card in range(NUM_CARDS) if card not in in_stock and card != first]
    state.deck[0] = [*head[:place], first, *head[place:], *in_stock]
    state.stock_next[0] = NUM_CARDS - len(in_stock)

    state.pile[0, : len(in_pile)] = in_pile
    state.pile_size[0] = len(in_pile)
    state.pile_bits[0] = bits_of(in_pile)
    state.upcard[0] = in_pile[-1] if in_pile else NO_CARD


@functools.lru_cache
def _name(rules: Rules) -> str:
    return rules.name


@functools.lru_cache
def _blank(rules: Rules) -> State:
    return State.allocate(rules, 1)


@functools.lru_cache
def _written(rules: Rules) -> tuple[str, ...]:
    """Return the keys of a text in their order."""
    keys: list[str] = []
    for field in array_fields():
        if field.name == "deck":
            keys += ["first_upcard", "stock"]
        elif field.name not in _NOT_WRITTEN + _DERIVED and getattr(_blank(rules), field.name).size:
            keys.append(field.name)
    return tuple(keys)


@functools.cache
def _element(name: str) -> _Element:
    """Return how the values of an array are written, which its name and type decide."""
    if name in _ENUMS:
        members = _ENUMS[name]
        return _Element(lambda value: members(value).name.lower(), lambda text: _parse_member(members, text))
    if name.endswith("_card"):
        return _Element(format_card, parse_card)
    if next(field for field in array_fields() if field.name == name).dtype == "u8":
        return _Element(lambda value: format_cards(value).replace(" ", ""), lambda text: int(bits_of(_parse_ids(text))))
    return _Element(str, _parse_number)


def _write(value: NDArray[Any], element: _Element) -> str:
    if value.ndim == 0:
        return element.write(int(value))
    return _SEPARATORS[value.ndim].join(_write(part, element) for part in value)


def _read(text: str, shape: tuple[int, ...], dtype: np.dtype[Any], element: _Element) -> Any:
    if not shape:
        value = element.read(text)
        limits = np.iinfo(dtype)
        if not limits.min <= value <= limits.max:
            raise ValueError(f"{value} is outside {limits.min} to {limits.max}")
        return value
    separator = _SEPARATORS[len(shape)]
    parts = text.split(separator)
    if len(parts) != shape[0]:
        raise ValueError(f"expected {shape[0]} values joined by {separator!r}, got {len(parts)}")
    return [_read(part, shape[1:], dtype, element) for part in parts]


def _card_tokens(key: str, cards: NDArray[np.uint8]) -> list[str]:
    """Return the token of some cards in their order, none without cards."""
    return [f"{key}={format_cards(cards.tolist()).replace(' ', '')}"] if len(cards) else []


def _parse_ids(text: str) -> list[int]:
    return parse_cards([text[start : start + 2] for start in range(0, len(text), 2)])


def _parse_member(members: type[IntEnum], text: str) -> int:
    by_name = {member.name.lower(): int(member) for member in members}
    if text not in by_name:
        raise ValueError(f"expected one of {', '.join(by_name)}")
    return by_name[text]


def _parse_number(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"expected a whole number, got {text!r}")
    return int(text)
