"""Line charts of distributions and time series."""

from collections.abc import Container, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np

from ...analysis.curves import Curve, Sample
from ...analysis.distribution import Numbers
from ...base.grid import NOTHING, Grid, digits
from ..scale import Frame
from ..shapes import Marks, Path, Shape
from .base import Chart, color_of, line_of, mark_of, style_numbers

_QUANTILES = (0.5, 0.9, 0.99)

_TAILS = (0.1, 0.01, 0.001, 0.0001)

BAND = "The band is their 95 % interval (Student's t)."
"""What a caption says of bands."""

_BAND_OPACITY = 0.18
_MARK_PT = 4.5
_MARKS_APART = 0.2
"""Of a line's length."""


@dataclass(frozen=True)
class Lines(Chart):
    """A line for each curve; with `steps`, a value holds until the next."""

    curves: Sequence[Curve] = ()
    steps: bool = False
    marked: bool = False
    """A marker at each point."""
    from_zero: bool = False
    """Does the vertical axis begin at zero?"""
    table: Grid = field(default_factory=lambda: Grid("", [], []))

    def shapes(self) -> Sequence[Shape]:
        """The lines, each with its own dash, and their bands behind them."""
        numbered = list(zip(self._numbers(), self.curves, strict=True))
        bands = [
            Path(*self._around(curve), 0, fill=color_of(number), opacity=_BAND_OPACITY)
            for number, curve in numbered
            if curve.band is not None
        ]
        lines = [
            line_of(number, *self._line(curve.x, curve.y), name=curve.name)
            for number, curve in numbered
        ]
        return [*bands, *lines]

    def y_ends(self, low: float, high: float) -> tuple[float, float]:
        """The ends of the lines, or zero below."""
        return (0.0 if self.from_zero else low), high

    def sized(self, frame: Frame) -> Sequence[Shape]:
        """Marks, at other places of each line; a single line needs none."""
        if not self.marked and len(self.curves) < 2:
            return ()
        shapes = []
        for index, (number, curve) in enumerate(zip(self._numbers(), self.curves, strict=True)):
            x, y = (curve.x, curve.y) if self.marked else self._line(curve.x, curve.y)
            points = frame.points(x, y)[~np.isnan(x + y)]
            if not self.marked:
                start = 0.05 + _MARKS_APART * index / len(self.curves)
                points = _along(points, np.arange(start, 1, _MARKS_APART))
            x, y = points.T
            mark, color = mark_of(number), color_of(number)
            shapes.append(Marks(x, y, mark, _MARK_PT, color=color, name=curve.name))
        return shapes

    def without_bands(self) -> Self:
        """The lines alone."""
        return replace(self, curves=[replace(curve, band=None) for curve in self.curves])

    def only(self, names: Container[str]) -> Self:
        """The lines with these names."""
        return replace(self, curves=[curve for curve in self.curves if curve.name in names])

    def _numbers(self) -> list[int | None]:
        return style_numbers(curve.is_idle for curve in self.curves)

    def _line(self, x: Numbers, y: Numbers) -> tuple[Numbers, Numbers]:
        """The corners of a line; with steps, each value holds until the next."""
        return (np.repeat(x, 2)[1:], np.repeat(y, 2)[:-1]) if self.steps else (x, y)

    def _around(self, curve: Curve) -> tuple[Numbers, Numbers]:
        """The outline of a curve's band, split where it has none."""
        assert curve.band is not None
        low, high = curve.band
        outlines = []
        for part in _parts(~np.isnan(low + high)):
            (x, down), (_, up) = (self._line(curve.x[part], y[part]) for y in (low, high))
            outlines += [np.array([[*x, *x[::-1]], [*down, *up[::-1]]]), np.full((2, 1), np.nan)]
        x, y = np.hstack([*outlines, np.zeros((2, 0))])
        return x, y

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


def range_grid(title: str, lines: Sequence[Sequence[Curve]], unit: str) -> Grid:
    """Minimum, mean and maximum of each line, over all its curves."""
    headings = ["", *(f"{what}\n{unit}" for what in ("minimum", "mean", "maximum"))]
    values = {curves[0].name: np.concatenate([curve.y for curve in curves]) for curves in lines}
    rows = [
        [name, *(digits(float(f(y))) for f in (np.nanmin, np.nanmean, np.nanmax))]
        for name, y in values.items()
        if not np.isnan(y).all()
    ]
    return Grid(title, headings, rows)


def _parts(there: np.ndarray[Any, np.dtype[np.bool_]]) -> list[slice]:
    """The longest stretches without gaps."""
    edges = np.flatnonzero(np.diff([False, *there, False]))
    return [slice(start, stop) for start, stop in edges.reshape(-1, 2).tolist()]


def _along(points: Numbers, shares: Numbers) -> Numbers:
    """The points at these shares of a line's length."""
    if len(points) < 2:
        return points
    lengths = np.hypot(*np.diff(points, axis=0).T).cumsum()
    at = np.append(0.0, lengths) / (lengths[-1] or 1.0)
    return np.column_stack([np.interp(shares, at, part) for part in points.T])
