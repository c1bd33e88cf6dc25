"""What all kinds of charts have in common."""

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
"""Of more groups there are no curves, and their names do not tell them apart."""

_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)))

MARKS = "os^Dv"
"""Of dots, and of lines where there are several."""


@dataclass(frozen=True)
class Axis:
    """An axis: what it shows, with its unit, and its scale."""

    label: str
    log: bool = False


@dataclass(frozen=True)
class Chart(ABC):
    """A chart and what it shows."""

    title: str
    caption: str
    x: Axis
    y: Axis

    @abstractmethod
    def draw(self, axes: "Axes") -> None:
        """Draws it on empty axes."""

    @property
    @abstractmethod
    def numbers(self) -> Grid:
        """What it shows, as a table."""

    @property
    def names(self) -> Sequence[str]:
        """What the legend tells apart."""
        return ()

    @property
    def rows(self) -> Sequence[str]:
        """Names of the rows that make its height, if any do; they lie at 0, 1, ... from the top."""
        return ()


def line_style(index: int) -> dict[str, Any]:
    """Colour and dash of the line at this place."""
    return {
        "color": PALETTE[index % len(PALETTE)],
        "linestyle": _DASHES[index % len(_DASHES)],
        "lw": 1.3,
    }


def is_wide(values: Numbers) -> bool:
    """Do they ask for a logarithmic scale?"""
    return 0 < 10 * float(values.min()) < float(values.max())
