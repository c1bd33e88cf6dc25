"""Means with their confidence intervals."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...analysis.statistics import Value
from ...base.grid import Grid, shown
from .base import Chart, color_of, mark_of, style_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
    digits: int = 1

    def draw(self, axes: "Axes") -> None:
        """Draws means from top to bottom."""
        numbers = style_numbers(one.is_idle for one in self.means)
        for row, (number, one) in enumerate(zip(numbers, self.means, strict=True)):
            mean, high = one.value.mean, one.value.high
            axes.errorbar(
                np.array([mean]),
                np.array([row]),
                xerr=None if mean is None or high is None else high - mean,
                fmt=mark_of(number),
                color=color_of(number),
                ms=4.5,
                lw=1.3,
                capsize=3.0,
            )
        axes.set_ylim(len(self.means) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")

    @property
    def numbers(self) -> Grid:
        """Mean, interval and count of each row."""
        rows = [
            [
                one.name,
                *(shown(v, self.digits) for v in (one.value.mean, one.value.low, one.value.high)),
                str(one.value.n),
            ]
            for one in self.means
        ]
        return Grid(self.title, ["", "mean", "95 % from", "95 % to", "seeds"], rows)

    @property
    def rows(self) -> Sequence[str]:
        """A row for each mean."""
        return [one.name for one in self.means]
