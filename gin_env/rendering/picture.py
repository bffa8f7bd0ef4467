"""How a table is laid out as a picture: where every card, box and word stands.

From top to bottom: which deal it is and the scores; the stock, the pile and what happened lately; one row for
each hand, melds on bright panels, deadwood dimmed. At a showdown, cards laid off lie on the meld that took
them, marked with who laid them. All pictures of the same rules have the same size, so that videos can be made of them.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from gin_env.cards import NO_CARD, card_ids, format_card, format_cards
from gin_env.cards.melds import melds_of
from gin_env.engine import Phase
from gin_env.rendering.shapes import (
    BACK,
    CARD_HEIGHT,
    CARD_WIDTH,
    LETTER_WIDTH,
    WIDTH,
    Box,
    Card,
    Outline,
    Picture,
    Shape,
    Words,
)
from gin_env.rendering.table import Hand, Table
from gin_env.rendering.words import heading, question, result, told
from gin_env.scoring import Kind

_FELT, _BAND, _ROW, _ROW_OF_MOVER = "#1d5a3c", "#164a31", "#235f42", "#2f7a54"
_INK, _QUIET, _CALL = "#ffffff", "#c9e2d3", "#ffd866"
_MELD, _MELD_EDGE = "#8fc7a3", "#e8f5ec"
#: Colours of teams: safe for colour-blind readers (Okabe and Ito), and told by names as well.
_TEAMS = ("#56b4e9", "#e69f00", "#cc79a7", "#f0e442", "#d9d9d9")
_ARRIVED, _COUNT_INK = "#ffd866", "#10161c"

#: A longer name of rules, with every changed field in it, gives way to its beginning.
_LONGEST_NAME = 24
#: How many letters there are for the cards under the pile's top card and the cards caught.
_BELOW_LETTERS = 75
#: The least that a long name of a player leaves for what stands beside it.
_ROOM_FOR_FACTS = 200
#: What parts facts on one line.
_BETWEEN = " · "

_MARGIN = 10
#: Sizes of words.
_LARGE, _MIDDLE, _SMALL = 20, 18, 16
#: Heights: the two lines on top; the band with stock and pile; the line of cards under the pile's top card.
_HEAD, _LINE, _BAND_HEIGHT, _BELOW = 30, 24, 138, 22
#: A hand's row: the whole of it, where its name stands and where its cards begin.
_ROW_HEIGHT, _NAME_LINE, _CARDS_TOP = 124, 22, 32
#: Between the groups of a hand; around a meld; between neighbours who have room; between cards seen from behind.
_GAP, _PANEL, _STEP, _BACK_STEP = 16, 4, CARD_WIDTH + 3, 22
#: Where the words beside the pile begin, and how many lines there are.
_TALK, _TALK_LINES = 186, 5


class _Group(NamedTuple):
    """Cards that lie together in a row."""

    cards: list[int]
    meld: bool
    dim: bool
    step: float


@dataclass
class _Drawing:
    """Shapes drawn so far, from the top; ``top`` is where the next part begins."""

    shapes: list[Shape] = field(default_factory=list)
    top: float = 0

    def words(self, x: float, y: float, text: str, size: float, colour: str = _INK, anchor: str = "start") -> None:
        """Add a line of words that stays within the picture."""
        room = {"start": WIDTH - _MARGIN - x, "end": x - _MARGIN, "middle": 2 * min(x, WIDTH - x)}[anchor]
        self.shapes.append(Words(x, y, text, size, colour, anchor, room))


def picture_of(tables: Sequence[Table]) -> Picture:
    """Lay out the tables at which one deal is played, one under the other (one, or two in mode ``two_tables``)."""
    drawing = _Drawing()
    height = sum(_table_height(table) for table in tables)
    drawing.shapes.append(Box(0, 0, WIDTH, height, _FELT, radius=0))
    for table in tables:
        _draw_table(drawing, table)
    return Picture(height, tuple(drawing.shapes))


def _table_height(table: Table) -> int:
    return _HEAD + _LINE + _BAND_HEIGHT + _BELOW + _ROW_HEIGHT * table.rules.num_seats + _MARGIN


def _draw_table(drawing: _Drawing, table: Table) -> None:
    end = drawing.top + _table_height(table)
    _draw_head(drawing, table)
    _draw_band(drawing, table)
    first = 0 if table.viewer is None else table.viewer + 1  # a viewer's own hand comes last, nearest to him
    for place in range(table.rules.num_seats):
        _draw_hand(drawing, table, table.hands[(first + place) % table.rules.num_seats])
    drawing.top = end


def _draw_head(drawing: _Drawing, table: Table) -> None:
    rules = table.rules
    number = f"table {table.first_seat // rules.num_seats + 1}: " if rules.num_tables > 1 else ""
    name = rules.name if len(rules.name) <= _LONGEST_NAME else f"{rules.name.split('(')[0]}, changed"
    head = heading(table, name).replace("  ", _BETWEEN)
    drawing.words(_MARGIN, drawing.top + 22, f"{number}{head}", _LARGE)
    scores = [
        f"{'+'.join(f'p{seat}' for seat in rules.seats_of(team))} {table.scores[team]}{_boxes(table, team)}"
        for team in range(rules.num_teams)
    ]
    scores += [f"sheet {number} {'/'.join(map(str, sheet))}" for number, sheet in enumerate(table.sheets, 1)]
    line = f"score  {_BETWEEN.join(scores)}"
    drawing.words(_MARGIN, drawing.top + _HEAD + 15, line, _SMALL, _QUIET)
    drawing.top += _HEAD + _LINE


def _boxes(table: Table, team: int) -> str:
    boxes = table.boxes[team]
    return f" ({boxes} box{'es' * (boxes != 1)})" if boxes else ""


def _draw_band(drawing: _Drawing, table: Table) -> None:
    """Draw stock and pile, what happened lately, and what is asked or how the deal ended."""
    top = drawing.top
    drawing.shapes.append(Box(0, top, WIDTH, _BAND_HEIGHT + _BELOW - 4, _BAND, radius=0))
    cards, caption = top + 28, top + 21
    if table.stock_count:
        drawing.shapes.append(Card(_MARGIN + 6, cards, BACK, place="stock"))
        middle = _MARGIN + 6 + CARD_WIDTH / 2
        drawing.shapes.append(Box(middle - 17, cards + 28, 34, 26, "#ffffff", radius=5))
        drawing.words(middle, cards + 48, str(table.stock_count), _LARGE, _COUNT_INK, "middle")
    drawing.words(_MARGIN + 6, caption, "stock", _SMALL, _QUIET)
    pile = _MARGIN + 6 + CARD_WIDTH + 24
    drawing.words(pile, caption, "pile", _SMALL, _QUIET)
    if table.upcard != NO_CARD:
        fresh = table.events and table.events[-1].verb in ("discard", "knock")
        drawing.shapes.append(Card(pile, cards, table.upcard, place="pile", edge=_ARRIVED if fresh else None))
    drawing.words(_MARGIN + 6, top + _BAND_HEIGHT + 8, _below(table), _SMALL, _QUIET)
    _draw_talk(drawing, table, top)
    drawing.top += _BAND_HEIGHT + _BELOW


def _below(table: Table) -> str:
    """Return what is known to lie under the pile's top card, as far as there is room, and what was caught."""
    if table.upcard == NO_CARD:
        return ""
    each = len("5H ")
    caught, room = card_ids(table.caught), _BELOW_LETTERS // each
    told = f"{_BETWEEN}caught: {_some(caught, room // 2)}" if caught else ""
    if not table.below:
        return f"nothing under {format_card(table.upcard)}{told}"
    return f"under {format_card(table.upcard)}: {_some(table.below, room - len(told) // each)}{told}"


def _some(cards: Sequence[int], most: int) -> str:
    """Return the texts of so many cards at most, and how many more there are."""
    more = f" and {len(cards) - most} more" if len(cards) > most else ""
    return f"{format_cards(cards[:most])}{more}"


def _draw_talk(drawing: _Drawing, table: Table, top: float) -> None:
    """Tell the last events, and what is asked or how the deal ended."""
    over = table.phase is Phase.OVER
    call = result(table) if over else f"{table.name(table.mover)}: {question(table)}"
    lines = textwrap.wrap(call, int((WIDTH - _TALK - _MARGIN) / (_MIDDLE * LETTER_WIDTH)))
    room = _TALK_LINES - len(lines)
    events = [told(table, event) for event in table.events[-room:]] if room > 0 else []
    for place, text in enumerate(events):
        colour = _INK if place == len(events) - 1 else _QUIET
        drawing.words(_TALK, top + 22 + _LINE * place, text, _MIDDLE, colour)
    first = top + _BAND_HEIGHT - 18 - _LINE * (len(lines) - 1)
    for place, text in enumerate(lines):
        drawing.words(_TALK, first + _LINE * place, text, _MIDDLE, _CALL)


def _draw_hand(drawing: _Drawing, table: Table, hand: Hand) -> None:
    top, moves = drawing.top, hand.seat == table.mover and table.phase is not Phase.OVER
    fill, edge = (_ROW_OF_MOVER, _CALL) if moves else (_ROW, None)
    drawing.shapes.append(Box(_MARGIN / 2, top + 2, WIDTH - _MARGIN, _ROW_HEIGHT - 4, fill, radius=8, edge=edge))
    drawing.shapes.append(Box(_MARGIN / 2, top + 2, 8, _ROW_HEIGHT - 4, _TEAMS[hand.team], radius=3))
    left, line = _MARGIN + 12, top + _NAME_LINE
    if moves:
        points = ((left, line - 14), (left + 12, line - 7), (left, line))
        drawing.shapes.append(Outline(points, _CALL))
        left += 18
    notes = ["dealer"] * (hand.seat == table.dealer) + ["boasted"] * hand.boasted
    name = _BETWEEN.join([hand.name, *notes])
    whole = WIDTH - left - 3 * _MARGIN
    room = max(whole - len(name) * _MIDDLE * LETTER_WIDTH, _ROOM_FOR_FACTS)
    facts = _facts(table, hand, int(room / (_SMALL * LETTER_WIDTH)))
    drawing.shapes.append(Words(left, line, name, _MIDDLE, _INK, room=whole - room))
    drawing.shapes.append(Words(WIDTH - 2 * _MARGIN, line, facts, _SMALL, _QUIET, "end", room))
    _draw_cards(drawing, table, hand, top + _CARDS_TOP)
    drawing.top += _ROW_HEIGHT


def _facts(table: Table, hand: Hand, longest: int) -> str:
    """Return what stands beside a hand's name; where the declined cards are too many letters, how many they are."""
    if hand.sits_out:
        return "sits out"
    over = table.phase is Phase.OVER
    declined = f"declined {format_cards(hand.declined)}" if hand.declined and not over else ""
    facts = [  # known cards of a hidden hand lie open in it
        "knocked" if table.kind > Kind.DEAD and hand.seat == table.knocker else "",
        f"laid off {format_cards(hand.laid_bits)}" if hand.laid_bits else "",
        f"{hand.hidden} cards" if hand.hidden else f"deadwood {hand.points}{_together(table, hand)}",
    ]
    if declined and len(_BETWEEN.join(filter(None, [declined, *facts]))) > longest:
        declined = f"declined {hand.declined.bit_count()} cards"
    return _BETWEEN.join(filter(None, [declined, *facts]))


def _together(table: Table, hand: Hand) -> str:
    """Return what partners have together when it counts."""
    if table.kind <= Kind.DEAD or not table.rules.has_partners:
        return ""
    return f", together {sum(table.hands[seat].points for seat in table.rules.seats_of(hand.team))}"


def _draw_cards(drawing: _Drawing, table: Table, hand: Hand, top: float) -> None:
    laid_here = {placed.card: placed for placed in table.placed if placed.onto_seat == hand.seat}
    groups = _groups(table, hand)
    left: float = _MARGIN + 12 + _PANEL
    for group in groups:
        width = group.step * (len(group.cards) - 1) + CARD_WIDTH
        if group.meld:
            panel = left - _PANEL, top - _PANEL, width + 2 * _PANEL, CARD_HEIGHT + 2 * _PANEL
            drawing.shapes.append(Box(*panel, _MELD, radius=8, edge=_MELD_EDGE))
        for place, card in enumerate(group.cards):
            x, seat = left + group.step * place, hand.seat + table.first_seat
            placed, word = laid_here.get(card), hand.arrived.get(card)
            colour = _TEAMS[table.hands[placed.seat].team] if placed else _ARRIVED if word else None
            where = "meld" if table.kind > Kind.DEAD else "hand"
            tag = f"by p{placed.seat + table.first_seat}" if placed else word or ""
            dim = group.dim and not word
            drawing.shapes.append(Card(x, top, card, seat, where, colour, dim, tag, colour or "", group.step))
        left += width + _GAP


def _groups(table: Table, hand: Hand) -> list[_Group]:
    """Return a hand's cards as they lie: melds with what was laid off on them, then the deadwood."""
    if hand.hidden:
        known = card_ids(hand.known)
        backs = [BACK] * (hand.hidden - len(known))
        found = [(known, False, False, float(_STEP)), (backs, False, False, float(_BACK_STEP))]
        return [_Group(*group) for group in found if group[0]]
    groups = []
    for meld in melds_of(hand.set_bits, hand.run_bits):
        laid = [
            placed.card for placed in table.placed if placed.onto_seat == hand.seat and set(placed.meld) >= set(meld)
        ]
        groups.append((sorted([*meld, *laid]), True, False))
    if hand.loose:
        groups.append((card_ids(hand.loose), False, True))
    count = sum(len(cards) for cards, _, _ in groups)
    room = WIDTH - 2 * _MARGIN - 12 - 2 * _PANEL - _GAP * (len(groups) - 1) - CARD_WIDTH * len(groups)
    step = min(float(_STEP), room / max(count - len(groups), 1))
    return [_Group(cards, meld, dim, step) for cards, meld, dim in groups]
