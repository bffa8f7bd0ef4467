"""Deals and games as JSON lines: what was dealt and played, the result, and a checksum of it all.

>>> write_records("games.jsonl.gz", recorder.records)
>>> records, problems = read_records("games.jsonl.gz")

A line is compact ASCII JSON with its keys in a fixed order, so that each record has one text; its last
value is a checksum of everything before it. A line that was changed, cut short or written in another way is
reported with its number and never loaded. ``gin_env.notation.recorder`` makes records,
``gin_env.notation.replay`` plays them; docs/records.md shows both.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import types
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from gin_env.engine import action_layout
from gin_env.engine.dealing import parse_deck
from gin_env.notation.checksums import ReadResult, RecordError, numbered_lines, seal, unseal, write_lines
from gin_env.rules import Rules, resolve_rules

__all__ = [
    "DEAL_FORMAT",
    "GAME_FORMAT",
    "LEAST_PROBABILITY",
    "THOUGHT_DIGITS",
    "DealRecord",
    "GameRecord",
    "ReadResult",
    "RecordError",
    "Standing",
    "TableRecord",
    "Thought",
    "action_texts",
    "from_json",
    "read_records",
    "split_deck",
    "write_records",
]

DEAL_FORMAT, GAME_FORMAT = "gin_env deal 1", "gin_env game 1"
#: What a game's deals share with it; a game's line has it once.
_HEADER = ("version", "rules", "agents", "seeds")
#: Fields that a line has only if they are not empty, so that lines written before they existed stay valid.
_MAY_BE_MISSING = ("thoughts",)

#: Digits after the point of the numbers in a thought: enough to read, and few enough to keep lines short.
THOUGHT_DIGITS = 4
#: Actions that an agent finds less likely are not recorded: a network gives every legal action some probability.
LEAST_PROBABILITY = 0.001


@dataclass(frozen=True)
class Standing:
    """A game between two deals: points and boxes by team, by sheet and team where sheets overlap, and deals played."""

    scores: tuple[int, ...]
    boxes: tuple[int, ...]
    deals_played: int
    sheet_scores: tuple[tuple[int, ...], ...] = ()
    sheet_boxes: tuple[tuple[int, ...], ...] = ()


@dataclass(frozen=True)
class Thought:
    """What an agent thought of a decision.

    Attributes
    ----------
    probabilities : dict of str to float
        How likely it would play each legal action, by the action's text: from likely to unlikely, equal ones by text.
        Rounded to ``THOUGHT_DIGITS`` digits, without those below ``LEAST_PROBABILITY``.
    value : float or None
        What it expects from here to the end of the episode, for the viewer's team; None if it has no such estimate.
        The unit is that of the rewards it was trained with: for ``"scaled"`` net points / 20, for ``"points"`` net
        points, for ``"win"`` from -1 to 1 (``gin_env.episodes.rewards``).

    Raises
    ------
    ValueError
        A probability that is not a float from 0 to 1, or a value that is not a finite float.
    """

    probabilities: dict[str, float]
    value: float | None = None

    def __post_init__(self) -> None:
        for action, probability in self.probabilities.items():
            if not isinstance(probability, float) or not 0.0 <= probability <= 1.0:
                raise ValueError(f"probability of {action!r}: expected a float from 0 to 1, got {probability!r}")
        if self.value is not None and not (isinstance(self.value, float) and math.isfinite(self.value)):
            raise ValueError(f"value={self.value!r}: expected a finite float or None")


@dataclass(frozen=True)
class TableRecord:
    """What happened at one table.

    Attributes
    ----------
    deck : str
        The 52 card texts in dealing order, without spaces.
    dealer : int
        The seat that dealt, counted at this table.
    stream_key, deal_number : int
        The random stream of the table, and the number of the deal in it.
    actions : tuple of str
        What was played, first to last.
    indices : tuple of int
        The same as action indices.
    kind : str
        How the deal ended: ``"knock"``, ``"dead"`` and so on.
    knocker, winner : int or None
        The seat that knocked and the team that won; None for none.
    points, net_points : tuple of int
        By team.
    deadwood : tuple of int
        By seat, after laying off; empty for a dead deal.
    spread : tuple of tuples of str
        By seat, the melds laid down, each as card texts; empty for a dead deal.
    layoffs : tuple of str
        By seat, the cards laid off; empty for a dead deal.
    bonuses : dict
        The bonuses within the points, by name.
    thoughts : tuple of Thought or None
        What the agents thought, one for each action and None where it is not known; empty if no thought is known.
    """

    deck: str
    dealer: int
    stream_key: int
    deal_number: int
    actions: tuple[str, ...]
    indices: tuple[int, ...]
    kind: str
    knocker: int | None
    winner: int | None
    points: tuple[int, ...]
    net_points: tuple[int, ...]
    deadwood: tuple[int, ...] = ()
    spread: tuple[tuple[str, ...], ...] = ()
    layoffs: tuple[str, ...] = ()
    bonuses: dict[str, int] = field(default_factory=dict)
    thoughts: tuple[Thought | None, ...] = ()


@dataclass(frozen=True)
class DealRecord:
    """One deal.

    Attributes
    ----------
    rules : str
        ``Rules.name``.
    tables : tuple of TableRecord
        One, or two in mode ``two_tables``.
    before, after : Standing
        The game around the deal. A deal whose points were not added to a game has the same before and after it.
    points, net_points : tuple of int
        By team, all tables together.
    winner : int or None
        The team that won the deal.
    agents : tuple of str
        Who sat in each seat; empty where unknown.
    seeds : dict
        The seeds in use, by name.
    version : str
        ``gin_env.__version__`` when the record was made.
    """

    rules: str
    tables: tuple[TableRecord, ...]
    before: Standing
    after: Standing
    points: tuple[int, ...]
    net_points: tuple[int, ...]
    winner: int | None
    agents: tuple[str, ...] = ()
    seeds: dict[str, int] = field(default_factory=dict)
    version: str = ""

    def to_json(self) -> str:
        """Return the record's line, without a line break."""
        return _write(DEAL_FORMAT, self, _content(self))


@dataclass(frozen=True)
class GameRecord:
    """One game: its deals, each with the same rules, agents, seeds and version as the game.

    Attributes
    ----------
    bonuses : tuple of int
        What the end of the game paid in addition, by team.
    final_scores : tuple of int
        The scores after the last deal with these bonuses, by team.
    winner : int or None
        The team that won the game.
    truncated : bool
        Whether the game was cut short at ``max_deals``.
    """

    rules: str
    deals: tuple[DealRecord, ...]
    bonuses: tuple[int, ...]
    final_scores: tuple[int, ...]
    winner: int | None
    truncated: bool
    agents: tuple[str, ...] = ()
    seeds: dict[str, int] = field(default_factory=dict)
    version: str = ""

    def to_json(self) -> str:
        """Return the record's line, without a line break."""
        return _write(GAME_FORMAT, self, _content(self) | {"deals": [_content(deal) for deal in self.deals]})


def from_json(line: str) -> DealRecord | GameRecord:
    """Return the record of a line; the exact inverse of ``to_json``.

    Raises
    ------
    RecordError
        The line is anything else: cut short, changed, of another format, or with values that no record has.
    """
    try:
        content = json.loads(unseal(line))
    except RecordError:
        raise
    except (ValueError, RecursionError) as error:
        raise RecordError(f"not JSON: {error}") from None

    form = content.get("format") if isinstance(content, dict) else None
    if form not in (DEAL_FORMAT, GAME_FORMAT):
        raise RecordError(f"format {form!r}: this version reads {DEAL_FORMAT!r} and {GAME_FORMAT!r}")

    record = _read_deal(content) if form == DEAL_FORMAT else _read_game(content)
    if record.to_json() != line:
        raise RecordError("not the text that this record has: write records with to_json()")
    return record


def read_records(path: str | Path) -> ReadResult:
    """Read a file of records, one a line; compressed if the name ends with ``.gz``.

    Lines that are not records are reported by number, and all others are read. Raises ``OSError`` only if the file
    cannot be opened.
    """
    result: ReadResult = ReadResult([], [])
    for number, line in numbered_lines(path, result.problems):
        try:
            result.records.append(from_json(line))
        except RecordError as error:
            result.problems.append((number, str(error)))
    return result


def write_records(
    path: str | Path, records: DealRecord | GameRecord | Iterable[DealRecord | GameRecord], append: bool = False
) -> None:
    """Write records (or one), one a line; compressed if the name ends with ``.gz``.

    A new file replaces an old one in one step, once it is complete; lines to ``append`` are written at once.
    """
    if isinstance(records, DealRecord | GameRecord):
        records = [records]
    records = list(records)
    if wrong := [record for record in records if not isinstance(record, DealRecord | GameRecord)]:
        raise ValueError(f"expected records, as gin_env.Recorder and record_deals make them, got {wrong[0]!r}")
    write_lines(path, (record.to_json() for record in records), append)


def split_deck(deck: str) -> list[int]:
    """Return the card ids of a deck written without spaces; raises ``InvalidPosition`` for anything else."""
    ids: list[int] = parse_deck([deck[start : start + 2] for start in range(0, len(deck), 2)]).tolist()
    return ids


def _write(form: str, record: DealRecord | GameRecord, content: dict[str, Any]) -> str:
    header = {name: getattr(record, name) for name in _HEADER}
    line = {"format": form, **header, **content}
    return seal(json.dumps(line, separators=(",", ":"), allow_nan=False, default=_fields))


def _fields(value: Any) -> dict[str, Any]:
    """Return what JSON holds of a table, a standing or a thought."""
    return {name: part for name, part in vars(value).items() if part or name not in _MAY_BE_MISSING}


def _content(record: DealRecord | GameRecord) -> dict[str, Any]:
    """Return a record's fields without the header."""
    return {name: value for name, value in vars(record).items() if name not in _HEADER}


def _read_deal(content: dict[str, Any]) -> DealRecord:
    deal: DealRecord = _decode(DealRecord, content, "deal")
    _check(deal)
    return deal


def _read_game(content: dict[str, Any]) -> GameRecord:
    """Return the game of a line, whose header is also that of its deals."""
    header = {name: content.get(name) for name in _HEADER}
    deals = content.get("deals")
    if isinstance(deals, list):
        content["deals"] = [deal | header if isinstance(deal, dict) else deal for deal in deals]
    game: GameRecord = _decode(GameRecord, content, "game")
    for deal in game.deals:
        _check(deal)
    return game


def _check(deal: DealRecord) -> None:
    """Raise ``RecordError`` for values that cannot be replayed."""
    try:
        rules = _rules_of(deal.rules)
        if len(deal.tables) != rules.num_tables or len(deal.agents) not in (0, rules.num_players):
            raise ValueError(
                f"expected {rules.num_tables} tables and {rules.num_players} agents (or none) for {deal.rules}, "
                f"got {len(deal.tables)} and {len(deal.agents)}"
            )
        for table in deal.tables:
            split_deck(table.deck)
            if action_texts(rules, table.indices) != table.actions:
                raise ValueError("actions and indices differ")
            _check_thoughts(rules, table)
    except (ValueError, TypeError) as error:
        raise RecordError(str(error)) from None


def _check_thoughts(rules: Rules, table: TableRecord) -> None:
    if len(table.thoughts) not in (0, len(table.actions)):
        raise ValueError(f"expected {len(table.actions)} thoughts, one for each action, got {len(table.thoughts)}")
    known = set(_all_texts(rules)) if table.thoughts else set()
    for number, thought in enumerate(table.thoughts, start=1):
        if thought is not None and (unknown := thought.probabilities.keys() - known):
            raise ValueError(f"the thought at action {number}: {min(unknown)!r} is not an action of {rules.name}")


def action_texts(rules: Rules, indices: Iterable[int]) -> tuple[str, ...]:
    """Return the texts of action indices; raises ``ValueError`` for an index that is not an action."""
    texts = _all_texts(rules)
    return tuple(texts[index] if 0 <= index < len(texts) else action_layout(rules).text(index) for index in indices)


@functools.lru_cache
def _all_texts(rules: Rules) -> tuple[str, ...]:
    layout = action_layout(rules)
    return tuple(layout.text(index) for index in range(layout.size))


@functools.lru_cache
def _rules_of(name: str) -> Rules:
    return resolve_rules(name)


@functools.cache
def _hints(kind: type) -> dict[str, Any]:
    return get_type_hints(kind)


def _decode(kind: Any, value: Any, name: str) -> Any:
    """Return a JSON value as the type of its field; raises ``RecordError``, naming the field, for another type."""
    origin = get_origin(kind)
    if origin is types.UnionType:  # a type, or None
        return None if value is None else _decode(get_args(kind)[0], value, name)
    if dataclasses.is_dataclass(kind) and isinstance(kind, type):
        return _decode_dataclass(kind, value, name)

    if origin is tuple:
        inner = get_args(kind)[0]
        items = _decode(list, value, name)
        if {*map(type, items)} <= {inner}:  # plain values need no decoding one by one
            return tuple(items)
        return tuple(_decode(inner, item, name) for item in items)
    if origin is dict:
        return {key: _decode(get_args(kind)[1], item, key) for key, item in _decode(dict, value, name).items()}

    if kind is not Any and type(value) is not kind:
        raise RecordError(f"{name}={value!r}: expected {kind.__name__}")
    return value


def _decode_dataclass(kind: type, value: Any, name: str) -> Any:
    fields = _decode(dict[str, Any], value, name)
    if missing := [key for key in _hints(kind) if key not in fields and key not in _MAY_BE_MISSING]:
        raise RecordError(f"{name} lacks {', '.join(missing)}")
    decoded = {key: _decode(hint, fields[key], key) for key, hint in _hints(kind).items() if key in fields}
    try:
        return kind(**decoded)
    except ValueError as error:
        raise RecordError(str(error)) from None
