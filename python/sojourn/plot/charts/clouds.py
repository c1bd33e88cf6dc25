"""Scatter plots of two values per run, with ellipses."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ...analysis.distribution import Numbers
from ...base.grid import Grid, digits
from ..labels import write
from .base import FEW_AT_MOST, Chart, color_of, line_style, mark_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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

    def draw(self, axes: "Axes") -> None:
        """Draws points, means and ellipses; better is to the upper right."""
        labelled = set()
        for cloud in self.clouds:
            index = self.names.index(cloud.family)
            color, mark = color_of(index), mark_of(index)
            label = "" if cloud.family in labelled else cloud.family
            labelled.add(cloud.family)
            points = self._plotted(cloud)
            mean = self._data(points.mean(axis=1, keepdims=True))
            axes.plot(cloud.x, cloud.y, mark, ms=3, alpha=0.5, color=color, mec="none")
            axes.plot(*mean, mark, ms=6, color=color, label=label, linestyle="none")
            if points.shape[1] > 2:
                axes.plot(*self._data(ellipse(points)), **line_style(index))
        if self.joined:
            means = np.hstack([self._plotted(c).mean(axis=1, keepdims=True) for c in self.clouds])
            axes.plot(*self._data(means), lw=0.6, color=color_of(0), alpha=0.6)
        axes.invert_xaxis()
        # A difference of 1 % should not look large.
        axes.set_ylim(*_widened(*axes.get_ylim()))
        if not self.x.log:
            axes.set_xlim(*reversed(_widened(*reversed(axes.get_xlim()))))

    def write_names(self, axes: "Axes") -> bool:
        """Labels each cloud, or the ends of the line; the legend names the families of many."""
        marks = [point for cloud in self.clouds for point in self._marks(cloud)]
        means = {name: self._marks(cloud)[0] for name, cloud in self._labelled().items()}
        write(axes, means, marks)
        return False

    def _labelled(self) -> dict[str, Cloud]:
        if len(self.clouds) > FEW_AT_MOST and any(self.names):
            return {}
        named = (self.clouds[0], self.clouds[-1]) if self.joined else self.clouds
        return {cloud.name: cloud for cloud in named}

    def _marks(self, cloud: Cloud) -> list[tuple[float, float]]:
        """The mean of a cloud, and then its points."""
        mean = self._data(self._plotted(cloud).mean(axis=1))
        x, y = np.append(mean[0], cloud.x), np.append(mean[1], cloud.y)
        return list(zip(x.tolist(), y.tolist(), strict=True))

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
