"""What pictures consist of: paths, marks and texts."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from ..analysis.distribution import Numbers

INK = "#000000"
GRID = "#b0b0b0"

LETTERS_PT = 8.0
"""The size of letters."""

Anchor = Literal["start", "middle", "end"]


@dataclass(frozen=True, eq=False)
class Shape:
    """Something at points; NaN separates parts. Shapes of one name are one entry of the legend."""

    x: Numbers
    y: Numbers
    color: str = field(default=INK, kw_only=True)
    opacity: float = field(default=1.0, kw_only=True)
    name: str = field(default="", kw_only=True)

    def moved(self, x: Callable[[Numbers], Numbers], y: Callable[[Numbers], Numbers]) -> "Shape":
        """This shape elsewhere."""
        return replace(self, x=x(self.x), y=y(self.y))


@dataclass(frozen=True, eq=False)
class Path(Shape):
    """A line, or an area if it has a `fill` or a `hatch`."""

    width: float = 0.8
    """Of the line; 0 for none."""
    dash: Sequence[float] = ()
    """Lengths of line and gap in turn, in widths of the line."""
    fill: str = ""
    hatch: str = ""
    """The directions of its lines: of / \\ | -"""

    @property
    def is_area(self) -> bool:
        """Does it cover an area?"""
        return bool(self.fill or self.hatch)


@dataclass(frozen=True, eq=False)
class Marks(Shape):
    """A mark at each point, of this diameter."""

    mark: str = "o"
    """o: circle, s: square, ^ and v: triangles, D: diamond, x: cross."""
    size: float = 3.5


@dataclass(frozen=True, eq=False)
class Text(Shape):
    """A line of text whose middle is at the height of a point."""

    text: str = ""
    anchor: Anchor = "start"
    size: float = LETTERS_PT
    is_turned: bool = False
    """Does it go upwards?"""
    is_bold: bool = False


@dataclass(frozen=True)
class Picture:
    """Shapes, in points from the upper left."""

    width_pt: float
    height_pt: float
    shapes: Sequence[Shape]

    def above(self, other: "Picture") -> "Picture":
        """This picture with another one below it."""
        below = [shape.moved(lambda x: x, lambda y: y + self.height_pt) for shape in other.shapes]
        return Picture(self.width_pt, self.height_pt + other.height_pt, [*self.shapes, *below])


def line(x: Sequence[float], y: Sequence[float], color: str = INK, width: float = 0.8) -> Path:
    """A thin line."""
    return Path(np.array(x), np.array(y), color=color, width=width)


def text(x: float, y: float, words: str, anchor: Anchor = "start", is_turned: bool = False) -> Text:
    """A line of text at a point."""
    return Text(np.array([x]), np.array([y]), words, anchor, is_turned=is_turned)
