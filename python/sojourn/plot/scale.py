"""From values to places along an axis, and the ticks of the axis."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

import numpy as np

from ..analysis.distribution import Numbers
from .shapes import Shape

_FEW_DECADES = 2.2
"""A logarithmic axis of fewer has ticks at 2 and 5 times the powers of ten too."""
_MANY_DECADES = 7.0
_MARGIN = 0.05


@dataclass(frozen=True)
class Scale:
    """Maps the values from `first` to `last` to the places from 0 to `length`."""

    first: float
    last: float
    length: float
    log: bool = False

    def __call__(self, values: Numbers) -> Numbers:
        """The places of values; on a logarithmic scale what is not above 0 is at its low end."""
        first, last = np.log10([self.first, self.last]) if self.log else (self.first, self.last)
        if self.log:
            low = min(self.first, self.last)
            values = np.log10(np.where(values <= 0, low, values))
        places: Numbers = (values - first) / (last - first) * self.length
        return places

    def ticks(self, most: int) -> dict[float, str]:
        """At most so many values, or a few more on a logarithmic axis, as they are written."""
        low, high = sorted((self.first, self.last))
        found = _log_ticks(low, high, most) if self.log else _ticks(low, high, most)
        return {value: words for value, words in found.items() if low <= value <= high}

    @property
    def small_places(self) -> Numbers:
        """Where ticks without a number are, between powers of ten."""
        low, high = sorted((self.first, self.last))
        if not self.log or not _FEW_DECADES < log10(high / low) < _MANY_DECADES:
            return np.zeros(0)
        values = [times * 10.0**power for power in _powers(low, high) for times in range(2, 10)]
        return self(np.array([value for value in values if low <= value <= high]))


@dataclass(frozen=True)
class Frame:
    """The area between the axes, in points from its lower left."""

    x: Scale
    y: Scale

    def placed(self, shape: Shape) -> Shape:
        """A shape of the data at its place."""
        return shape.moved(self.x, self.y)

    def points(self, x: Numbers, y: Numbers) -> Numbers:
        """The places of points, a row for each."""
        return np.column_stack((self.x(x), self.y(y)))


def around(parts: Sequence[Numbers], log: bool) -> tuple[float, float]:
    """The range of an axis that shows all these values: a little more than theirs."""
    values = np.concatenate([*parts, np.zeros(0)])
    there = values[np.isfinite(values) & ((values > 0) | (not log))]
    if not len(there):
        return (1.0, 10.0) if log else (0.0, 1.0)
    low, high = float(there.min()), float(there.max())
    if log:
        by = (high / low) ** _MARGIN if high > low else 2.0
        return low / by, high * by
    by = (high - low) * _MARGIN or abs(high) * _MARGIN or 0.5
    return low - by, high + by


def _ticks(low: float, high: float, most: int) -> dict[float, str]:
    """Multiples of 1, 2, 2.5 or 5 times a power of ten."""
    power = 10.0 ** floor(log10((high - low) / most))
    step = next(s for m in (1, 2, 2.5, 5, 10, 20) if (high - low) / (s := m * power) <= most)
    places = next((n for n in range(12) if abs(round(step, n) - step) < step / 1e6), 12)
    values = [step * number for number in range(ceil(low / step), floor(high / step) + 1)]
    far = max(map(abs, values), default=0) >= 1e6
    return {value: f"{value:.6g}" if far else f"{value:.{places}f}" for value in values}


def _log_ticks(low: float, high: float, most: int) -> dict[float, str]:
    are_many = log10(high / low) > _FEW_DECADES
    tens = [10.0**power for power in _powers(low, high)]
    inside = [ten for ten in tens if low <= ten <= high]
    every = max(1, ceil(len(inside) / most))
    values = inside[::every] if are_many else [n * ten for ten in tens for n in (1, 2, 5)]
    return {value: f"{value:g}" for value in values}


def _powers(low: float, high: float) -> range:
    return range(floor(log10(low)), ceil(log10(high)) + 1)
