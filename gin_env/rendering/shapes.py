"""The shapes of a picture: boxes, lines of text, cards and outlines, in the order in which they are drawn.

``picture.py`` lays a table out as shapes; ``svg.py`` writes them for browsers and docs; ``raster.py`` paints them as
pixels. A picture is ``WIDTH`` units wide; x points to the right and y downwards.
"""

from __future__ import annotations

from typing import NamedTuple

from gin_env.cards import NUM_RANKS, RANKS

Point = tuple[float, float]

#: The width of every picture. A phone shows it at about half its size, where the smallest text can still be read.
WIDTH = 720

#: The width of a letter as a share of its size: a little above the average, so that text that fits by it always fits.
LETTER_WIDTH = 0.64

CARD_WIDTH, CARD_HEIGHT, CARD_RADIUS = 58, 82, 6
#: In place of a card id: a card shown face down.
BACK = -1
#: Fill and edge of a face and of a back; the colour of the frame on a back, and its inset, radius and width.
FACE_COLOURS, BACK_COLOURS, FRAME_COLOUR = ("#ffffff", "#8a8f98"), ("#35507c", "#1d2f4e"), "#a9bcdc"
FRAME_INSET, FRAME_RADIUS, FRAME_WIDTH = 6, 3, 2
#: The width of a card's edge, and of the outline of a marked card.
EDGE_WIDTH, MARK_WIDTH = 1, 4
#: The shade over a dimmed card, and its opacity.
SHADE_COLOUR, SHADE_OPACITY = "#3b4a3f", 0.22

#: Colours of the suits S H D C: four of them, so that no two suits are confused at a glance.
SUIT_COLOURS = ("#16181d", "#c2181f", "#0a5fb4", "#17713a")

#: The suits' outlines in a square from -1 to 1: a starting point, then cubic curves (two control points and an end).
SUIT_CURVES: tuple[tuple[Point, tuple[tuple[Point, Point, Point], ...]], ...] = (
    (
        (0.0, -1.0),
        (
            ((0.25, -0.55), (0.95, -0.2), (0.95, 0.3)),
            ((0.95, 0.75), (0.4, 0.85), (0.12, 0.5)),
            ((0.14, 0.75), (0.25, 0.92), (0.4, 1.0)),
            ((0.13, 1.0), (-0.13, 1.0), (-0.4, 1.0)),
            ((-0.25, 0.92), (-0.14, 0.75), (-0.12, 0.5)),
            ((-0.4, 0.85), (-0.95, 0.75), (-0.95, 0.3)),
            ((-0.95, -0.2), (-0.25, -0.55), (0.0, -1.0)),
        ),
    ),
    (
        (0.0, 1.0),
        (
            ((-0.25, 0.55), (-1.0, 0.15), (-1.0, -0.4)),
            ((-1.0, -1.05), (-0.2, -1.05), (0.0, -0.45)),
            ((0.2, -1.05), (1.0, -1.05), (1.0, -0.4)),
            ((1.0, 0.15), (0.25, 0.55), (0.0, 1.0)),
        ),
    ),
    (
        (0.0, -1.0),
        (
            ((0.2, -0.6), (0.5, -0.25), (0.78, 0.0)),
            ((0.5, 0.25), (0.2, 0.6), (0.0, 1.0)),
            ((-0.2, 0.6), (-0.5, 0.25), (-0.78, 0.0)),
            ((-0.5, -0.25), (-0.2, -0.6), (0.0, -1.0)),
        ),
    ),
    (
        (0.12, 0.35),
        (
            ((0.14, 0.7), (0.25, 0.9), (0.4, 1.0)),
            ((0.13, 1.0), (-0.13, 1.0), (-0.4, 1.0)),
            ((-0.25, 0.9), (-0.14, 0.7), (-0.12, 0.35)),
            ((-0.3, 0.72), (-0.98, 0.72), (-0.98, 0.18)),
            ((-0.98, -0.25), (-0.6, -0.36), (-0.33, -0.22)),
            ((-0.62, -0.5), (-0.5, -1.0), (0.0, -1.0)),
            ((0.5, -1.0), (0.62, -0.5), (0.33, -0.22)),
            ((0.6, -0.36), (0.98, -0.25), (0.98, 0.18)),
            ((0.98, 0.72), (0.3, 0.72), (0.12, 0.35)),
        ),
    ),
)

#: A card's rank: its size, and the middle of its base line from the card's upper left corner. Then the small suit and
#: the large one: x and y of the middle, and half the size.
RANK_SIZE, RANK_PLACE = 25, (15.0, 26.0)
SMALL_SUIT, LARGE_SUIT = (15.0, 41.0, 8.0), (37.0, 57.0, 16.0)

#: A tag: its height, the base line of its text from its top, the size and colour of the text.
TAG_HEIGHT, TAG_LINE, TAG_SIZE, TAG_INK = 18, 14, 14, "#10161c"


class Box(NamedTuple):
    """A rectangle with rounded corners."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    radius: float = 8
    edge: str | None = None  #: the colour of its outline
    edge_width: float = 2


class Text(NamedTuple):
    """One line of text; y is its base line."""

    x: float
    y: float
    text: str
    size: float
    colour: str
    anchor: str = "start"  #: the part of the text that is at x: "start", "middle" or "end"
    room: float = WIDTH  #: the greatest width; longer text is squeezed


class Card(NamedTuple):
    """A card; x and y are its upper left corner."""

    x: float
    y: float
    card: int  #: card id, or BACK
    seat: int = -1  #: the seat that holds it, counted over all tables; -1 for none
    place: str = "hand"  #: "hand", "stock", "pile" or "meld" (laid down or laid off)
    edge: str | None = None  #: the colour of a thick outline, for cards that have just moved or were laid off
    dim: bool = False  #: whether it is dimmed, as deadwood is
    tag: str = ""  #: a short text on its lower end that says how it came there
    tag_colour: str = ""
    strip: float = CARD_WIDTH  #: the width that no other card covers, which is the tag's width


class Outline(NamedTuple):
    """A filled polygon."""

    points: tuple[Point, ...]
    fill: str


Shape = Box | Text | Card | Outline


class Picture(NamedTuple):
    """A picture, ``WIDTH`` units wide."""

    height: int
    shapes: tuple[Shape, ...]


def tag_of(card: Card) -> tuple[Shape, ...]:
    """Return the shapes of a card's tag, to be drawn over the card; none if it has no tag."""
    if not card.tag:
        return ()
    top, width = card.y + CARD_HEIGHT - TAG_HEIGHT, min(max(card.strip, CARD_WIDTH / 2), CARD_WIDTH)
    text = Text(card.x + width / 2, top + TAG_LINE, card.tag, TAG_SIZE, TAG_INK, "middle", width - 4)
    return Box(card.x, top, width, TAG_HEIGHT, card.tag_colour, radius=4), text


def rank_text(card: int) -> str:
    """Return the rank as a card shows it: ``10`` where texts write T."""
    rank = RANKS[card % NUM_RANKS]
    return "10" if rank == "T" else rank
