"""Values of cells under the baseline assumptions and the alternative ones."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from sojourn.analysis.statistics import Value

from .rows import Row

Values = Mapping[Row, float | None]
"""Cells with their values; nothing where a run was too short for one."""


@dataclass(frozen=True)
class Results:
    """All cells of a study that were run."""

    baseline: Values
    alternatives: Mapping[str, Values] = field(default_factory=dict)
    """By the name of the alternative, the cells that it is run for."""
    intervals: Mapping[Row, Value] = field(default_factory=dict)
    """The baseline with its intervals, where it was run with several seeds."""

    def under(self, alternative: str) -> Values:
        """The cells of an alternative, or of the baseline if none is named."""
        return self.alternatives.get(alternative, {}) if alternative else self.baseline
