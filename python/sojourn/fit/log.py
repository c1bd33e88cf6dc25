"""Probes of a line: when each was sent, and how long it took."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Values: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class Probes:
    """A stream of probes, all times in ms; delays that are not known are None.

    One-way delays hold the unknown difference of two clocks.
    """

    name: str
    sent_ms: Values
    up_ms: Values | None = None
    down_ms: Values | None = None
    rtt_ms: Values | None = None
    drift: float = field(default=0.0, kw_only=True)
    """By how much the receiver's clock is faster; it is taken out of the delays."""

    def __len__(self) -> int:
        return len(self.sent_ms)

    @property
    def delay_ms(self) -> Values:
        """The delay upstream, or the round trip where only this is known."""
        delay = self.rtt_ms if self.up_ms is None else self.up_ms
        assert delay is not None
        return delay

    def where(self, kept: NDArray[np.bool_] | NDArray[np.intp]) -> "Probes":
        """The probes of a choice."""
        chosen = (None if v is None else v[kept] for v in (self.up_ms, self.down_ms, self.rtt_ms))
        return Probes(self.name, self.sent_ms[kept], *chosen, drift=self.drift)


_SAME_CLOCKS_MS = 10.0
"""Medians of streams between the same hosts, by the same clocks, differ by less."""


@dataclass(frozen=True)
class Log:
    """What was read of a line: its streams, and what was repaired in them, in sentences."""

    file: str
    streams: Sequence[Probes]
    notes: list[str] = field(default_factory=list)
    up_mbps: float | None = None
    """The rate of the upload, where the log has it."""
    loaded_s: tuple[float, float] | None = None
    """From when to when a load ran, in s after the first probe, where the log says so."""
    idle_s: tuple[float, float] | None = None
    """From when to when no load ran, likewise."""
    has_download: bool = False
    """Did a download run, and no upload?"""
    resolution_ms: float = 0.0
    """To what the times were rounded."""

    @property
    def is_one_way(self) -> bool:
        """Are there delays upstream, and not only round trips?"""
        return all(stream.up_ms is not None for stream in self.streams)

    @property
    def drift(self) -> float:
        """By how much the receiver's clock is faster than the sender's."""
        return float(np.mean([stream.drift for stream in self.streams]))

    @property
    def sent_ms(self) -> Values:
        """Send times of all streams."""
        return np.concatenate([stream.sent_ms for stream in self.streams])

    @property
    def delay_ms(self) -> Values:
        """Delays of all streams, less their median, or each its own if clocks or hosts differ."""
        delays = [stream.delay_ms for stream in self.streams]
        medians = [float(np.median(delay)) for delay in delays]
        if np.ptp(medians) < _SAME_CLOCKS_MS:
            return np.concatenate(delays) - np.median(np.concatenate(delays))
        return np.concatenate([d - median for d, median in zip(delays, medians, strict=True)])

    @property
    def arrival_ms(self) -> Values:
        """Arrivals at the server up to a constant, or at the sender for round trips."""
        return np.concatenate([stream.sent_ms + stream.delay_ms for stream in self.streams])

    def between(self, low_s: float, high_s: float) -> "Log":
        """The probes sent in this part of the log, in s after its first probe."""
        first = min(stream.sent_ms[0] for stream in self.streams)
        low, high = first + low_s * 1e3, first + high_s * 1e3
        parts = [s.where((s.sent_ms >= low) & (s.sent_ms < high)) for s in self.streams]
        streams = [part for part in parts if len(part) >= 2]
        return replace(self, streams=streams, loaded_s=None, idle_s=None)

    @property
    def idle(self) -> "Log":
        """The part without a load: what the log calls so, or else what is before its load."""
        if self.idle_s is not None:
            return self.between(*self.idle_s)
        return self if self.loaded_s is None else self.between(0, self.loaded_s[0])


PART_MS = 120e3
"""Within it, clocks wander by less than a quarter of a grid's shortest period."""


def parts_of(sent_ms: Values) -> list[NDArray[np.intp]]:
    """The probes of a log in parts of two minutes at most, in the order in which they were sent."""
    count = max(1, int(np.ceil(np.ptp(sent_ms) / PART_MS)))
    return np.array_split(np.argsort(sent_ms, kind="stable"), count)


_STEPS_MS = (1000.0, 100.0, 50.0, 20.0, 15.625, 10.0, 5.0, 4.0, 2.0, 1.0, 0.5, 0.2, 0.1)
_EXACT_MS = 5e-4
"""What a double keeps of the milliseconds since 1970."""


def step_of(log: Log) -> float:
    """The step in ms of which all arrivals are multiples, or 0: clocks tick, and tools round."""
    times = log.arrival_ms
    for step in _STEPS_MS:
        if np.mean(abs(times / step - np.round(times / step)) * step < _EXACT_MS) > 0.99:
            return step
    return 0.0


def joined(logs: Sequence[Log]) -> Log:
    """Logs of one sitting as one; the first one's upload counts."""
    if len(logs) == 1:
        return logs[0]
    streams = [replace(s, name=f"{log.file} {s.name}") for log in logs for s in log.streams]
    notes = [f"{log.file}: {note}" for log in logs for note in log.notes]
    resolution = max(log.resolution_ms for log in logs)
    return replace(logs[0], streams=streams, notes=notes, resolution_ms=resolution)
