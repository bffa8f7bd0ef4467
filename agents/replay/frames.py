"""Compact storage of a page's pictures: each element is stored once, and so is each part that pictures share.

A page has thousands of pictures that differ in one or two hands. A picture is divided into **parts**, one for each box
as wide as the picture (the header, the strip with stock and pile, each hand). A part is a list of elements, and a
frame is a list of parts.
"""

from __future__ import annotations

from gin_env.rendering.shapes import WIDTH, Box, Picture
from gin_env.rendering.svg import svg_elements

#: A box wider than this share of the picture begins a new part.
_WIDE = 0.9


class Frames:
    """Collects the pictures of a page.

    Attributes
    ----------
    elements : list of str
        SVG elements.
    parts : list of list of int
        For each part, the indices of its elements.
    """

    def __init__(self) -> None:
        self._elements: dict[str, int] = {}
        self._parts: dict[tuple[int, ...], int] = {}

    @property
    def elements(self) -> list[str]:
        """The elements of all pictures, each once."""
        return list(self._elements)

    @property
    def parts(self) -> list[list[int]]:
        """The parts of all pictures, each once, as indices of elements."""
        return [list(part) for part in self._parts]

    def add(self, picture: Picture) -> list[int]:
        """Add a picture and return the indices of its parts, in drawing order."""
        groups: list[list[int]] = []
        for shape, element in zip(picture.shapes, svg_elements(picture), strict=True):
            if not groups or (isinstance(shape, Box) and shape.width > _WIDE * WIDTH):
                groups.append([])
            groups[-1].append(self._elements.setdefault(element, len(self._elements)))
        return [self._parts.setdefault(tuple(group), len(self._parts)) for group in groups]
