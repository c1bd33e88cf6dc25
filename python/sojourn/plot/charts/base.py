"""The base class of all chart types."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...analysis.distribution import Numbers
from ...base.grid import Grid
from ..palette import PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


FEW_AT_MOST = 8
"""With more groups, no curves are drawn and points are labelled by variant."""

_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)))

MARKS = "os^Dv"
"""Markers of points, and of lines if there are several."""


@dataclass(frozen=True)
class Axis:
    """An axis: label with unit, and scale."""

    label: str
    log: bool = False


@dataclass(frozen=True)
class Chart(ABC):
    """A chart with its texts and data."""

    title: str
    caption: str
    x: Axis
    y: Axis

    @abstractmethod
    def draw(self, axes: "Axes") -> None:
        """Draws the chart on empty axes."""

    @property
    @abstractmethod
    def numbers(self) -> Grid:
        """The numbers of the chart, as a table."""

    @property
    def names(self) -> Sequence[str]:
        """The names in the legend."""
        return ()

    @property
    def rows(self) -> Sequence[str]:
        """Names of rows at 0, 1, ... from the top, if rows determine the height."""
        return ()

    @property
    def has_row_title(self) -> bool:
        """Does the chart itself write the label of the vertical axis?"""
        return False


def line_style(index: int) -> dict[str, Any]:
    """Colour and dash of the line with this index."""
    return {
        "color": PALETTE[index % len(PALETTE)],
        "linestyle": _DASHES[index % len(_DASHES)],
        "lw": 1.3,
    }


def is_wide(values: Numbers) -> bool:
    """Do the values need a logarithmic scale?"""
    return 0 < 10 * float(values.min()) < float(values.max())
