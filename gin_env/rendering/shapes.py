"""What pictures are made of: boxes, words, cards and outlines, in the order in which they are drawn.

``picture.py`` lays a table out as such shapes; ``svg.py`` writes them for browsers and docs, ``raster.py``
paints them as pixels. Lengths are in units of a picture that is ``WIDTH`` wide, x to the right, y downwards.
"""

from __future__ import annotations

from typing import NamedTuple

from gin_env.cards import NUM_RANKS, RANKS

Point = tuple[float, float]

#: The width of every picture: a phone shows it at about half its size, and the smallest words can be read there.
WIDTH = 720

#: A letter's width as a share of its size: on average a little less, so that lines that fit by it fit everywhere.
LETTER_WIDTH = 0.64

CARD_WIDTH, CARD_HEIGHT, CARD_RADIUS = 58, 82, 6
#: A card that a picture shows from behind.
BACK = -1
#: Paper and edge of a face, of a back and of the frame on it; how far the frame lies inside, its radius and width.
FACE_COLOURS, BACK_COLOURS, FRAME_COLOUR = ("#ffffff", "#8a8f98"), ("#35507c", "#1d2f4e"), "#a9bcdc"
FRAME_INSET, FRAME_RADIUS, FRAME_WIDTH = 6, 3, 2
#: The width of a card's edge, and of the outline of one that is marked.
EDGE_WIDTH, MARK_WIDTH = 1, 4
#: What lies over a card that is dimmed, and how much of it one sees.
SHADE_COLOUR, SHADE_OPACITY = "#3b4a3f", 0.22

#: Colours of the suits S H D C (four, so that diamonds and clubs are told from hearts and spades at a glance).
SUIT_COLOURS = ("#16181d", "#c2181f", "#0a5fb4", "#17713a")

#: The suits' outlines in a square from -1 to 1: where a line begins, then cubic curves (two handles and an end).
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

#: What stands in a card's corner: how big it is and where it stands, from the card's corner; then its small suit and
#: its large one: middle and half the size.
RANK_SIZE, RANK_PLACE = 25, (15.0, 26.0)
SMALL_SUIT, LARGE_SUIT = (15.0, 41.0, 8.0), (37.0, 57.0, 16.0)

#: Of a tag: its height, the line of its word from its top, the word's size and colour.
TAG_HEIGHT, TAG_LINE, TAG_SIZE, TAG_INK = 18, 14, 14, "#10161c"


class Box(NamedTuple):
    """A rectangle with round corners."""

    x: float
    y: float
    width: float
    height: float
    fill: str
    radius: float = 8
    edge: str | None = None  #: the colour of its outline
    edge_width: float = 2


class Words(NamedTuple):
    """One line of words; y is the line on which the letters stand."""

    x: float
    y: float
    text: str
    size: float
    colour: str
    anchor: str = "start"  #: "start", "middle" or "end": what x is of the words
    room: float = WIDTH  #: how wide they may become; longer ones are squeezed


class Card(NamedTuple):
    """A card with its upper left corner."""

    x: float
    y: float
    card: int  #: card id, or BACK
    seat: int = -1  #: whose it is, counted over all tables; -1 for none
    place: str = "hand"  #: "hand", "stock", "pile" or "meld" (laid down, or laid off there)
    edge: str | None = None  #: the colour of a thick outline, for cards that just moved and the like
    dim: bool = False  #: deadwood, told from melded cards
    tag: str = ""  #: a word on its lower end: how it came there
    tag_colour: str = ""
    strip: float = CARD_WIDTH  #: how wide the part of it is that no other card covers: the tag's width


class Outline(NamedTuple):
    """A filled polygon."""

    points: tuple[Point, ...]
    fill: str


Shape = Box | Words | Card | Outline


class Picture(NamedTuple):
    """A picture, ``WIDTH`` wide."""

    height: int
    shapes: tuple[Shape, ...]


def tag_of(card: Card) -> tuple[Shape, ...]:
    """Return what a card's tag is drawn as, over the card; nothing where it has none."""
    if not card.tag:
        return ()
    top, width = card.y + CARD_HEIGHT - TAG_HEIGHT, min(max(card.strip, CARD_WIDTH / 2), CARD_WIDTH)
    words = Words(card.x + width / 2, top + TAG_LINE, card.tag, TAG_SIZE, TAG_INK, "middle", width - 4)
    return Box(card.x, top, width, TAG_HEIGHT, card.tag_colour, radius=4), words


def rank_text(card: int) -> str:
    """Return what stands on a card's corner: ``10`` where texts write T."""
    rank = RANKS[card % NUM_RANKS]
    return "10" if rank == "T" else rank
