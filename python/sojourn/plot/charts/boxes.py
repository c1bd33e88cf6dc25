"""Box plots of distributions."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...analysis.curves import Sample
from ...analysis.distribution import Numbers
from ...base.grid import Grid, digits
from ..shapes import Marks, Path, Shape
from .base import Chart, color_of, style_numbers

_WHISKERS = (0.01, 0.25, 0.5, 0.75, 0.99)

_DOTS_AT_MOST = 400

_HALF, _HALF_CAP = 0.28, 0.14
"""Of the heights of box and caps, in rows."""


@dataclass(frozen=True)
class Boxes(Chart):
    """A box per sample: quartiles, whiskers from 1 to 99 %, and dots for small samples."""

    samples: Sequence[Sample] = ()
    unit: str = ""

    def shapes(self) -> Sequence[Shape]:
        """Boxes from top to bottom."""
        numbers = style_numbers(sample.is_idle for sample in self.samples)
        shapes: list[Shape] = []
        for row, (number, sample) in enumerate(zip(numbers, self.samples, strict=True)):
            color, dots = color_of(number), _dots(sample)
            x, y = _box(sample)
            shapes.append(Path(x, row + y, 1.2, color=color))
            if len(dots):
                jitter = row + _jitter(len(dots))
                shapes.append(Marks(dots, jitter, size=2.8, color=color, opacity=0.45))
        return shapes

    @property
    def numbers(self) -> Grid:
        """The five numbers of each box."""
        headings = [f"{100 * q:g} %\n{self.unit}" for q in _WHISKERS]
        rows = [
            [sample.name, *(digits(sample.values.quantile(q)) for q in _WHISKERS)]
            for sample in self.samples
        ]
        return Grid(self.title, ["", *headings], rows)

    @property
    def rows(self) -> Sequence[str]:
        """A row for each box."""
        return [sample.name for sample in self.samples]


def _box(sample: Sample) -> tuple[Numbers, Numbers]:
    """The lines of a box around 0: whiskers with their caps, quartiles, median."""
    low, q1, median, q3, high = (sample.values.quantile(q) for q in _WHISKERS)
    lines = [
        *(((end, -_HALF_CAP), (end, _HALF_CAP)) for end in (low, high)),
        *(((end, 0.0), (quartile, 0.0)) for end, quartile in ((low, q1), (high, q3))),
        ((q1, -_HALF), (q3, -_HALF), (q3, _HALF), (q1, _HALF), (q1, -_HALF)),
        ((median, -_HALF), (median, _HALF)),
    ]
    points = np.array([point for line in lines for point in (*line, (np.nan, np.nan))], np.float64)
    return points[:, 0], points[:, 1]


def _dots(sample: Sample) -> Numbers:
    counts = sample.values.weights.astype(int)
    dots: Numbers = np.repeat(sample.values.values, counts)
    return dots if len(dots) <= _DOTS_AT_MOST else dots[:0]


def _jitter(count: int) -> Numbers:
    """Offsets that separate dots: multiples of the golden ratio, spread over 0.4."""
    jitter: Numbers = ((np.arange(count, dtype=np.float64) * 0.618034) % 1 - 0.5) * 0.4
    return jitter
