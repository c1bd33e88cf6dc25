"""The charts of a report, and any of them by its kind."""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import chain

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..api import Result
from ..known import UnknownError, known
from ..results import Group, Results
from ..summary import DROP_COLUMNS, MEASURES, Measure, Row, flows_of, transfers
from .charts import (
    Axis,
    Bars,
    Boxes,
    Chart,
    Cloud,
    Clouds,
    HeatMap,
    Lines,
    quantile_grid,
    range_grid,
)
from .curves import (
    Curve,
    Numbers,
    Sample,
    Select,
    averaged,
    ccdf,
    cdf,
    judged_by_latency,
    latencies,
    main_flows,
    over_time,
    page_loads,
)

KINDS = ("cdf", "ccdf", "timeseries", "box", "ellipse", "heatmap", "drops", "delay")
"""What `chart` draws."""

GROUPS_AT_MOST = 8
"""Of more the report has no curves."""

_CURVES_AT_MOST = 12
"""More can not be told apart: colours times dashes."""

_POINTS = 120
"""Of a line over time in the report; more would run together."""

_NOTHING = Axis("")
_DISTRIBUTIONS = ("latency", "page_load")
_IN_HEAT_MAPS = (
    "game_latency_p90_ms",
    "voice_mos",
    "page_load_median_s",
    "response_median_s",
    "video_stalled_percent",
    "upload_mbps",
    "download_mbps",
    "upstream_queue_p99_ms",
)
_PARTS = ("queue", "request_wait", "grant_wait", "shaping", "transmission", "path")
"""Where the time of a packet goes, in the order of its way."""


def figures(results: Results) -> list[Chart]:
    """Every chart for which the results have data, and no more curves than can be told apart."""
    few = len(results.groups) <= GROUPS_AT_MOST
    by_group = _of_few(results) if few else []
    charts = [*_heat_maps(results), *by_group, *_over_all(results)]
    return [found for found in charts if found and len(found.names) <= _CURVES_AT_MOST]


def chart(results: Results, kind: str, metric: str | None, traffic: Sequence[str]) -> Chart:
    """The chart of this kind, of `metric` and of some entries of the traffic.

    Raises `UnknownError` for what there is not, with what there is.
    """
    known("kind", kind, KINDS)
    entries = dict.fromkeys(name for g in results.groups for name in g.first.settings["traffic"])
    drawn = _BY_KIND[kind](results, metric, traffic, list(entries))
    if drawn is None:
        kinds = [k for k in KINDS if k != kind and _has(results, k, list(entries))]
        raise UnknownError(
            f"kind: found {kind!r}, of which the results have no data; allowed: {', '.join(kinds)}"
        )
    return drawn


def latency_cdf(results: Results) -> Chart | None:
    """The distribution of latency that matters most; nothing if no packet got through."""
    return _cdf(_samples(results.groups, "latency", ()))


def _has(results: Results, kind: str, entries: Sequence[str]) -> bool:
    return _BY_KIND[kind](results, None, (), entries) is not None


def _of_few(results: Results) -> list[Chart | None]:
    latency = _samples(results.groups, "latency", ())
    pages = _samples(results.groups, "page_load", ())
    return [
        _cdf(latency),
        _ccdf(latency),
        _box(latency),
        _cdf(pages),
        _box(pages),
        _queue_delay(results.groups),
        *(_throughput(results.groups, direction) for direction in ("up", "down")),
        _delay(results),
    ]


def _over_all(results: Results) -> list[Chart | None]:
    several = len(results.groups) > 1
    return [_clouds(results, None, ()) if several else None, _drops(results)]


class _Samples(list[Sample]):
    """Samples of one kind, and what they are of."""

    def __init__(self, samples: Iterable[Sample], subject: str, quantity: str, unit: str) -> None:
        super().__init__(samples)
        self.subject, self.quantity, self.unit = subject, quantity, unit

    @property
    def axis(self) -> Axis:
        values = np.concatenate([sample.values.values for sample in self])
        return Axis(f"{self.quantity} ({self.unit})", log=_wide(values))


def _samples(groups: Sequence[Group], metric: str, traffic: Sequence[str]) -> _Samples:
    known("metric", metric, _DISTRIBUTIONS)
    if metric == "page_load":
        samples = page_loads(groups, _either(_loading, traffic))
        return _Samples(samples, "pages", "page load time", "s")
    quality, judged = judged_by_latency(groups)
    select = _main_flows(traffic) if traffic else judged
    subject = f"{' and '.join(traffic) if traffic else quality} packets"
    return _Samples(latencies(groups, select), subject, "one-way latency", "ms")


def _either(select: Select, traffic: Sequence[str]) -> Select:
    return lambda result: [
        row for row in select(result) if not traffic or row["traffic"] in traffic
    ]


def _loading(result: Result) -> list[Row]:
    return [row for row in flows_of("pages")(result) if row["page_loads"]]


def _main_flows(traffic: Sequence[str]) -> Select:
    return lambda result: main_flows(
        [row for row in result.flows.to_pylist() if row["traffic"] in traffic]
    )


def _cdf(samples: _Samples) -> Chart | None:
    if not samples:
        return None
    return Lines(
        f"{samples.quantity.capitalize()} of {samples.subject}",
        f"Share of {samples.subject} whose {samples.quantity} is at most the value on the "
        "horizontal axis. Further left is better.",
        samples.axis,
        Axis(f"{samples.subject} (%)"),
        [cdf(sample) for sample in samples],
        steps=True,
        table=quantile_grid(f"Quantiles of {samples.quantity}", samples, samples.unit),
    )


def _ccdf(samples: _Samples) -> Chart | None:
    curves = [curve for curve in map(ccdf, samples) if len(curve.x)]
    if not curves:
        return None
    return Lines(
        f"The slowest {samples.subject}",
        f"Share of {samples.subject} whose {samples.quantity} is more than the value on the "
        "horizontal axis: the tail, which is what people notice. Lower is better.",
        samples.axis,
        Axis(f"{samples.subject} (%)", log=True),
        curves,
        steps=True,
        table=quantile_grid(f"Quantiles of {samples.quantity}", samples, samples.unit),
    )


def _box(samples: _Samples) -> Chart | None:
    if not samples:
        return None
    return Boxes(
        f"{samples.quantity.capitalize()} of {samples.subject} at a glance",
        "Boxes span the quartiles with the median in them, whiskers 1 to 99 %. "
        "Where they are few, each is a dot.",
        samples.axis,
        _NOTHING,
        samples,
        samples.unit,
    )


def _timeseries(
    groups: Sequence[Group], metric: str, subjects: Sequence[str], points: int | None = None
) -> Chart | None:
    """A series over time; neighbours are averaged until there are at most `points`."""
    curves = over_time(groups, metric, subjects)
    if not curves:
        return None
    unit = _unit(groups, metric)
    quantity = metric.replace("_", " ")
    about = _ABOUT_SERIES.get(metric, f"{quantity.capitalize()} in each interval.")
    neighbours = max(1, -(-max(len(curve.x) for curve in curves) // points)) if points else 1
    if neighbours > 1:
        interval_s = neighbours * float(curves[0].x[0])
        about += f" Drawn are means over {interval_s:.3g} s."
    return Lines(
        f"{quantity.capitalize()} over time: {', '.join(subjects)}",
        about,
        Axis("time (s)"),
        Axis(
            f"{quantity} ({unit})" if unit else quantity,
            log=unit == "ms" and _spans_decades(curves),
        ),
        [averaged(curve, neighbours) for curve in curves],
        table=range_grid(f"{quantity.capitalize()} over time", curves, unit),
    )


_ABOUT_SERIES = {
    "queue_delay": "Mean time that packets had spent in the queue when they left it, "
    "in each interval.",
    "throughput": "Bytes on the wire delivered in each interval.",
}


def _queue_delay(groups: Sequence[Group]) -> Chart | None:
    return _timeseries(groups, "queue_delay", ["upstream"], _POINTS)


def _throughput(groups: Sequence[Group], direction: str) -> Chart | None:
    rows = chain.from_iterable(transfers(direction)(group.first) for group in groups)
    subjects = dict.fromkeys(f"{row['traffic']} {direction}" for row in rows)
    return _timeseries(groups, "throughput", list(subjects), _POINTS)


def _spans_decades(curves: Sequence[Curve]) -> bool:
    values = np.concatenate([curve.y for curve in curves])
    above = values[values > 0]
    return len(above) > 0 and bool(np.quantile(above, 0.99) > 100 * np.quantile(above, 0.05))


def _unit(groups: Sequence[Group], metric: str) -> str:
    units = _series(groups).filter(pc.field("metric") == metric)["unit"]
    return str(units[0].as_py()) if len(units) else ""


def _series(groups: Sequence[Group]) -> pa.Table:
    return pa.concat_tables(
        [group.first.series for group in groups if group.first.keeps("series")],
        promote_options="permissive",
    )


def _subjects(groups: Sequence[Group], metric: str, traffic: Sequence[str]) -> list[str]:
    table = _series(groups)
    there = table.filter(pc.field("metric") == metric)["subject"].unique().to_pylist()
    flows = [subject for subject in there if not re.search(r" \d+$", subject)]
    if traffic:
        entries = {subject: subject.rpartition(" ")[0] or subject for subject in flows}
        allowed = list(dict.fromkeys([*entries.values(), *flows]))
        for name in traffic:
            known(f"traffic with {metric}", name, allowed if name not in there else there)
        return [s for s in there if s in traffic or entries.get(s) in traffic]
    bulk = {
        f"{row['traffic']} {way}"
        for way in ("up", "down")
        for group in groups
        for row in transfers(way)(group.first)
    }
    return [s for s in flows if s == "upstream"] or [s for s in flows if s in bulk] or flows


def _delay(results: Results) -> Chart | None:
    """The split of delay of the first seed, where the runs have a table of it."""
    means_ms = {
        (_bar(group, row), row["part"]): row["mean_ms"] or 0.0
        for group in results.groups
        if group.first.keeps("delay_parts")
        for row in group.first.table("delay_parts").to_pylist()
    }
    bars = list(dict.fromkeys(bar for bar, _ in means_ms))
    if not bars:
        return None
    return Bars(
        "Where the time goes",
        "Parts of the mean one-way latency: behind other packets, until bandwidth can be asked "
        "for, until it is granted, for tokens, being sent, and on the way to the server.",
        Axis("one-way latency (ms)"),
        _NOTHING,
        bars,
        {
            part.replace("_", " "): [means_ms.get((bar, part), 0.0) for bar in bars]
            for part in _PARTS
        },
    )


def _bar(group: Group, row: Row) -> str:
    return ": ".join(filter(None, (group.name, row["traffic"])))


def _drops(results: Results) -> Chart | None:
    reasons = {c.key: c.heading for c in DROP_COLUMNS if c.key.startswith("dropped_")}
    shares = {
        heading: [_share_dropped(group, key) for group in results.groups]
        for key, heading in reasons.items()
    }
    there = {heading: values for heading, values in shares.items() if any(values)}
    if not there:
        return None
    return Bars(
        "Dropped packets by reason",
        "Share of all packets that were sent, acknowledgements too.",
        Axis("dropped packets (%)"),
        _NOTHING,
        [group.name or "all traffic" for group in results.groups],
        there,
    )


def _share_dropped(group: Group, reason: str) -> float:
    rows = [row for run in group.runs for row in run.flows.to_pylist()]
    sent, dropped = (sum(int(row[key]) for row in rows) for key in ("sent_packets", reason))
    return 100 * dropped / max(sent, 1)


def _clouds(results: Results, metric: str | None, traffic: Sequence[str]) -> Chart | None:
    measures = {m.key: m for m in _applying(results.groups) if m.key.endswith("_ms")}
    preferred = [key for key in ("game_latency_p90_ms", "upstream_queue_p50_ms") if key in measures]
    if not preferred:
        return None
    delay = measures[known("metric", metric or preferred[0], list(measures))]
    whose, rates = _goodputs(results.groups, traffic)
    few = len(results.groups) <= GROUPS_AT_MOST
    clouds = [_cloud(group, delay, rates, few) for group in results.groups]
    clouds = [cloud for cloud in clouds if len(cloud.x)]
    if not clouds:
        return None
    marks = _SEVERAL_SEEDS if results.seeds > 2 else "Each mark is a run."
    return Clouds(
        "Delay against goodput",
        f"{marks} Further right is less delay, further up is more goodput.",
        Axis(delay.label, log=_wide(np.concatenate([cloud.x for cloud in clouds]))),
        Axis(f"goodput of {whose} (Mbps)"),
        clouds,
    )


_SEVERAL_SEEDS = (
    "Each dot is a run, a large mark the mean over the seeds, an ellipse one standard deviation "
    "around it (after Winstein & Balakrishnan 2013)."
)


def _cloud(group: Group, delay: Measure, rates: Select, few: bool) -> Cloud:
    """Where there are few, each looks different; of many only the variants do."""
    pairs = [(delay.value(run), sum(r["goodput_mbps"] for r in rates(run))) for run in group.runs]
    there = [(x, y) for x, y in pairs if x is not None and x > 0]
    points = np.array(there, dtype=np.float64).reshape(-1, 2)
    name = group.name or "run"
    family = name if few else group.variant or "all settings"
    return Cloud(name, family, points[:, 0], points[:, 1])


def _goodputs(groups: Sequence[Group], traffic: Sequence[str]) -> tuple[str, Select]:
    """Whose goodput counts: the entries that were named, or else bulk data."""
    if traffic:
        return " and ".join(traffic), _main_flows(traffic)
    for name, way in (("uploads", "up"), ("downloads", "down")):
        if any(transfers(way)(group.first) for group in groups):
            return name, transfers(way)
    return "all traffic", lambda result: result.flows.to_pylist()


def _wide(values: Numbers) -> bool:
    return 0 < 10 * float(values.min()) < float(values.max())


def _heat_maps(results: Results) -> list[Chart | None]:
    there = {measure.key: measure for measure in _applying(results.groups)}
    return [_heat_map(results, there[key]) for key in _IN_HEAT_MAPS if key in there]


def _heat_map(results: Results, measure: Measure) -> Chart | None:
    """Columns are the values of the first key, rows all else."""
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
        f"Each cell is a setting{over}. Light cells have the greatest values.",
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


def _applying(groups: Sequence[Group]) -> list[Measure]:
    runs = [group.first for group in groups]
    return [measure for measure in MEASURES if measure.applies(runs)]


Draw = Callable[[Results, str | None, Sequence[str], Sequence[str]], Chart | None]


def _distribution(draw: Callable[[_Samples], Chart | None]) -> Draw:
    def drawn(
        results: Results, metric: str | None, traffic: Sequence[str], entries: Sequence[str]
    ) -> Chart | None:
        _check_traffic(traffic, entries)
        return draw(_samples(results.groups, metric or "latency", traffic))

    return drawn


def _draw_series(
    results: Results, metric: str | None, traffic: Sequence[str], entries: Sequence[str]
) -> Chart | None:
    groups = [group for group in results.groups if group.first.keeps("series")]
    if not groups:
        return None
    metrics = _series(groups)["metric"].unique().to_pylist()
    wanted = known("metric", metric or "queue_delay", metrics)
    return _timeseries(groups, wanted, _subjects(groups, wanted, traffic))


def _draw_clouds(
    results: Results, metric: str | None, traffic: Sequence[str], entries: Sequence[str]
) -> Chart | None:
    _check_traffic(traffic, entries)
    return _clouds(results, metric, traffic)


def _draw_heat_map(
    results: Results, metric: str | None, traffic: Sequence[str], entries: Sequence[str]
) -> Chart | None:
    there = {measure.key: measure for measure in _applying(results.groups)}
    if not there or not results.keys:
        return None
    return _heat_map(results, there[known("metric", metric or next(iter(there)), list(there))])


def _check_traffic(traffic: Sequence[str], entries: Sequence[str]) -> None:
    for name in traffic:
        known("traffic", name, entries)


_BY_KIND: dict[str, Draw] = {
    "cdf": _distribution(_cdf),
    "ccdf": _distribution(_ccdf),
    "box": _distribution(_box),
    "timeseries": _draw_series,
    "ellipse": _draw_clouds,
    "heatmap": _draw_heat_map,
    "drops": lambda results, metric, traffic, entries: _drops(results),
    "delay": lambda results, metric, traffic, entries: _delay(results),
}
