"""Lines with their intervals as bands, and the bounds that they are compared with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import TYPE_CHECKING, Any

from ...analysis.distribution import Numbers
from .base import color_of, style_numbers
from .lines import Lines

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OPACITY = 0.2
_DASHES: tuple[Any, ...] = ((0, (1, 1)), (0, (4, 1, 1, 1)))


@dataclass(frozen=True)
class Bands(Lines):
    """A line for each curve with a band around it, and horizontal lines."""

    bands: Sequence[tuple[Numbers, Numbers]] = ()
    """The lower and the upper edge of each curve's band."""
    bounds: Mapping[str, float] = field(default_factory=dict)
    """Horizontal lines by their names in the legend."""

    def draw(self, axes: "Axes") -> None:
        """Draws the bands below the lines, and the bounds."""
        numbers = style_numbers(curve.is_idle for curve in self.curves)
        for number, curve, (low, high) in zip(numbers, self.curves, self.bands, strict=True):
            axes.fill_between(curve.x, low, high, color=color_of(number), alpha=_OPACITY, lw=0)
        super().draw(axes)
        for dash, (text, value) in zip(cycle(_DASHES), self.bounds.items(), strict=False):
            axes.axhline(value, color="#000000", lw=0.9, linestyle=dash, label=text)

    @property
    def names(self) -> Sequence[str]:
        """The names of the curves, unless there is a single one, and of the bounds."""
        return [*filter(None, super().names), *self.bounds]

    @property
    def has_legend(self) -> bool:
        """Is anything named?"""
        return bool(self.names)
