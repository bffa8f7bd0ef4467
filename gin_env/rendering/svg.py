"""A picture as SVG: a file of its own, or elements for a page.

>>> Path("table.svg").write_text(svg_document(picture_of([table_of_state(state)])))

Cards are symbols to which elements refer, so a page with a thousand pictures holds each card once.
"""

from __future__ import annotations

from collections.abc import Iterable
from xml.sax.saxutils import escape, quoteattr

from gin_env.cards import NUM_CARDS, NUM_RANKS, format_card
from gin_env.rendering.shapes import (
    BACK,
    BACK_COLOURS,
    CARD_HEIGHT,
    CARD_RADIUS,
    CARD_WIDTH,
    EDGE_WIDTH,
    FACE_COLOURS,
    FRAME_COLOUR,
    FRAME_INSET,
    FRAME_RADIUS,
    FRAME_WIDTH,
    LARGE_SUIT,
    LETTER_WIDTH,
    MARK_WIDTH,
    RANK_PLACE,
    RANK_SIZE,
    SHADE_COLOUR,
    SHADE_OPACITY,
    SMALL_SUIT,
    SUIT_COLOURS,
    SUIT_CURVES,
    WIDTH,
    Box,
    Card,
    Picture,
    Point,
    Shape,
    Text,
    rank_text,
    tag_of,
)

FONTS = "'DejaVu Sans', Verdana, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def svg_document(picture: Picture, title: str = "a table of gin rummy") -> str:
    """Return a picture as an SVG file of its own, with the symbols of the cards that it shows."""
    shown = sorted({shape.card for shape in picture.shapes if isinstance(shape, Card)})
    body = "\n".join(svg_elements(picture))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {picture.height}" width="{WIDTH}" '
        f'height="{picture.height}" font-family="{FONTS}" font-weight="bold" role="img" '
        f"aria-label={quoteattr(title)}>\n"
        f"<defs>\n{svg_symbols(shown)}\n</defs>\n{body}\n</svg>\n"
    )


def svg_symbols(cards: Iterable[int] = range(BACK, NUM_CARDS)) -> str:
    """Return the symbols of cards (ids, and ``BACK``); a page holds them once, in its ``<defs>``."""
    return "\n".join(_back_symbol() if card == BACK else _face_symbol(card) for card in cards)


def svg_elements(picture: Picture) -> list[str]:
    """Return the elements of a picture in order, one for each shape.

    A card is ``<use href="#card-5H" data-card="5H" data-seat="0" data-place="hand">``, without ``data-seat`` if no
    seat holds it; a card that is face down refers to ``card-back`` and has no ``data-card``. Pages make cards clickable
    by these attributes.
    """
    return [_element(shape) for shape in picture.shapes]


def _element(shape: Shape) -> str:
    if isinstance(shape, Card):
        return _card(shape)
    if isinstance(shape, Box):
        return _box(shape)
    if isinstance(shape, Text):
        return _text(shape)
    points = " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)
    return f'<polygon points="{points}" fill="{shape.fill}"/>'


def _box(box: Box) -> str:
    edge = f' stroke="{box.edge}" stroke-width="{_number(box.edge_width)}"' if box.edge else ""
    return (
        f'<rect x="{_number(box.x)}" y="{_number(box.y)}" width="{_number(box.width)}" '
        f'height="{_number(box.height)}" rx="{_number(box.radius)}" fill="{box.fill}"{edge}/>'
    )


def _text(text: Text) -> str:
    anchor = "" if text.anchor == "start" else f' text-anchor="{text.anchor}"'
    too_wide = len(text.text) * text.size * LETTER_WIDTH > text.room
    squeezed = f' textLength="{_number(text.room)}" lengthAdjust="spacingAndGlyphs"' if too_wide else ""
    return (
        f'<text x="{_number(text.x)}" y="{_number(text.y)}" font-size="{_number(text.size)}" '
        f'fill="{text.colour}"{anchor}{squeezed}>{escape(text.text)}</text>'
    )


def _card(card: Card) -> str:
    name = "back" if card.card == BACK else format_card(card.card)
    data_card = "" if card.card == BACK else f' data-card="{name}"'
    data_seat = "" if card.seat < 0 else f' data-seat="{card.seat}"'
    place = f'x="{_number(card.x)}" y="{_number(card.y)}"'
    elements = [f'<use href="#card-{name}" {place}{data_card}{data_seat} data-place="{card.place}"/>']

    # Clicks go through what is drawn over the card.
    no_clicks = 'pointer-events="none"'
    rect = f'rect {place} width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="{CARD_RADIUS}"'
    if card.dim:
        elements.append(f'<{rect} fill="{SHADE_COLOUR}" fill-opacity="{SHADE_OPACITY}" {no_clicks}/>')
    if card.edge:
        elements.append(f'<{rect} fill="none" stroke="{card.edge}" stroke-width="{MARK_WIDTH}" {no_clicks}/>')
    elements += map(_element, tag_of(card))
    return f"<g>{''.join(elements)}</g>"


def _face_symbol(card: int) -> str:
    suit, text = card // NUM_RANKS, rank_text(card)
    squeezed = f' textLength="{RANK_SIZE}" lengthAdjust="spacingAndGlyphs"' if len(text) > 1 else ""
    rank = (
        f'<text x="{_number(RANK_PLACE[0])}" y="{_number(RANK_PLACE[1])}" font-size="{RANK_SIZE}" '
        f'fill="{SUIT_COLOURS[suit]}" text-anchor="middle"{squeezed}>{text}</text>'
    )
    suits = "".join(_suit(suit, *place) for place in (SMALL_SUIT, LARGE_SUIT))
    return f'<g id="card-{format_card(card)}">{_blank_card(*FACE_COLOURS)}{rank}{suits}</g>'


def _suit(suit: int, x: float, y: float, half: float) -> str:
    """Return a suit's outline, with its middle and half its size."""
    start, curves = SUIT_CURVES[suit]
    commands = [f"M{_point(start, x, y, half)}"]
    commands += ["C" + " ".join(_point(point, x, y, half) for point in curve) for curve in curves]
    return f'<path d="{"".join(commands)}Z" fill="{SUIT_COLOURS[suit]}"/>'


def _point(point: Point, x: float, y: float, half: float) -> str:
    return f"{_number(x + half * point[0])} {_number(y + half * point[1])}"


def _back_symbol() -> str:
    width, height = CARD_WIDTH - 2 * FRAME_INSET, CARD_HEIGHT - 2 * FRAME_INSET
    frame = (
        f'<rect x="{FRAME_INSET}" y="{FRAME_INSET}" width="{width}" height="{height}" rx="{FRAME_RADIUS}" fill="none" '
        f'stroke="{FRAME_COLOUR}" stroke-width="{FRAME_WIDTH}"/>'
    )
    return f'<g id="card-back">{_blank_card(*BACK_COLOURS)}{frame}</g>'


def _blank_card(fill: str, edge: str) -> str:
    return (
        f'<rect width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="{CARD_RADIUS}" fill="{fill}" stroke="{edge}" '
        f'stroke-width="{EDGE_WIDTH}"/>'
    )


def _number(value: float) -> str:
    """Return a number with one decimal at most."""
    return f"{value:.1f}".rstrip("0").rstrip(".")
