"""Stacked bars: the parts of a total."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from ...base.grid import Grid, digits
from ..palette import PALETTE
from .base import Chart

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# No dots: they take a quarter of a megabyte.
_HATCHES = ("", "////", "||||", "xxxx", "\\\\\\\\", "++++")


@dataclass(frozen=True)
class Bars(Chart):
    """A horizontal bar for each name, stacked from parts."""

    bars: Sequence[str] = ()
    parts: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def draw(self, axes: "Axes") -> None:
        """Draws bars from top to bottom."""
        left = np.zeros(len(self.bars))
        for index, (part, values) in enumerate(self.parts.items()):
            color = PALETTE[index % len(PALETTE)]
            hatch = _HATCHES[index % len(_HATCHES)]
            # The edge of a bar without width would show a part that is not there.
            there = np.flatnonzero(values)
            axes.barh(
                there,
                np.asarray(values)[there],
                left=left[there],
                label=part,
                height=0.6,
                hatch=hatch,
                facecolor="none" if hatch else color,
                edgecolor=color,
                linewidth=1.0,
            )
            left = left + np.asarray(values)
        axes.set_xlim(left=0)
        axes.set_ylim(len(self.bars) - 0.5, -0.5)
        axes.grid(visible=False, axis="y")

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
