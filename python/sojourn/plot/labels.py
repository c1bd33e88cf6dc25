"""Places labels next to their points without overlap."""

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
"""Approximate space of a figure beside and above its axes."""
_LINES = (0, -1, 1, -2, 2, -3, 3, -4, 4)
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
        width = len(self.name) * _LETTER_PT
        start = self.x - _GAP_PT - width if is_left else self.x + _GAP_PT
        return Box(start, start + width, self.y + lines * _LINE_PT)


def places(labels: Sequence[Label], size_pt: tuple[float, float]) -> list[tuple[bool, int]]:
    """A place for each label without overlap: left of its point or not, and lines above it."""
    taken = [label.mark for label in labels]
    found = []
    for label in labels:
        # Prefer the side towards the middle, which has more space.
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
    """A name for a data point, whose position is given as shares of width and height too."""

    name: str
    point: tuple[float, float]
    share: tuple[float, float]


def write(axes: "Axes", everything: Sequence[Named]) -> None:
    """Writes labels next to their points, with a line to those further away."""
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
    """The approximate size of the axes in points."""
    figure = axes.get_figure(root=True)
    assert figure
    return 72 * figure.get_figwidth() - _AROUND_PT[0], 72 * figure.get_figheight() - _AROUND_PT[1]
