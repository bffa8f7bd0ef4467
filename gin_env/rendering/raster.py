"""Pictures as pixels: ``render_mode="rgb_array"``, and what a window shows.

>>> rgb_array(picture_of([table_of_state(state)])).shape
(720, 720, 3)

Painted by pygame, which is loaded when the first picture is asked for; no display and no window is needed. What
recurs (cards, boxes, words) is painted once, larger than it is, made small with smooth edges, and kept.
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
    Picture,
    Point,
    Shape,
    Words,
    rank_text,
    tag_of,
)

if TYPE_CHECKING:
    from pygame import Color, Surface
    from pygame.font import Font

#: What is to have smooth edges is painted so many times as large first; a power of two, else pygame makes it darker.
_FINE = 8
#: Words are new in most pictures: so many times as large is enough for even spaces between letters.
_FINE_WORDS = 4
#: Into how many straight lines a curve of a suit is cut.
_CURVE_STEPS = 12
#: pygame makes its own font smaller than asked for by this factor, so that it looks like the system's old one.
_OWN_FONT = 0.6875
#: How many different boxes and lines of words are kept: far more than the pictures of a game have in common.
_BOXES_KEPT, _WORDS_KEPT = 256, 1024
#: The most opaque that a colour can be.
_OPAQUE = 255


def rgb_array(picture: Picture) -> NDArray[np.uint8]:
    """Return a picture as pixels, shape (height, WIDTH, 3) uint8: red, green, blue from 0 to 255.

    Raises ``ValueError`` where pygame is not installed.
    """
    pixels = np.empty((picture.height, WIDTH, 3), dtype=np.uint8)
    # Painting is faster with four bytes a pixel; the last step writes them as three, into the array itself.
    load_pygame().image.frombuffer(pixels, (WIDTH, picture.height), "RGB").blit(painted(picture), (0, 0))
    return pixels


def painted(picture: Picture) -> Surface:
    """Return a picture as a surface of pygame's; raises ``ValueError`` where pygame is not installed."""
    surface: Surface = load_pygame().Surface((WIDTH, picture.height), 0, 32)
    for shape in picture.shapes:
        _paint(surface, shape)
    return surface


def load_pygame() -> ModuleType:
    """Return pygame; raises ``ValueError`` where it is not installed."""
    os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")  # what a program prints is its own affair
    try:
        import pygame
    except ImportError as error:
        raise ValueError("pictures as pixels and windows need pygame: pip install -e '.[render]'") from error
    return pygame


def _paint(surface: Surface, shape: Shape) -> None:
    if isinstance(shape, Card):
        place = _nearest(shape.x), _nearest(shape.y)
        _place(surface, _card(shape.card, shape.dim), place, EDGE_WIDTH)
        if shape.edge:
            mark = _box(CARD_WIDTH, CARD_HEIGHT, CARD_RADIUS, None, shape.edge, MARK_WIDTH)
            _place(surface, mark, place, MARK_WIDTH)
        for part in tag_of(shape):
            _paint(surface, part)
    elif isinstance(shape, Words):
        if not shape.text:
            return
        words, ascent = _words(shape.text, shape.size, shape.colour, shape.room)
        before = {"start": 0.0, "middle": words.get_width() / 2, "end": float(words.get_width())}[shape.anchor]
        surface.blit(words, (_nearest(shape.x - before), _nearest(shape.y) - ascent))
    elif isinstance(shape, Box):
        left, top = _nearest(shape.x), _nearest(shape.y)
        width, height = _nearest(shape.x + shape.width) - left, _nearest(shape.y + shape.height) - top
        if shape.radius == 0 and shape.edge is None:
            surface.fill(shape.fill, (left, top, width, height))
            return
        edge_width = math.ceil(shape.edge_width) if shape.edge else 0
        box = _box(width, height, shape.radius, shape.fill, shape.edge, shape.edge_width)
        _place(surface, box, (left, top), edge_width)
    else:
        left = math.floor(min(x for x, _ in shape.points))
        top = math.floor(min(y for _, y in shape.points))
        outline = _outline(tuple((x - left, y - top) for x, y in shape.points), shape.fill)
        surface.blit(outline, (left, top))


def _place(surface: Surface, part: Surface, place: tuple[int, int], around: int) -> None:
    """Put a part with so many pixels around it such that what they surround begins at a place."""
    surface.blit(part, (place[0] - around, place[1] - around))


def _nearest(value: float) -> int:
    return math.floor(value + 0.5)


# ---------------------------------------------------------------------- parts, painted once and kept


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
    """Return a box with as many transparent pixels around it as its edge is wide; half of the edge lies outside."""
    around = math.ceil(edge_width) if edge else 0
    canvas = _canvas(width + 2 * around, height + 2 * around, edge or fill or "#000000")
    _draw_box(canvas, (around, around, width, height), radius, fill, edge, edge_width, opacity)
    return _made_small(canvas)


@lru_cache(None)
def _card(card: int, dim: bool) -> Surface:
    """Return a card, with a transparent pixel around it."""
    if dim:
        surface = _card(card, False).copy()
        shade = _box(CARD_WIDTH, CARD_HEIGHT, CARD_RADIUS, SHADE_COLOUR, None, 0, round(SHADE_OPACITY * _OPAQUE))
        surface.blit(shade, (EDGE_WIDTH, EDGE_WIDTH))
        return surface
    fill, edge = BACK_COLOURS if card == BACK else FACE_COLOURS
    canvas = _canvas(CARD_WIDTH + 2 * EDGE_WIDTH, CARD_HEIGHT + 2 * EDGE_WIDTH, edge)
    _draw_box(canvas, (EDGE_WIDTH, EDGE_WIDTH, CARD_WIDTH, CARD_HEIGHT), CARD_RADIUS, fill, edge, EDGE_WIDTH)
    if card == BACK:
        inset = EDGE_WIDTH + FRAME_INSET
        frame = (inset, inset, CARD_WIDTH - 2 * FRAME_INSET, CARD_HEIGHT - 2 * FRAME_INSET)
        _draw_box(canvas, frame, FRAME_RADIUS, fill, FRAME_COLOUR, FRAME_WIDTH)
    else:
        _draw_face(canvas, card)
    return _made_small(canvas)


@lru_cache(_WORDS_KEPT)
def _words(text: str, size: float, colour: str, room: float) -> tuple[Surface, int]:
    """Return words, made narrower where they want more room, and how far above their line they begin."""
    pygame, font = load_pygame(), _font(round(size * _FINE_WORDS))
    letters = font.render(text, True, colour)
    above = math.ceil(font.get_ascent() / _FINE_WORDS)
    height = above + math.ceil(-font.get_descent() / _FINE_WORDS)
    width = math.ceil(letters.get_width() / _FINE_WORDS)
    canvas = _canvas(width, height, colour, _FINE_WORDS)
    canvas.blit(letters, (0, above * _FINE_WORDS - font.get_ascent()))
    return pygame.transform.smoothscale(canvas, (max(min(width, math.floor(room)), 1), height)), above


@lru_cache(_BOXES_KEPT)
def _outline(points: tuple[Point, ...], fill: str) -> Surface:
    canvas = _canvas(math.ceil(max(x for x, _ in points)), math.ceil(max(y for _, y in points)), fill)
    load_pygame().draw.polygon(canvas, fill, [(x * _FINE, y * _FINE) for x, y in points])
    return _made_small(canvas)


# ---------------------------------------------------------------------- painting large


def _canvas(width: int, height: int, colour: str, fine: int = _FINE) -> Surface:
    """Return an empty surface, large: transparent, but of the colour into which its edges are to fade."""
    pygame = load_pygame()
    canvas: Surface = pygame.Surface((width * fine, height * fine), pygame.SRCALPHA, 32)
    canvas.fill(_see_through(colour))
    return canvas


def _made_small(canvas: Surface) -> Surface:
    size = canvas.get_width() // _FINE, canvas.get_height() // _FINE
    small: Surface = load_pygame().transform.smoothscale(canvas, size)
    return small


def _see_through(colour: str, opacity: int = 0) -> Color:
    red, green, blue, _ = load_pygame().Color(colour)
    see_through: Color = load_pygame().Color(red, green, blue, opacity)
    return see_through


def _draw_box(
    canvas: Surface,
    place: tuple[int, int, int, int],
    radius: float,
    fill: str | None,
    edge: str | None,
    edge_width: float,
    opacity: int = _OPAQUE,
) -> None:
    """Draw a box whose edge runs along its border, half of it outside; without a fill it is see-through inside."""
    inside = _see_through(fill, opacity) if fill else _see_through(edge or "#000000")
    layers = [(edge_width / 2, _see_through(edge, opacity)), (-edge_width / 2, inside)] if edge else [(0.0, inside)]
    x, y, width, height = place
    for grown, colour in layers:
        sides = x - grown, y - grown, width + 2 * grown, height + 2 * grown
        corner = _nearest(max(radius + grown, 0) * _FINE)
        load_pygame().draw.rect(canvas, colour, [_nearest(side * _FINE) for side in sides], border_radius=corner)


def _draw_face(canvas: Surface, card: int) -> None:
    pygame, suit, text = load_pygame(), card // NUM_RANKS, rank_text(card)
    font = _font(RANK_SIZE * _FINE)
    rank = font.render(text, True, SUIT_COLOURS[suit])
    if len(text) > 1:
        rank = pygame.transform.smoothscale(rank, (RANK_SIZE * _FINE, rank.get_height()))
    x, y = ((side + EDGE_WIDTH) * _FINE for side in RANK_PLACE)
    canvas.blit(rank, (x - rank.get_width() / 2, y - font.get_ascent()))
    for x, y, half in (SMALL_SUIT, LARGE_SUIT):
        points = [
            ((x + EDGE_WIDTH + half * along) * _FINE, (y + EDGE_WIDTH + half * down) * _FINE)
            for along, down in _flattened(suit)
        ]
        pygame.draw.polygon(canvas, SUIT_COLOURS[suit], points)


def _font(size: int) -> Font:
    """Return pygame's own font, which is bold, with the size that browsers mean."""
    pygame = load_pygame()
    try:
        _kept_font(size).get_ascent()
    except pygame.error:  # somebody's pygame.quit() makes all fonts invalid
        _kept_font.cache_clear()
    return _kept_font(size)


@lru_cache(None)
def _kept_font(size: int) -> Font:
    pygame = load_pygame()
    pygame.font.init()
    font: Font = pygame.font.Font(None, math.ceil(size / _OWN_FONT))
    return font


@lru_cache(None)
def _flattened(suit: int) -> list[Point]:
    """Return a suit's outline as corners of a polygon, in a square from -1 to 1."""
    start, curves = SUIT_CURVES[suit]
    points = [start]
    for curve in curves:
        corners = np.array([points[-1], *curve])
        for part in np.linspace(0, 1, _CURVE_STEPS + 1)[1:]:
            rest = 1 - part
            x, y = np.array([rest**3, 3 * rest**2 * part, 3 * rest * part**2, part**3]) @ corners
            points.append((float(x), float(y)))
    return points
