"""Pictures as pixels: ``render_mode="rgb_array"``, and what a window shows.

>>> rgb_array(picture_of([table_of_state(state)])).shape
(720, 720, 3)

pygame paints them, loaded with the first picture; it needs no display and no window. Cards, boxes and lines of text
recur, so each is painted once, at several times its size, scaled down for smooth edges, and kept.
"""

from __future__ import annotations

import math
import os
from functools import lru_cache
from types import ModuleType
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from gin_env.cards import NUM_RANKS
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
    Outline,
    Picture,
    Point,
    Shape,
    Text,
    rank_text,
    tag_of,
)

if TYPE_CHECKING:
    from pygame import Color, Surface
    from pygame.font import Font

#: Shapes are painted at this multiple of their size and scaled down; for other than powers of two, pygame darkens them.
_FINE = 8
#: The same for text, most of which is new in every picture: enough for even spaces between letters.
_FINE_TEXT = 4
#: The number of straight lines that replace a curve of a suit's outline.
_CURVE_STEPS = 12
#: pygame makes its own font smaller than asked for by this factor, so that it looks like the system's old one.
_OWN_FONT = 0.6875
#: How many boxes and lines of text are kept: far more than the pictures of a game have in common.
_BOXES_KEPT, _TEXTS_KEPT = 256, 1024
_OPAQUE = 255


def rgb_array(picture: Picture) -> NDArray[np.uint8]:
    """Return a picture as pixels.

    Returns
    -------
    ndarray of uint8, shape (height, WIDTH, 3)
        Red, green and blue, from 0 to 255.

    Raises
    ------
    ValueError
        pygame is not installed.
    """
    pixels = np.empty((picture.height, WIDTH, 3), dtype=np.uint8)
    # Painting is faster with four bytes a pixel; the last step writes three of them, into the array itself.
    load_pygame().image.frombuffer(pixels, (WIDTH, picture.height), "RGB").blit(painted(picture), (0, 0))
    return pixels


def painted(picture: Picture) -> Surface:
    """Return a picture as a pygame surface; raises ``ValueError`` if pygame is not installed."""
    surface: Surface = load_pygame().Surface((WIDTH, picture.height), 0, 32)
    for shape in picture.shapes:
        _paint(surface, shape)
    return surface


def load_pygame() -> ModuleType:
    """Return pygame; raises ``ValueError`` if it is not installed."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # a library should print nothing
    try:
        import pygame
    except ImportError as error:
        raise ValueError("pictures as pixels and windows need pygame: pip install -e '.[render]'") from error
    return pygame


def _paint(surface: Surface, shape: Shape) -> None:
    if isinstance(shape, Card):
        _paint_card(surface, shape)
    elif isinstance(shape, Text):
        _paint_text(surface, shape)
    elif isinstance(shape, Box):
        _paint_box(surface, shape)
    else:
        _paint_outline(surface, shape)


def _paint_card(surface: Surface, card: Card) -> None:
    corner = _nearest(card.x), _nearest(card.y)
    _blit_with_border(surface, _card(card.card, card.dim), corner, EDGE_WIDTH)
    if card.edge:
        mark = _box(CARD_WIDTH, CARD_HEIGHT, CARD_RADIUS, None, card.edge, MARK_WIDTH)
        _blit_with_border(surface, mark, corner, MARK_WIDTH)
    for shape in tag_of(card):
        _paint(surface, shape)


def _paint_text(surface: Surface, text: Text) -> None:
    if not text.text:
        return
    letters, ascent = _text(text.text, text.size, text.colour, text.room)
    width = letters.get_width()
    left = text.x - {"start": 0.0, "middle": width / 2, "end": float(width)}[text.anchor]
    surface.blit(letters, (_nearest(left), _nearest(text.y) - ascent))


def _paint_box(surface: Surface, box: Box) -> None:
    # Both edges are rounded, not the width: so neighbouring boxes leave no gap.
    left, top = _nearest(box.x), _nearest(box.y)
    width, height = _nearest(box.x + box.width) - left, _nearest(box.y + box.height) - top
    if box.radius == 0 and box.edge is None:
        surface.fill(box.fill, (left, top, width, height))
        return
    border = math.ceil(box.edge_width) if box.edge else 0
    part = _box(width, height, box.radius, box.fill, box.edge, box.edge_width)
    _blit_with_border(surface, part, (left, top), border)


def _paint_outline(surface: Surface, outline: Outline) -> None:
    left = math.floor(min(x for x, _ in outline.points))
    top = math.floor(min(y for _, y in outline.points))
    polygon = _polygon(tuple((x - left, y - top) for x, y in outline.points), outline.fill)
    surface.blit(polygon, (left, top))


def _blit_with_border(surface: Surface, part: Surface, corner: tuple[int, int], border: int) -> None:
    """Copy a part so that what its border of ``border`` pixels surrounds begins at a corner."""
    surface.blit(part, (corner[0] - border, corner[1] - border))


def _nearest(value: float) -> int:
    return math.floor(value + 0.5)


@lru_cache(_BOXES_KEPT)
def _box(
    width: int,
    height: int,
    radius: float,
    fill: str | None,
    edge: str | None,
    edge_width: float,
    opacity: int = _OPAQUE,
) -> Surface:
    """Return a box with a transparent border as wide as its edge, half of which is outside the box."""
    border = math.ceil(edge_width) if edge else 0
    canvas = _canvas(width + 2 * border, height + 2 * border, edge or fill or "#000000")
    _draw_box(canvas, (border, border, width, height), radius, fill, edge, edge_width, opacity)
    return _scaled_down(canvas)


@lru_cache(None)
def _card(card: int, dim: bool) -> Surface:
    """Return a card with a transparent border of one pixel."""
    if dim:
        return _dimmed(_card(card, False))

    fill, edge = BACK_COLOURS if card == BACK else FACE_COLOURS
    canvas = _canvas(CARD_WIDTH + 2 * EDGE_WIDTH, CARD_HEIGHT + 2 * EDGE_WIDTH, edge)
    _draw_box(canvas, (EDGE_WIDTH, EDGE_WIDTH, CARD_WIDTH, CARD_HEIGHT), CARD_RADIUS, fill, edge, EDGE_WIDTH)

    if card == BACK:
        inset = EDGE_WIDTH + FRAME_INSET
        frame = (inset, inset, CARD_WIDTH - 2 * FRAME_INSET, CARD_HEIGHT - 2 * FRAME_INSET)
        _draw_box(canvas, frame, FRAME_RADIUS, fill, FRAME_COLOUR, FRAME_WIDTH)
    else:
        _draw_face(canvas, card)
    return _scaled_down(canvas)


def _dimmed(card: Surface) -> Surface:
    dimmed = card.copy()
    shade = _box(CARD_WIDTH, CARD_HEIGHT, CARD_RADIUS, SHADE_COLOUR, None, 0, round(SHADE_OPACITY * _OPAQUE))
    dimmed.blit(shade, (EDGE_WIDTH, EDGE_WIDTH))
    return dimmed


@lru_cache(_TEXTS_KEPT)
def _text(text: str, size: float, colour: str, room: float) -> tuple[Surface, int]:
    """Return a line of text, squeezed if it is wider than ``room``, and its height above the base line."""
    pygame, font = load_pygame(), _font(round(size * _FINE_TEXT))
    letters = font.render(text, True, colour)

    ascent = math.ceil(font.get_ascent() / _FINE_TEXT)
    height = ascent + math.ceil(-font.get_descent() / _FINE_TEXT)
    width = math.ceil(letters.get_width() / _FINE_TEXT)

    canvas = _canvas(width, height, colour, _FINE_TEXT)
    canvas.blit(letters, (0, ascent * _FINE_TEXT - font.get_ascent()))
    squeezed_width = max(min(width, math.floor(room)), 1)
    return pygame.transform.smoothscale(canvas, (squeezed_width, height)), ascent


@lru_cache(_BOXES_KEPT)
def _polygon(points: tuple[Point, ...], fill: str) -> Surface:
    canvas = _canvas(math.ceil(max(x for x, _ in points)), math.ceil(max(y for _, y in points)), fill)
    load_pygame().draw.polygon(canvas, fill, [(x * _FINE, y * _FINE) for x, y in points])
    return _scaled_down(canvas)


def _canvas(width: int, height: int, colour: str, fine: int = _FINE) -> Surface:
    """Return a transparent surface, ``fine`` times as large; ``colour`` is what edges on it fade into."""
    pygame = load_pygame()
    canvas: Surface = pygame.Surface((width * fine, height * fine), pygame.SRCALPHA, 32)
    canvas.fill(_translucent(colour))
    return canvas


def _scaled_down(canvas: Surface) -> Surface:
    size = canvas.get_width() // _FINE, canvas.get_height() // _FINE
    small: Surface = load_pygame().transform.smoothscale(canvas, size)
    return small


def _translucent(colour: str, opacity: int = 0) -> Color:
    red, green, blue, _ = load_pygame().Color(colour)
    translucent: Color = load_pygame().Color(red, green, blue, opacity)
    return translucent


def _draw_box(
    canvas: Surface,
    place: tuple[int, int, int, int],
    radius: float,
    fill: str | None,
    edge: str | None,
    edge_width: float,
    opacity: int = _OPAQUE,
) -> None:
    """Draw a box on a canvas, half of its edge outside; without a fill its inside is transparent.

    The edge is a larger box under the smaller one of the inside.
    """
    inside = _translucent(fill, opacity) if fill else _translucent(edge or "#000000")
    layers = [(0.0, inside)]
    if edge:
        layers = [(edge_width / 2, _translucent(edge, opacity)), (-edge_width / 2, inside)]

    x, y, width, height = place
    for growth, colour in layers:
        sides = x - growth, y - growth, width + 2 * growth, height + 2 * growth
        corner = _nearest(max(radius + growth, 0) * _FINE)
        load_pygame().draw.rect(canvas, colour, [_nearest(side * _FINE) for side in sides], border_radius=corner)


def _draw_face(canvas: Surface, card: int) -> None:
    """Draw rank and suits on the canvas of a card."""
    pygame, suit, text = load_pygame(), card // NUM_RANKS, rank_text(card)

    font = _font(RANK_SIZE * _FINE)
    rank = font.render(text, True, SUIT_COLOURS[suit])
    if len(text) > 1:
        rank = pygame.transform.smoothscale(rank, (RANK_SIZE * _FINE, rank.get_height()))
    middle, base_line = ((side + EDGE_WIDTH) * _FINE for side in RANK_PLACE)
    canvas.blit(rank, (middle - rank.get_width() / 2, base_line - font.get_ascent()))

    for x, y, half in (SMALL_SUIT, LARGE_SUIT):
        points = [
            ((x + EDGE_WIDTH + half * across) * _FINE, (y + EDGE_WIDTH + half * down) * _FINE)
            for across, down in _suit_polygon(suit)
        ]
        pygame.draw.polygon(canvas, SUIT_COLOURS[suit], points)


def _font(size: int) -> Font:
    """Return pygame's own font, which is bold, at a size as browsers measure it."""
    pygame = load_pygame()
    try:
        _kept_font(size).get_ascent()
    except pygame.error:  # a call of pygame.quit() makes all fonts invalid
        _kept_font.cache_clear()
    return _kept_font(size)


@lru_cache(None)
def _kept_font(size: int) -> Font:
    pygame = load_pygame()
    pygame.font.init()
    font: Font = pygame.font.Font(None, math.ceil(size / _OWN_FONT))
    return font


@lru_cache(None)
def _suit_polygon(suit: int) -> list[Point]:
    """Return a suit's outline as the corners of a polygon, in a square from -1 to 1."""
    start, curves = SUIT_CURVES[suit]
    points = [start]
    for curve in curves:
        controls = np.array([points[-1], *curve])
        for part in np.linspace(0, 1, _CURVE_STEPS + 1)[1:]:
            rest = 1 - part
            bezier_weights = np.array([rest**3, 3 * rest**2 * part, 3 * rest * part**2, part**3])
            x, y = bezier_weights @ controls
            points.append((float(x), float(y)))
    return points
