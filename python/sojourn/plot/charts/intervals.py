"""Means with their confidence intervals."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from ...analysis.distribution import Numbers
from ...analysis.statistics import Value
from ...base.grid import Grid, digits
from ..shapes import Marks, Path, Shape
from .base import Chart, color_of, mark_of, style_numbers

_HALF_CAP = 0.12
"""Of the height of the ends of an interval, in rows."""


@dataclass(frozen=True)
class Interval:
    """A named mean over seeds."""

    name: str
    value: Value
    is_idle: bool = False


@dataclass(frozen=True)
class Intervals(Chart):
    """A mark at each mean, and a line over its interval."""

    means: Sequence[Interval] = field(default_factory=list)

    def shapes(self) -> Sequence[Shape]:
        """Means from top to bottom."""
        numbers = style_numbers(one.is_idle for one in self.means)
        shapes: list[Shape] = []
        for row, (number, one) in enumerate(zip(numbers, self.means, strict=True)):
            color = color_of(number)
            if one.value.high is not None:
                shapes.append(Path(*_between(one.value, row), 1.3, color=color))
            mean = np.array([one.value.mean], np.float64)
            mark = mark_of(number)
            shapes.append(Marks(mean, np.array([row]), mark, 5.5, color=color))
        return shapes

    @property
    def numbers(self) -> Grid:
        """Mean, interval and count of each row."""
        rows = [
            [
                one.name,
                *(digits(v) for v in (one.value.mean, one.value.low, one.value.high)),
                str(one.value.n),
            ]
            for one in self.means
        ]
        return Grid(self.title, ["", "mean", "95 % from", "95 % to", "seeds"], rows)

    @property
    def rows(self) -> Sequence[str]:
        """A row for each mean."""
        return [one.name for one in self.means]


def _between(value: Value, row: int) -> tuple[Numbers, Numbers]:
    """A line from the low end to the high end, with a cap at each."""
    low, high = value.low, value.high
    x = np.array([low, low, np.nan, low, high, np.nan, high, high], np.float64)
    up, down = row - _HALF_CAP, row + _HALF_CAP
    return x, np.array([up, down, np.nan, row, row, np.nan, up, down])
