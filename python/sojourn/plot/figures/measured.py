"""Charts of measured lines."""

from collections.abc import Iterator

import numpy as np

from ...analysis.curves import Curve, Sample, cdf
from ...analysis.distribution import Distribution, Numbers
from ...analysis.measured import MeasuredLine, Rates, named
from ..charts.base import Axis, Chart, is_wide
from ..charts.lines import Lines, quantile_grid, range_grid
from ..charts.stack import Stack

_POINTS = 300
"""Points of a line; more would not be visible."""
_NEAR = 2
"""Parts without probes that have some so near are passed over: uneven probes leave no gaps."""


def figures(line: MeasuredLine) -> list[Chart]:
    """Delay and rates over time, and the distribution of round trips idle beside loaded."""
    return list(filter(None, [delay_and_rates(line), distribution(line)]))


def delay_and_rates(line: MeasuredLine) -> Chart | None:
    """The round trips over time, and the rates on the same axis."""
    if not line.streams:
        return None
    quantity = "round trip" if _has_trips(line) else "delay"
    curves = [
        Curve(name, *_means(sent[~np.isnan(delays)], delays[~np.isnan(delays)]))
        for name, sent, delays in _by_host(line)
        if not np.isnan(delays).all()
    ]
    if not curves:
        return None
    known = np.concatenate([curve.y[~np.isnan(curve.y)] for curve in curves])
    parts = [_panel(f"{quantity} (ms)", curves, log=bool(known.min() > 0) and is_wide(known))]
    for name, rates in (("downstream", line.down), ("upstream", line.up)):
        if len(rates.at_ms):
            curve = Curve("measured", *_rates(line, rates))
            parts.append(_panel(f"{name} rate (Mbps)", [curve], from_zero=True))
    count = f" Rates count {line.measured.rates_count}." if line.measured.rates_count else ""
    return Stack(
        "Delay and rates over time" if len(parts) > 1 else "Delay over time",
        f"Above: the {quantity} of the probes, each point the mean of those sent in a part of the "
        f"time.{count}",
        Axis("time (s)"),
        Axis(""),
        parts=parts,
    )


def _panel(label: str, curves: list[Curve], log: bool = False, from_zero: bool = False) -> Lines:
    unit = label.rpartition("(")[2].rstrip(")")
    table = range_grid("", [[curve] for curve in curves], unit)
    axis = Axis(label, log=log)
    return Lines("", "", Axis("time (s)"), axis, curves, from_zero=from_zero, table=table)


def _by_host(line: MeasuredLine) -> Iterator[tuple[str, Numbers, Numbers]]:
    """Send times in s and delays, of each host by itself, or of all streams together."""
    delays = _delays(line)
    sent = [np.array(line.log.elapsed_s(stream.sent_ms.tolist())) for stream in line.streams]
    if line.log.has_hosts:
        names = [f"host {number}" for number in range(1, len(sent) + 1)]
        yield from zip(names, sent, delays, strict=True)
    else:
        yield "measured", np.concatenate(sent), np.concatenate(delays)


def _has_trips(line: MeasuredLine) -> bool:
    return any(not np.isnan(stream.rtt_ms).all() for stream in line.streams)


def _delays(line: MeasuredLine) -> list[Numbers]:
    """Round trips as the numbers count them, or delays upstream above the shortest where a log has
    these alone.
    """
    if _has_trips(line):
        return list(map(np.array, line.log.trips()))
    known = [stream.up_ms[~np.isnan(stream.up_ms)] for stream in line.streams]
    least = [one.min() if len(one) else 0.0 for one in known]
    return [one.up_ms - low for one, low in zip(line.streams, least, strict=True)]


def _means(x: Numbers, y: Numbers) -> tuple[Numbers, Numbers]:
    """The mean of y in even parts of x, NaN where there is none for long."""
    edges = np.linspace(0, float(x.max()) or 1.0, min(_POINTS, len(x)) + 1)
    place = np.clip(np.searchsorted(edges, x, side="right") - 1, 0, len(edges) - 2)
    sums, counts = (np.bincount(place, weights, len(edges) - 1) for weights in (y, None))
    means = np.where(counts, sums / np.maximum(counts, 1), np.nan)
    is_gap = np.convolve(counts, np.ones(2 * _NEAR + 1))[_NEAR:-_NEAR] == 0
    kept = (counts > 0) | is_gap
    return ((edges[:-1] + edges[1:]) / 2)[kept], means[kept]


def _rates(line: MeasuredLine, rates: Rates) -> tuple[Numbers, Numbers]:
    neighbours = -(-len(rates.at_ms) // _POINTS)
    places = np.arange(0, len(rates.at_ms), neighbours)
    sums = np.add.reduceat(rates.mbps, places)
    counts = np.diff(np.append(places, len(rates.at_ms)))
    return np.array(line.log.elapsed_s(rates.at_ms[places].tolist())), sums / counts


def distribution(line: MeasuredLine) -> Chart | None:
    """The CDF of round trips, a curve for each load."""
    samples = list(_samples(line))
    if not samples:
        return None
    values = np.concatenate([sample.values.values for sample in samples])
    return Lines(
        "Round trips under each load",
        "Share of round trips that are at most the value on the horizontal axis. Further left is "
        "better.",
        Axis("round trip (ms)", log=is_wide(values)),
        Axis("round trips (%)"),
        [cdf(sample) for sample in samples],
        steps=True,
        table=quantile_grid("Quantiles of the round trip", samples, "ms"),
    )


def _samples(line: MeasuredLine) -> Iterator[Sample]:
    loads = [np.array(line.log.load_at(one.sent_ms.tolist()), object) for one in line.streams]
    trips = list(map(np.array, line.log.trips()))
    for one in line.measured.loads:
        chosen = [
            of_stream[of == one.load]
            for host, (of_stream, of) in enumerate(zip(trips, loads, strict=True), 1)
            if one.host in (None, host)
        ]
        known = np.concatenate([*chosen, np.empty(0)])
        known = known[~np.isnan(known)]
        if len(known):
            yield Sample(named(one.load, one.host), Distribution.of(known), one.load == "idle")
