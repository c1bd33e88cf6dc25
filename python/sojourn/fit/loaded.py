"""What a log shows of an upload: how far delays rise, and whether something holds them down."""

from enum import Enum

import numpy as np

from .log import Log, Values

SETTLING_S = 8.0
"""After an upload has started, until its queue is full for the first time."""
_QUANTILES = (5, 25, 50, 75, 95, 99)
_SHORT_MS = 30.0
_PART = 0.25
LOADED_NAMES = tuple(f"loaded_p{q}" for q in _QUANTILES)


def rises_ms(busy: Log, idle: Log) -> Values:
    """Delays of a log during an upload, each less the idle median of its stream."""
    medians = {stream.name: float(np.median(stream.delay_ms)) for stream in idle.streams}
    known = [s.delay_ms - medians[s.name] for s in busy.streams if s.name in medians]
    return np.concatenate(known) if known else np.empty(0)


def round_trip_rises_ms(busy: Log, idle: Log) -> Values | None:
    """Those of two logs, by round trips: clocks may have moved between them."""
    trips = [[s.rtt_ms for s in log.streams if s.rtt_ms is not None] for log in (busy, idle)]
    if not all(trips):
        return None
    return np.asarray(np.concatenate(trips[0]) - np.median(np.concatenate(trips[1])))


def loaded_features(rises: Values) -> Values:
    """The numbers of `LOADED_NAMES`, as logarithms of ms."""
    return np.asarray(np.log(np.maximum(np.percentile(rises, _QUANTILES), 1.0)))


class Queue(Enum):
    """What the delays of an upload say of the modem's queue."""

    LONG = "no queue manager"
    SHORT = "a queue manager, a small buffer, or an upload that did not fill the line"
    UNEVEN = "a queue manager that lets bursts pass, or an upload with pauses"


def queue_of(rises: Values) -> Queue:
    """The kind of queue behind these rises.

    Without a queue manager TCP fills the whole buffer, and lets the queue fall to a part of it:
    with CUBIC the queue's tenth is above half of its greatest. What stays below `_SHORT_MS` may be
    DOCSIS-PIE, of which single packets wait 20 ms, or a buffer of that size.
    """
    low, high = np.percentile(rises, [10, 99])
    if high < _SHORT_MS:
        return Queue.SHORT
    return Queue.LONG if low > _PART * high else Queue.UNEVEN
