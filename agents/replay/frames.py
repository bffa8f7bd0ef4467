"""The pictures of a page, kept small: each element stands in it once, and each part that pictures share as well.

Thousands of pictures differ in a hand or two. A picture is cut into **parts**, one for each box as wide as
the picture (the head, the band with stock and pile, each hand); a part is a list of elements, a frame a list of parts.
"""

from __future__ import annotations

from gin_env.rendering.shapes import WIDTH, Box, Picture
from gin_env.rendering.svg import svg_elements

#: A box as wide as this share of the picture begins a part; where it is wrong, pages only grow.
_WIDE = 0.9


class Frames:
    """Collects the pictures of a page.

    Attributes
    ----------
    elements : list of str
        SVG elements.
    parts : list of list of int
        Each the positions of its elements.
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
        """The parts of all pictures, each once, as positions of elements."""
        return [list(part) for part in self._parts]

    def add(self, picture: Picture) -> list[int]:
        """Return a picture as the positions of its parts, in the order in which they are drawn."""
        groups: list[list[int]] = []
        for shape, element in zip(picture.shapes, svg_elements(picture), strict=True):
            if not groups or (isinstance(shape, Box) and shape.width > _WIDE * WIDTH):
                groups.append([])
            groups[-1].append(self._elements.setdefault(element, len(self._elements)))
        return [self._parts.setdefault(tuple(group), len(self._parts)) for group in groups]
