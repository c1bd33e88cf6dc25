"""Charts of time series."""

import re
from collections.abc import Sequence
from itertools import chain

import numpy as np
import pyarrow as pa

from ...analysis.curves import Curve, averaged, mean_over, over_time, series, summed
from ...analysis.groups import Group
from ...analysis.measures import flows_of, payload_flows, transfers
from ...analysis.tables import where
from ...base.lookup import look_up
from ..charts.base import Axis, Chart
from ..charts.lines import BAND, Lines, range_grid
from ..charts.stack import Stack

_POINTS = 120
"""Points of a line in the report; more would not be visible."""


def timeseries(
    groups: Sequence[Group], metric: str, subjects: Sequence[str], points: int | None = None
) -> Lines | None:
    """A time series, averaged down to at most `points` values."""
    lines = over_time(groups, metric, subjects)
    if not lines:
        return None
    quantity = "round trip" if metric == "rtt" else metric.replace("_", " ")
    about = _ABOUT_SERIES.get(metric, f"{quantity.capitalize()} in each interval.")
    title = f"{quantity.capitalize()} over time: {', '.join(subjects)}"
    return _lines(title, about, quantity, _unit(groups, metric), lines, points)


def _lines(
    title: str,
    about: str,
    quantity: str,
    unit: str,
    lines: Sequence[Sequence[Curve]],
    points: int | None,
) -> Lines:
    """Lines over time, each the mean of its seeds."""
    all_curves = list(chain.from_iterable(lines))
    seeds = max(map(len, lines))
    if seeds > 1:
        about += f" Means of {seeds} seeds. {BAND}"
    neighbours = max(1, -(-max(len(curve.x) for curve in all_curves) // points)) if points else 1
    if neighbours > 1:
        interval_s = neighbours * float(all_curves[0].x[0])
        about += f" Values are means over {interval_s:.3g} s."
    return Lines(
        title,
        about,
        Axis("time (s)"),
        Axis(
            f"{quantity} ({unit})" if unit else quantity,
            log=unit == "ms" and _spans_decades(all_curves),
        ),
        [mean_over([averaged(curve, neighbours) for curve in seeds]) for seeds in lines],
        table=range_grid(f"{quantity.capitalize()} over time", lines, unit),
    )


_ABOUT_SERIES = {
    "queue_delay": "Mean queueing delay of the packets that left the queue in each interval.",
    "throughput": "Rate of delivered bytes in each interval, headers included.",
    "marks": "Packets that the queue marked in each interval.",
    "overflow_drops": "Packets that the queue dropped in each interval because it was full.",
    "aqm_drops": "Packets that an AQM algorithm dropped early in each interval.",
}


def delay_and_rates(groups: Sequence[Group]) -> Chart | None:
    """The round trip of games or calls, or else the queue, and rates, on one time axis."""
    flows = dict.fromkeys(
        f"{row['traffic']} {row['direction']}"
        for quality in ("game", "voice")
        for group in groups
        for row in flows_of(quality)(group.first)
    )
    trips = (timeseries(groups, "rtt", [flow], _POINTS) for flow in flows)
    delays = next(filter(None, trips), None) or queue_delay(groups)
    bulk = {
        row["direction"]
        for group in groups
        for row in payload_flows(group.first)
        if row["quality"] == "throughput"
    }
    rates = [
        _lines("", "", f"{_RATES[direction]} rate", "Mbps", lines, _POINTS)
        for direction in _RATES
        if direction in bulk or not bulk
        if (lines := _delivered(groups, direction))
    ]
    if delays is None or not rates:
        return None
    parts = [delays, *rates]
    if len(groups) > 1:
        # A name has the same style in all parts.
        there = set.intersection(*(set(part.names) for part in parts))
        parts = [part.only(there) for part in parts]
    return Stack(
        "Delay and rates over time",
        f"Above: {delays.title.partition(': ')[2]}. {delays.caption} Below: the rate of all that "
        "the household receives or sends, headers included.",
        Axis("time (s)"),
        Axis(""),
        parts=parts,
    )


_RATES = {"up": "upstream", "down": "downstream"}


def _delivered(groups: Sequence[Group], direction: str) -> list[list[Curve]]:
    """For each group and seed, the rate of all judged payload in a direction."""
    lines = [
        [
            summed(group, [series(run, flow, "throughput") for flow in flows])
            for run in group.runs
            if run.keeps("series")
            if (
                flows := [
                    f"{row['traffic']} {direction}"
                    for row in payload_flows(run)
                    if row["direction"] == direction
                ]
            )
        ]
        for group in groups
    ]
    return [seeds for seeds in lines if seeds]


def queue_delay(groups: Sequence[Group]) -> Lines | None:
    """The delay of the upstream queue of the judged homes, for the report."""
    return timeseries(groups, "queue_delay", [_upstream(groups[0])], _POINTS)


def _upstream(group: Group) -> str:
    settings = group.first.settings
    homes = settings["metrics"].get("homes")
    return (
        "upstream" if homes in (None, *list(settings.get("homes", ()))[:1]) else f"{homes} upstream"
    )


def throughput(groups: Sequence[Group], direction: str) -> Chart | None:
    """The throughput of bulk transfers that go `up` or `down`, for the report."""
    rows = chain.from_iterable(transfers(direction)(group.first) for group in groups)
    subjects = dict.fromkeys(f"{row['traffic']} {direction}" for row in rows)
    return timeseries(groups, "throughput", list(subjects), _POINTS)


def _spans_decades(curves: Sequence[Curve]) -> bool:
    values = np.concatenate([curve.y for curve in curves])
    above = values[values > 0]
    return len(above) > 0 and bool(np.quantile(above, 0.99) > 100 * np.quantile(above, 0.05))


def _unit(groups: Sequence[Group], metric: str) -> str:
    units = where(all_series(groups), metric=metric)["unit"]
    return str(units[0].as_py()) if len(units) else ""


def all_series(groups: Sequence[Group]) -> pa.Table:
    """The stored series of the first seeds."""
    return pa.concat_tables(
        [group.first.series for group in groups if group.first.keeps("series")],
        promote_options="permissive",
    )


def subjects(groups: Sequence[Group], metric: str, traffic: Sequence[str]) -> list[str]:
    """The subjects to draw: the given traffic, or the upstream queue, or bulk transfers.

    Connections are drawn of metrics that only they have, such as the congestion window.
    """
    there = where(all_series(groups), metric=metric)["subject"].unique().to_pylist()
    without_numbers = {subject: re.sub(r" \d+$", "", subject) for subject in there}
    flows = [subject for subject in there if without_numbers[subject] == subject] or there
    if traffic:
        plain = {subject: without_numbers[subject] for subject in flows}
        entries = {subject: name.rpartition(" ")[0] or name for subject, name in plain.items()}
        allowed = list(dict.fromkeys([*entries.values(), *flows]))
        for name in traffic:
            look_up(f"traffic with {metric}", name, allowed if name not in there else there)
        return [s for s in there if s in traffic or entries.get(s) in traffic]
    bulk = {
        f"{row['traffic']} {direction}"
        for direction in ("up", "down")
        for group in groups
        for row in transfers(direction)(group.first)
    }
    return (
        [s for s in flows if s == _upstream(groups[0])] or [s for s in flows if s in bulk] or flows
    )
