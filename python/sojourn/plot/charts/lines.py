"""Line charts of distributions and time series."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis.curves import Curve, Sample
from ...base.grid import NOTHING, Grid, digits
from .base import Chart, line_style, mark_of, style_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_QUANTILES = (0.5, 0.9, 0.99)

_TAILS = (0.1, 0.01, 0.001, 0.0001)


@dataclass(frozen=True)
class Lines(Chart):
    """A line for each curve; with `steps`, a value holds until the next."""

    curves: Sequence[Curve] = ()
    steps: bool = False
    marked: bool = False
    """A marker at each point."""
    table: Grid = field(default_factory=lambda: Grid("", [], []))

    def draw(self, axes: "Axes") -> None:
        """Draws the lines, each with its own dash and markers."""
        numbers = style_numbers(curve.is_idle for curve in self.curves)
        for index, (number, curve) in enumerate(zip(numbers, self.curves, strict=True)):
            axes.plot(
                curve.x,
                curve.y,
                label=curve.name,
                drawstyle="steps-post" if self.steps else "default",
                **line_style(number),
                **self._marks(index, mark_of(number), curve),
            )

    def _marks(self, index: int, mark: str, curve: Curve) -> dict[str, Any]:
        if not self.marked and len(self.curves) < 2:
            return {}
        points = None if self.steps else len(curve.x)
        every = None if self.marked else _every(index, len(self.curves), points)
        return {"marker": mark, "ms": 3.5, "markevery": every}

    @property
    def numbers(self) -> Grid:
        """A row for each curve."""
        return self.table

    @property
    def names(self) -> Sequence[str]:
        """The names of the curves."""
        return [curve.name for curve in self.curves]


def quantile_grid(title: str, samples: Sequence[Sample], unit: str) -> Grid:
    """Median, 90 % and 99 % quantiles of each sample."""
    rows = [
        [sample.name, *(digits(sample.values.quantile(q)) for q in _QUANTILES)]
        for sample in samples
    ]
    return Grid(title, ["", *(f"{100 * q:g} %\n{unit}" for q in _QUANTILES)], rows)


def tail_grid(title: str, samples: Sequence[Sample], unit: str) -> Grid:
    """Values exceeded by 10 % to 0.01 % of a sample; no value if that is less than one packet."""
    rows = [
        [
            sample.name,
            *(
                digits(sample.values.quantile(1 - share))
                if share * sample.values.total >= 1
                else NOTHING
                for share in _TAILS
            ),
        ]
        for sample in samples
    ]
    return Grid(title, ["", *(f"{100 * share:g} %\n{unit}" for share in _TAILS)], rows)


def range_grid(title: str, curves: Sequence[Curve], unit: str) -> Grid:
    """Minimum, mean and maximum of each curve."""
    headings = ["", *(f"{what}\n{unit}" for what in ("minimum", "mean", "maximum"))]
    rows = [
        [curve.name, *(digits(float(f(curve.y))) for f in (np.nanmin, np.nanmean, np.nanmax))]
        for curve in curves
        if not np.isnan(curve.y).all()
    ]
    return Grid(title, headings, rows)


def _every(index: int, count: int, points: int | None) -> tuple[float, float] | tuple[int, int]:
    """Where the markers of a line are: at other places than those of the others.

    They are evenly spaced along the line, or over its `points` in a time series.
    """
    start, step = 0.05 + 0.2 * index / count, 0.2
    return (start, step) if points is None else (int(start * points), max(1, int(step * points)))
