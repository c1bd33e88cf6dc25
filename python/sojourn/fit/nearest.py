"""The simulated line that is nearest to a log."""

from collections.abc import Mapping
from functools import cache

import numpy as np

from ..base.progress import Progress
from .features import NAMES, QUANTILES, features, quantiles
from .learn import Regression, regression
from .log import Log, Values
from .model import Stream, scenario, simulated
from .prior import PRIOR, Estimate
from .table import stored

IDLE = ("requests", "advance_ms", "load")
"""What idle probes show, beside the grid."""
SEED = 1
"""Of all lines that are compared, so that they differ by their parameters more than by chance."""
_SIMULATED = 8
_CANDIDATES = 4000
_ALIKE = 0.3
"""Of the searched range, how far a simulated line corrects others."""
_LONGEST_S = 300.0
_MOST_STREAMS = 6
_STRENGTH = NAMES.index("grid_r1")


def nearest(
    idle: Log, estimates: Mapping[str, Estimate], up_mbps: float, progress: Progress | None = None
) -> tuple[dict[str, float], float, Values]:
    """The simulated line whose quantiles and grid are nearest to the measured ones.

    The table says which line is nearest. Each one that is simulated shows how far the table is off
    for lines alike, and the next one is the nearest with this correction (space mapping: Bandler et
    al. 1994, "Space mapping technique for electromagnetic optimization").
    """
    period = estimates["grid_ms"].value
    buffer = estimates.get("buffer_ms", Estimate(250.0, 0, 0)).value
    wanted = _compared(idle, period)
    weights = np.append(np.full(len(QUANTILES), 1 / len(QUANTILES)), period / 2)
    length = min(_LONGEST_S, max(60.0, float(np.ptp(idle.sent_ms)) / 1e3))
    streams = streams_of(idle)
    low, high = _searched(estimates)
    places = np.random.default_rng(SEED).random((_CANDIDATES, len(IDLE)))
    shares = low + places * (high - low)
    expected = _expected(period, shares)
    corrections = np.zeros_like(expected)
    likeness = np.full(len(places), 1e-9)
    found: list[tuple[float, int, Values]] = []
    for done in range(_SIMULATED):
        if progress:
            progress(done * length, _SIMULATED * length)
        misses = abs(expected + corrections / likeness[:, None] - wanted) @ weights
        misses[[at for _, at, _ in found]] = np.inf
        at = int(np.argmin(misses))
        line = _line(shares[at], period, buffer)
        text = scenario(line, streams, idle_s=length, up_mbps=up_mbps, seed=SEED, trace=True)
        values = _compared(simulated(text), period)
        found.append((float(abs(values - wanted) @ weights), at, values))
        alike = np.exp(-((places - places[at]) ** 2).sum(axis=1) / (2 * _ALIKE**2))
        corrections += alike[:, None] * (values - expected[at])
        likeness += alike
    _, at, values = min(found, key=lambda each: each[0])
    misfit = float(np.mean(abs(values - wanted)[:-1]))
    return _line(shares[at], period, buffer), misfit, values[:-1]


def _compared(log: Log, period_ms: float) -> Values:
    """Quantiles of delays, and R of the grid."""
    return np.append(quantiles(log), features(log, period_ms)[_STRENGTH])


def _searched(estimates: Mapping[str, Estimate]) -> tuple[Values, Values]:
    """The ends of the shares that are searched: those of the intervals."""
    ends = ((PRIOR[name], estimates[name]) for name in IDLE)
    low, high = np.array([(known.share(e.low), known.share(e.high)) for known, e in ends]).T
    return low, high


def _expected(period_ms: float, shares: Values) -> Values:
    """What the table lets expect of lines with such a grid, as `_compared` gives it."""
    grids = np.full(len(shares), PRIOR["grid_ms"].share(period_ms))
    values = _forecast().at(np.column_stack([grids, shares]))
    return np.insert(values, QUANTILES.index(50), 0.0, axis=1)


@cache
def _forecast() -> Regression:
    """How quantiles but the median, and R, follow from the shares of a line."""
    table, names = stored(), list(PRIOR)
    known = table.shares[:, [names.index(name) for name in ("grid_ms", *IDLE)]]
    return regression(known, table.features[:, [*range(len(QUANTILES) - 1), _STRENGTH]])


def _line(shares: Values, period: float, buffer: float) -> dict[str, float]:
    values = {
        name: PRIOR[name].value(float(share)) for name, share in zip(IDLE, shares, strict=True)
    }
    return {"grid_ms": period, "buffer_ms": buffer, **values}


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
