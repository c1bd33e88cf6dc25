"""Box plots of distributions."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...analysis.curves import Sample
from ...analysis.distribution import Numbers
from ...base.grid import Grid, digits
from .base import Chart, color_of, style_numbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_WHISKERS = (0.01, 0.25, 0.5, 0.75, 0.99)

_DOTS_AT_MOST = 400

_BOX_PARTS = ("box", "median", "whisker", "cap")


@dataclass(frozen=True)
class Boxes(Chart):
    """A box per sample: quartiles, whiskers from 1 to 99 %, and dots for small samples."""

    samples: Sequence[Sample] = ()
    unit: str = ""

    def draw(self, axes: "Axes") -> None:
        """Draws boxes from top to bottom."""
        numbers = style_numbers(sample.is_idle for sample in self.samples)
        for index, (number, sample) in enumerate(zip(numbers, self.samples, strict=True)):
            color = color_of(number)
            lines: dict[str, Any] = {
                f"{part}props": {"color": color, "lw": 1.2} for part in _BOX_PARTS
            }
            axes.bxp(
                [_box(sample)],
                positions=[index],
                widths=0.55,
                orientation="horizontal",
                showfliers=False,
                manage_ticks=False,
                **lines,
            )
            dots = _dots(sample)
            axes.plot(dots, index + _jitter(len(dots)), "o", ms=2, alpha=0.45, color=color)
        axes.set_ylim(len(self.samples) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")

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


def _box(sample: Sample) -> dict[str, Any]:
    low, q1, median, q3, high = (sample.values.quantile(q) for q in _WHISKERS)
    return {"whislo": low, "q1": q1, "med": median, "q3": q3, "whishi": high, "fliers": []}


def _dots(sample: Sample) -> Numbers:
    counts = sample.values.weights.astype(int)
    dots: Numbers = np.repeat(sample.values.values, counts)
    return dots if len(dots) <= _DOTS_AT_MOST else dots[:0]


def _jitter(count: int) -> Numbers:
    """Offsets that separate dots: multiples of the golden ratio, spread over 0.4."""
    jitter: Numbers = ((np.arange(count, dtype=np.float64) * 0.618034) % 1 - 0.5) * 0.4
    return jitter
