"""Numbers that stand for a log: what simulated lines and real ones are compared by."""

import numpy as np

from .grid import concentration
from .log import Log, Values

QUANTILES = (1, 5, 10, 15, 20, 25, 30, 35, 40, 45, 50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 99)
_WAITS = (5, 25, 40, 60, 70, 75, 80, 85, 90, 93, 95, 97, 99)
_AGAIN = (5, 15, 30, 50, 70)
_LATER = 0.6
"""Periods by which a packet is late whose first request failed."""
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


def beyond_the_wait(log: Log, period_ms: float) -> Values:
    """Delays less the wait for the grid, in ms from their median.

    A packet that is sent a moment later waits a moment less, up to a place in the interval at which
    it has to wait for the next grant. The place is that which leaves the steadiest rest.
    """
    sent, delay = log.sent_ms / period_ms, log.delay_ms

    def rest(place: float) -> Values:
        return np.asarray(delay - period_ms * (1 - (sent - place) % 1))

    def spread(place: float) -> float:
        low, high = np.percentile(rest(place), (20, 70))
        return float(high - low)

    values = rest(min(np.arange(40) / 40, key=spread))
    return np.asarray(values - np.median(values))


def features(log: Log, period_ms: float) -> Values:
    """The numbers of `NAMES`, of the idle part of a log."""
    beyond = beyond_the_wait(log, period_ms)
    again = beyond > _LATER * period_ms
    arrivals = log.arrival_ms
    return np.concatenate(
        [
            np.delete(quantiles(log), QUANTILES.index(50)),
            np.percentile(beyond, _WAITS),
            [concentration(arrivals, period_ms / harmonic) for harmonic in _HARMONICS],
            [np.mean(again)],
            np.percentile(beyond[again], _AGAIN) if again.sum() >= 5 else np.zeros(len(_AGAIN)),
        ]
    )
