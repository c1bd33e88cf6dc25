"""The base class of all chart types."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any

from ...analysis.distribution import Numbers
from ...base.grid import Grid
from ..palette import IDLE, PALETTE

if TYPE_CHECKING:
    from matplotlib.axes import Axes


FEW_AT_MOST = 8
"""With more groups, no curves are drawn and points have the style of their variant."""

_DASHES: tuple[Any, ...] = ("-", (0, (5, 2)), (0, (1, 1.2)), (0, (6, 2, 1, 2)))

_IDLE_DASH = (0, (1, 3))

MARKS = "os^Dv"
"""Markers of points, and of lines if there are several."""

_IDLE_MARK = "x"

LETTER_IN = 0.06
"""The mean width of a letter."""


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

    def write_names(self, axes: "Axes") -> bool:
        """Writes what depends on the size of the axes; did that change what is around them?"""
        return False

    @property
    @abstractmethod
    def numbers(self) -> Grid:
        """The numbers of the chart, as a table."""

    @property
    def names(self) -> Sequence[str]:
        """The names in the legend."""
        return ()

    @property
    def has_legend(self) -> bool:
        """Is there a legend? A single curve needs none: the title tells what it is."""
        return len(self.names) > 1

    @property
    def rows(self) -> Sequence[str]:
        """Names of rows at 0, 1, ... from the top, if rows determine the height."""
        return ()

    @property
    def has_row_title(self) -> bool:
        """Does the label of the vertical axis stand above the names of the rows?"""
        return False


def style_numbers(are_idle: Iterable[bool]) -> list[int | None]:
    """The number of each one's style: idle lines have none and do not count."""
    numbers = count()
    return [None if is_idle else next(numbers) for is_idle in are_idle]


def line_style(number: int | None) -> dict[str, Any]:
    """Colour and dash of the line with this number; `None` is an idle line."""
    dash = _IDLE_DASH if number is None else _DASHES[number % len(_DASHES)]
    return {"color": color_of(number), "linestyle": dash, "lw": 1.3}


def color_of(number: int | None) -> str:
    """The colour of the series with this number; `None` is an idle line."""
    return IDLE if number is None else PALETTE[number % len(PALETTE)]


def mark_of(number: int | None) -> str:
    """The marker of the series with this number; `None` is an idle line."""
    return _IDLE_MARK if number is None else MARKS[number % len(MARKS)]


def is_wide(values: Numbers) -> bool:
    """Do the values need a logarithmic scale?"""
    return 0 < 10 * float(values.min()) < float(values.max())
