"""Fits a scenario to a log of probes."""

import os
from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from ..base.progress import Progress
from .features import NAMES, features, quantiles
from .grid import Grid, found_grid
from .learn import Learned, learned
from .loaded import (
    SETTLING_S,
    Queue,
    loaded_features,
    queue_of,
    rises_ms,
    rises_of_another_log,
)
from .log import Log, Values, joined
from .model import MOST_UP_MBPS, Stream, scenario, simulated
from .prior import PRIOR
from .read import UNTIMED, read, refuse
from .repair import repaired
from .table import stored

IDLE = ("requests", "advance_ms", "load")
"""What idle probes tell of, beside the grid."""
_SEARCHED = (24, 16)
"""Lines that are simulated to find the nearest: within the intervals, then around the best one."""
GUESSED = "250 ms of buffer"
"""Where the log does not tell of it."""
_LONGEST_S = 300.0
_MOST_STREAMS = 6
_COARSEST = 0.25
"""Of a period, what times may be rounded to."""
_SEED = 1
_IDLE_S, _LOADED_S = 60.0, 30.0
"""Of the scenario that a fit gives."""


@dataclass(frozen=True)
class Estimate:
    """A value with its 90 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Fit:
    """What a log says of its line."""

    log: Log
    grid: Grid | None
    estimates: Mapping[str, Estimate]
    line: Mapping[str, float] | None
    """The nearest line that was simulated."""
    misfit_ms: float | None
    """Mean difference of its quantiles from the measured ones, each from its median."""
    nearest_ms: Values | None
    """Its quantiles, as `features.quantiles` gives them."""
    rises: Values | None
    """Delays during an upload, above the idle median, in ms."""
    queue: Queue | None
    up_mbps: float
    guessed: Collection[str]
    """What no log shows: up_mbps, buffer_ms."""

    @property
    def has_upload(self) -> bool:
        """Did an upload run in the log?"""
        return self.rises is not None

    def scenario(self) -> str:
        """The scenario that shows the line: as it is, and with DOCSIS-PIE."""
        return self._scenario(compared=True)

    @cached_property
    def simulated_rises_ms(self) -> Mapping[str, Values]:
        """How much longer probes take while the scenario's upload runs, by the queue's law."""
        rises = {}
        for law in ("none", "docsis_pie"):
            log = simulated(self._scenario(law=law, trace=True))
            busy = log.between(_IDLE_S + SETTLING_S, _IDLE_S + _LOADED_S)
            rises[law] = rises_ms(busy, log.between(0, _IDLE_S))
        return rises

    def _scenario(self, law: str = "none", trace: bool = False, compared: bool = False) -> str:
        assert self.line is not None
        is_guess = "buffer_ms" in self.guessed and self.has_upload
        name = GUESSED if is_guess else "as it is"
        return scenario(
            self.line,
            streams_of(self.log),
            idle_s=_IDLE_S,
            loaded_s=(_IDLE_S if compared else _LOADED_S) if self.has_upload else 0.0,
            up_mbps=self.up_mbps,
            law=law,
            seed=_SEED,
            trace=trace,
            compared=name if compared else "",
            guessed=self.guessed,
        )


def fit(
    paths: Sequence[str | os.PathLike[str]],
    *,
    upload: str | os.PathLike[str] | None = None,
    up_mbps: float | None = None,
    search: bool = True,
    progress: Progress | None = None,
) -> Fit:
    """Fits a line to logs of one sitting, and to another one that was made during an upload."""
    log = repaired(joined([read(path) for path in paths]))
    busy = None if upload is None else repaired(read(upload))
    if busy is not None:
        notes = [f"Upload: {note}" for note in busy.notes if note != UNTIMED]
        log = replace(log, notes=[*log.notes, *notes])
    return fit_log(log, busy, up_mbps=up_mbps, search=search, progress=progress)


def fit_log(
    log: Log,
    busy: Log | None = None,
    *,
    up_mbps: float | None = None,
    search: bool = True,
    progress: Progress | None = None,
) -> Fit:
    """Fits a line to probes in memory. A log may hold its own upload (`loaded_s`)."""
    idle, rises = _parts(log, busy)
    grid = None if any(UNTIMED in note for note in log.notes) else found_grid(idle)
    estimates = {}
    if grid is not None and idle.is_one_way and not is_coarse(idle, grid):
        estimates = idle_estimates(idle, grid)
    queue = None if rises is None else queue_of(rises)
    if rises is not None and queue is not Queue.UNEVEN:
        estimates["buffer_ms"] = _estimate("buffer_ms", loaded_features(rises))
    known = up_mbps or (busy or log).up_mbps
    rate = min(known or 10.0, MOST_UP_MBPS)
    guessed = [
        name
        for name, is_known in (("up_mbps", known == rate), ("buffer_ms", "buffer_ms" in estimates))
        if not is_known
    ]
    line, misfit, nearest_ms = None, None, None
    if search and all(name in estimates for name in IDLE):
        line, misfit, nearest_ms = nearest(idle, estimates, rate, progress)
    return Fit(idle, grid, estimates, line, misfit, nearest_ms, rises, queue, rate, guessed)


def _parts(log: Log, busy: Log | None) -> tuple[Log, Values | None]:
    """The idle part of a log, and how far delays rise during an upload."""
    idle, loaded = log, None
    if log.loaded_s is not None:
        low, high = log.loaded_s
        idle = log.between(0, low)
        loaded = log.between(min(low + SETTLING_S, (low + high) / 2), high)
        if not idle.streams:
            refuse(log.file, "", "found a load from the first probe on; allowed: an idle log")
        note = f"A load runs in the log from {low:.0f} s on; only what is before counts as idle."
        idle = replace(idle, notes=[*log.notes, note])
    if busy is not None:
        return idle, rises_of_another_log(busy, idle)
    if loaded is None or not loaded.streams or (log.has_download and log.up_mbps is None):
        return idle, None
    return idle, rises_ms(loaded, idle)


def is_coarse(idle: Log, grid: Grid) -> bool:
    """Are times rounded too far to show how packets wait for the grid?"""
    return idle.resolution_ms > _COARSEST * grid.period_ms


def idle_estimates(idle: Log, grid: Grid) -> dict[str, Estimate]:
    """The grid, and what features of an idle log tell of its neighbours and the CMTS."""
    period = grid.period_ms
    measured = features(idle, period)
    return {
        "grid_ms": Estimate(period, period - grid.error_ms, period + grid.error_ms),
        **{name: _estimate(name, np.append(_share("grid_ms", period), measured)) for name in IDLE},
    }


def _share(name: str, value: float) -> float:
    return PRIOR[name].share(value)


def _estimate(name: str, measured: Values) -> Estimate:
    shares = lessons()[name].interval(measured)
    return Estimate(*(PRIOR[name].value(share) for share in shares))


@cache
def lessons() -> dict[str, Learned]:
    """What the table teaches of each parameter but the grid's period, which is seen."""
    table = stored()
    names = list(PRIOR)
    idle = np.column_stack(
        [table.shares[:, names.index("grid_ms")], table.features[:, : len(NAMES)]]
    )
    loaded = table.features[:, len(NAMES) :]
    return {
        name: learned(loaded if name == "buffer_ms" else idle, table.shares[:, at])
        for at, name in enumerate(names)
        if name != "grid_ms"
    }


def streams_of(log: Log) -> list[Stream]:
    """The streams of a log, with their intervals and how they lie to each other."""
    first = min(float(stream.sent_ms[0]) for stream in log.streams)
    streams = []
    for stream in log.streams[:_MOST_STREAMS]:
        intervals = np.diff(stream.sent_ms)
        interval = float(np.median(intervals))
        is_steady = np.std(intervals[intervals < 1.5 * interval]) < 0.05 * interval
        count = np.round(np.ptp(stream.sent_ms) / interval) if is_steady else len(intervals)
        interval = float(np.ptp(stream.sent_ms) / count)
        usual = intervals[intervals < 2 * interval]
        deviation = min(100.0, 100 * float(np.std(usual)) / interval)
        start = float(np.median((stream.sent_ms - first) % interval))
        streams.append(Stream(interval, round(deviation, 2), start))
    return streams


def nearest(
    idle: Log, estimates: Mapping[str, Estimate], up_mbps: float, progress: Progress | None = None
) -> tuple[dict[str, float], float, Values]:
    """The simulated line whose quantiles and grid are nearest to the measured ones.

    All lines have the same seed, so that they differ by their parameters more than by chance.
    """
    random = np.random.default_rng(_SEED)
    period = estimates["grid_ms"].value
    buffer = estimates.get("buffer_ms", Estimate(250.0, 0, 0)).value
    wanted = quantiles(idle)
    known = features(idle, period)
    length = min(_LONGEST_S, max(60.0, float(np.ptp(idle.sent_ms)) / 1e3))
    streams = streams_of(idle)

    def tried(shares: Values) -> tuple[float, float, Values, Values]:
        line = _line(shares, period, buffer)
        text = scenario(line, streams, idle_s=length, up_mbps=up_mbps, seed=_SEED, trace=True)
        log = simulated(text)
        values = quantiles(log)
        misfit = float(np.mean(abs(values - wanted)))
        strength = features(log, period)[NAMES.index("grid_r1")]
        off = abs(strength - known[NAMES.index("grid_r1")]) * period
        return misfit + float(off) / 2, misfit, shares, values

    ends = np.array(
        [[_share(name, v) for v in (estimates[name].low, estimates[name].high)] for name in IDLE]
    )
    found: list[tuple[float, float, Values, Values]] = []
    for turn, count in enumerate(_SEARCHED):
        if turn:
            best = min(found, key=lambda each: each[0])[2]
            half = np.maximum(np.ptp(ends, axis=1) / 4, 0.04)
            low, high = best - half, best + half
        else:
            # Real lines are not of the prior: look somewhat beyond the intervals.
            slack = np.maximum(np.ptp(ends, axis=1) / 2, 0.1)
            low, high = ends[:, 0] - slack, ends[:, 1] + slack
        low, high = np.clip(low, 0, 1), np.clip(high, 0, 1)
        places = low + random.random((count, len(IDLE))) * (high - low)
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            for each in pool.map(tried, places):
                found.append(each)
                if progress:
                    progress(len(found) * length, sum(_SEARCHED) * length)
    _, misfit, shares, nearest_ms = min(found, key=lambda each: each[0])
    return _line(shares, period, buffer), misfit, nearest_ms


def _line(shares: Values, period: float, buffer: float) -> dict[str, float]:
    values = {
        name: PRIOR[name].value(float(share)) for name, share in zip(IDLE, shares, strict=True)
    }
    return {"grid_ms": period, "buffer_ms": buffer, **values}
