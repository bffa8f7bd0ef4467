"""A picture as SVG: one file of its own, or the elements of which a page makes one.

>>> Path("table.svg").write_text(svg_document(picture_of([table_of_state(state)])))

Cards are symbols that elements refer to, so that a page with a thousand pictures holds each card once.
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
    Shape,
    Words,
    rank_text,
    tag_of,
)

FONTS = "'DejaVu Sans', Verdana, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"


def svg_document(picture: Picture, title: str = "a table of gin rummy") -> str:
    """Return a picture as an SVG file of its own, with the cards that it shows."""
    shown = sorted({shape.card for shape in picture.shapes if isinstance(shape, Card)})
    body = "\n".join(svg_elements(picture))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {picture.height}" width="{WIDTH}" '
        f'height="{picture.height}" font-family="{FONTS}" font-weight="bold" role="img" '
        f"aria-label={quoteattr(title)}>\n"
        f"<defs>\n{svg_symbols(shown)}\n</defs>\n{body}\n</svg>\n"
    )


def svg_symbols(cards: Iterable[int] = range(BACK, NUM_CARDS)) -> str:
    """Return the symbols of some cards (ids, and ``BACK``), to stand once in the ``<defs>`` of a page."""
    return "\n".join(_back() if card == BACK else _face(card) for card in cards)


def svg_elements(picture: Picture) -> list[str]:
    """Return the elements of a picture in order, one for each shape.

    A card is ``<use href="#card-5H" data-card="5H" data-seat="0" data-place="hand">``; its seat is missing where it
    has none, and its back is ``card-back`` without ``data-card``. Pages make cards clickable by these.
    """
    return [_element(shape) for shape in picture.shapes]


def _element(shape: Shape) -> str:
    if isinstance(shape, Card):
        return _card(shape)
    if isinstance(shape, Box):
        edge = f' stroke="{shape.edge}" stroke-width="{_number(shape.edge_width)}"' if shape.edge else ""
        return (
            f'<rect x="{_number(shape.x)}" y="{_number(shape.y)}" width="{_number(shape.width)}" '
            f'height="{_number(shape.height)}" rx="{_number(shape.radius)}" fill="{shape.fill}"{edge}/>'
        )
    if isinstance(shape, Words):
        anchor = "" if shape.anchor == "start" else f' text-anchor="{shape.anchor}"'
        wide = len(shape.text) * shape.size * LETTER_WIDTH > shape.room
        squeezed = f' textLength="{_number(shape.room)}" lengthAdjust="spacingAndGlyphs"' if wide else ""
        return (
            f'<text x="{_number(shape.x)}" y="{_number(shape.y)}" font-size="{_number(shape.size)}" '
            f'fill="{shape.colour}"{anchor}{squeezed}>{escape(shape.text)}</text>'
        )
    points = " ".join(f"{_number(x)},{_number(y)}" for x, y in shape.points)
    return f'<polygon points="{points}" fill="{shape.fill}"/>'


def _card(shape: Card) -> str:
    name = "back" if shape.card == BACK else format_card(shape.card)
    card = "" if shape.card == BACK else f' data-card="{name}"'
    seat = "" if shape.seat < 0 else f' data-seat="{shape.seat}"'
    place = f'x="{_number(shape.x)}" y="{_number(shape.y)}"'
    drawn = f'<use href="#card-{name}" {place}{card}{seat} data-place="{shape.place}"/>'
    box = f'{place} width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="{CARD_RADIUS}"'
    if shape.dim:
        drawn += f'<rect {box} fill="{SHADE_COLOUR}" fill-opacity="{SHADE_OPACITY}" pointer-events="none"/>'
    if shape.edge:
        drawn += f'<rect {box} fill="none" stroke="{shape.edge}" stroke-width="{MARK_WIDTH}" pointer-events="none"/>'
    tag = "".join(map(_element, tag_of(shape)))
    return f"<g>{drawn}{tag}</g>"


def _face(card: int) -> str:
    suit, text = card // NUM_RANKS, rank_text(card)
    colour = SUIT_COLOURS[suit]
    squeezed = f' textLength="{RANK_SIZE}" lengthAdjust="spacingAndGlyphs"' if len(text) > 1 else ""
    rank = (
        f'<text x="{_number(RANK_PLACE[0])}" y="{_number(RANK_PLACE[1])}" font-size="{RANK_SIZE}" fill="{colour}" '
        f'text-anchor="middle"{squeezed}>{text}</text>'
    )
    suits = "".join(_suit(suit, *place) for place in (SMALL_SUIT, LARGE_SUIT))
    return f'<g id="card-{format_card(card)}">{_blank(*FACE_COLOURS)}{rank}{suits}</g>'


def _suit(suit: int, x: float, y: float, half: float) -> str:
    start, curves = SUIT_CURVES[suit]
    moves = [f"M{_place(start, x, y, half)}"]
    moves += ["C" + " ".join(_place(point, x, y, half) for point in curve) for curve in curves]
    return f'<path d="{"".join(moves)}Z" fill="{SUIT_COLOURS[suit]}"/>'


def _place(point: tuple[float, float], x: float, y: float, half: float) -> str:
    return f"{_number(x + half * point[0])} {_number(y + half * point[1])}"


def _back() -> str:
    width, height = CARD_WIDTH - 2 * FRAME_INSET, CARD_HEIGHT - 2 * FRAME_INSET
    frame = (
        f'<rect x="{FRAME_INSET}" y="{FRAME_INSET}" width="{width}" height="{height}" rx="{FRAME_RADIUS}" fill="none" '
        f'stroke="{FRAME_COLOUR}" stroke-width="{FRAME_WIDTH}"/>'
    )
    return f'<g id="card-back">{_blank(*BACK_COLOURS)}{frame}</g>'


def _blank(fill: str, edge: str) -> str:
    return (
        f'<rect width="{CARD_WIDTH}" height="{CARD_HEIGHT}" rx="{CARD_RADIUS}" fill="{fill}" stroke="{edge}" '
        f'stroke-width="{EDGE_WIDTH}"/>'
    )


def _number(value: float) -> str:
    return f"{value:.1f}".rstrip("0").rstrip(".")
