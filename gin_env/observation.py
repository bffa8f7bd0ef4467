"""Features: a ``PlayerView`` written as one float32 vector of named sections.

Three kinds of sections stand one after another: **boards** of 52 zeros and ones (one per card, in id
order), **choices** (one-hot), and **numbers** scaled to about 0..1. ``ObservationEncoder.describe()``
prints the table, and docs/observation.md is made from it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import CARD_BITS, NUM_CARDS, UInt64Array, unpack_cards
from gin_env.melds import deadwood_after_each, least_arrangements
from gin_env.rules import Rules
from gin_env.state import Kind, Phase
from gin_env.view import PlayerView

Float32Array = NDArray[np.float32]


@dataclass(frozen=True, kw_only=True)
class ObservationOptions:
    """What the vector holds beside the plain facts of the view.

    Attributes
    ----------
    derived : bool
        Computed features: deadwood, deadwood after each discard, and the cards in melds, of the own
        and the visible partner's hand. They cost about as much as the rest of the vector again.
    showdown : bool
        The cards laid open, melded and laid off after a knock (zeros before the end of a deal).
    """

    derived: bool = False
    showdown: bool = False

    def __post_init__(self) -> None:
        for option in fields(self):
            value = getattr(self, option.name)
            if not isinstance(value, bool):
                raise ValueError(f"{option.name}={value!r}: must be True or False")


@dataclass(frozen=True)
class Section:
    """A named stretch of the vector."""

    name: str
    width: int
    meaning: str
    start: int = 0


@dataclass(frozen=True)
class _Board:
    """Sections of 52 per card; ``bits`` returns (M,) or, for several boards, (M, len(names))."""

    names: tuple[str, ...]
    meaning: str
    bits: Callable[[PlayerView], UInt64Array]


@dataclass(frozen=True)
class _Choice:
    """A one-hot section; ``value`` returns (M,). Only the last one may exceed ``size``, which leaves zeros."""

    name: str
    size: int
    meaning: str
    value: Callable[[PlayerView], NDArray]


@dataclass(frozen=True)
class _Number:
    """A section of one number or several; ``value`` returns (M,) or (M, width), divided by ``scale``."""

    name: str
    scale: float
    meaning: str
    value: Callable[[PlayerView], NDArray | float]
    width: int = 1


class ObservationEncoder:
    """Writes views as feature vectors of F floats.

    Parameters
    ----------
    rules : Rules
    options : ObservationOptions, optional

    Attributes
    ----------
    size : int
        F, the vector's length.
    sections : tuple of Section
        Name, start, width and meaning of every stretch, in order.
    """

    def __init__(self, rules: Rules, options: ObservationOptions | None = None) -> None:
        self.rules = rules
        self.options = options or ObservationOptions()
        self._boards = _board_sections(rules, self.options)
        self._choices = _choice_sections(rules)
        self._numbers = _number_sections(rules)
        rule_numbers = _rule_sections(rules)
        widths = [(name, NUM_CARDS, board.meaning) for board in self._boards for name in board.names]
        widths += [(choice.name, choice.size, choice.meaning) for choice in self._choices]
        widths += [(number.name, number.width, number.meaning) for number in self._numbers]
        widths += [(name, 1, meaning) for name, _, meaning in rule_numbers]
        if self.options.derived:
            widths += [(name, width, meaning) for name, width, meaning in _derived_sections(rules)]
        starts = np.cumsum([0] + [width for _, width, _ in widths]).tolist()
        self.sections = tuple(
            Section(name, width, meaning, start) for (name, width, meaning), start in zip(widths, starts, strict=False)
        )
        self.size = starts[-1]
        self._num_boards = sum(len(board.names) for board in self._boards)
        self._choice_starts = np.array([self.section(choice.name).start for choice in self._choices])
        self._choice_sizes = np.array([choice.size for choice in self._choices])
        self._number_start = self.section(self._numbers[0].name).start
        self._number_width = sum(number.width for number in self._numbers)
        self._rule_start = self._number_start + self._number_width
        self._rule_values = np.array([value for _, value, _ in rule_numbers], dtype=np.float32)
        self._board_columns = _columns([len(board.names) for board in self._boards])
        self._number_columns = _columns([number.width for number in self._numbers])
        self._factors = np.concatenate([np.full(number.width, 1 / number.scale) for number in self._numbers])

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
        out[:, :boards_end] = unpack_cards(self._stack_boards(view)).reshape(count, boards_end)
        out[:, boards_end : self._number_start] = 0.0
        self._write_choices(view, out)
        self._write_numbers(view, out)
        if self.options.derived:
            _write_derived(view, out[:, self._rule_start + len(self._rule_values) :])
        return out

    def _stack_boards(self, view: PlayerView) -> UInt64Array:
        stacked = np.empty((len(view), self._num_boards), dtype=np.uint64)
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
        values *= self._factors
        out[:, self._number_start : self._rule_start] = values
        out[:, self._rule_start : self._rule_start + len(self._rule_values)] = self._rule_values


def _seat_names(prefix: str, rules: Rules) -> tuple[str, ...]:
    names = ("own", "left", "partner", "right") if rules.has_partners else ("own", "opponent")
    return tuple(f"{prefix}_{name}" for name in names)


def _board_sections(rules: Rules, options: ObservationOptions) -> list[_Board]:
    boards = [_Board(("hand",), "the viewer's cards", lambda view: view.hand_bits)]
    if rules.has_partners and rules.partner_hand_visible:
        boards.append(_Board(("partner_hand",), "the partner's cards", lambda view: view.partner_bits))
    elif rules.has_partners:
        boards.append(
            _Board(("gave",), "cards given to the partner, who still holds them", lambda view: view.gave_bits)
        )
    boards += [
        _Board(("upcard",), "top card of the discard pile", lambda view: CARD_BITS[view.upcard]),
        _Board(("pile",), "all cards of the discard pile", lambda view: view.pile_bits),
        _Board(
            ("taken",),
            "card taken from the pile in this turn, not to be thrown",
            lambda view: CARD_BITS[view.taken_card],
        ),
        _Board(("drawn",), "card drawn or taken in this turn by the own side", lambda view: CARD_BITS[view.drawn_card]),
    ]
    if rules.trades:
        boards.append(_Board(("offered",), "card on offer within the team", lambda view: CARD_BITS[view.offered_card]))
    boards += [
        _Board(_seat_names("known", rules), "cards publicly known to lie with that seat", lambda view: view.known_bits),
        _Board(_seat_names("discarded", rules), "cards thrown by that seat", lambda view: view.discarded_bits),
        _Board(_seat_names("declined", rules), "upcards declined by that seat", lambda view: view.declined_bits),
    ]
    if rules.trades:
        boards.append(
            _Board(
                ("team_known_own", "team_known_other"),
                "cards publicly known to lie with one of that team's seats",
                lambda view: view.team_known_bits,
            )
        )
    if options.showdown:
        boards += [
            _Board(_seat_names("shown", rules), "hand laid open by that seat", lambda view: view.shown_bits),
            _Board(_seat_names("in_sets", rules), "its cards in sets", lambda view: view.set_bits),
            _Board(_seat_names("in_runs", rules), "its cards in runs", lambda view: view.run_bits),
            _Board(_seat_names("laid_off", rules), "its cards laid off", lambda view: view.laid_bits),
        ]
    return boards


def _choice_sections(rules: Rules) -> list[_Choice]:
    players = rules.num_players
    phases = " ".join(phase.name.lower() for phase in Phase)
    kinds = " ".join(kind.name.lower() for kind in Kind)
    return [
        _Choice("phase", len(Phase), f"what the mover is asked: {phases}", lambda view: view.phase),
        _Choice("mover", players, "who decides now, counted from the viewer", lambda view: view.mover),
        _Choice("turn_seat", players, "whose turn it is, counted from the viewer", lambda view: view.turn_seat),
        _Choice("dealer", players, "who dealt, counted from the viewer", lambda view: view.dealer),
        _Choice("kind", len(Kind), f"how the deal ended: {kinds}", lambda view: view.kind),
        _Choice(
            "knocker", players, "who knocked, counted from the viewer; zeros for nobody", lambda view: view.knocker
        ),
    ]


def _number_sections(rules: Rules) -> list[_Number]:
    return [
        _Number("stock_count", rules.stock_size, "cards left in the stock / all at the start", lambda v: v.stock_count),
        _Number("turn", rules.max_turns, "turns completed / max_turns", lambda view: view.turn),
        _Number(
            "offers_left", rules.num_players, "seats still to be offered the upcard / seats", lambda v: v.offers_left
        ),
        _Number("trades", max(rules.max_trades_per_turn, 1), "trades in this turn / most allowed", lambda v: v.trades),
        _Number("points", 100, "points of the deal, own and other team / 100", lambda view: view.points, 2),
        _Number("scores", rules.target, "game score, own and other team / target", lambda view: view.scores, 2),
        _Number("boxes", 10, "deals won in the game, own and other team / 10", lambda view: view.boxes, 2),
        _Number(
            "deals_played", rules.max_deals, "deals of the game so far / max_deals", lambda view: view.deals_played
        ),
    ]


def _rule_sections(rules: Rules) -> list[tuple[str, float, str]]:
    """Return name, value and meaning of the rules' own numbers, which never change within an environment."""
    gins = ("small_gin_bonus", "team_gin_bonus") if rules.has_partners else ("gin_bonus",)
    scales = {"knock_limit": 10} | dict.fromkeys((*gins, "undercut_bonus", "box_bonus"), 100)
    return [
        (f"rule_{name}", getattr(rules, name) / scale, f"the rule {name} / {scale}") for name, scale in scales.items()
    ]


def _columns(widths: list[int]) -> list[int | slice]:
    """Return where sections of these widths stand side by side: one column as an int, several as a slice."""
    ends = np.cumsum(widths).tolist()
    return [end - 1 if width == 1 else slice(end - width, end) for width, end in zip(widths, ends, strict=True)]


def _derived_sections(rules: Rules) -> list[tuple[str, int, str]]:
    sections = [
        ("deadwood", 1, "least deadwood of the own hand / 100"),
        ("saved_by_discard", NUM_CARDS, "(100 - deadwood left after throwing that card) / 100; 0 for other cards"),
        ("melded", NUM_CARDS, "own cards in melds of the first least-deadwood arrangement"),
    ]
    if rules.has_partners and rules.partner_hand_visible:
        sections += [
            ("partner_deadwood", 1, "least deadwood of the partner's hand / 100"),
            ("partner_melded", NUM_CARDS, "the partner's cards in melds"),
        ]
    return sections


def _write_derived(view: PlayerView, out: Float32Array) -> None:
    rows, cards, points = deadwood_after_each(view.hand_bits, view.hand_bits)
    out[:, 1 : 1 + NUM_CARDS] = 0.0
    out[rows, 1 + cards] = (100.0 - points) / 100.0
    hands = [(0, 1 + NUM_CARDS, view.hand_bits)]
    if view.rules.has_partners and view.rules.partner_hand_visible:
        hands.append((1 + 2 * NUM_CARDS, 2 + 2 * NUM_CARDS, view.partner_bits))
    for deadwood_column, melded_column, bits in hands:
        arrangements = least_arrangements(bits)
        first = np.searchsorted(arrangements.rows, np.arange(len(view)))
        melded = arrangements.set_bits[first] | arrangements.run_bits[first]
        out[:, deadwood_column] = arrangements.deadwood[first] / 100.0
        out[:, melded_column : melded_column + NUM_CARDS] = unpack_cards(melded)
