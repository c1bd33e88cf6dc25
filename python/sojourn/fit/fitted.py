"""Fits a scenario to a log of probes."""

import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np

from ..base.progress import Progress
from .features import NAMES, features, quantiles
from .grid import Grid, found_grid
from .learn import Learned, learned
from .loaded import SETTLING_S, Queue, loaded_features, queue_of, rises_ms, round_trip_rises_ms
from .log import Log, Values, joined
from .mend import mended
from .model import Stream, scenario, simulated
from .prior import PRIOR
from .read import read
from .table import stored

IDLE = ("requests", "advance_ms", "load")
"""What idle probes tell of, beside the grid."""
_SEARCHED = (24, 16)
"""Lines that are simulated to find the nearest: within the intervals, then around the best one."""
GUESSED = "250 ms of buffer"
"""Where the log does not tell of it."""
_LONGEST_S = 300.0
_MOST_STREAMS = 6
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
    rises: Values | None
    """Delays during an upload, above the idle median, in ms."""
    queue: Queue | None
    up_mbps: float

    @property
    def has_upload(self) -> bool:
        """Did an upload run in the log?"""
        return self.rises is not None

    def scenario(self) -> str:
        """The scenario that shows the line: as it is, and with DOCSIS-PIE."""
        return self._scenario(compared=True)

    def simulated_rise_ms(self, law: str) -> float:
        """How much longer probes take in the median while the scenario's upload runs."""
        log = simulated(self._scenario(law=law, trace=True))
        busy = log.between(_IDLE_S + SETTLING_S, _IDLE_S + _LOADED_S)
        return float(np.median(rises_ms(busy, log.between(0, _IDLE_S))))

    def _scenario(self, law: str = "none", trace: bool = False, compared: bool = False) -> str:
        assert self.line is not None
        name = "as it is" if "buffer_ms" in self.estimates or not self.has_upload else GUESSED
        return scenario(
            self.line,
            streams_of(self.log),
            idle_s=_IDLE_S,
            loaded_s=_LOADED_S if self.has_upload else 0.0,
            up_mbps=self.up_mbps,
            law=law,
            seed=_SEED,
            trace=trace,
            compared=name if compared else "",
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
    log = mended(joined([read(path) for path in paths]))
    busy = mended(read(upload)) if upload is not None else None
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
    grid = None if any("no times" in note for note in log.notes) else found_grid(idle)
    estimates = {}
    if grid is not None and idle.is_one_way:
        estimates = idle_estimates(idle, grid)
    queue = None if rises is None else queue_of(rises)
    if rises is not None and queue is not Queue.UNEVEN:
        estimates["buffer_ms"] = _estimate("buffer_ms", loaded_features(rises))
    rate = up_mbps or (busy or log).up_mbps or 10.0
    line, misfit = None, None
    if search and all(name in estimates for name in IDLE):
        line, misfit = nearest(idle, estimates, rate, progress)
    return Fit(
        idle,
        grid,
        estimates,
        line,
        misfit,
        rises,
        queue,
        rate,
    )


def _parts(log: Log, busy: Log | None) -> tuple[Log, Values | None]:
    """The idle part of a log, and how far delays rise during an upload."""
    if busy is not None:
        late = busy.between(SETTLING_S, float("inf"))
        return log, round_trip_rises_ms(late, log)
    if log.loaded_s is None:
        return log, None
    low, high = log.loaded_s
    idle = log.between(0, low)
    loaded = log.between(min(low + SETTLING_S, (low + high) / 2), high)
    if not idle.streams or not loaded.streams:
        return log, None
    return idle, rises_ms(loaded, idle)


def idle_estimates(idle: Log, grid: Grid) -> dict[str, Estimate]:
    """The grid, and what features of an idle log tell of its neighbours and the CMTS."""
    period = grid.period_ms
    told = features(idle, period)
    return {
        "grid_ms": Estimate(period, period - grid.error_ms, period + grid.error_ms),
        **{name: _estimate(name, np.append(_share("grid_ms", period), told)) for name in IDLE},
    }


def _share(name: str, value: float) -> float:
    return PRIOR[name].share(value)


def _estimate(name: str, told: Values) -> Estimate:
    shares = lessons()[name].interval(told)
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
) -> tuple[dict[str, float], float]:
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

    def tried(shares: Values) -> tuple[float, float, Values]:
        line = _line(shares, period, buffer)
        text = scenario(line, streams, idle_s=length, up_mbps=up_mbps, seed=_SEED, trace=True)
        log = simulated(text)
        misfit = float(np.mean(abs(quantiles(log) - wanted)))
        strength = features(log, period)[NAMES.index("grid_r1")]
        off = abs(strength - known[NAMES.index("grid_r1")]) * period
        return misfit + float(off) / 2, misfit, shares

    ends = np.array(
        [[_share(name, v) for v in (estimates[name].low, estimates[name].high)] for name in IDLE]
    )
    found: list[tuple[float, float, Values]] = []
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
    _, misfit, shares = min(found, key=lambda each: each[0])
    return _line(shares, period, buffer), misfit


def _line(shares: Values, period: float, buffer: float) -> dict[str, float]:
    values = {
        name: PRIOR[name].value(float(share)) for name, share in zip(IDLE, shares, strict=True)
    }
    return {"grid_ms": period, "buffer_ms": buffer, **values}
