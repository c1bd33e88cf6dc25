"""Scatter plots of two values per run, with ellipses."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...analysis.distribution import Numbers
from ...base.grid import Grid, digits
from ..labels import beside
from ..scale import Frame
from ..shapes import Marks, Path, Shape
from .base import FEW_AT_MOST, Chart, color_of, line_of, mark_of

_LEAST_SPAN = 0.1
"""The smallest span of an axis, as a share of the greatest value."""


@dataclass(frozen=True)
class Cloud:
    """The runs of a group as points; clouds of a `family` have the same style."""

    name: str
    family: str
    x: Numbers
    y: Numbers


@dataclass(frozen=True)
class Clouds(Chart):
    """A cloud of points per group, with its mean and one-standard-deviation ellipse."""

    clouds: Sequence[Cloud] = ()
    joined: bool = False
    """A line through the means, in their order."""

    def shapes(self) -> Sequence[Shape]:
        """Points, means and ellipses; better is to the upper right."""
        shapes: list[Shape] = []
        for cloud in self.clouds:
            index = self.names.index(cloud.family)
            color, mark = color_of(index), mark_of(index)
            points = self._plotted(cloud)
            x, y = self._data(points.mean(axis=1, keepdims=True))
            shapes.append(Marks(cloud.x, cloud.y, mark, 3.0, color=color, opacity=0.5))
            shapes.append(Marks(x, y, mark, 7.0, color=color, name=cloud.family))
            if points.shape[1] > 2:
                shapes.append(line_of(index, *self._data(ellipse(points))))
        if self.joined:
            means = np.hstack([self._plotted(c).mean(axis=1, keepdims=True) for c in self.clouds])
            x, y = self._data(means)
            shapes.append(Path(x, y, 0.6, color=color_of(0), opacity=0.6))
        return shapes

    def x_ends(self, low: float, high: float) -> tuple[float, float]:
        """Less delay is to the right."""
        low, high = (low, high) if self.x.log else _widened(low, high)
        return high, low

    def y_ends(self, low: float, high: float) -> tuple[float, float]:
        """A difference of 1 % should not look large."""
        return _widened(low, high)

    def sized(self, frame: Frame) -> Sequence[Shape]:
        """Labels each cloud, or the ends of the line; the legend names the families of many."""
        marks = [frame.points(*self._marks(cloud)) for cloud in self.clouds]
        named = {name: frame.points(*self._marks(c))[0] for name, c in self._labelled().items()}
        return beside(named, np.vstack(marks), frame)

    def _labelled(self) -> dict[str, Cloud]:
        if len(self.clouds) > FEW_AT_MOST and any(self.names):
            return {}
        named = (self.clouds[0], self.clouds[-1]) if self.joined else self.clouds
        return {cloud.name: cloud for cloud in named}

    def _marks(self, cloud: Cloud) -> tuple[Numbers, Numbers]:
        """The mean of a cloud, and then its points."""
        mean = self._data(self._plotted(cloud).mean(axis=1))
        return np.append(mean[0], cloud.x), np.append(mean[1], cloud.y)

    @property
    def numbers(self) -> Grid:
        """Mean and standard deviation of both values of each cloud."""
        rows = [
            [cloud.name, str(len(cloud.x)), *map(digits, _moments(cloud))] for cloud in self.clouds
        ]
        axes = (self.x.label, self.y.label)
        headings = [f"{axis}:\n{what}" for axis in axes for what in ("mean", "standard deviation")]
        return Grid(self.title, ["", "runs", *headings], rows)

    @property
    def names(self) -> Sequence[str]:
        """The names of the families."""
        return list(dict.fromkeys(cloud.family for cloud in self.clouds))

    def _plotted(self, cloud: Cloud) -> Numbers:
        return np.array([np.log10(cloud.x) if self.x.log else cloud.x, cloud.y])

    def _data(self, points: Numbers) -> Numbers:
        return np.array([10.0 ** points[0] if self.x.log else points[0], points[1]])


def ellipse(points: Numbers) -> Numbers:
    """The one-standard-deviation contour of the maximum-likelihood normal distribution.

    As in Winstein & Balakrishnan 2013, section 5. `points` has the rows x and y.
    """
    # The maximum-likelihood covariance divides by n.
    values, vectors = np.linalg.eigh(np.cov(points, bias=True))
    angle = np.linspace(0, 2 * np.pi, 73)
    circle = np.array([np.cos(angle), np.sin(angle)])
    radii = np.sqrt(values.clip(0))[:, None]
    contour: Numbers = points.mean(axis=1, keepdims=True) + vectors @ (radii * circle)
    return contour


def _widened(low: float, high: float) -> tuple[float, float]:
    beyond = max(0.0, _LEAST_SPAN * high - (high - low)) / 2
    return low - beyond, high + beyond


def _moments(cloud: Cloud) -> list[float]:
    return [float(f(values)) for values in (cloud.x, cloud.y) for f in (np.mean, np.std)]
