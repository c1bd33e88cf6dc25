"""All charts of a report, or one chart by its kind."""

from collections.abc import Callable, Sequence

from ...analysis.grids import are_summed
from ...analysis.groups import Results
from ...analysis.measures import Measure
from ...analysis.verdict import marked
from ...base.lookup import UnknownError, look_up
from ..charts.base import FEW_AT_MOST, Chart
from .clouds import clouds
from .distributions import Samples, box_chart, ccdf_chart, cdf_chart, samples_of
from .intervals import by_seeds, intervals
from .parts import BARS_AT_MOST, delay, drops
from .sweeps import IN_REPORT, applying, by_setting, heat_map, lines_by_key
from .timeseries import all_series, delay_and_rates, queue_delay, subjects, throughput, timeseries

_CURVES_AT_MOST = 12
"""More curves would share a combination of colour and dash."""

_OF_ENTRIES = ("cdf", "ccdf", "box", "ellipse", "delay")
"""The kinds whose traffic is named by its entries."""

_SETTINGS_AT_MOST = {
    **dict.fromkeys(("cdf", "ccdf", "timeseries"), FEW_AT_MOST),
    "drops": BARS_AT_MOST,
}
"""How many settings a kind can show, for those with a limit of their own."""


def figures(results: Results) -> list[Chart]:
    """All charts that the results have data for, except those with too many curves."""
    results = marked(results)
    few = len(results.groups) <= FEW_AT_MOST
    by_group = _of_few(results) if few else []
    charts = [
        *by_setting(results),
        delay_and_rates(results.groups) if few else None,
        *by_seeds(results),
        *by_group,
        delay(results),
        *_over_all(results),
    ]
    return [found for found in charts if found and len(found.names) <= _CURVES_AT_MOST]


def chart(
    results: Results,
    kind: str,
    metric: str | None = None,
    traffic: Sequence[str] = (),
    *,
    bands: bool = True,
) -> Chart:
    """The chart of this kind, for a metric and for some traffic entries.

    `bands` are the intervals around lines where there are several seeds. Raises `UnknownError`,
    which lists the valid names, for unknown names and missing data.
    """
    look_up("kind", kind, KINDS)
    results = marked(results)
    if kind in _OF_ENTRIES:
        entries = [name for g in results.groups for name in g.first.settings["traffic"]]
        for name in traffic:
            look_up("traffic", name, list(dict.fromkeys(entries)))
    drawn = _BY_KIND[kind](results, metric, traffic)
    if drawn or kind == "drops":
        _check_count(kind, "settings", len(results.groups), _SETTINGS_AT_MOST.get(kind))
    if drawn is None:
        kinds = [k for k in KINDS if k != kind and _has(results, k)]
        raise UnknownError(
            f"kind: found {kind!r}, but the results have no data for it; "
            f"allowed: {', '.join(kinds)}"
        )
    _check_count(kind, "curves", len(drawn.names), _CURVES_AT_MOST)
    return drawn if bands else drawn.without_bands()


def _check_count(kind: str, what: str, found: int, most: int | None) -> None:
    """Refuses curves that could not be distinguished, which the report leaves out too."""
    if most is not None and found > most:
        raise UnknownError(
            f"kind: {kind!r} draws at most {most} {what}, and there are {found}; "
            "choose some with --variant, or draw a box, heatmap or ellipse"
        )


def latency_cdf(results: Results) -> Chart | None:
    """The CDF of the most important latency; `None` if no packet was delivered."""
    return cdf_chart(samples_of(marked(results).groups, "latency", ()))


def _has(results: Results, kind: str) -> bool:
    return _BY_KIND[kind](results, None, ()) is not None


def _of_few(results: Results) -> list[Chart | None]:
    several = are_summed(group.first for group in results.groups)
    latency = samples_of(results.groups, "latency", ())
    pages = samples_of(results.groups, "page_load", ())
    return [
        cdf_chart(latency),
        ccdf_chart(latency),
        box_chart(latency),
        cdf_chart(pages),
        box_chart(pages),
        queue_delay(results.groups),
        *(throughput(results.groups, direction) for direction in ("up", "down") if several),
    ]


def _over_all(results: Results) -> list[Chart | None]:
    several = sum(not group.is_idle for group in results.groups) > 1
    return [clouds(results, None, ()) if several else None, drops(results)]


Draw = Callable[[Results, str | None, Sequence[str]], Chart | None]


def _distribution(draw: Callable[[Samples], Chart | None]) -> Draw:
    return lambda results, metric, traffic: draw(
        samples_of(results.groups, metric or "latency", traffic)
    )


def _draw_series(results: Results, metric: str | None, traffic: Sequence[str]) -> Chart | None:
    groups = [group for group in results.groups if group.first.keeps("series")]
    if not groups:
        return None
    metrics = all_series(groups)["metric"].unique().to_pylist()
    wanted = look_up("metric", metric or "queue_delay", metrics)
    return timeseries(groups, wanted, subjects(groups, wanted, traffic))


def _of_measure(draw: Callable[[Results, Measure], Chart | None]) -> Draw:
    def drawn(results: Results, metric: str | None, traffic: Sequence[str]) -> Chart | None:
        there = {measure.key: measure for measure in applying(results.groups)}
        if not there:
            return None
        default = next(key for key in (*IN_REPORT, *there) if key in there)
        return draw(results, there[look_up("metric", metric or default, list(there))])

    return drawn


_BY_KIND: dict[str, Draw] = {
    "cdf": _distribution(cdf_chart),
    "ccdf": _distribution(ccdf_chart),
    "timeseries": _draw_series,
    "box": _distribution(box_chart),
    "ellipse": clouds,
    "heatmap": _of_measure(heat_map),
    "sweep": _of_measure(lines_by_key),
    "interval": _of_measure(intervals),
    "drops": lambda results, metric, traffic: drops(results),
    "delay": lambda results, metric, traffic: delay(results, traffic),
}

KINDS = tuple(_BY_KIND)
"""The kinds that `chart` draws."""
