"""Mean and confidence interval over the runs of several seeds."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from .._sojourn import student_t


@dataclass(frozen=True)
class Value:
    """The mean over seeds, with its 95 % confidence interval if there are several."""

    mean: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    """How many seeds had a value."""


def over_seeds(values: Sequence[float | None]) -> Value:
    """The mean of the known values, with its 95 % interval from Student's t distribution."""
    there = [value for value in values if value is not None]
    if not there:
        return Value(None)
    mean = statistics.fmean(there)
    t = student_t(len(there))
    if t is None:
        return Value(mean, n=1)
    half = t * statistics.stdev(there) / math.sqrt(len(there))
    return Value(mean, mean - half, mean + half, len(there))
