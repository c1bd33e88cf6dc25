"""From a log of a measured line to the probes that a fit takes."""

import os
from collections.abc import Iterator
from dataclasses import replace
from typing import NoReturn

import numpy as np

from .._sojourn import LineLog, ScenarioError
from ..analysis.measured import Spans, open_log
from ..base.problems import refusal
from .log import Log, Probes, Values, step_of

UNTIMED = (
    "The lines have no times (ping needs -D, fping -D -l), so a grid cannot be found; a steady "
    "interval is assumed."
)


def refuse(file: str, key: str, found: str) -> NoReturn:
    """Raises the error for a log that cannot be used."""
    raise refusal(ScenarioError, file, key, found)


def read(path: str | os.PathLike[str], down_s: Spans = (), up_s: Spans = ()) -> Log:
    """The probes of a log, as they are in it; raises `ScenarioError` if it is none.

    `down_s` and `up_s` say when downloads and uploads ran, as in `read_log`.
    """
    file, found = os.fspath(path), open_log(path)
    if down_s or up_s:
        found = found.with_loads(list(down_s), list(up_s))
    return probes_of(found, file)


def probes_of(found: LineLog, file: str = "") -> Log:
    """The probes of a log that was read; raises `ScenarioError` if it has none."""
    streams = _streams(found)
    if not streams:
        refuse(file, "", "found no answered probe; allowed: 1000 and more")
    notes = [] if found.is_timed else [UNTIMED]
    log = _with_load(Log(file, streams, notes), found)
    return replace(log, resolution_ms=max(found.resolution_ms, step_of(log)))


def _streams(found: LineLog) -> list[Probes]:
    """Probes with all the delays that most of their stream have."""
    streams = []
    for number, columns in enumerate(found.streams(), 1):
        table = np.array(columns)
        sent, *delays = table[:, ~np.isnan(table[1:]).all(axis=0)]
        probes = Probes(str(number), sent, *map(_if_known, delays))
        known = [one for one in (probes.up_ms, probes.down_ms, probes.rtt_ms) if one is not None]
        if probes.up_ms is not None or probes.rtt_ms is not None:
            is_whole = np.array([~np.isnan(one) for one in known]).all(axis=0)
            streams.append(probes.where(np.flatnonzero(is_whole)))
    return streams


def _if_known(values: Values) -> Values | None:
    return None if np.isnan(values).mean() > 0.5 else values


def _with_load(log: Log, found: LineLog) -> Log:
    """With the longest upload of a log, or else download, the rate of the upload, and the longest
    time without a load.
    """
    down, up = found.loaded_ms()
    if not down and not up:
        return log
    first = min(stream.sent_ms[0] for stream in log.streams)
    last = max(stream.sent_ms[-1] for stream in log.streams)
    low, high = max(up or down, key=_length)
    times, rates = map(np.array, found.rates()[1])

    def since_first(span: tuple[float, float]) -> tuple[float, float]:
        return (span[0] - first) / 1e3, (span[1] - first) / 1e3

    return replace(
        log,
        loaded_s=since_first((low, high)),
        idle_s=since_first(max(_gaps([*down, *up], first, last), key=_length)),
        has_download=not up,
        up_mbps=_rate(times, rates, low, high) if up else None,
    )


_DRAINING_MS = 2000.0
"""After a load, until its queue is empty."""


def _gaps(
    spans: list[tuple[float, float]], first: float, last: float
) -> Iterator[tuple[float, float]]:
    """The times without a load."""
    end = first
    for low, high in sorted(spans):
        yield end, max(low, end)
        end = max(end, high + _DRAINING_MS)
    yield end, max(last, end)


def _length(span: tuple[float, float]) -> float:
    return span[1] - span[0]


def _rate(times: Values, rates: Values, low: float, high: float) -> float | None:
    """The median rate while it goes; `None` where none is known."""
    there = rates[(times > low) & (times <= high) & (rates > 0)]
    return float(np.median(there)) if len(there) else None
