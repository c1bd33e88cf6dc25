"""What a run gave to classes of flows, as Hong 2015 counts it."""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sojourn._sojourn import max_min
from sojourn.analysis.curves import series_of
from sojourn.store.stored_run import StoredRun

NOT_OF_ALL = ("voip", "wrt-client")
"""Entries that measure; "all" are the others."""

_DATAGRAM = 1480 / 1500
"""Table 5.24: 49.33 Mbps arrive of 50."""

VIDEO_MBPS = 5
"""The highest rate of a video of chapter 4."""


@dataclass(frozen=True)
class Flow:
    """What a flow got. Rates are of packets, as published, 1500 bytes of which 40 are headers;
    with FullTcp of payload, and of datagrams without their header."""

    entry: str
    throughput_mbps: float
    rtt_s: float | None
    loss_percent: float | None


def flows_of(run: StoredRun, name: str) -> list[Flow]:
    """The flows of a class: of the entries with its name, or with names that begin with it."""
    rows = [row for row in run.rows("flows") if row["direction"] == "down"]
    return [flow for row in rows if _belongs(row["traffic"], name) for flow in _of_entry(run, row)]


def throughputs(run: StoredRun, name: str) -> list[float]:
    """Of the flows of a class, in Mbps."""
    return [flow.throughput_mbps for flow in flows_of(run, name)]


def total(run: StoredRun, name: str) -> float:
    """Throughput of a class together, in Mbps."""
    return math.fsum(throughputs(run, name))


def mean(values: Sequence[float | None]) -> float | None:
    """Of what there is."""
    there = [value for value in values if value is not None]
    return statistics.fmean(there) if there else None


def spread(values: Sequence[float]) -> float:
    """Sample standard deviation, as table 4.7 has it of throughputs; none of one flow."""
    return statistics.stdev(values) if len(values) > 1 else 0.0


def variation(values: Sequence[float]) -> float | None:
    """Coefficient of variation."""
    average = mean(values)
    return spread(values) / average if average else None


def rtt_spread(values: Sequence[float | None]) -> float | None:
    """Population standard deviation, as tables 4.4 and 5.4 have it of round trips."""
    there = [value for value in values if value is not None]
    return statistics.pstdev(there) if there else None


def bias_percent(run: StoredRun, name: str) -> float | None:
    """Of a class against its max-min fair share of what FTP and video got (section 4.2.2)."""
    classes = ("ftp", "has")
    every = [(each, rate) for each in classes for rate in throughputs(run, each)]
    demands = [VIDEO_MBPS if each == "has" else math.inf for each, _ in every]
    shares = max_min(math.fsum(rate for _, rate in every), demands, [1.0] * len(every))
    fair = [share for (each, _), share in zip(every, shares, strict=True) if each == name]
    average = mean([rate for each, rate in every if each == name])
    return None if average is None or not fair else 100 * (average / fair[0] - 1)


def gauge(run: StoredRun, metric: str) -> float | None:
    """The last value of a gauge of the CMTS's queue."""
    _, values = series_of(run.series, "cmts", metric)
    return float(values[-1]) if len(values) else None


def within(run: StoredRun, entry: str, start_s: float, stop_s: float) -> float | None:
    """Mean throughput of an entry in a span of time, in Mbps."""
    time_s, rate = series_of(run.series, f"{entry} down", "throughput")
    inside = rate[(time_s > start_s) & (time_s <= stop_s)]
    return float(np.nanmean(inside)) if len(inside) else None


def _belongs(entry: str, name: str) -> bool:
    if name == "all":
        return entry not in NOT_OF_ALL
    return entry == name or entry.startswith(f"{name}-")


def _of_entry(run: StoredRun, row: Mapping[str, Any]) -> list[Flow]:
    """One flow for each connection; web users and datagrams are one flow an entry."""
    entry = str(row["traffic"])
    if row["quality"] == "responses" or not row["connections"]:
        return [_whole(run, row)]
    connections = [
        other
        for other in run.rows("connections")
        if other["traffic"] == entry and other["direction"] == "down"
    ]
    if len(connections) == 1:
        return [_whole(run, row)]
    duration_s = float(run.meta["duration_s"])
    counted = "payload_bytes" if _is_full_tcp(run, entry) else "delivered_bytes"
    return [
        Flow(
            entry,
            8e-6 * other[counted] / duration_s,
            _seconds(other["rtt_echo_mean_ms"]),
            _loss_percent(other["dropped_packets"], other["delivered_packets"]),
        )
        for other in connections
    ]


def _whole(run: StoredRun, row: Mapping[str, Any]) -> Flow:
    entry = row["traffic"]
    rate = row["goodput_mbps" if _is_full_tcp(run, entry) else "throughput_mbps"]
    return Flow(
        entry,
        rate if row["connections"] else rate * _DATAGRAM,
        _seconds(row["rtt_echo_mean_ms"]),
        row["loss_percent"],
    )


def _seconds(ms: float | None) -> float | None:
    return None if ms is None else ms / 1000


def _is_full_tcp(run: StoredRun, entry: str) -> bool:
    app = run.settings["traffic"][entry]
    return bool(app["kind"] == "video" or app.get("tcp", {}).get("recovery") == "full_sack")


def _loss_percent(dropped: int, delivered: int) -> float | None:
    return 100 * dropped / (dropped + delivered) if dropped + delivered else None
