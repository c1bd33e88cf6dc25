"""Values of cells under the baseline assumptions and the alternative ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sojourn.analysis.statistics import Value

from .rows import Row

Values = Mapping[Row, float | None]
"""Cells with their values; nothing where a run was too short for one."""


def without_intervals(values: Mapping[Row, Value]) -> dict[Row, float | None]:
    """Cells without their intervals."""
    return {row: value.mean for row, value in values.items()}


@dataclass(frozen=True)
class Results:
    """All cells of a study that were run."""

    baseline: Values
    alternatives: Mapping[str, Values] = field(default_factory=dict)
    """By the name of the alternative, the cells that it is run for."""
    intervals: Mapping[Row, Value] = field(default_factory=dict)
    """The baseline with its intervals, where it was run with several seeds."""

    @classmethod
    def of(
        cls, values: Mapping[Row, Value], otherwise: Mapping[str, Mapping[Row, Value]]
    ) -> "Results":
        """Cells at the baseline, and under each alternative without intervals."""
        alternatives = {name: without_intervals(cells) for name, cells in otherwise.items()}
        return cls(without_intervals(values), alternatives, values)

    def under(self, alternative: str) -> Values:
        """The cells of an alternative, or of the baseline if none is named."""
        return self.alternatives.get(alternative, {}) if alternative else self.baseline
