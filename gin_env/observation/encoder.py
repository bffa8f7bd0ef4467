"""Features: a ``PlayerView`` written as one float32 vector of named sections (``sections.py`` names them).

``ObservationEncoder.describe()`` prints the table, and docs/observation.md is made from it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NUM_CARDS, UInt64Array, unpack_cards
from gin_env.cards.melds import deadwood_after_each, first_arrangements
from gin_env.observation.features import (
    DEADWOOD_SCALE,
    ObservationOptions,
    card_plane_sections,
    derived_sections,
    one_hot_sections,
    rule_sections,
    scalar_sections,
)
from gin_env.observation.lookahead_features import lookahead_sections, write_lookahead
from gin_env.observation.view import PlayerView, batch_of_one
from gin_env.rules import Rules, resolve_rules

__all__ = ["ObservationEncoder", "ObservationOptions", "Section"]

Float32Array = NDArray[np.float32]


@dataclass(frozen=True)
class Section:
    """A named stretch of the vector."""

    name: str
    width: int
    meaning: str
    start: int = 0


def side_by_side(widths: Sequence[tuple[str, int, str]]) -> tuple[tuple[Section, ...], int]:
    """Return sections of some names, widths and meanings, one after another, and the width of all."""
    starts = np.cumsum([0, *(width for _, width, _ in widths)]).tolist()
    sections = tuple(
        Section(name, width, meaning, start) for (name, width, meaning), start in zip(widths, starts[:-1], strict=True)
    )
    return sections, starts[-1]


class ObservationEncoder:
    """Writes views as feature vectors of F floats.

    Parameters
    ----------
    rules : Rules or str
    options : ObservationOptions, optional

    Attributes
    ----------
    size : int
        F, the vector's length.
    sections : tuple of Section
        Name, start, width and meaning of every stretch, in order.
    """

    def __init__(self, rules: Rules | str, options: ObservationOptions | None = None) -> None:
        self.rules = rules = resolve_rules(rules)
        self.options = options or ObservationOptions()
        self._boards = card_plane_sections(rules, self.options)
        self._choices = one_hot_sections(rules)
        self._numbers = scalar_sections(rules)
        rule_numbers = rule_sections(rules)
        widths = [(name, NUM_CARDS, board.meaning) for board in self._boards for name in board.names]
        widths += [(choice.name, choice.size, choice.meaning) for choice in self._choices]
        widths += [(number.name, number.width, number.meaning) for number in self._numbers]
        widths += [(name, 1, meaning) for name, _, meaning in rule_numbers]
        if self.options.derived:
            widths += [(name, width, meaning) for name, width, meaning in derived_sections(rules)]
        self._lookahead_width = 0
        if self.options.outlook:
            looks = lookahead_sections(rules)
            self._lookahead_width = sum(width for _, width, _ in looks)
            widths += looks
        self.sections, self.size = side_by_side(widths)
        self._num_boards = sum(len(board.names) for board in self._boards)
        self._starts = {section.name: section.start for section in self.sections}
        self._choice_starts = np.array([self._starts[choice.name] for choice in self._choices])
        self._choice_sizes = np.array([choice.size for choice in self._choices])
        self._number_start = self._starts[self._numbers[0].name]
        self._number_width = sum(number.width for number in self._numbers)
        self._rule_start = self._number_start + self._number_width
        self._derived_start = self._rule_start + len(rule_numbers)
        #: (F,) what every vector holds: the rules' numbers, and zeros.
        self._template = np.zeros(self.size, dtype=np.float32)
        self._template[self._rule_start : self._derived_start] = [value for _, value, _ in rule_numbers]
        self._board_columns = _columns([len(board.names) for board in self._boards])
        self._number_columns = _columns([number.width for number in self._numbers])
        self._scales = np.concatenate([np.full(number.width, float(number.scale)) for number in self._numbers])

    def __reduce__(self) -> tuple[type[ObservationEncoder], tuple[Rules, ObservationOptions]]:
        """Copy and pickle by the arguments: sections are functions."""
        return type(self), (self.rules, self.options)

    def section(self, name: str) -> Section:
        """Return a section by name; raises ``KeyError`` naming those that exist."""
        for section in self.sections:
            if section.name == name:
                return section
        raise KeyError(f"no section {name!r}; there are {', '.join(section.name for section in self.sections)}")

    def describe(self) -> str:
        """Return the sections as a Markdown table."""
        lines = ["| index | section | meaning |", "|---|---|---|"]
        for section in self.sections:
            last = section.start + section.width - 1
            span = f"{section.start}" if section.width == 1 else f"{section.start}-{last}"
            lines.append(f"| {span} | `{section.name}` | {section.meaning} |")
        return "\n".join(lines)

    def encode(self, view: PlayerView, out: Float32Array | None = None) -> Float32Array:
        """Return the features of a view, shape (M, F) float32, written into ``out`` where given."""
        count = len(view)
        if out is None:
            out = np.empty((count, self.size), dtype=np.float32)
        elif out.shape != (count, self.size) or out.dtype != np.float32:
            raise ValueError(f"out is {out.dtype} {out.shape}: float32 {(count, self.size)} is needed")
        boards_end = self._num_boards * NUM_CARDS
        bits = np.unpackbits(self._stack_boards(view).view(np.uint8), axis=1, bitorder="little")
        # All 64 bits of each board, then 52 of them: unpacking just 52 takes twice as long.
        boards = out[:, :boards_end].reshape(count, self._num_boards, NUM_CARDS)
        boards[:] = bits.reshape(count, self._num_boards, 64)[:, :, :NUM_CARDS]
        out[:, boards_end : self._derived_start] = self._template[boards_end : self._derived_start]
        self._write_choices(view, out)
        self._write_numbers(view, out)
        if self.options.derived:
            _write_derived(self.rules, view.hand_bits, view.partner_bits, out[:, self._derived_start :])
        if self.options.outlook:
            write_lookahead(view, out[:, self.size - self._lookahead_width :])
        return out

    def encode_single(self, view: SimpleNamespace) -> Float32Array:
        """Return the features (F,) of a ``single_view``: the same sections, from Python numbers."""
        boards: list[int] = []
        for board in self._boards:
            bits = board.bits(view)
            if len(board.names) == 1:
                boards.append(bits)
            else:
                boards.extend(bits)
        out = self._template.copy()
        boards_end = self._num_boards * NUM_CARDS
        out[:boards_end] = unpack_cards(np.array(boards, dtype=np.uint64)).reshape(-1)
        for choice in self._choices:
            value = choice.value(view)
            if value < choice.size:
                out[self._starts[choice.name] + value] = 1.0
        for number in self._numbers:
            value, start = number.value(view), self._starts[number.name]
            if number.width == 1:
                out[start] = value / number.scale
            else:
                out[start : start + number.width] = [part / number.scale for part in value]
        if self.options.derived:
            hand, partner = (np.array([bits], dtype=np.uint64) for bits in (view.hand_bits, view.partner_bits))
            _write_derived(self.rules, hand, partner, out[None, self._derived_start :])
        if self.options.outlook:
            write_lookahead(batch_of_one(view), out[None, self.size - self._lookahead_width :])
        return out

    def _stack_boards(self, view: PlayerView) -> UInt64Array:
        stacked = np.empty((len(view), self._num_boards), dtype="<u8")
        for board, columns in zip(self._boards, self._board_columns, strict=True):
            stacked[:, columns] = board.bits(view)
        return stacked

    def _write_choices(self, view: PlayerView, out: Float32Array) -> None:
        values = np.empty((len(view), len(self._choices)), dtype=np.intp)
        for column, choice in enumerate(self._choices):
            values[:, column] = choice.value(view)
        # "Nobody" in the last choice, the knocker, falls on the first number, which is written next.
        values = np.minimum(values, self._choice_sizes)
        out[np.arange(len(view))[:, None], values + self._choice_starts] = 1.0

    def _write_numbers(self, view: PlayerView, out: Float32Array) -> None:
        values = np.empty((len(view), self._number_width))
        for number, columns in zip(self._numbers, self._number_columns, strict=True):
            values[:, columns] = number.value(view)
        values /= self._scales
        out[:, self._number_start : self._rule_start] = values


def _columns(widths: list[int]) -> list[int | slice]:
    """Return where sections of these widths stand side by side: one column as an int, several as a slice."""
    ends = np.cumsum(widths).tolist()
    return [end - 1 if width == 1 else slice(end - width, end) for width, end in zip(widths, ends, strict=True)]


def _write_derived(rules: Rules, hands: UInt64Array, partners: UInt64Array, out: Float32Array) -> None:
    """Write the computed features of the viewers' hands and their partners' (M,) into ``out`` (M, ...)."""
    rows, cards, points = deadwood_after_each(hands, hands)
    out[:, 1 : 1 + NUM_CARDS] = 0.0
    out[rows, 1 + cards] = (DEADWOOD_SCALE - points) / DEADWOOD_SCALE
    parts = [(0, 1 + NUM_CARDS, hands)]
    if rules.sees_partner:
        parts.append((1 + 2 * NUM_CARDS, 2 + 2 * NUM_CARDS, partners))
    for deadwood_column, melded_column, bits in parts:
        laid = first_arrangements(bits)
        out[:, deadwood_column] = laid.deadwood / DEADWOOD_SCALE
        out[:, melded_column : melded_column + NUM_CARDS] = unpack_cards(laid.set_bits | laid.run_bits)
