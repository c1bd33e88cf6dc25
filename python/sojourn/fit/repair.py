"""Faults of logs: what can be repaired is, with a sentence; what cannot is refused."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from .log import Log, Probes, Values
from .read import refuse

FEWEST = 1000
"""Probes of a log."""
_BLOCK = 50
_LEAST_STEP_MS = 2.0
_FAR_MORE = 0.4
_LEAST_DRIFT_PPM = 0.1
_MOST_DRIFT_PPM = 1000.0
_MOST_DOUBLE = 0.2
_SLOWEST_MS = 10_000.0
_SHORTEST_TRIP_MS = 0.1
_EQUAL_MS = 1e-6
"""By so much delays of a constant line may differ, since sums are rounded."""
_PAUSE_MS = 300_000.0
_FAR_LONGER = 100.0
_RARE = 0.01
_SET_BACK_MS = 1000.0
"""Probes that overtake each other are closer."""


def repaired(log: Log) -> Log:
    """The log without its faults; raises `ScenarioError` for what cannot be used."""
    notes = list(log.notes)
    streams = [_mended(log, stream, notes) for stream in log.streams]
    streams = [stream for stream in streams if len(stream) >= 100]
    count = sum(map(len, streams))
    if count < FEWEST:
        allowed = f"{FEWEST} or more, in streams of 100 or more"
        refuse(log.file, "", f"found {count} answered probes; allowed: {allowed}")
    one_way = [stream.up_ms is not None for stream in streams]
    if any(one_way) and not all(one_way):
        notes.append("Streams with round trips only are left out beside one-way delays.")
        streams = [s for s, kept in zip(streams, one_way, strict=True) if kept]
    streams = _without_drift(log, streams, notes)
    _check_units(log, streams)
    return replace(log, streams=streams, notes=notes)


def _mended(log: Log, stream: Probes, notes: list[str]) -> Probes:
    name = f"Stream {stream.name}: " if len(log.streams) > 1 else ""
    if len(stream) < 2:
        return stream
    if not (np.isfinite(stream.sent_ms).all() and np.isfinite(stream.delay_ms).all()):
        refuse(log.file, stream.name, "found a time that is no number; allowed: numbers")
    is_back = np.diff(stream.sent_ms) < -_SET_BACK_MS
    is_rare = is_back.mean() < _RARE  # else the whole log is out of order
    if is_rare and _overlap(np.split(stream.sent_ms, np.flatnonzero(is_back) + 1)):
        what = "the clock was set back during the log"
        stream = _longest_part(stream, is_back, what, notes, name)
    if np.any(np.diff(stream.sent_ms) < 0):
        count = int(np.sum(np.diff(stream.sent_ms) < 0))
        notes.append(f"{name}{count} probes were out of order; they are sorted by send time.")
        stream = stream.where(np.argsort(stream.sent_ms, kind="stable"))
    again = np.append(False, np.diff(stream.sent_ms) == 0)
    if (again & np.append(False, np.diff(stream.delay_ms) != 0)).mean() > _MOST_DOUBLE:
        found = f"found {int(again.sum())} of {len(stream)} probes at the same time as another"
        refuse(log.file, stream.name, f"{found}; allowed: times finer than the probes' interval")
    if again.any():
        notes.append(f"{name}{int(again.sum())} probes appear twice; the first of each counts.")
        stream = stream.where(~again)
    if len(stream) < 2:
        return stream
    steps = np.diff(stream.sent_ms)
    is_pause = steps > max(_PAUSE_MS, _FAR_LONGER * float(np.median(steps)))
    stream = _longest_part(stream, is_pause, "the log has a pause", notes, name)
    stream = _without_negative(log, stream, notes, name)
    stream = _from_sending(stream, notes, name)
    if stream.up_ms is None or len(stream) < 4 * _BLOCK:
        return stream
    return _without_steps(stream, notes, name)


def _longest_part(
    stream: Probes, is_end: NDArray[np.bool_], what: str, notes: list[str], name: str
) -> Probes:
    """The longest of the parts that end at marked probes."""
    if not is_end.any():
        return stream
    ends = np.concatenate([[0], np.flatnonzero(is_end) + 1, [len(stream)]])
    longest = int(np.argmax(np.diff(ends)))
    kept = np.arange(ends[longest], ends[longest + 1])
    left = len(stream) - len(kept)
    notes.append(f"{name}{what}; the longest part counts, and {left} probes are left out.")
    return stream.where(kept)


def _overlap(parts: Sequence[Values]) -> bool:
    """Do parts share a time, as those of a clock that was set back?"""
    spans = sorted((part.min(), part.max()) for part in parts)
    return any(low < end for (_, end), (low, _) in pairwise(spans))


def _without_negative(log: Log, stream: Probes, notes: list[str], name: str) -> Probes:
    """Round trips cannot be negative; one-way delays can, by the clocks' difference."""
    if stream.rtt_ms is None:
        return stream
    bad = stream.rtt_ms < 0
    if bad.mean() > 0.01:
        found = f"found {int(bad.sum())} of {len(stream)} round trips below 0"
        refuse(log.file, stream.name, f"{found}; allowed: times of return after those of sending")
    if bad.any():
        notes.append(f"{name}{int(bad.sum())} round trips below 0 are left out.")
    return stream.where(~bad)


def _from_sending(stream: Probes, notes: list[str], name: str) -> Probes:
    """Some tools write when a probe came back: a round trip before, probes left far more evenly."""
    if stream.rtt_ms is None or len(stream) < FEWEST // 10:
        return stream
    left = stream.sent_ms - stream.rtt_ms
    if _unevenness(left) > _FAR_MORE * _unevenness(stream.sent_ms):
        return stream
    notes.append(f"{name}its times are those of replies; each probe left a round trip earlier.")
    return replace(stream, sent_ms=left)


def _unevenness(times: Values) -> float:
    low, high = np.percentile(np.diff(times), [10, 90])
    return float(high - low)


def _without_steps(stream: Probes, notes: list[str], name: str) -> Probes:
    """Takes steps of the clocks out: one way grows by what the other way shrinks."""
    if stream.down_ms is None:
        return stream
    assert stream.up_ms is not None
    offsets = (stream.up_ms - stream.down_ms) / 2
    blocks = _block_values(offsets, 50)
    together = _block_values(stream.up_ms + stream.down_ms, 10)
    steps = np.diff(blocks)
    at = np.flatnonzero((abs(steps) > _LEAST_STEP_MS) & (abs(np.diff(together)) < abs(steps)))
    shift = np.zeros(len(stream))
    down = _block_values(stream.down_ms, 10)
    up = _block_values(stream.up_ms, 10)
    count = 0
    for block in at:
        before, after = max(int(block) - 1, 0), min(int(block) + 2, len(blocks) - 1)
        rise, fall = up[after] - up[before], down[after] - down[before]
        if min(abs(rise), abs(fall)) < _LEAST_STEP_MS or rise * fall > 0:
            continue
        start = block * _BLOCK + _place_of_step(offsets[block * _BLOCK : (block + 2) * _BLOCK])
        shift[start:] += (rise - fall) / 2
        count += 1
    if not count:
        return stream
    notes.append(f"{name}a clock was set {count} times during the log; its steps are corrected.")
    return replace(stream, up_ms=stream.up_ms - shift, down_ms=stream.down_ms + shift)


def _place_of_step(values: Values) -> int:
    """Where the means before and after differ most."""
    sums = np.cumsum(values)
    before = np.arange(1, len(values))
    means = sums[:-1] / before, (sums[-1] - sums[:-1]) / (len(values) - before)
    weight = np.sqrt(before * (len(values) - before))
    return int(np.argmax(abs(means[0] - means[1]) * weight)) + 1


def _without_drift(log: Log, streams: list[Probes], notes: list[str]) -> list[Probes]:
    """Takes out a steady drift of the clocks: the line through the least delays of each block."""
    start_ms = min(stream.sent_ms[0] for stream in streams)
    idle = replace(log, streams=streams).idle.streams
    slopes = np.concatenate([np.empty(0), *map(_slopes, idle)])
    if not len(slopes):
        return streams
    slope = float(np.median(slopes))
    spread = float(np.subtract(*np.percentile(slopes, [75, 25]))) / np.sqrt(len(slopes))
    if abs(slope) < max(_LEAST_DRIFT_PPM * 1e-6, 3 * spread):
        return streams
    if abs(slope) > _MOST_DRIFT_PPM * 1e-6:
        found = f"found clocks that drift apart by {slope * 1e6:.3g} ppm"
        refuse(log.file, "", f"{found}; these may be columns of different units")
    notes.append(f"The clocks drift apart by {slope * 1e6:.2g} ppm; this is corrected.")

    def without(stream: Probes) -> Probes:
        assert stream.up_ms is not None
        shift = slope * (stream.sent_ms - start_ms)
        down = None if stream.down_ms is None else stream.down_ms + shift
        return replace(stream, up_ms=stream.up_ms - shift, down_ms=down, drift=slope)

    return [without(stream) for stream in streams]


def _slopes(stream: Probes) -> Values:
    """How delays rise from blocks to those a quarter of the log later.

    What changes once in the log is in a third of them at most, so it is no drift.
    """
    if stream.up_ms is None or len(stream) < 4 * _BLOCK:
        return np.empty(0)
    offsets = stream.up_ms if stream.down_ms is None else (stream.up_ms - stream.down_ms) / 2
    least = _block_values(offsets, 10 if stream.down_ms is None else 50)
    middle = _block_values(stream.sent_ms, 50)
    later = len(least) // 4
    return np.asarray((least[later:] - least[:-later]) / (middle[later:] - middle[:-later]))


def _block_values(values: Values, percent: float) -> Values:
    blocks = values[: len(values) // _BLOCK * _BLOCK].reshape(-1, _BLOCK)
    return np.asarray(np.percentile(blocks, percent, axis=1))


def _check_units(log: Log, streams: list[Probes]) -> None:
    interval = min(float(np.median(np.diff(stream.sent_ms))) for stream in streams)
    length = max(float(np.ptp(stream.sent_ms)) for stream in streams)
    if interval < 1 and length < 20_000:
        found = f"found probes {interval:.2g} ms apart in {length / 1e3:.2g} s"
        refuse(log.file, "sent_ms", f"{found}; these may be seconds: name the columns *_s")
    if interval > _SLOWEST_MS:
        found = f"found probes {interval:.3g} ms apart"
        refuse(log.file, "sent_ms", f"{found}; these may be of another unit than the header's")
    spread = float(np.subtract(*np.percentile(streams[0].delay_ms, [90, 10])))
    if spread < _EQUAL_MS:
        found = "found delays that are all alike; allowed: delays that show how probes wait"
        refuse(log.file, "", found)
    trips = [float(np.median(stream.rtt_ms)) for stream in streams if stream.rtt_ms is not None]
    if trips and min(trips) < _SHORTEST_TRIP_MS:
        found = f"found round trips of {min(trips):.2g} ms"
        fault = "seconds" if min(trips) else "rounded to nothing"
        refuse(log.file, "rtt_ms", f"{found}; these may be {fault}, or of a host in the home")
    if spread > 20_000:
        found = f"found delays that differ by {spread:.3g} ms"
        refuse(log.file, "received_ms", f"{found}; these may be of another unit than the header's")
    if spread < 0.001:
        found = f"found delays that differ by {spread:.1g} ms"
        refuse(log.file, "received_ms", f"{found}; these may be seconds: name the columns *_s")
