"""Lines, and the bounds that they are compared with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import cycle

import numpy as np

from ..shapes import Path, Shape
from .lines import Lines

_DASHES = ((1, 1), (4, 1, 1, 1))


@dataclass(frozen=True)
class Bounded(Lines):
    """A line for each curve, and horizontal lines."""

    bounds: Mapping[str, float] = field(default_factory=dict)
    """Horizontal lines by their names in the legend."""

    def shapes(self) -> Sequence[Shape]:
        """The lines, and the bounds from their first point to their last."""
        x = np.concatenate([curve.x for curve in self.curves] or [np.zeros(1)])
        ends = np.array([x.min(), x.max()])
        bounds = [
            Path(ends, np.full(2, value), 0.9, dash, name=name)
            for dash, (name, value) in zip(cycle(_DASHES), self.bounds.items(), strict=False)
        ]
        return [*super().shapes(), *bounds]

    @property
    def names(self) -> Sequence[str]:
        """The names of the curves, unless there is a single one, and of the bounds."""
        return [*filter(None, super().names), *self.bounds]

    @property
    def has_legend(self) -> bool:
        """Is anything named?"""
        return bool(self.names)
