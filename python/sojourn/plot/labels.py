"""Names beside what they are of, none over another."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_LINE_PT = 9.5
_LETTER_PT = 4.6
_GAP_PT = 7.0
_AROUND_PT = (45.0, 60.0)
"""About what is left of a figure beside and above its axes, for other letters."""
_LINES = (0, -1, 1, -2, 2, -3, 3, -4, 4)
"""How many lines up a name may go, the nearest first."""


@dataclass(frozen=True)
class Box:
    """A part of the axes, in points from the lower left."""

    left: float
    right: float
    middle: float

    def meets(self, other: "Box") -> bool:
        """Are they over each other, each a line high?"""
        is_beside = self.right <= other.left or other.right <= self.left
        return not is_beside and abs(self.middle - other.middle) < _LINE_PT

    def is_inside(self, width: float, height: float) -> bool:
        """Is it within axes of this size?"""
        return self.left >= 0 and self.right <= width and 0 <= self.middle <= height


@dataclass(frozen=True)
class Label:
    """A name and its point, in points from the lower left of the axes."""

    name: str
    x: float
    y: float

    @property
    def mark(self) -> Box:
        """What its point takes."""
        return Box(self.x - _GAP_PT / 2, self.x + _GAP_PT / 2, self.y)

    def box(self, is_left: bool, lines: int) -> Box:
        """What the name takes, at the left or right of its point and so many lines up."""
        width = len(self.name) * _LETTER_PT
        start = self.x - _GAP_PT - width if is_left else self.x + _GAP_PT
        return Box(start, start + width, self.y + lines * _LINE_PT)


def places(labels: Sequence[Label], size_pt: tuple[float, float]) -> list[tuple[bool, int]]:
    """Where each name stands so that it meets no other: at the left or not, so many lines up."""
    taken = [label.mark for label in labels]
    found = []
    for label in labels:
        # There is more room in the middle of the axes.
        is_left = label.x > size_pt[0] / 2
        wanted = [(side, lines) for lines, side in product(_LINES, (is_left, not is_left))]
        free = (
            place
            for place in wanted
            if (box := label.box(*place)).is_inside(*size_pt) and not any(map(box.meets, taken))
        )
        place = next(free, (is_left, 0))
        taken.append(label.box(*place))
        found.append(place)
    return found


@dataclass(frozen=True)
class Named:
    """A name for a point of the axes' data, which is at these shares of their width and height."""

    name: str
    point: tuple[float, float]
    share: tuple[float, float]


def write(axes: "Axes", everything: Sequence[Named]) -> None:
    """Writes names beside their points, with a line to those that are away."""
    size_pt = _size_pt(axes)
    labels = [Label(n.name, n.share[0] * size_pt[0], n.share[1] * size_pt[1]) for n in everything]
    for named, (is_left, lines) in zip(everything, places(labels, size_pt), strict=True):
        axes.annotate(
            named.name,
            named.point,
            (-_GAP_PT if is_left else _GAP_PT, lines * _LINE_PT),
            textcoords="offset points",
            ha="right" if is_left else "left",
            va="center",
            arrowprops={"arrowstyle": "-", "lw": 0.5, "shrinkA": 0} if lines else None,
        ).set_in_layout(False)


def _size_pt(axes: "Axes") -> tuple[float, float]:
    """About the size of axes; a little more or less moves no name onto another."""
    figure = axes.get_figure(root=True)
    assert figure
    return 72 * figure.get_figwidth() - _AROUND_PT[0], 72 * figure.get_figheight() - _AROUND_PT[1]
