"""Heat maps: a value for each setting of a sweep."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import TYPE_CHECKING, Literal

import numpy as np

from ...analysis.distribution import Numbers
from ...base.grid import NOTHING, Grid, digits
from .base import LETTER_IN, Chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes


_LETTERS = {"dark": "#010101", "light": "#fefefe"}
"""Not exactly black and white, which dark mode would swap; cell colours stay the same."""

_GAP_LETTERS = 1.0
"""What stays free between the texts of neighbouring columns."""

_MISSING = "#c8c8c8"
"""Of cells without a value: no colour of the map."""


@dataclass(frozen=True)
class HeatMap(Chart):
    """A value for each column and row; missing values are NaN."""

    quantity: str = ""
    columns: Sequence[str] = ()
    lines: Sequence[str] = ()
    values: Numbers = field(default_factory=lambda: np.zeros((0, 0)))
    digits: int = 1
    better: Literal["lower", "higher"] = "lower"

    def draw(self, axes: "Axes") -> None:
        """Draws cells with their values as text, so that the chart works without colour.

        The lighter a cell, the better its value.
        """
        from matplotlib import colormaps
        from matplotlib.colors import LogNorm, Normalize

        least, greatest = float(np.nanmin(self.values)), float(np.nanmax(self.values))
        scale = (LogNorm if 0 < 10 * least < greatest else Normalize)(least, greatest)
        edges = [np.arange(count + 1) - 0.5 for count in self.values.shape]
        colors = "cividis" if self.better == "higher" else "cividis_r"
        shades = colormaps[colors].with_extremes(bad=_MISSING)
        found = np.ma.masked_invalid(self.values)
        axes.pcolormesh(edges[1], edges[0], found, cmap=shades, norm=scale, lw=0)
        for (row, column), value in np.ndenumerate(self.values):
            axes.text(
                column,
                row,
                self._in_cell(value),
                ha="center",
                va="center",
                color=_LETTERS["dark" if self._is_light(value, scale) else "light"],
            )
        axes.set_xticks(range(len(self.columns)), list(self.columns))
        axes.invert_yaxis()
        axes.set_title(self.quantity, loc="left", fontsize="medium")
        axes.grid(visible=False)
        axes.tick_params(length=0)
        axes.spines[:].set_visible(False)

    def write_names(self, axes: "Axes") -> bool:
        """Makes the numbers and the names of columns fit the width of a column."""
        figure = axes.get_figure(root=True)
        assert figure
        column_in = axes.get_window_extent().width / figure.dpi / len(self.columns)
        fitting = column_in / LETTER_IN - _GAP_LETTERS
        cells = axes.texts[: self.values.size]
        scale = min(1.0, max(fitting, 1.0) / max(len(cell.get_text()) for cell in cells))
        for cell in cells:
            cell.set_fontsize(float(cell.get_fontsize()) * scale)
        words = [word for name in self.columns for word in name.split()]
        if max(map(len, words), default=0) > fitting:
            axes.tick_params(axis="x", rotation=90)
        else:
            names = [fill(name, max(1, int(fitting))) for name in self.columns]
            axes.set_xticks(range(len(names)), names)
        return True

    def _in_cell(self, value: float) -> str:
        """The shorter of the value as in the table and with three digits."""
        if np.isnan(value):
            return NOTHING
        return min(f"{value:.{self.digits}f}", digits(value), key=len)

    def _is_light(self, value: float, scale: Callable[[float], float]) -> bool:
        """Is the colour of a cell light, so that its letters are dark?"""
        if np.isnan(value):
            return True
        share = float(scale(value)) if np.nanmin(self.values) < np.nanmax(self.values) else 0.0
        return (share if self.better == "higher" else 1.0 - share) > 0.47

    @property
    def has_row_title(self) -> bool:
        """The title of the rows stands above their names."""
        return True

    @property
    def numbers(self) -> Grid:
        """The values of the cells."""
        rows = [
            [line, *(NOTHING if np.isnan(v) else f"{v:.{self.digits}f}" for v in values)]
            for line, values in zip(self.lines, self.values, strict=True)
        ]
        return Grid(self.title, [f"{self.y.label} \\ {self.x.label}", *self.columns], rows)

    @property
    def rows(self) -> Sequence[str]:
        """The rows of the map."""
        return self.lines
