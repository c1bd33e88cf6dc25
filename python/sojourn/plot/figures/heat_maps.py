"""Heat maps of a sweep."""

from collections.abc import Sequence

import numpy as np

from ...analysis.distribution import Numbers
from ...analysis.groups import Group, Results
from ...analysis.measures import MEASURES, Measure
from ..charts.base import Axis, Chart
from ..charts.heat_map import HeatMap

_IN_REPORT = (
    "game_latency_p90_ms",
    "voice_mos",
    "page_load_median_s",
    "response_median_s",
    "video_stalled_percent",
    "upload_mbps",
    "download_mbps",
    "upstream_queue_p99_ms",
)


def heat_maps(results: Results) -> list[Chart | None]:
    """The heat maps of the report."""
    there = {measure.key: measure for measure in applying(results.groups)}
    return [heat_map(results, there[key]) for key in _IN_REPORT if key in there]


def heat_map(results: Results, measure: Measure) -> Chart | None:
    """Columns are the values of the first key; rows are the variants and other keys."""
    if not results.keys:
        return None
    columns = list(dict.fromkeys(group.point[0] for group in results.groups))
    lines = list(dict.fromkeys(map(_row_of, results.groups)))
    values: Numbers = np.full((len(lines), len(columns)), np.nan)
    for group in results.groups:
        mean = measure.over(group.runs).mean
        place = lines.index(_row_of(group)), columns.index(group.point[0])
        values[place] = np.nan if mean is None else mean
    if np.isnan(values).all():
        return None
    over = f", mean of {results.seeds} seeds" if results.seeds > 1 else ""
    rest = [*(["variant"] if any(g.variant for g in results.groups) else []), *results.keys[1:]]
    return HeatMap(
        f"{measure.label[0].upper()}{measure.label[1:]} by {results.keys[0]}",
        f"Each cell is one setting{over}. Lighter cells have higher values.",
        Axis(results.keys[0]),
        Axis(", ".join(rest)),
        measure.label,
        columns,
        lines,
        values,
        measure.digits,
    )


def _row_of(group: Group) -> str:
    return ", ".join(filter(None, (group.variant, *group.point[1:])))


def applying(groups: Sequence[Group]) -> list[Measure]:
    """The measures that any of the groups has."""
    runs = [group.first for group in groups]
    return [measure for measure in MEASURES if measure.applies(runs)]
