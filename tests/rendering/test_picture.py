"""The table as a picture: what it shows of a position, that it can be read, and the same in SVG and in pixels."""

from __future__ import annotations

import itertools
import math
import re
import sys
from functools import lru_cache
from xml.etree import ElementTree

import numpy as np
import pytest

from gin_env import PRESETS
from gin_env.cards import card_ids, parse_card
from gin_env.rendering import raster
from gin_env.rendering.raster import rgb_array
from gin_env.rendering.shapes import BACK, CARD_HEIGHT, CARD_WIDTH, WIDTH, Box, Card, Outline, Picture, Text, tag_of
from gin_env.rendering.svg import svg_document, svg_elements
from gin_env.rendering.window import Window
from gin_env.scoring import Kind
from tests.helpers.options import ALL_RULES, swept
from tests.helpers.pictures import Scene, open_scenes, scenes

pygame = pytest.importorskip("pygame", reason="no pygame: pip install -e '.[render]'")

#: The visible width of a covered card at which its rank and suit can still be read.
READABLE = 28
#: The number of positions painted of each deal, besides its last two.
PAINTED = 8
#: Text may be squeezed to this share of its width.
SQUEEZED = 0.7


def seats_scenes(name: str) -> list[Scene]:
    return scenes(name)[1]


def drawn(picture: Picture) -> list:
    """All shapes, the tags of cards after the cards."""
    parts = [[shape, *tag_of(shape)] if isinstance(shape, Card) else [shape] for shape in picture.shapes]
    return list(itertools.chain.from_iterable(parts))


def shown_cards(picture: Picture) -> list[Card]:
    return [shape for shape in picture.shapes if isinstance(shape, Card)]


@lru_cache(None)
def width_of(text: str, size: float) -> float:
    """How wide words are written; measured on large ones, as widths are whole numbers."""
    return raster._font(round(size * 4)).size(text)[0] / 4


def extent(shape) -> tuple[float, float, float, float]:
    """Left, top, right and bottom of what a shape takes."""
    if isinstance(shape, Card):
        return shape.x, shape.y, shape.x + CARD_WIDTH, shape.y + CARD_HEIGHT
    if isinstance(shape, Box):
        return shape.x, shape.y, shape.x + shape.width, shape.y + shape.height
    if isinstance(shape, Outline):
        across, down = zip(*shape.points, strict=True)
        return min(across), min(down), max(across), max(down)
    width = min(width_of(shape.text, shape.size), shape.room)
    left = shape.x - {"start": 0.0, "middle": width / 2, "end": width}[shape.anchor]
    return left, shape.y - shape.size * 0.72, left + width, shape.y + shape.size * 0.2


@lru_cache(None)
def painted_alone(card: int, dim: bool) -> np.ndarray:
    return rgb_array(Picture(CARD_HEIGHT, (Card(0, 0, card, dim=dim),)))


def overlap(one, other) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def within(inner, outer) -> bool:
    return inner[0] >= outer[0] and inner[1] >= outer[1] and inner[2] <= outer[2] and inner[3] <= outer[3]


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_all_pictures_of_some_rules_have_one_size_and_every_step_changes_them(name):
    before, (first, *_) = None, open_scenes(name)
    assert {scene.picture.height for scene in (*open_scenes(name), *seats_scenes(name))} == {first.picture.height}
    for scene in (*open_scenes(name)[:PAINTED], *open_scenes(name)[-2:]):
        pixels = rgb_array(scene.picture)
        assert (pixels.shape, pixels.dtype) == ((scene.picture.height, WIDTH, 3), np.uint8)
        assert before is None or not np.array_equal(pixels, before)
        before = pixels


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_the_open_picture_shows_every_card_of_every_hand_once(name):
    for scene in open_scenes(name):
        table, cards = scene.table, shown_cards(scene.picture)
        in_rows = sorted(card.card for card in cards if card.place in ("hand", "meld"))
        laid = [placed.card for placed in table.layoffs]
        hands = [card for hand in scene.hands for card in card_ids(hand)]
        assert in_rows == sorted(hands)
        for seat, hand in enumerate(scene.hands):
            own = {card.card for card in cards if card.seat == seat and card.card not in laid}
            assert own == set(card_ids(hand)) - set(laid)
        pile = [card.card for card in cards if card.place == "pile"]
        assert pile == ([] if table.upcard < 0 or table.upcard >= 52 else [table.upcard])


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_a_seats_picture_shows_no_card_that_it_may_not_know(name):
    rules, own_hands = ALL_RULES[name], 0
    for scene in seats_scenes(name):
        viewer, cards = scene.table.viewer, shown_cards(scene.picture)
        faces = {card.card for card in cards if card.card != BACK}
        assert not faces & set(card_ids(scene.unseen))
        words = " ".join(shape.text for shape in drawn(scene.picture) if isinstance(shape, Text))
        told = re.findall(r"(?<!named )\b[A2-9TJQK][SHDC]\b", words)  # what a seat names for a catch, all have heard
        assert not {parse_card(text) for text in told} & set(card_ids(scene.unseen))
        own = {card.card for card in cards if card.seat == viewer and card.place == "hand"}
        if scene.table.kind <= Kind.DEAD:
            assert own == set(card_ids(scene.hands[viewer]))
            own_hands += len(own)
            for seat, hand in enumerate(scene.hands):
                lying = [card for card in cards if card.seat == seat and card.place == "hand"]
                assert len(lying) == hand.bit_count()
                if seat not in (viewer, rules.partner_of(viewer)):
                    assert {card.card for card in lying} - {BACK} <= set(card_ids(scene.table.hands[seat].known))
    assert own_hands


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_nothing_is_cut_off_and_text_has_room(name):
    for scene in [*open_scenes(name), *seats_scenes(name)]:
        frame = 0, 0, WIDTH, scene.picture.height
        for shape in drawn(scene.picture):
            assert within(extent(shape), frame), shape
            if isinstance(shape, Text):
                assert width_of(shape.text, shape.size) * SQUEEZED <= shape.room, shape


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_text_is_drawn_on_nothing_but_boxes(name):
    """On a card only within a box that was drawn over it: a tag, or the number of cards in the stock."""
    for scene in [*open_scenes(name)[::3], open_scenes(name)[-1], *seats_scenes(name)[::2]]:
        shapes = [(shape, extent(shape)) for shape in drawn(scene.picture)]
        words = [(shape, place) for shape, place in shapes if isinstance(shape, Text) and shape.text]
        for (one, place), (other, there) in itertools.combinations(words, 2):
            assert not overlap(place, there), (one, other)
        for index, (shape, place) in enumerate(shapes):
            if not isinstance(shape, Text) or not shape.text:
                continue
            for number, (card, there) in enumerate(shapes):
                if isinstance(card, Card) and overlap(place, there):
                    over_it = shapes[number + 1 : index]
                    boxes = [box for what, box in over_it if isinstance(what, Box) and within(place, box)]
                    assert number < index, (shape, card)
                    assert boxes, (shape, card)


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_hands_stay_in_their_rows_and_every_card_can_be_read(name):
    for scene in [*open_scenes(name), *seats_scenes(name)]:
        rows = [shape for shape in scene.picture.shapes if isinstance(shape, Box) and shape.width > WIDTH * 0.9]
        cards = shown_cards(scene.picture)
        for card in cards:
            assert any(within(extent(card), extent(row)) for row in rows)
        for index, card in enumerate(cards):
            covers = [other for other in cards[index + 1 :] if overlap(extent(card), extent(other))]
            assert all(other.y == card.y and other.x > card.x for other in covers)
            strip = min((other.x - card.x for other in covers), default=CARD_WIDTH)
            assert card.card == BACK or strip >= READABLE


@pytest.mark.parametrize("name", swept(ALL_RULES))
def test_svg_and_pixels_show_the_same_cards_at_the_same_places(name):
    compared = 0
    for scene in (open_scenes(name)[3], open_scenes(name)[-1], *seats_scenes(name)[1::9]):
        pixels = rgb_array(scene.picture)
        uses = [use for text in svg_elements(scene.picture) for use in ElementTree.fromstring(text).iter("use")]
        cards = shown_cards(scene.picture)
        assert len(uses) == len(cards)
        for use, card in zip(uses, cards, strict=True):
            assert use.get("data-card") == (None if card.card == BACK else use.get("href").removeprefix("#card-"))
            face = BACK if use.get("data-card") is None else parse_card(use.get("data-card"))
            if face == BACK:  # covered by its neighbours, or by the number of cards
                continue
            alone = painted_alone(face, card.dim)
            x, y = (math.floor(float(use.get(side)) + 0.5) for side in "xy")
            inner = slice(5, CARD_HEIGHT - 20), slice(5, READABLE - 5)  # inside an edge, above a tag
            assert np.array_equal(pixels[y : y + CARD_HEIGHT, x : x + CARD_WIDTH][inner], alone[inner])
            compared += 1
    assert compared


@pytest.mark.parametrize("preset", swept(PRESETS))
def test_the_svg_is_well_formed_and_holds_every_card_it_shows(preset):
    for scene in (open_scenes(preset)[0], open_scenes(preset)[-1], *seats_scenes(preset)[-2:]):
        root = ElementTree.fromstring(svg_document(scene.picture))
        assert (root.get("width"), root.get("height")) == (str(WIDTH), str(scene.picture.height))
        space = "{http://www.w3.org/2000/svg}"
        symbols = {group.get("id") for group in root.find(f"{space}defs")}
        assert {use.get("href").removeprefix("#") for use in root.iter(f"{space}use")} == symbols


def test_faces_differ():
    faces = [rgb_array(Picture(CARD_HEIGHT, (Card(0, 0, card),))).tobytes() for card in range(BACK, 52)]
    assert len(set(faces)) == 53
    assert rgb_array(Picture(CARD_HEIGHT, (Card(0, 0, 3, dim=True),))).tobytes() not in faces
    assert rgb_array(Picture(CARD_HEIGHT, (Card(0, 0, 3, edge="#ffd866"),))).tobytes() not in faces


def test_text_has_its_colour_and_is_squeezed_into_its_room():
    def columns(words):
        pixels = rgb_array(Picture(40, (Box(0, 0, WIDTH, 40, "#000000", radius=0), words)))
        assert np.abs(pixels.reshape(-1, 3).max(axis=0) - np.array((255, 216, 102))).max() <= 3
        return np.flatnonzero(pixels.any(axis=(0, 2)))

    text = "player_0 discarded 5H"
    wide = columns(Text(100, 30, text, 18, "#ffd866"))
    narrow = columns(Text(100, 30, text, 18, "#ffd866", room=80))
    assert 100 <= wide.min() < 105
    assert wide.max() > 220
    assert 100 <= narrow.min() < 105
    assert 170 < narrow.max() < 180
    ending = columns(Text(300, 30, text, 18, "#ffd866", "end"))
    assert 295 < ending.max() < 300
    middle = columns(Text(300, 30, text, 18, "#ffd866", "middle"))
    assert abs((middle.min() + middle.max()) / 2 - 300) < 3


def test_an_array_belongs_to_its_caller():
    picture = open_scenes("classic_2p")[0].picture
    pixels = rgb_array(picture)
    pixels[:] = 0
    assert rgb_array(picture).any()


def test_pictures_are_painted_after_pygame_quit():
    picture = open_scenes("classic_2p")[0].picture
    before = rgb_array(picture)
    pygame.quit()
    raster._text.cache_clear()
    assert np.array_equal(rgb_array(picture), before)


def test_without_pygame_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "pygame", None)
    picture = open_scenes("classic_2p")[0].picture
    with pytest.raises(ValueError, match=re.escape("pip install -e '.[render]'")):
        rgb_array(picture)
    with pytest.raises(ValueError, match=re.escape("pip install -e '.[render]'")):
        Window("a table", 2).show(picture)
