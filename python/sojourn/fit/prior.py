"""What is supposed of a line before its log is read, and the lines drawn from it.

The prior, the seeds and the sizes here were fixed before any of the lines was fitted.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Estimate:
    """A value with its 90 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Range:
    """A parameter's range, in which its value is evenly spread, or its logarithm is."""

    low: float
    high: float
    unit: str
    meaning: str
    log: bool = False

    def value(self, share: float) -> float:
        """The value below which this share of the prior lies."""
        if self.log:
            return self.low * math.exp(share * math.log(self.high / self.low))
        return self.low + share * (self.high - self.low)

    def share(self, value: float) -> float:
        """The share of the prior below a value, 0 to 1 in its range."""
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


PRIOR: Mapping[str, Range] = {
    "grid_ms": Range(0.8, 6.0, "ms", "period of the grid", log=True),
    "requests": Range(0.02, 0.3, "", "neighbours' requests for each request opportunity"),
    "advance_ms": Range(1.5, 8.0, "ms", "MAP advance"),
    "load": Range(0.02, 0.5, "", "share of the channel that neighbours' grants take"),
    "buffer_ms": Range(35.0, 400.0, "ms", "upstream buffer", log=True),
}
"""What is fitted, with its prior."""

MINISLOT_MS = 0.003125
"""MAP intervals are whole minislots."""

TABLE_SEEDS = range(1, 601)
"""Lines whose simulations the fit learns from."""
PROOF_SEEDS = range(40_001, 40_201)
"""Lines on which intervals are checked; none of them is in the table."""
OUTSIDE_SEEDS = range(50_001, 50_201)
"""Lines that the fit does not know."""

IDLE_S = 120.0
LOADED_S = 30.0
PROBE_MS = 40.0
PROBE_DEVIATION_PERCENT = 50.0
"""The measurement of each line: probes at uneven intervals, without and with an upload."""


def drawn(seed: int) -> dict[str, float]:
    """The parameters of the line of a seed."""
    random = np.random.default_rng([44, seed])
    line = {name: known.value(random.random()) for name, known in PRIOR.items()}
    return line | {"grid_ms": round(line["grid_ms"] / MINISLOT_MS) * MINISLOT_MS}
