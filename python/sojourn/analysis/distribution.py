"""Distributions of weighted values, and how to combine them."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, np.dtype[np.float64]]

_STEPS = 200


@dataclass(frozen=True, eq=False)
class Distribution:
    """Values in ascending order, each with a weight."""

    values: Numbers
    weights: Numbers

    @staticmethod
    def of(values: Iterable[float], weights: Iterable[float] | None = None) -> "Distribution":
        """The distribution of values with weights (default 1)."""
        return _sorted(
            np.fromiter(values, np.float64),
            None if weights is None else np.fromiter(weights, np.float64),
        )

    @cached_property
    def total(self) -> float:
        """The sum of the weights."""
        return float(self.weights.sum())

    @cached_property
    def share(self) -> Numbers:
        """For each value, the share (0 to 1) of values that are at most as large."""
        return np.cumsum(self.weights) / self.total

    def quantile(self, q: float) -> float | None:
        """The smallest value with a share of at least `q`; `None` without values."""
        if not len(self.values):
            return None
        return float(self.values[min(int(np.searchsorted(self.share, q)), len(self.values) - 1)])

    def share_below(self, limit: float) -> float | None:
        """The share (0 to 1) of values below `limit`; `None` without values."""
        below = float(self.weights[self.values < limit].sum())
        return below / self.total if len(self.values) else None

    def curve(self) -> tuple[Numbers, Numbers]:
        """Quantiles at evenly spaced shares from 0 to 100 %, and those shares."""
        shares = np.linspace(0, 1, _STEPS + 1)
        quantiles = [self.quantile(float(share)) for share in shares] if len(self.values) else []
        return np.array(quantiles, dtype=np.float64), 100 * shares[: len(quantiles)]


def _sorted(values: Numbers, weights: Numbers | None) -> Distribution:
    unique, place = np.unique(values, return_inverse=True)
    return Distribution(unique, np.bincount(place, weights, len(unique)).astype(np.float64))


def pooled(parts: Iterable[Distribution]) -> Distribution:
    """Joins distributions; each value keeps its weight."""
    there = [part for part in parts if len(part.values)]
    if not there:
        return Distribution.of([])
    values = np.concatenate([part.values for part in there])
    return _sorted(values, np.concatenate([part.weights for part in there]))


def evenly(parts: Iterable[Distribution]) -> Distribution:
    """Joins distributions; each distribution has the same total weight."""
    there = [part for part in parts if len(part.values)]
    return pooled(Distribution(part.values, part.weights / part.total) for part in there)
