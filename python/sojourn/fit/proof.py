"""Checks fits on lines that are known: `python -m sojourn.fit.proof [LINES]`.

Lines inside of what the fit has learned from get values, of which nine tenths are covered. Lines
outside get none, or right ones. Lines, measurements, seeds and bounds were fixed before any of them
was fitted. None is drawn again.
"""

import os
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from .fitted import fit_log
from .prior import OUTSIDE_SEEDS, PRIOR, PROOF_SEEDS, Estimate
from .trials import Trial, inside, outside

KNOWN = 0.95
"""Of the lines inside, those that get all values, and of those outside, those without wrong ones,
at least."""
FEWEST, MOST = 0.84, 0.96
"""Of lines, those whose 90 % interval has the true value: of 200 give or take 2.8 deviations."""
WIDEST = 1 / 3
"""Of the width of the prior's own 90 % interval, the median width of intervals."""
_FAR = 2.0
"""Halves of an interval by which a value is wrong, and not only one of ten that are not covered."""


@dataclass(frozen=True)
class Fitted:
    """What is right for a log, and what was made of it.

    Of several periods that the log does not distinguish, the estimates are those with the nearest.
    """

    right: Mapping[str, tuple[float, float]]
    """The true values, or between which ones they changed, by name."""
    estimates: Mapping[str, Estimate]

    @property
    def is_whole(self) -> bool:
        """Has it all values?"""
        return set(PRIOR) <= set(self.estimates)

    def covers(self, name: str) -> bool:
        """Is the true value in its interval?"""
        return name in self.estimates and self._misses(name) <= 1

    @property
    def is_wrong(self) -> bool:
        """Has it a value that is far from the truth, or of what the line does not have?"""
        return any(name not in self.right or self._misses(name) > _FAR for name in self.estimates)

    def _misses(self, name: str) -> float:
        """By how many halves of its interval an estimate is beyond what is right."""
        (low, high), e = self.right[name], self.estimates[name]
        if low <= e.value <= high:
            return 0.0
        off, half = (
            (low - e.value, e.high - e.value)
            if e.value < low
            else (e.value - high, e.value - e.low)
        )
        return float(np.divide(off, half))

    def width(self, name: str) -> float:
        """The interval's width in that of the prior's 90 % interval; 1 where nothing was fitted."""
        estimate = self.estimates.get(name)
        if estimate is None:
            return 1.0
        known = PRIOR[name]
        return (known.share(estimate.high) - known.share(estimate.low)) / 0.9


def fitted(trial: Trial) -> Fitted:
    """The fit of a trial, of which it gets the log alone."""
    right = {
        name: (min(values), max(values))
        for name in PRIOR
        if (values := [line[name] for line in trial.lines if name in line])
    }
    fit = fit_log(trial.log, search=False)
    if "grid_ms" not in right:
        return Fitted(right, fit.estimates)
    low, high = (period * (1 + trial.clock) for period in right["grid_ms"])
    right["grid_ms"] = (low, high)
    buffer = {name: one for name, one in fit.estimates.items() if name == "buffer_ms"}
    sets = [fit.estimates, *({**other, **buffer} for other in fit.others.values())]
    return Fitted(right, min(sets, key=lambda one: _off(one, low)))


def _off(estimates: Mapping[str, Estimate], period_ms: float) -> float:
    return abs(estimates["grid_ms"].value - period_ms) if "grid_ms" in estimates else np.inf


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

    The period may be covered more often: its interval has what clocks may wander at most.
    """
    shares = {name: np.mean([fit.covers(name) for fit in fits]) for name in PRIOR}
    return bool(
        np.mean([fit.is_whole for fit in fits]) >= KNOWN
        and min(shares.values()) >= FEWEST
        and max(share for name, share in shares.items() if name != "grid_ms") <= MOST
        and all(np.median([fit.width(name) for fit in fits]) <= WIDEST for name in PRIOR)
    )


def _outside(seed: int) -> tuple[str, bool]:
    """The kind of a line outside, and whether it gets a wrong value."""
    kind, trial = outside(seed)
    return kind, fitted(trial).is_wrong


def main(count: int = len(PROOF_SEEDS)) -> int:
    """Fits so many lines inside and outside and says what holds; 1 if something does not."""
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        fits = [*pool.map(lambda seed: fitted(inside(seed)), PROOF_SEEDS[:count])]
        print("\n".join(lines(fits)), flush=True)
        kinds, wrong = zip(*pool.map(_outside, OUTSIDE_SEEDS[:count]), strict=True)
    of_kind, bad = (
        Counter(kinds),
        Counter(k for k, is_bad in zip(kinds, wrong, strict=True) if is_bad),
    )
    for kind in of_kind:
        print(f"{kind}: {bad[kind]} of {of_kind[kind]} get a wrong value")
    return 0 if holds(fits) and 1 - np.mean(wrong) >= KNOWN else 1


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
