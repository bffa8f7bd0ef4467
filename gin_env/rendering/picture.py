"""The layout of a table as a picture: the place of every card, box and line of text.

From top to bottom: which deal it is and the scores; the stock, the discard pile and the last events; one row for each
hand, with melds on bright panels and the deadwood dimmed. At a showdown, laid-off cards are shown on the meld that took
them, tagged with the seat that laid them off. All pictures of the same rules have the same size, so that they can be
the frames of a video.
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
    Text,
)
from gin_env.rendering.table import Hand, Table
from gin_env.rendering.words import event_text, heading, question, result
from gin_env.scoring import Kind

_FELT, _BAND, _ROW, _ROW_OF_MOVER = "#1d5a3c", "#164a31", "#235f42", "#2f7a54"
_INK, _QUIET, _CALL = "#ffffff", "#c9e2d3", "#ffd866"
_MELD, _MELD_EDGE = "#8fc7a3", "#e8f5ec"
#: Colours of the teams, safe for colour-blind readers (Okabe and Ito); the names say the same without colour.
_TEAMS = ("#56b4e9", "#e69f00", "#cc79a7", "#f0e442", "#d9d9d9")
_ARRIVED, _COUNT_BOX, _COUNT_INK = "#ffd866", "#ffffff", "#10161c"

#: Rules with a longer name (it lists every changed field) are shown as the preset, "changed".
_LONGEST_NAME = 24
#: The number of letters for the cards under the upcard and the caught cards.
_BELOW_LETTERS = 75
#: The least width that a player's name leaves for the facts next to it.
_LEAST_FACTS_WIDTH = 200
_SEPARATOR = " · "

_MARGIN = 10
#: Sizes of text.
_LARGE, _MIDDLE, _SMALL = 20, 18, 16
#: Heights: the heading and the line of scores; the band with stock and pile; the line of cards under the upcard.
_HEAD, _LINE, _BAND_HEIGHT, _BELOW = 30, 24, 138, 22
#: A hand's row: its height, the line of its name, the top of its cards.
_ROW_HEIGHT, _NAME_LINE, _CARDS_TOP = 124, 22, 32
#: Gaps: between groups of a hand; around a meld; from card to card where there is room; from back to back.
_GAP, _PANEL, _STEP, _BACK_STEP = 16, 4, CARD_WIDTH + 3, 22
#: The left edge of the text next to the pile, and how many lines it may have.
_EVENTS_LEFT, _EVENT_LINES = 186, 5


class _Group(NamedTuple):
    """Cards drawn together in a hand's row."""

    cards: list[int]
    is_meld: bool
    dim: bool
    step: float  #: from one card's left edge to the next one's


@dataclass
class _Drawing:
    """The shapes drawn so far, from the top; ``top`` is where the next part begins."""

    shapes: list[Shape] = field(default_factory=list)
    top: float = 0

    def text(self, x: float, y: float, text: str, size: float, colour: str = _INK, anchor: str = "start") -> None:
        """Add a line of text that stays within the picture."""
        room = {"start": WIDTH - _MARGIN - x, "end": x - _MARGIN, "middle": 2 * min(x, WIDTH - x)}[anchor]
        self.shapes.append(Text(x, y, text, size, colour, anchor, room))


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
    for hand in _hands_from_top(table):
        _draw_hand(drawing, table, hand)
    drawing.top = end


def _hands_from_top(table: Table) -> list[Hand]:
    """Return the hands in the order of their rows: a viewer's own hand is at the bottom, nearest to the viewer."""
    first = 0 if table.viewer is None else table.viewer + 1
    return [table.hands[(first + place) % len(table.hands)] for place in range(len(table.hands))]


def _draw_head(drawing: _Drawing, table: Table) -> None:
    rules = table.rules
    table_number = f"table {table.first_seat // rules.num_seats + 1}: " if rules.num_tables > 1 else ""
    name = rules.name if len(rules.name) <= _LONGEST_NAME else f"{rules.name.split('(')[0]}, changed"
    head = heading(table, name).replace("  ", _SEPARATOR)
    drawing.text(_MARGIN, drawing.top + 22, f"{table_number}{head}", _LARGE)

    scores = [_score(table, team) for team in range(rules.num_teams)]
    scores += [f"sheet {number} {'/'.join(map(str, sheet))}" for number, sheet in enumerate(table.sheets, 1)]
    drawing.text(_MARGIN, drawing.top + _HEAD + 15, f"score  {_SEPARATOR.join(scores)}", _SMALL, _QUIET)
    drawing.top += _HEAD + _LINE


def _score(table: Table, team: int) -> str:
    """Return a team's score in the game: ``"p0+p2 45 (2 boxes)"``."""
    seats, boxes = "+".join(f"p{seat}" for seat in table.rules.seats_of(team)), table.boxes[team]
    boxes_text = f" ({boxes} box{'es' * (boxes != 1)})" if boxes else ""
    return f"{seats} {table.scores[team]}{boxes_text}"


def _draw_band(drawing: _Drawing, table: Table) -> None:
    """Draw the stock and the pile, the last events, and what the mover has to decide or how the deal ended."""
    top = drawing.top
    drawing.shapes.append(Box(0, top, WIDTH, _BAND_HEIGHT + _BELOW - 4, _BAND, radius=0))
    _draw_stock(drawing, table, _MARGIN + 6, top)
    _draw_pile(drawing, table, _MARGIN + 6 + CARD_WIDTH + 24, top)
    drawing.text(_MARGIN + 6, top + _BAND_HEIGHT + 8, _below(table), _SMALL, _QUIET)
    _draw_events(drawing, table, top)
    drawing.top += _BAND_HEIGHT + _BELOW


def _draw_stock(drawing: _Drawing, table: Table, left: float, top: float) -> None:
    """Draw the stock as one card with the number of cards on it."""
    if table.stock_count:
        cards_top, middle = top + 28, left + CARD_WIDTH / 2
        drawing.shapes.append(Card(left, cards_top, BACK, place="stock"))
        drawing.shapes.append(Box(middle - 17, cards_top + 28, 34, 26, _COUNT_BOX, radius=5))
        drawing.text(middle, cards_top + 48, str(table.stock_count), _LARGE, _COUNT_INK, "middle")
    drawing.text(left, top + 21, "stock", _SMALL, _QUIET)


def _draw_pile(drawing: _Drawing, table: Table, left: float, top: float) -> None:
    """Draw the upcard, marked if it has just been discarded."""
    drawing.text(left, top + 21, "pile", _SMALL, _QUIET)
    if table.upcard != NO_CARD:
        just_discarded = table.events and table.events[-1].verb in ("discard", "knock")
        edge = _ARRIVED if just_discarded else None
        drawing.shapes.append(Card(left, top + 28, table.upcard, place="pile", edge=edge))


def _below(table: Table) -> str:
    """Return the known cards under the upcard, as many as there is room for, and those that were caught."""
    if table.upcard == NO_CARD:
        return ""
    letters_per_card = len("5H ")
    room = _BELOW_LETTERS // letters_per_card
    caught = _caught(table, room // 2)
    if not table.below:
        return f"nothing under {format_card(table.upcard)}{caught}"
    below = _at_most(table.below, room - len(caught) // letters_per_card)
    return f"under {format_card(table.upcard)}: {below}{caught}"


def _caught(table: Table, most: int) -> str:
    """Return the cards of successful catches (``catch_glass``)."""
    return f"{_SEPARATOR}caught: {_at_most(card_ids(table.caught), most)}" if table.caught else ""


def _at_most(cards: Sequence[int], most: int) -> str:
    """Return the texts of the first cards, at most ``most``, and the number of the others."""
    more = f" and {len(cards) - most} more" if len(cards) > most else ""
    return f"{format_cards(cards[:most])}{more}"


def _draw_events(drawing: _Drawing, table: Table, top: float) -> None:
    """Draw the last events, and under them what the mover has to decide or how the deal ended."""
    over = table.phase is Phase.OVER
    call = result(table) if over else f"{table.name(table.mover)}: {question(table)}"
    call_lines = textwrap.wrap(call, int((WIDTH - _EVENTS_LEFT - _MARGIN) / (_MIDDLE * LETTER_WIDTH)))

    room = _EVENT_LINES - len(call_lines)
    events = [event_text(table, event) for event in table.events[-room:]] if room > 0 else []
    for number, text in enumerate(events):
        colour = _INK if number == len(events) - 1 else _QUIET
        drawing.text(_EVENTS_LEFT, top + 22 + _LINE * number, text, _MIDDLE, colour)

    first_line = top + _BAND_HEIGHT - 18 - _LINE * (len(call_lines) - 1)
    for number, text in enumerate(call_lines):
        drawing.text(_EVENTS_LEFT, first_line + _LINE * number, text, _MIDDLE, _CALL)


def _draw_hand(drawing: _Drawing, table: Table, hand: Hand) -> None:
    top, to_move = drawing.top, hand.seat == table.mover and table.phase is not Phase.OVER

    # The row, with its team's colour on the left.
    fill, edge = (_ROW_OF_MOVER, _CALL) if to_move else (_ROW, None)
    drawing.shapes.append(Box(_MARGIN / 2, top + 2, WIDTH - _MARGIN, _ROW_HEIGHT - 4, fill, radius=8, edge=edge))
    drawing.shapes.append(Box(_MARGIN / 2, top + 2, 8, _ROW_HEIGHT - 4, _TEAMS[hand.team], radius=3))

    left, line = _MARGIN + 12, top + _NAME_LINE
    if to_move:
        arrow = ((left, line - 14), (left + 12, line - 7), (left, line))
        drawing.shapes.append(Outline(arrow, _CALL))
        left += 18

    # A long name is squeezed, so that the facts on the right keep some room.
    name = _name_and_roles(table, hand)
    width = WIDTH - left - 3 * _MARGIN
    facts_width = max(width - len(name) * _MIDDLE * LETTER_WIDTH, _LEAST_FACTS_WIDTH)
    facts = _facts(table, hand, int(facts_width / (_SMALL * LETTER_WIDTH)))
    drawing.shapes.append(Text(left, line, name, _MIDDLE, _INK, room=width - facts_width))
    drawing.shapes.append(Text(WIDTH - 2 * _MARGIN, line, facts, _SMALL, _QUIET, "end", facts_width))

    _draw_cards(drawing, table, hand, top + _CARDS_TOP)
    drawing.top += _ROW_HEIGHT


def _name_and_roles(table: Table, hand: Hand) -> str:
    words = [hand.name]
    if hand.seat == table.dealer:
        words.append("dealer")
    if hand.boasted:
        words.append("boasted")
    return _SEPARATOR.join(words)


def _facts(table: Table, hand: Hand, longest: int) -> str:
    """Return the facts next to a hand's name; declined cards are only counted if their texts are too long."""
    if hand.sits_out:
        return "sits out"
    facts = []
    if table.kind > Kind.DEAD and hand.seat == table.knocker:
        facts.append("knocked")
    if hand.laid_bits:
        facts.append(f"laid off {format_cards(hand.laid_bits)}")
    facts.append(f"{hand.hidden} cards" if hand.hidden else f"deadwood {hand.points}{_team_deadwood(table, hand)}")

    if hand.declined and table.phase is not Phase.OVER:
        with_cards = _SEPARATOR.join([f"declined {format_cards(hand.declined)}", *facts])
        if len(with_cards) <= longest:
            return with_cards
        facts.insert(0, f"declined {hand.declined.bit_count()} cards")
    return _SEPARATOR.join(facts)


def _team_deadwood(table: Table, hand: Hand) -> str:
    """Return the deadwood of both partners at a showdown, where it counts together."""
    if table.kind <= Kind.DEAD or not table.rules.has_partners:
        return ""
    return f", together {sum(table.hands[seat].points for seat in table.rules.seats_of(hand.team))}"


def _draw_cards(drawing: _Drawing, table: Table, hand: Hand, top: float) -> None:
    left: float = _MARGIN + 12 + _PANEL
    for group in _groups(table, hand):
        width = group.step * (len(group.cards) - 1) + CARD_WIDTH
        if group.is_meld:
            panel = left - _PANEL, top - _PANEL, width + 2 * _PANEL, CARD_HEIGHT + 2 * _PANEL
            drawing.shapes.append(Box(*panel, _MELD, radius=8, edge=_MELD_EDGE))
        for number, card in enumerate(group.cards):
            drawing.shapes.append(_card_in_hand(table, hand, group, card, left + group.step * number, top))
        left += width + _GAP


def _card_in_hand(table: Table, hand: Hand, group: _Group, card: int, x: float, y: float) -> Card:
    """Return a card of a hand's row, tagged if it was laid off there or has just come."""
    tag, colour = hand.arrived.get(card, ""), _ARRIVED
    dim = group.dim and not tag
    for layoff in table.layoffs:
        if layoff.card == card and layoff.onto_seat == hand.seat:
            tag, colour = f"by p{layoff.seat + table.first_seat}", _TEAMS[table.hands[layoff.seat].team]

    return Card(
        x,
        y,
        card,
        seat=hand.seat + table.first_seat,
        place="meld" if table.kind > Kind.DEAD else "hand",
        edge=colour if tag else None,
        dim=dim,
        tag=tag,
        tag_colour=colour if tag else "",
        strip=group.step,
    )


def _groups(table: Table, hand: Hand) -> list[_Group]:
    """Return a hand's cards from left to right: melds with what was laid off on them, then the deadwood."""
    if hand.hidden:
        return _hidden_groups(hand)
    groups = [(_with_layoffs(table, hand, meld), True) for meld in melds_of(hand.set_bits, hand.run_bits)]
    if hand.deadwood_cards:
        groups.append((card_ids(hand.deadwood_cards), False))

    # Cards overlap where the row has no room for them side by side.
    count = sum(len(cards) for cards, _ in groups)
    room = WIDTH - 2 * _MARGIN - 12 - 2 * _PANEL - _GAP * (len(groups) - 1) - CARD_WIDTH * len(groups)
    step = min(float(_STEP), room / max(count - len(groups), 1))
    return [_Group(cards, is_meld, dim=not is_meld, step=step) for cards, is_meld in groups]


def _hidden_groups(hand: Hand) -> list[_Group]:
    """Return the known cards of a hidden hand, then the backs of the others."""
    known = card_ids(hand.known)
    backs = [BACK] * (hand.hidden - len(known))
    groups = [_Group(known, False, False, float(_STEP)), _Group(backs, False, False, float(_BACK_STEP))]
    return [group for group in groups if group.cards]


def _with_layoffs(table: Table, hand: Hand, meld: Sequence[int]) -> list[int]:
    """Return the cards of a meld that was laid down, with those laid off on it."""
    laid_off = [
        layoff.card for layoff in table.layoffs if layoff.onto_seat == hand.seat and set(layoff.meld) >= set(meld)
    ]
    return sorted([*meld, *laid_off])
