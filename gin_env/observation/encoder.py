"""A ``PlayerView`` as one float32 vector of named sections; features.py lists the sections.

``ObservationEncoder.describe()`` returns them as a table, from which docs/observation.md is made.
"""

from __future__ import annotations

from typing import cast

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
from gin_env.observation.sections import Section, SectionLayout, SectionWriter
from gin_env.observation.view import PlayerView, RowView, batch_of_one
from gin_env.rules import Rules, resolve_rules

__all__ = ["ObservationEncoder", "ObservationOptions", "Section"]

Float32Array = NDArray[np.float32]


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
        self._planes = card_plane_sections(rules, self.options)
        self._one_hots = one_hot_sections(rules)
        self._scalars = scalar_sections(rules)
        rule_numbers = rule_sections(rules)

        widths = [(name, NUM_CARDS, planes.meaning) for planes in self._planes for name in planes.names]
        widths += [(one_hot.name, one_hot.size, one_hot.meaning) for one_hot in self._one_hots]
        widths += [(scalar.name, scalar.width, scalar.meaning) for scalar in self._scalars]
        widths += [(name, 1, meaning) for name, _, meaning in rule_numbers]
        if self.options.derived:
            widths += derived_sections(rules)
        if self.options.outlook:
            widths += lookahead_sections(rules)
        self._layout = SectionLayout(widths)
        self.sections, self.size = self._layout.sections, self._layout.size

        # Planes, one-hot codes and scalars are collected in one array each and written at once, which is faster.
        self._plane_layout = SectionLayout([(planes.name, len(planes.names), "") for planes in self._planes])
        self._code_layout = SectionLayout([(one_hot.name, 1, "") for one_hot in self._one_hots])
        self._scalar_layout = SectionLayout([(scalar.name, scalar.width, "") for scalar in self._scalars])
        self._starts = {section.name: section.start for section in self.sections}
        self._one_hot_starts = np.array([self._starts[one_hot.name] for one_hot in self._one_hots])
        self._one_hot_sizes = np.array([one_hot.size for one_hot in self._one_hots])
        self._scales = np.concatenate([np.full(scalar.width, float(scalar.scale)) for scalar in self._scalars])
        self._planes_end = self._plane_layout.size * NUM_CARDS
        scalars_start = self._starts[self._scalars[0].name]
        self._scalar_columns = slice(scalars_start, scalars_start + self._scalar_layout.size)

        #: (F,) what every vector starts from: the rules' numbers, and zeros.
        self._template = np.zeros(self.size, dtype=np.float32)
        template = self._layout.writer(self._template[None])
        for name, value, _ in rule_numbers:
            template[name] = np.array([value])

    def __reduce__(self) -> tuple[type[ObservationEncoder], tuple[Rules, ObservationOptions]]:
        """Copy and pickle by the arguments: sections are functions."""
        return type(self), (self.rules, self.options)

    def section(self, name: str) -> Section:
        """Return a section by name; raises ``KeyError`` naming those that exist."""
        for section in self.sections:
            if section.name == name:
                return section
        raise KeyError(f"no section {name!r}: expected one of {', '.join(section.name for section in self.sections)}")

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
            raise ValueError(f"out: expected float32 {(count, self.size)}, got {out.dtype} {out.shape}")

        self._write_planes(view, out)
        out[:, self._planes_end :] = self._template[self._planes_end :]
        self._write_one_hots(view, out)
        self._write_scalars(view, out)

        features = self._layout.writer(out)
        if self.options.derived:
            _write_derived(self.rules, view.hand_bits, view.partner_bits, features)
        if self.options.outlook:
            write_lookahead(view, features)
        return out

    def encode_single(self, view: RowView) -> Float32Array:
        """Return the features (F,) of a ``single_view``: the same sections, from Python numbers."""
        # The sources read a row as they read a batch: a RowView has the same names (see view.py).
        row = cast(PlayerView, view)
        out = self._template.copy()
        bits: list[int] = []
        for planes in self._planes:
            values = planes.source(row)
            if planes.owners:
                bits.extend(values)
            else:
                bits.append(cast(int, values))
        out[: self._planes_end] = unpack_cards(np.array(bits, dtype=np.uint64)).reshape(-1)

        for one_hot in self._one_hots:
            code = one_hot.source(row)
            if code < one_hot.size:
                out[self._starts[one_hot.name] + code] = 1.0

        for scalar in self._scalars:
            value, start = scalar.source(row), self._starts[scalar.name]
            if scalar.width == 1:
                out[start] = value / scalar.scale
            else:
                out[start : start + scalar.width] = [part / scalar.scale for part in value]

        if self.options.derived or self.options.outlook:
            features = self._layout.writer(out[None])
            if self.options.derived:
                hand, partner = (np.array([cards], dtype=np.uint64) for cards in (view.hand_bits, view.partner_bits))
                _write_derived(self.rules, hand, partner, features)
            if self.options.outlook:
                write_lookahead(batch_of_one(view), features)
        return out

    def _write_planes(self, view: PlayerView, out: Float32Array) -> None:
        """Write all card planes."""
        count, num_planes = len(view), self._plane_layout.size
        bits = np.empty((count, num_planes), dtype="<u8")
        writer = self._plane_layout.writer(bits)
        for planes in self._planes:
            writer[planes.name] = planes.source(view)

        # All 64 bits of each plane, then 52 of them: unpacking just 52 takes twice as long.
        unpacked = np.unpackbits(bits.view(np.uint8), axis=1, bitorder="little")
        target = out[:, : self._planes_end].reshape(count, num_planes, NUM_CARDS)
        target[:] = unpacked.reshape(count, num_planes, 64)[:, :, :NUM_CARDS]

    def _write_one_hots(self, view: PlayerView, out: Float32Array) -> None:
        """Write the one-hot sections; the scalars must be written afterwards."""
        codes = np.empty((len(view), len(self._one_hots)), dtype=np.intp)
        writer = self._code_layout.writer(codes)
        for one_hot in self._one_hots:
            writer[one_hot.name] = one_hot.source(view)

        # "Nobody" in the last one, the knocker, falls on the first scalar, which is written next.
        codes = np.minimum(codes, self._one_hot_sizes)
        out[np.arange(len(view))[:, None], codes + self._one_hot_starts] = 1.0

    def _write_scalars(self, view: PlayerView, out: Float32Array) -> None:
        """Write the scalars, each divided by its scale."""
        values = np.empty((len(view), self._scalar_layout.size))
        writer = self._scalar_layout.writer(values)
        for scalar in self._scalars:
            writer[scalar.name] = scalar.source(view)
        values /= self._scales
        out[:, self._scalar_columns] = values


def _write_derived(rules: Rules, hands: UInt64Array, partners: UInt64Array, features: SectionWriter) -> None:
    """Write the computed features of the viewers' hands and their partners' (M,) into sections that hold zeros."""
    rows, cards, points = deadwood_after_each(hands, hands)
    features["saved_by_discard"][rows, cards] = (DEADWOOD_SCALE - points) / DEADWOOD_SCALE

    own = [("deadwood", "melded", hands)]
    partner = [("partner_deadwood", "partner_melded", partners)] if rules.sees_partner else []
    for deadwood_name, melded_name, bits in own + partner:
        melds = first_arrangements(bits)
        features[deadwood_name] = melds.deadwood / DEADWOOD_SCALE
        features[melded_name] = unpack_cards(melds.set_bits | melds.run_bits)
