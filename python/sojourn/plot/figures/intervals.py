"""Charts of means over seeds."""

from ...analysis.groups import THIS_RUN, Results
from ...analysis.measures import Measure
from ..charts.base import Axis, Chart
from ..charts.intervals import Interval, Intervals
from .parts import BARS_AT_MOST
from .sweeps import IN_REPORT, applying

_IN_REPORT_AT_MOST = 4


def by_seeds(results: Results) -> list[Chart | None]:
    """The report's figures of settings with several seeds; those of a sweep show their means."""
    there = {measure.key: measure for measure in applying(results.groups)}
    keys = [key for key in IN_REPORT if key in there][:_IN_REPORT_AT_MOST]
    return [] if results.keys else [intervals(results, there[key]) for key in keys]


def intervals(results: Results, measure: Measure) -> Chart | None:
    """A measure of each setting: mean over seeds with its interval; `None` for a single seed."""
    means = [
        Interval(group.name or THIS_RUN, value, group.is_idle)
        for group in results.groups
        if (value := measure.over(group.runs)).mean is not None
    ]
    if results.seeds < 2 or not means or len(means) > BARS_AT_MOST:
        return None
    return Intervals(
        f"{measure.label[0].upper()}{measure.label[1:]}: mean and 95 % interval",
        f"Mean over {results.seeds} seeds, with its 95 % interval (Student's t). "
        f"{measure.better.capitalize()} is better.",
        Axis(measure.label),
        Axis(""),
        means,
    )
