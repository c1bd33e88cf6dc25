"""Checks fits on lines that are known: `python -m sojourn.fit.proof`.

The lines, their seeds and the bounds were fixed before any of them was fitted. None is drawn again.
"""

import os
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from .fitted import fit_log
from .model import fibre, simulated
from .prior import GRID_SEEDS, IDLE_S, PRIOR, PROOF_SEEDS, Estimate, drawn
from .table import STREAMS, log_of

KNOWN = 190
"""Of 200 lines, those that get all values at least."""
FEWEST, MOST = 168, 192
"""Of 200 lines, those whose 90 % interval has the true value: 180, give or take 2.8 deviations."""
WIDEST = 1 / 3
"""Of the width of the prior's own 90 % interval, the median width of intervals."""
GRID_ERROR = 1e-3


@dataclass(frozen=True)
class Fitted:
    """A line and what was made of its log."""

    seed: int
    line: Mapping[str, float]
    estimates: Mapping[str, Estimate]

    @property
    def is_whole(self) -> bool:
        """Has it all values?"""
        return set(PRIOR) <= set(self.estimates)

    def covers(self, name: str) -> bool:
        """Is the true value in its interval?"""
        estimate = self.estimates.get(name)
        return estimate is not None and estimate.low <= self.line[name] <= estimate.high

    def width(self, name: str) -> float:
        """The interval's width in that of the prior's 90 % interval; 1 where nothing was fitted."""
        estimate = self.estimates.get(name)
        if estimate is None:
            return 1.0
        known = PRIOR[name]
        return (known.share(estimate.high) - known.share(estimate.low)) / 0.9


def fitted(seed: int) -> Fitted:
    """The fit of the line of a seed, of which it gets the log alone."""
    line = drawn(seed)
    return Fitted(seed, line, fit_log(log_of(line, seed), search=False).estimates)


def grid_error(seed: int) -> float:
    """The relative error of a period that was found in a log, of a line with 0.8 to 5 ms."""
    line = drawn(seed)
    line["grid_ms"] = round(0.8 + 4.2 * (seed - GRID_SEEDS.start) / (len(GRID_SEEDS) - 1), 1)
    found = fit_log(log_of(line, seed), search=False).grid
    return float("inf") if found is None else abs(found.period_ms / line["grid_ms"] - 1)


def has_grid_on_fibre(seed: int) -> bool:
    """Is a grid found where there is none?"""
    log = simulated(fibre(STREAMS, idle_s=IDLE_S, seed=seed))
    return fit_log(log, search=False).grid is not None


def lines(fits: Sequence[Fitted]) -> list[str]:
    """How many lines got all values; for each one how often it was covered, and its width."""
    return [
        f"all values: {sum(fit.is_whole for fit in fits)} of {len(fits)}",
        *(
            f"{name}: {sum(fit.covers(name) for fit in fits)} of {len(fits)} covered, median width "
            f"{np.median([fit.width(name) for fit in fits]):.3f} of the prior's"
            for name in PRIOR
        ),
    ]


def holds(fits: Sequence[Fitted]) -> bool:
    """Do lines get all values, and are these covered as often as asked, by narrow intervals?

    The period may be covered more often: its interval has what clocks wander, which here do not.
    """
    return sum(fit.is_whole for fit in fits) >= KNOWN and all(
        sum(fit.covers(name) for fit in fits) >= FEWEST
        and (name == "grid_ms" or sum(fit.covers(name) for fit in fits) <= MOST)
        and np.median([fit.width(name) for fit in fits]) <= WIDEST
        for name in PRIOR
    )


def main() -> int:
    """Fits all lines and says what holds; 1 if something does not."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        errors = list(pool.map(grid_error, GRID_SEEDS))
        fibres = list(pool.map(has_grid_on_fibre, GRID_SEEDS))
        fits = list(pool.map(fitted, PROOF_SEEDS))
    print("\n".join(lines(fits)))
    print(f"period of the grid: greatest error {max(errors):.1e} on {len(errors)} lines")
    print(f"fibre: a grid is found on {sum(fibres)} of {len(fibres)} lines")
    return 0 if holds(fits) and max(errors) < GRID_ERROR and not any(fibres) else 1


if __name__ == "__main__":
    sys.exit(main())
