"""Stacked bars: the parts of a total."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...base.grid import Grid, digits
from ..palette import PALETTE
from ..shapes import Path, Shape
from .base import Chart

_HATCHES = ("", "/", "|", "/\\", "\\", "|-")
_HALF = 0.3
"""Of a bar's height, in rows."""


@dataclass(frozen=True)
class Bars(Chart):
    """A horizontal bar for each name, stacked from parts."""

    bars: Sequence[str] = ()
    parts: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def shapes(self) -> Sequence[Shape]:
        """A shape for each part, of all bars."""
        left = np.zeros(len(self.bars))
        shapes = []
        for index, (part, values) in enumerate(self.parts.items()):
            color = PALETTE[index % len(PALETTE)]
            hatch = _HATCHES[index % len(_HATCHES)]
            right = left + np.asarray(values)
            # The edge of a bar without width would show a part that is not there.
            there = np.flatnonzero(values)
            ends = [left, right, right, left, left, np.full(len(left), np.nan)]
            x = np.stack(ends, axis=1)[there]
            y = there[:, None] + np.array([-1, -1, 1, 1, -1, np.nan]) * _HALF
            fill = "" if hatch else color
            shapes.append(
                Path(x.ravel(), y.ravel(), 1.0, fill=fill, hatch=hatch, color=color, name=part)
            )
            left = right
        return shapes

    def x_ends(self, low: float, high: float) -> tuple[float, float]:
        """Bars begin at zero."""
        return 0.0, high

    @property
    def numbers(self) -> Grid:
        """A row for each bar."""
        rows = [
            [bar, *(digits(values[index]) for values in self.parts.values())]
            for index, bar in enumerate(self.bars)
        ]
        return Grid(f"{self.title}: {self.x.label}", ["", *self.parts], rows)

    @property
    def names(self) -> Sequence[str]:
        """The names of the parts."""
        return list(self.parts)

    @property
    def has_legend(self) -> bool:
        """Even a single part is named nowhere else."""
        return bool(self.parts)

    @property
    def rows(self) -> Sequence[str]:
        """A row for each bar."""
        return self.bars
