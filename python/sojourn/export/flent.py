"""Exports a run as a flent data file (https://flent.org), to plot it like a measurement.

Each traffic entry of uploads or downloads is a TCP stream of the test. The ping is the first
upstream datagram stream: the one-way latency of each packet plus that of the packet which the other
end of a two-way stream sends next. Of a one-way stream the way back is the delay of cable and link
alone. Throughput counts bytes on the wire, headers included.
"""

import gzip
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import UTC, datetime
from statistics import fmean
from typing import Any

import numpy as np
import pyarrow.compute as pc

from .._sojourn import version
from ..store.stored_run import StoredRun
from .cable import way_back_ms
from .runs import ExportError
from .traces import packets_of, series_of

_FORMAT_VERSION = 4
_RATE, _PING, _TIME = "Mbits/s", "Ping (ms) ICMP", "%Y-%m-%dT%H:%M:%S.%fZ"
_WAYS = {"up": "upload", "down": "download"}

Series = list[float | None]


@dataclass(frozen=True)
class _Stream:
    """The TCP traffic of an entry in one direction."""

    name: str
    traffic: str
    direction: str


def flent_file(variant: str, run: StoredRun) -> bytes:
    """The file `.flent.gz` of a run: JSON, compressed."""
    streams = _streams(run)
    ping = _ping_entry(run)
    if not streams and ping is None:
        raise ExportError(
            "the run has no uploads, downloads or upstream datagrams, which a flent file needs"
        )
    times, step_s = _times(run)
    results: dict[str, Series] = {s.name: _throughput(run, s, times) for s in streams}
    raw = {stream.name: _raw_stream(run, stream) for stream in streams}
    results |= _totals(streams, results)
    if ping is not None:
        raw[_PING] = _pings(run, ping)
        results[_PING] = _by_interval(raw[_PING], times, step_s)
    content = {
        "version": _FORMAT_VERSION,
        "x_values": times,
        "results": results,
        "raw_values": raw,
        "metadata": _metadata(variant, run, streams, step_s)
        | {"SERIES_META": _series_meta(streams, results, ping)},
    }
    text = json.dumps(content, indent=1, sort_keys=True)
    return gzip.compress(text.encode(), mtime=0)


def _streams(run: StoredRun) -> list[_Stream]:
    """Bulk transfers in the direction of their payload, numbered as in flent."""
    streams: list[_Stream] = []
    bulk = [row for row in run.flows.to_pylist() if row["quality"] == "throughput"]
    bulk = [row for row in bulk if row["connections"] > 0]
    test = _test({row["direction"] for row in bulk if _carries_payload(row, bulk)})
    for direction, way in _WAYS.items():
        of_way = [r for r in bulk if r["direction"] == direction and _carries_payload(r, bulk)]
        base = f"TCP {way} BE" if test == "rrul_be_nflows" else f"TCP {way}"
        for number, row in enumerate(of_way, start=1):
            streams.append(_Stream(f"{base}::{number}", row["traffic"], direction))
    return streams


def _carries_payload(row: dict[str, Any], rows: list[dict[str, Any]]) -> bool:
    """Is this the direction with most of the entry's payload?"""
    of_entry = [other["goodput_mbps"] for other in rows if other["traffic"] == row["traffic"]]
    return bool(row["goodput_mbps"] == max(of_entry))


def _test(directions: set[str]) -> str:
    """The flent test whose plots fit these directions."""
    match sorted(directions):
        case ["up"]:
            return "tcp_nup"
        case ["down"]:
            return "tcp_ndown"
        case ["down", "up"]:
            return "rrul_be_nflows"
    return "ping"


def _times(run: StoredRun) -> tuple[list[float], float]:
    """The ends of the series intervals, and the length of an interval, in s."""
    ends = np.unique(np.round(series_of(run)["time_s"].to_numpy(), 9))
    if not len(ends):
        raise ExportError(
            "the run has no series, as it ends within metrics.series_interval_ms; rerun the "
            "scenario with a shorter interval"
        )
    return ends.tolist(), float(ends[0])


def _series(run: StoredRun, subject: str, metric: str) -> dict[float, float | None]:
    is_meant = (pc.field("subject") == subject) & (pc.field("metric") == metric)
    rows = run.series.filter(is_meant).to_pylist()
    return {round(row["time_s"], 9): row["value"] for row in rows}


def _throughput(run: StoredRun, stream: _Stream, times: list[float]) -> Series:
    values = _series(run, f"{stream.traffic} {stream.direction}", "throughput")
    return [values.get(time) for time in times]


def _raw_stream(run: StoredRun, stream: _Stream) -> list[dict[str, float]]:
    """Throughput and, where it was measured, the round-trip time of TCP in ms."""
    subject = f"{stream.traffic} {stream.direction}"
    rates, rtts = (_series(run, subject, metric) for metric in ("throughput", "rtt"))
    rows = []
    for time, rate in rates.items():
        row = {"t": time, "val": rate, "tcp_rtt": rtts.get(time)}
        rows.append({key: value for key, value in row.items() if value is not None})
    return rows


def _totals(streams: list[_Stream], results: dict[str, Series]) -> dict[str, Series]:
    """Sums and means over streams, which flent stores too."""
    totals: dict[str, Series] = {}
    for direction, way in _WAYS.items():
        of_way = [results[s.name] for s in streams if s.direction == direction]
        if of_way:
            totals[f"TCP {way} sum"] = _joined(of_way, sum)
            totals[f"TCP {way} avg"] = _joined(of_way, fmean)
    if len({stream.direction for stream in streams}) == 2:
        totals["TCP totals"] = _joined([results[s.name] for s in streams], sum)
    return totals


def _joined(all_series: list[Series], join: Callable[[Iterable[float]], float]) -> Series:
    columns = zip(*all_series, strict=True)
    known = ([value for value in column if value is not None] for column in columns)
    return [join(values) if values else None for values in known]


def _ping_entry(run: StoredRun) -> str | None:
    """The first entry that sends upstream datagrams; games come first."""
    rows = [r for r in run.flows.to_pylist() if r["direction"] == "up" and not r["connections"]]
    rows.sort(key=lambda row: row["quality"] != "game")
    return rows[0]["traffic"] if rows else None


def _pings(run: StoredRun, traffic: str) -> list[dict[str, float]]:
    """A ping for each delivered packet, at the time its reply would arrive."""
    is_meant = (pc.field("traffic") == traffic) & (pc.field("outcome") == "delivered")
    came = packets_of(run).filter(is_meant).sort_by("sent_s")
    up, down = (came.filter(pc.field("direction") == direction) for direction in ("up", "down"))
    replies_s, ended_s = (down[name].to_numpy() for name in ("sent_s", "ended_s"))
    pings = []
    for packet in up.select(["server", "sent_s", "ended_s"]).to_pylist():
        if not len(replies_s):
            back = packet["ended_s"] + way_back_ms(run.settings, packet["server"]) / 1e3
        elif (place := int(np.searchsorted(replies_s, packet["ended_s"]))) < len(replies_s):
            back = packet["ended_s"] + float(ended_s[place]) - float(replies_s[place])
        else:
            continue
        pings.append({"t": back, "val": 1e3 * (back - packet["sent_s"])})
    return sorted(pings, key=lambda ping: ping["t"])


def _by_interval(pings: list[dict[str, float]], times: list[float], step_s: float) -> Series:
    """The mean of each interval."""
    values: list[list[float]] = [[] for _ in times]
    for ping in pings:
        if (index := int(ping["t"] / step_s)) < len(values):
            values[index].append(ping["val"])
    return [fmean(interval) if interval else None for interval in values]


def _metadata(
    variant: str, run: StoredRun, streams: list[_Stream], step_s: float
) -> dict[str, Any]:
    """The metadata of a flent test. Simulated time starts in 1970."""
    meta, scenario = run.meta, run.settings
    start = datetime.fromtimestamp(0, UTC).strftime(_TIME)
    test = _test({stream.direction for stream in streams})
    count = {
        way: sum(s.direction == direction for s in streams) for direction, way in _WAYS.items()
    }
    title = " - ".join(part for part in (scenario.get("title", ""), variant) if part)
    law = scenario["upstream"]["queue"]["law"]["kind"]
    return {
        "NAME": test,
        "TITLE": title,
        "TIME": start,
        "T0": start,
        "HOST": ", ".join(scenario["servers"]),
        "HOSTS": list(scenario["servers"]),
        "LOCAL_HOST": f"sojourn {version}",
        "LENGTH": meta["duration_s"],
        "TOTAL_LENGTH": meta["duration_s"],
        "STEP_SIZE": step_s,
        "TEST_PARAMETERS": {f"{way}_streams": str(number) for way, number in count.items()},
        "IP_VERSION": 4,
        "FLENT_VERSION": None,
        "NOTE": f"Simulated: seed {meta['seed']}, fingerprint {meta['fingerprint']}, {law}",
        "DATA_FILENAME": f"{test}.{_slug(variant or 'run')}.flent.gz",
    }


def _slug(text: str) -> str:
    return "".join(c if c.isalnum() else "_" for c in text)


def _series_meta(
    streams: list[_Stream], results: dict[str, Series], ping: str | None
) -> dict[str, dict[str, Any]]:
    """Unit, mean and traffic entry of each series."""
    entries = {stream.name: stream.traffic for stream in streams}
    if ping is not None:
        entries[_PING] = ping
    described: dict[str, dict[str, Any]] = {}
    for name, values in results.items():
        known = [value for value in values if value is not None]
        described[name] = {
            "ID": entries.get(name, ""),
            "UNITS": "ms" if name == _PING else _RATE,
            "MEAN_VALUE": fmean(known) if known else None,
        }
    return described
