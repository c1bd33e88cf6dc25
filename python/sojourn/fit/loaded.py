"""What a log shows of an upload: how far delays rise, and whether something holds them down."""

from enum import Enum
from itertools import product

import numpy as np

from .log import Log, Values
from .read import refuse

SETTLING_S = 8.0
"""After an upload has started, until its queue is full for the first time."""
LEAST_RISE_MS = 3.0
"""Of the median, in an upload: parts of 150 s of an idle half hour differ by 0.6."""
_BLOCK_S = 2.0
_CEILING = (95, 99)
"""Quantiles that a full buffer limits. How far the queue falls below it depends on the upload too:
on its round trip, its connections and their congestion control."""
_SHORT_MS = 30.0
_PART = 0.4
"""Of the 99th percentile, the 10th: of simulated buffers of 35 ms or more at least 0.47, of those
with DOCSIS-PIE at most 0.28."""
_ALLOWED = "allowed: a log measured during an upload"
LOADED_NAMES = tuple(f"loaded_p{q}" for q in _CEILING)


def rises_ms(busy: Log, idle: Log) -> Values:
    """Delays of a log during an upload, each less the idle median of its stream."""
    medians = {stream.name: float(np.median(stream.delay_ms)) for stream in idle.streams}
    known = [s.delay_ms - medians[s.name] for s in busy.streams if s.name in medians]
    return np.concatenate(known) if known else np.empty(0)


def rises_of_another_log(busy: Log, idle: Log) -> Values:
    """Those of two logs, while the upload runs; raises `ScenarioError` where none shows."""
    if _is_same(busy, idle):
        refuse(busy.file, "", f"found the probes of the idle log; {_ALLOWED}")
    if busy.has_download and busy.up_mbps is None:
        refuse(busy.file, "", f"found a download and no upload; {_ALLOWED}")
    # By round trips: clocks may have moved between the logs.
    kind = next((kind for kind in ("rtt_ms", "up_ms") if _has(kind, busy, idle)), None)
    if kind is None:
        found = f"found one-way delays in one of {idle.file} and this log, round trips in the other"
        refuse(busy.file, "", f"{found}; allowed: logs of the same tool")
    rises = _rises(busy, idle, kind)
    low, high = busy.loaded_s or _loaded_s(busy, rises)
    late = busy.between(min(low + SETTLING_S, (low + high) / 2), high)
    if not late.streams:
        refuse(busy.file, "", "found no probe during the upload; allowed: probes all the time")
    rises = _rises(late, idle, kind)
    _check_upload(busy, late, idle, float(np.median(rises)))
    return rises


def _is_same(busy: Log, idle: Log) -> bool:
    return any(
        np.array_equal(one.sent_ms, other.sent_ms) and np.array_equal(one.delay_ms, other.delay_ms)
        for one, other in product(busy.streams, idle.streams)
    )


def _has(kind: str, *logs: Log) -> bool:
    return all(getattr(stream, kind) is not None for log in logs for stream in log.streams)


def _rises(log: Log, idle: Log, kind: str) -> Values:
    delays, before = (
        np.concatenate([getattr(stream, kind) for stream in one.streams]) for one in (log, idle)
    )
    return np.asarray(delays - np.median(before))


def _loaded_s(busy: Log, rises: Values) -> tuple[float, float]:
    """From when to when delays are high: an upload seldom begins and ends with the log."""
    blocks = ((busy.sent_ms - busy.sent_ms.min()) / 1e3 // _BLOCK_S).astype(int)
    there = np.unique(blocks)
    medians = np.array([np.median(rises[blocks == block]) for block in there])
    high = there[medians > np.percentile(medians, 90) / 2]
    if not len(high):
        return 0.0, float("inf")
    return float(high[0]) * _BLOCK_S, float(high[-1] + 1) * _BLOCK_S


def _check_upload(busy: Log, late: Log, idle: Log, rise: float) -> None:
    """Refuses a log that shows no upload: neither its rate nor its queue."""
    if busy.up_mbps is not None:
        return
    if rise < LEAST_RISE_MS:
        found = f"found delays that rise by {round(rise, 1) + 0.0} ms above the idle ones"
        refuse(busy.file, "", f"{found}; allowed: by {LEAST_RISE_MS:g} or more in an upload")
    if _has("down_ms", late, idle) and _has("up_ms", late, idle):
        up, down = (float(np.median(_rises(late, idle, way))) for way in ("up_ms", "down_ms"))
        if down > max(up, LEAST_RISE_MS):
            found = f"found delays that rise by {down:.1f} ms downstream and {up:.1f} upstream"
            refuse(busy.file, "", f"{found}; {_ALLOWED}")


def loaded_features(rises: Values) -> Values:
    """The numbers of `LOADED_NAMES`, as logarithms of ms."""
    return np.asarray(np.log(np.maximum(np.percentile(rises, _CEILING), 1.0)))


class Queue(Enum):
    """What the delays of an upload say of the modem's queue."""

    LONG = "Delays stay long, as in a buffer without a queue manager"
    SHORT = (
        "Delays stay short, as with a queue manager, a shaper, a small buffer, or an upload that "
        "did not fill the line"
    )
    UNEVEN = (
        "Delays go from short to long, as with a queue manager that lets bursts pass, or an upload "
        "with pauses"
    )


def queue_of(rises: Values) -> Queue:
    """The kind of queue behind these rises.

    Without a queue manager TCP fills the whole buffer, and lets the queue fall to a part of it.
    Behind a queue manager it falls to nearly nothing, and so it does in a buffer of some ms.
    """
    low, high = np.percentile(rises, [10, 99])
    if low > _PART * high and high >= LEAST_RISE_MS:
        return Queue.LONG
    return Queue.SHORT if high < _SHORT_MS else Queue.UNEVEN
