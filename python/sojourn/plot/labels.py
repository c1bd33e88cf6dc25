"""Places labels next to their points without overlap."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product

from ..analysis.distribution import Numbers
from .letters import width_em
from .scale import Frame
from .shapes import LETTERS_PT, Shape, line, text

_LINE_PT = 9.5
_GAP_PT = 7.0
_LINES = (0, -1, 1, -2, 2, -3, 3, -4, 4, -5, 5, -6, 6)
"""Vertical offsets of a label in lines, nearest first."""


@dataclass(frozen=True)
class Box:
    """A box one line high, in points from the lower left of the axes."""

    left: float
    right: float
    middle: float

    def meets(self, other: "Box") -> bool:
        """Do the boxes overlap?"""
        is_beside = self.right <= other.left or other.right <= self.left
        return not is_beside and abs(self.middle - other.middle) < _LINE_PT

    def is_inside(self, width: float, height: float) -> bool:
        """Is the box within axes of this size?"""
        return self.left >= 0 and self.right <= width and 0 <= self.middle <= height


@dataclass(frozen=True)
class Label:
    """A name and its point, in points from the lower left of the axes."""

    name: str
    x: float
    y: float

    @property
    def mark(self) -> Box:
        """The box of its point."""
        return Box(self.x - _GAP_PT / 2, self.x + _GAP_PT / 2, self.y)

    def box(self, is_left: bool, lines: int) -> Box:
        """The box of the label, left or right of its point and `lines` lines above."""
        width = width_em(self.name) * LETTERS_PT
        start = self.x - _GAP_PT - width if is_left else self.x + _GAP_PT
        return Box(start, start + width, self.y + lines * _LINE_PT)


Place = tuple[bool, int]
"""Left of its point or not, and lines above it."""


def places(
    labels: Sequence[Label], size_pt: tuple[float, float], others: Sequence[Box] = ()
) -> list[Place | None]:
    """A place for each label that covers no mark, `others` included; `None` where none is free."""
    taken = [*(label.mark for label in labels), *others]
    found: list[Place | None] = []
    for label in labels:
        # Prefer the side towards the middle, which has more space.
        is_left = label.x > size_pt[0] / 2
        wanted = [(side, lines) for lines, side in product(_LINES, (is_left, not is_left))]
        free = (
            place
            for place in wanted
            if (box := label.box(*place)).is_inside(*size_pt) and not any(map(box.meets, taken))
        )
        place = next(free, None)
        taken += [label.box(*place)] if place else []
        found.append(place)
    return found


def beside(named: Mapping[str, Numbers], marks: Numbers, frame: Frame) -> list[Shape]:
    """Names next to their points and over no mark, with a line to those further away.

    A name for which there is no room is left out.
    """
    labels = [Label(name, *point.tolist()) for name, point in named.items()]
    others = [Label("", *point).mark for point in marks.tolist()]
    size = (frame.x.length, frame.y.length)
    shapes: list[Shape] = []
    for label, place in zip(labels, places(labels, size, others), strict=True):
        if place is None:
            continue
        is_left, lines = place
        x = label.x + (-_GAP_PT if is_left else _GAP_PT)
        y = label.y + lines * _LINE_PT
        shapes.append(text(x, y, label.name, "end" if is_left else "start"))
        if lines:
            shapes.append(line([x, label.x], [y, label.y], width=0.5))
    return shapes
