"""How precise means over seeds are, and how many seeds the wanted precision takes."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from .conditions import Precision, precision
from .groups import Group, Results
from .measures import Measure

FEWEST_SEEDS = 3
"""An interval from fewer seeds says next to nothing."""
MOST_UNASKED = 100
"""Where more seeds are not run without being asked for."""


@dataclass(frozen=True)
class Target:
    """A wanted precision: half of the 95 % interval, as a share of the mean, in every variant."""

    text: str
    wanted: Precision

    @staticmethod
    def of(text: str, what: str = "until") -> "Target":
        """The target of a text such as `game p99 5%`; raises `UnknownError` for the option."""
        return Target(text, precision(text, what))

    def reached(self, results: Results) -> "Reached":
        """How precise the measure is; raises `UnknownError` if no run has it."""
        measure = self.wanted.named.among(run for group in results.groups for run in group.runs)
        found = [
            Reached(self, measure, group.name, _percent(measure, group), results.seeds)
            for group in results.groups
            if measure.applies(group.runs)
        ]
        return max(found, key=lambda one: one.percent)


@dataclass(frozen=True)
class Reached:
    """The precision of a measure in the variant where it is least precise."""

    target: Target
    measure: Measure
    variant: str
    percent: float
    """Half of the interval in percent of the mean; infinite if there is no interval."""
    seeds: int

    @property
    def is_enough(self) -> bool:
        """Is the target reached?"""
        return self.percent <= self.target.wanted.percent

    @property
    def seeds_needed(self) -> int:
        """How many seeds would do, as far as these can tell; half as many again at most."""
        if self.is_enough:
            return self.seeds
        ratio = self.percent / self.target.wanted.percent
        return max(self.seeds + 1, math.ceil(min(1.5, ratio * ratio) * self.seeds))

    @property
    def sentence(self) -> str:
        """What a user reads at the end."""
        where = f" (least precise in {self.variant})" if self.variant else ""
        found = f"± {self.percent:.2g} %" if math.isfinite(self.percent) else "no interval"
        wanted = f"± {self.target.wanted.percent:g} %"
        end = f"{wanted} was wanted" if self.is_enough else f"not the {wanted} that was wanted"
        return f"{self.measure.name}: {found} of its mean with {self.seeds} seeds{where}; {end}."

    @property
    def json(self) -> dict[str, Any]:
        """The precision for programs."""
        return {
            "until": self.target.text,
            "measure": self.measure.key,
            "variant": self.variant,
            "half_interval_percent": self.percent if math.isfinite(self.percent) else None,
            "is_reached": self.is_enough,
        }


def targets_of(until: str | Sequence[str]) -> list[Target]:
    """The targets of one text or several."""
    return [Target.of(text) for text in ([until] if isinstance(until, str) else until)]


def seeds_needed(results: Results, targets: Sequence[Target]) -> int:
    """How many seeds would reach all targets, as far as the results can tell."""
    return max(target.reached(results).seeds_needed for target in targets)


def _percent(measure: Measure, group: Group) -> float:
    value = measure.over(group.runs)
    if value.mean is None or value.high is None:
        return math.inf
    half = value.high - value.mean
    return 100 * half / abs(value.mean) if half else 0.0
