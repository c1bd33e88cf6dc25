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
    """Columns are the values of the first key; rows are the variants and other keys.

    Keys that change together with the first are columns with it.
    """
    if not results.keys:
        return None
    across = _with_the_first(results)

    def column_of(group: Group) -> str:
        return ", ".join(group.point[place] for place in across)

    def line_of(group: Group) -> str:
        point = [value for place, value in enumerate(group.point) if place not in across]
        return ", ".join(filter(None, (group.variant, *point)))

    columns = list(dict.fromkeys(map(column_of, results.groups)))
    lines = list(dict.fromkeys(map(line_of, results.groups)))
    values: Numbers = np.full((len(lines), len(columns)), np.nan)
    for group in results.groups:
        mean = measure.over(group.runs).mean
        place = lines.index(line_of(group)), columns.index(column_of(group))
        values[place] = np.nan if mean is None else mean
    if np.isnan(values).all():
        return None
    over = f", mean of {results.seeds} seeds" if results.seeds > 1 else ""
    first = ", ".join(results.keys[place] for place in across)
    keys = [key for place, key in enumerate(results.keys) if place not in across]
    rest = [*(["variant"] if any(g.variant for g in results.groups) else []), *keys]
    return HeatMap(
        f"{measure.label[0].upper()}{measure.label[1:]} by {first}",
        f"Each cell is one setting{over}. Lighter cells have higher values.",
        Axis(first),
        Axis(", ".join(rest)),
        measure.label,
        columns,
        lines,
        values,
        measure.digits,
    )


def _with_the_first(results: Results) -> list[int]:
    """The places of the first key and of those that have one value for each of its values."""
    firsts = {group.point[0] for group in results.groups}

    def is_linked(place: int) -> bool:
        pairs = {(group.point[0], group.point[place]) for group in results.groups}
        return len(pairs) == len(firsts) == len({value for _, value in pairs})

    return [place for place in range(len(results.keys)) if place == 0 or is_linked(place)]


def applying(groups: Sequence[Group]) -> list[Measure]:
    """The measures that any of the groups has."""
    runs = [group.first for group in groups]
    return [measure for measure in MEASURES if measure.applies(runs)]
