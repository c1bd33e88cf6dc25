"""Curves and distributions from result tables, for all figures."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .._sojourn import student_t
from .distribution import Distribution, Numbers, pooled
from .groups import Group
from .measures import Row, flows_of
from .statistics import Value, over_seeds
from .tables import RunTables, where

_CDF_STEPS = 500

Select = Callable[[RunTables], list[Row]]


@dataclass(frozen=True)
class Curve:
    """A named line; a `y` of NaN is a gap."""

    name: str
    x: Numbers
    y: Numbers
    is_idle: bool = False
    band: tuple[Numbers, Numbers] | None = None
    """The low and the high end of the 95 % interval over seeds at each point."""


@dataclass(frozen=True)
class Sample:
    """A named distribution."""

    name: str
    values: Distribution
    is_idle: bool = False
    seeds: Sequence[Distribution] = ()
    """Those of single seeds, if there are several."""


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
        seeds = [latencies_of(run, row["traffic"], row["direction"]) for run in runs]
        samples.append(_sample(name, seeds, group))
    return [sample for sample in samples if len(sample.values.values)]


def page_loads(groups: Sequence[Group], select: Select) -> list[Sample]:
    """Page load times in s of each group and selected flow, over all seeds."""
    samples = [
        _sample(name, [_page_loads(run, row["traffic"]) for run in group.runs], group)
        for name, group, row in named(groups, select)
    ]
    return [sample for sample in samples if len(sample.values.values)]


def _sample(name: str, seeds: Sequence[Distribution], group: Group) -> Sample:
    there = [seed for seed in seeds if len(seed.values)]
    return Sample(name, pooled(there), group.is_idle, there if len(there) > 1 else ())


def cdf(sample: Sample) -> Curve:
    """The CDF: share of values in % that are at most x, starting at 0 %."""
    share = 100 * sample.values.share
    # More than one point per step of the share would not be visible.
    seen = _last_of_each(np.floor(share * (_CDF_STEPS / 100)))
    values = sample.values.values
    x, y = np.append(values[:1], values[seen]), np.append(0.0, share[seen])
    half = np.append(0.0, _half_interval(sample.seeds, x[1:], y[1:]))
    return Curve(sample.name, x, y, sample.is_idle, _band(y, half, 0.0) if sample.seeds else None)


def ccdf(sample: Sample) -> Curve:
    """The complementary CDF: share of values in % above x, without the final 0 %."""
    share = 100 * (1 - sample.values.share[:-1])
    seen = _last_of_each(np.floor(np.log10(share) * (_CDF_STEPS / 4)))
    x, y = sample.values.values[:-1][seen], share[seen]
    if not sample.seeds or not len(x):
        return Curve(sample.name, x, y, sample.is_idle)
    # A logarithmic axis has no room for less than the least share.
    half = _half_interval(sample.seeds, x, 100 - y)
    return Curve(sample.name, x, y, sample.is_idle, _band(y, half, float(y.min())))


def _band(y: Numbers, half: Numbers, least: float) -> tuple[Numbers, Numbers]:
    """An interval around shares in %, none of which is below the least or above 100 %."""
    return np.maximum(y - half, least), np.minimum(y + half, 100.0)


def _half_interval(seeds: Sequence[Distribution], x: Numbers, y: Numbers) -> Numbers:
    """Half of the 95 % interval over seeds of the share `y` in % of values that are at most `x`.

    The share is a ratio of two sums over seeds, of values at most `x` and of all values (Cochran
    1977, section 6.4).
    """
    t = student_t(len(seeds))
    if t is None:
        return np.zeros(len(x))
    below = [
        np.append(0.0, 100 * seed.share)[np.searchsorted(seed.values, x, side="right")]
        for seed in seeds
    ]
    totals = np.array([[seed.total] for seed in seeds])
    deviations = (np.array(below) - y) * (totals / totals.mean())
    variance = np.square(deviations).sum(axis=0) / (len(seeds) - 1)
    half: Numbers = t * np.sqrt(variance / len(seeds))
    return half


def _last_of_each(step: Numbers) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Marks the last of each run of equal values."""
    return np.append(step[1:] != step[:-1], True)[: len(step)]


def over_time(groups: Sequence[Group], metric: str, subjects: Sequence[str]) -> list[list[Curve]]:
    """A time series of each group and subject, for each seed that has one."""
    lines = [
        [
            Curve(_label(group.name, subject, len(subjects) > 1), *values, group.is_idle)
            for run in group.runs
            if run.keeps("series")
            if len((values := series(run, subject, metric))[0])
        ]
        for group in groups
        for subject in subjects
    ]
    return [seeds for seeds in lines if seeds]


def summed(group: Group, parts: Sequence[tuple[Numbers, Numbers]]) -> Curve:
    """The sum of time series of a group; where one has no value, the others count."""
    x = np.unique(np.concatenate([times for times, _ in parts]))
    y = np.zeros(len(x))
    for times, values in parts:
        y[np.searchsorted(x, times)] += np.nan_to_num(values)
    return Curve(group.name, x, y, group.is_idle)


def mean_over(seeds: Sequence[Curve]) -> Curve:
    """The mean of time series that differ in their seed, with its 95 % interval."""
    if len(seeds) == 1:
        return seeds[0]
    x = np.unique(np.concatenate([seed.x for seed in seeds]))
    rows = np.full((len(seeds), len(x)), np.nan)
    for row, seed in zip(rows, seeds, strict=True):
        row[np.searchsorted(x, seed.x)] = seed.y
    values = [over_seeds(column[~np.isnan(column)].tolist()) for column in rows.T]
    return curve_of(seeds[0].name, x, values, seeds[0].is_idle)


def curve_of(name: str, x: Numbers, values: Sequence[Value], is_idle: bool = False) -> Curve:
    """A line through means over seeds, with their intervals if any has one."""
    mean, low, high = (
        np.array([getattr(value, part) for value in values], np.float64)
        for part in ("mean", "low", "high")
    )
    return Curve(name, x, mean, is_idle, None if np.isnan(high).all() else (low, high))


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
    rows = where(table, subject=subject, metric=metric)
    return rows["time_s"].to_numpy(), rows["value"].to_numpy()


def _label(group: str, subject: str, several: bool) -> str:
    return f"{group}: {subject}" if group and several else group or subject


def latencies_of(result: RunTables, traffic: str, direction: str) -> Distribution:
    """The one-way latencies in ms of a traffic entry in a direction."""
    cells = where(result.latencies, traffic=traffic, direction=direction)
    cells = cells.filter(pc.field("packets") > 0)
    return Distribution(
        cells["latency_ms"].to_numpy(), cells["packets"].to_numpy().astype(np.float64)
    )


def _page_loads(result: RunTables, traffic: str) -> Distribution:
    return Distribution.of(where(result.pages, traffic=traffic)["load_time_s"].to_pylist())
