"""The base class of all chart types."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Self

from ...analysis.distribution import Numbers
from ...base.grid import Grid
from ...base.lookup import UnknownError
from ...base.plain_text import plain_name
from ..palette import IDLE, PALETTE
from ..scale import Frame
from ..shapes import Path, Shape

FEW_AT_MOST = 8
"""With more groups, no curves are drawn and points have the style of their variant."""

_DASHES = ((), (5, 2), (1, 1.2), (6, 2, 1, 2))

_IDLE_DASH = (1, 3)

MARKS = "os^Dv"
"""Markers of points, and of lines if there are several."""

_IDLE_MARK = "x"


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
    legend_title: str = field(default="", kw_only=True)
    has_heading: bool = field(default=False, kw_only=True)
    """Is the title part of the picture? Where there is a page, that shows it."""

    @property
    def panels(self) -> "Sequence[Chart]":
        """The charts that are drawn below each other, on one horizontal axis: mostly this one."""
        return [self]

    @abstractmethod
    def shapes(self) -> Sequence[Shape]:
        """What is drawn, at the values of the axes."""

    def sized(self, frame: Frame) -> Sequence[Shape]:
        """What depends on the size of the area between the axes, in its points."""
        return ()

    def x_ends(self, low: float, high: float) -> tuple[float, float]:
        """The left and right end of the horizontal axis, if the shapes are from `low` to `high`."""
        return low, high

    def y_ends(self, low: float, high: float) -> tuple[float, float]:
        """The lower and upper end of the vertical axis."""
        return low, high

    def without_bands(self) -> Self:
        """This chart without intervals around its lines."""
        return self

    def with_texts(
        self,
        *,
        title: str | None = None,
        x: str | None = None,
        y: str | None = None,
        legend: str | None = None,
    ) -> Self:
        """This chart with a title in the picture, and other labels.

        Invisible characters in them are shown as escapes: fonts have none. Raises `UnknownError`
        for the title of a legend where there is none.
        """
        if legend and not self.names:
            raise UnknownError(
                f"legend title: found {legend!r}, but a figure of this kind has no legend; "
                "leave the title out"
            )
        title, x, y, legend = (text and plain_name(text) for text in (title, x, y, legend))
        return replace(
            self,
            title=self.title if title is None else title,
            has_heading=bool(title),
            x=self.x if x is None else replace(self.x, label=x),
            y=self.y if y is None else replace(self.y, label=y),
            legend_title=legend or "",
        )

    @property
    def subtitle(self) -> str:
        """What stands above the axes: what the values in them are."""
        return ""

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
        """Is there a legend? A single curve needs none: the title names it."""
        return len(self.names) > 1 or bool(self.names and self.legend_title)

    @property
    def rows(self) -> Sequence[str]:
        """Names of rows at 0, 1, ... from the top, if rows determine the height."""
        return ()

    @property
    def columns(self) -> Sequence[str]:
        """Names of columns at 0, 1, ... from the left, if the values are in cells."""
        return ()

    @property
    def has_row_title(self) -> bool:
        """Does the label of the vertical axis stand above the names of the rows?"""
        return False


def style_numbers(are_idle: Iterable[bool]) -> list[int | None]:
    """The number of each one's style: idle lines have none and do not count."""
    numbers = count()
    return [None if is_idle else next(numbers) for is_idle in are_idle]


def line_of(number: int | None, x: Numbers, y: Numbers, name: str = "") -> Path:
    """The line with this number; `None` is an idle line."""
    return Path(x, y, 1.3, dash_of(number), color=color_of(number), name=name)


def dash_of(number: int | None) -> Sequence[float]:
    """Lengths of line and gap of the line with this number; none for a solid line."""
    return _IDLE_DASH if number is None else _DASHES[number % len(_DASHES)]


def color_of(number: int | None) -> str:
    """The colour of the series with this number; `None` is an idle line."""
    return IDLE if number is None else PALETTE[number % len(PALETTE)]


def mark_of(number: int | None) -> str:
    """The marker of the series with this number; `None` is an idle line."""
    return _IDLE_MARK if number is None else MARKS[number % len(MARKS)]


def is_wide(values: Numbers) -> bool:
    """Do the values need a logarithmic scale?"""
    return 0 < 10 * float(values.min()) < float(values.max())
