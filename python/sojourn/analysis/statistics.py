"""Mean and confidence interval over the runs of several seeds."""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Value:
    """The mean over seeds, with its 95 % confidence interval if there are several."""

    mean: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    """How many seeds had a value."""


# 97.5 % quantiles of Student's t with 1 to 30 degrees of freedom, and of the normal distribution.
# fmt: off
_T = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160,
      2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086, 2.080, 2.074, 2.069, 2.064, 2.060, 2.056,
      2.052, 2.048, 2.045, 2.042)
# fmt: on
_Z = 1.960


def over_seeds(values: Sequence[float | None]) -> Value:
    """The mean of the known values, with its 95 % interval from Student's t distribution."""
    there = [value for value in values if value is not None]
    if not there:
        return Value(None)
    mean = statistics.fmean(there)
    if len(there) == 1:
        return Value(mean, n=1)
    half = student_t(len(there)) * statistics.stdev(there) / math.sqrt(len(there))
    return Value(mean, mean - half, mean + half, len(there))


def student_t(seeds: int) -> float:
    """The 97.5 % quantile of Student's t distribution for the mean of two seeds or more."""
    freedom = seeds - 1
    # The approximation is 2.042 at 30 and 1.984 at 100, as tabled.
    return _T[freedom - 1] if freedom <= len(_T) else _Z + 2.4 / freedom
