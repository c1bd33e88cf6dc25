"""Curves and distributions from result tables, for all figures."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .distribution import Distribution, Numbers, pooled
from .groups import Group
from .measures import Row, flows_of
from .tables import RunTables

_CDF_STEPS = 500

Select = Callable[[RunTables], list[Row]]


@dataclass(frozen=True)
class Curve:
    """A named line; a `y` of NaN is a gap."""

    name: str
    x: Numbers
    y: Numbers
    is_idle: bool = False


@dataclass(frozen=True)
class Sample:
    """A named distribution."""

    name: str
    values: Distribution
    is_idle: bool = False


def judged_by_latency(groups: Sequence[Group]) -> tuple[str, Select]:
    """The traffic whose latency is plotted: games, else voice, else pages, else transfers."""
    for quality in ("game", "voice", "pages"):
        if any(flows_of(quality)(group.first) for group in groups):
            return quality, flows_of(quality)
    return "throughput", lambda result: main_flows(flows_of("throughput")(result))


def main_flows(rows: Sequence[Row]) -> list[Row]:
    """The rows of each entry in the direction of its payload."""
    main = {row["traffic"]: row for row in sorted(rows, key=lambda row: row["goodput_mbps"])}
    return [row for row in rows if main[row["traffic"]] is row]


def latencies(groups: Sequence[Group], select: Select) -> list[Sample]:
    """One-way latency in ms of each group and selected flow, over all seeds."""
    samples = []
    for name, group, row in named(groups, select):
        runs = [run for run in group.runs if run.keeps("latencies")]
        values = pooled(_latencies(run, row["traffic"], row["direction"]) for run in runs)
        samples.append(Sample(name, values, group.is_idle))
    return [sample for sample in samples if len(sample.values.values)]


def page_loads(groups: Sequence[Group], select: Select) -> list[Sample]:
    """Page load times in s of each group and selected flow, over all seeds."""
    samples = [
        Sample(name, pooled(_page_loads(run, row["traffic"]) for run in group.runs), group.is_idle)
        for name, group, row in named(groups, select)
    ]
    return [sample for sample in samples if len(sample.values.values)]


def cdf(sample: Sample) -> Curve:
    """The CDF: share of values in % that are at most x, starting at 0 %."""
    share = 100 * sample.values.share
    # More than one point per step of the share would not be visible.
    seen = _last_of_each(np.floor(share * (_CDF_STEPS / 100)))
    values = sample.values.values
    x, y = np.append(values[:1], values[seen]), np.append(0.0, share[seen])
    return Curve(sample.name, x, y, sample.is_idle)


def ccdf(sample: Sample) -> Curve:
    """The complementary CDF: share of values in % above x, without the final 0 %."""
    share = 100 * (1 - sample.values.share[:-1])
    seen = _last_of_each(np.floor(np.log10(share) * (_CDF_STEPS / 4)))
    return Curve(sample.name, sample.values.values[:-1][seen], share[seen], sample.is_idle)


def _last_of_each(step: Numbers) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Marks the last of each run of equal values."""
    return np.append(step[1:] != step[:-1], True)[: len(step)]


def over_time(groups: Sequence[Group], metric: str, subjects: Sequence[str]) -> list[Curve]:
    """A time series of each group and subject, for the first seed."""
    return [
        Curve(_label(group.name, subject, len(subjects) > 1), *values, group.is_idle)
        for group in groups
        if group.first.keeps("series")
        for subject in subjects
        if len((values := series(group.first, subject, metric))[0])
    ]


def averaged(curve: Curve, neighbours: int) -> Curve:
    """Averages blocks of `neighbours` values, at the time of the last; gaps are skipped."""
    whole = len(curve.x) // neighbours * neighbours
    blocks = curve.y[:whole].reshape(-1, neighbours)
    there = ~np.isnan(blocks)
    sums, counts = np.where(there, blocks, 0.0).sum(axis=1), there.sum(axis=1)
    means = np.divide(sums, counts, out=np.full(len(sums), np.nan), where=counts > 0)
    times = curve.x[neighbours - 1 : whole : neighbours]
    return Curve(curve.name, times, means, curve.is_idle)


def named(groups: Sequence[Group], select: Select) -> Iterator[tuple[str, Group, Row]]:
    """The selected flows with their group and a name, as short as is unique."""
    several = any(len(select(group.first)) > 1 for group in groups)
    for group in groups:
        for row in select(group.first):
            yield _label(group.name, f"{row['traffic']} {row['direction']}", several), group, row


def series(result: RunTables, subject: str, metric: str) -> tuple[Numbers, Numbers]:
    """Times in s and values of a series."""
    return series_of(result.series, subject, metric)


def series_of(table: pa.Table, subject: str, metric: str) -> tuple[Numbers, Numbers]:
    """Times in s and values of a series in a table."""
    rows = _where(table, subject=subject, metric=metric)
    return rows["time_s"].to_numpy(), rows["value"].to_numpy()


def _label(group: str, subject: str, several: bool) -> str:
    return f"{group}: {subject}" if group and several else group or subject


def _where(table: pa.Table, **words: str) -> pa.Table:
    for column, word in words.items():
        table = table.filter(pc.field(column) == word)
    return table


def _latencies(result: RunTables, traffic: str, direction: str) -> Distribution:
    cells = _where(result.latencies, traffic=traffic, direction=direction)
    return Distribution(
        cells["latency_ms"].to_numpy(), cells["packets"].to_numpy().astype(np.float64)
    )


def _page_loads(result: RunTables, traffic: str) -> Distribution:
    return Distribution.of(_where(result.pages, traffic=traffic)["load_time_s"].to_pylist())
