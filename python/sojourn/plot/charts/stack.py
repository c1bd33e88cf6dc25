"""Charts below each other, on one horizontal axis."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from ...base.grid import Grid
from ..shapes import Shape
from .base import Chart


@dataclass(frozen=True)
class Stack(Chart):
    """Charts with the same names; the first one has the legend of all."""

    parts: Sequence[Chart] = ()

    @property
    def panels(self) -> Sequence[Chart]:
        """The charts, of which the last has the label of the horizontal axis."""
        first, *others = (replace(part, x=replace(part.x, label="")) for part in self.parts)
        first = replace(first, title=self.title, has_heading=self.has_heading)
        panels = [replace(first, legend_title=self.legend_title), *others]
        return [*panels[:-1], replace(panels[-1], x=self.x)]

    def shapes(self) -> Sequence[Shape]:
        """Those of all charts."""
        return [shape for part in self.parts for shape in part.shapes()]

    @property
    def numbers(self) -> Grid:
        """The rows of all charts, each with the quantity that they are of."""
        grids = [part.numbers for part in self.parts]
        heads = [heading.partition("\n")[0] for heading in grids[0].headings]
        rows = [
            [part.y.label, *row]
            for part, grid in zip(self.parts, grids, strict=True)
            for row in grid.rows
        ]
        return Grid(self.title, ["", *heads], rows)

    @property
    def names(self) -> Sequence[str]:
        """The names of the first chart."""
        return self.parts[0].names
