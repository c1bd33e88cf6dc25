"""Numbers that stand for a log: what simulated lines and real ones are compared by."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from .grid import WANDER, concentration
from .log import Log, Probes, Values, parts_of
from .prior import PROBE_MS

QUANTILES = (1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 99)
_WAITS = (5, 25, 40, 60, 70, 75, 80, 85, 90, 93, 95, 97, 99)
_AGAIN = (5, 15, 30, 50, 70)
_LATER = 0.6
"""Periods by which a packet is late whose first request failed."""
SOON_MS = 20.0
"""A probe that leaves sooner after another may ride with its request."""
_SOON = 0.17
"""The part of such probes: in the table's logs 0.15."""
_ONE_PLACE = 0.5
"""R of times of sending that are too uneven to learn from."""
_HARMONICS = (1, 2, 3, 4)
NAMES = (
    *(f"delay_p{q}" for q in QUANTILES if q != 50),
    *(f"beyond_p{q}" for q in _WAITS),
    *(f"grid_r{h}" for h in _HARMONICS),
    "asked_again",
    *(f"again_p{q}" for q in _AGAIN),
)


def quantiles(log: Log) -> Values:
    """Delays at `QUANTILES`, in ms from the median."""
    values = np.percentile(log.delay_ms, QUANTILES)
    return np.asarray(values - values[QUANTILES.index(50)])


def _beyond(log: Log, period_ms: float) -> Iterator[tuple[float, Values]]:
    """Of each part of a log its time in ms, and delays less the wait for the grid, in ms.

    A packet that is sent a moment later waits a moment less, up to a place in the interval at which
    it has to wait for the next grant. The place is that which leaves the steadiest rest.
    """
    for part in parts_of(log.sent_ms):
        sent, delay = log.sent_ms[part], log.delay_ms[part]

        def rest(place: float, sent: Values = sent, delay: Values = delay) -> Values:
            return np.asarray(delay - period_ms * (1 - (sent / period_ms - place) % 1))

        def spread(place: float, rest: Callable[[float], Values] = rest) -> float:
            low, high = np.percentile(rest(place), (20, 70))
            return float(high - low)

        yield float(sent.mean()), rest(min(np.arange(40) / 40, key=spread))


def beyond_the_wait(log: Log, period_ms: float) -> Values:
    """Delays less the wait for the grid, in ms from the median of their part of the log."""
    return np.concatenate([rest - np.median(rest) for _, rest in _beyond(log, period_ms)])


def steadied(log: Log, period_ms: float) -> Log:
    """The log without what its clocks wander, as delays less the wait show it."""
    times, levels = np.array([(time, np.median(rest)) for time, rest in _beyond(log, period_ms)]).T
    most = WANDER * np.diff(times)
    wander = np.append(0.0, np.cumsum(np.clip(np.diff(levels), -most, most)))

    def without(stream: Probes) -> Probes:
        assert stream.up_ms is not None
        return replace(stream, up_ms=stream.up_ms - np.interp(stream.sent_ms, times, wander))

    return replace(log, streams=[without(stream) for stream in log.streams])


def thinned(log: Log, period_ms: float) -> Log:
    """The log with probes as those of the logs that the fit learned from.

    Streams whose probes all meet the same place of the grid are left out. If probes leave more
    often, no more are kept of those that leave soon after another and ride with its request.
    """
    log = replace(log, streams=[s for s in log.streams if not _meets_one_place(s, period_ms)])
    if not log.streams or np.ptp(log.sent_ms) >= PROBE_MS * len(log.sent_ms):
        return log
    sent = log.sent_ms
    order = np.argsort(sent, kind="stable")
    is_alone = np.empty(len(sent), bool)
    is_alone[order] = np.diff(sent[order], prepend=-np.inf) >= SOON_MS
    soon = np.flatnonzero(~is_alone)
    most = int(is_alone.sum() * _SOON / (1 - _SOON))
    is_alone[soon[np.linspace(0, len(soon) - 1, min(most, len(soon))).astype(int)]] = True
    parts = np.split(is_alone, np.cumsum([len(stream) for stream in log.streams])[:-1])
    chosen = zip(log.streams, parts, strict=True)
    streams = [stream.where(kept) for stream, kept in chosen]
    return replace(log, streams=[stream for stream in streams if len(stream)])


def _meets_one_place(stream: Probes, period_ms: float) -> bool:
    sent = stream.sent_ms
    return concentration([sent[part] for part in parts_of(sent)], period_ms) > _ONE_PLACE


def features(log: Log, period_ms: float) -> Values:
    """The numbers of `NAMES`, of the idle part of a log."""
    beyond = beyond_the_wait(log, period_ms)
    again = beyond > _LATER * period_ms
    arrivals = log.arrival_ms
    arrived = [arrivals[part] for part in parts_of(log.sent_ms)]
    return np.concatenate(
        [
            np.delete(quantiles(log), QUANTILES.index(50)),
            np.percentile(beyond, _WAITS),
            [concentration(arrived, period_ms / harmonic) for harmonic in _HARMONICS],
            [np.mean(again)],
            np.percentile(beyond[again], _AGAIN) if again.sum() >= 5 else np.zeros(len(_AGAIN)),
        ]
    )
