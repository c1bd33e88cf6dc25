"""What a run reports of its upload, as it was measured of the kernel's.

The delay of the queue is from arrival to the start of service, and a packet counts when it is
sent: so the kernel's bins were made, as the first of them show.
"""

from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow.compute as pc
from sojourn.analysis.distribution import Numbers
from sojourn.store.stored_run import AbsentError, StoredRun

from ..framework.rows import Row
from .cases import case, peak_mbps, window_s

BIN_S = 0.1
START_BINS = 30
"""The kernel's first 3 s are kept in bins of 100 ms."""

_FULL_BYTES = 1000
"""Time starts at the first packet that has so many."""

Flags = np.ndarray[Any, np.dtype[np.bool_]]

_COLUMNS = ["flow", "seq", "payload_bytes", "size_bytes", "sent_s", "forwarded_s", "ended_s"]
ARRIVED = "delivered"
"""The outcome of a packet that came."""


@dataclass(frozen=True)
class Packets:
    """The packets of an upload with data, in the order in which they come; times in s."""

    connection: Numbers
    seq: Numbers
    payload_bytes: Numbers
    size_bytes: Numbers
    arrived_s: Numbers
    forwarded_s: Numbers
    """NaN if it was dropped."""
    received_s: Numbers
    """NaN if it did not arrive."""
    is_marked: Flags

    def where(self, chosen: Flags | np.ndarray[Any, np.dtype[np.intp]]) -> "Packets":
        """Those alone, or in that order."""
        return Packets(*(getattr(self, field.name)[chosen] for field in fields(self)))

    @property
    def is_dropped(self) -> Flags:
        """Did the queue drop it?"""
        return np.isnan(self.forwarded_s)

    def waits(self, mbps: float) -> tuple[Numbers, Numbers]:
        """When packets that were not dropped began to be sent at this rate, and waits in ms."""
        sent = ~self.is_dropped
        started_s = self.forwarded_s[sent] - self.size_bytes[sent] * 8 / mbps / 1e6
        return started_s, 1e3 * (started_s - self.arrived_s[sent])


@lru_cache(maxsize=4)
def packets(run: StoredRun) -> Packets:
    """The packets of a run, with times from its first full packet on."""
    table = run.packets
    is_data = pc.and_(pc.equal(table["direction"], "up"), pc.greater(table["payload_bytes"], 0))
    columns = {name: table[name].filter(is_data).to_numpy().astype(float) for name in _COLUMNS}
    arrived = pc.equal(table["outcome"], ARRIVED).filter(is_data).to_numpy()
    columns["ended_s"] = np.where(arrived, columns["ended_s"], np.nan)
    full = columns["sent_s"][columns["size_bytes"] >= _FULL_BYTES]
    if not len(full):
        raise AbsentError("a full packet")
    order = np.argsort(columns["sent_s"], kind="stable")
    start_s = full.min()
    connection, seq, payload, size, sent, forwarded, ended = (
        columns[name][order] for name in _COLUMNS
    )
    marked = table["marked"].filter(is_data).to_numpy()[order]
    times_s = (sent - start_s, forwarded - start_s, ended - start_s)
    return Packets(connection, seq, payload, size, *times_s, marked)


def value(row: Row, run: StoredRun) -> float | None:
    """A cell."""
    if row.metric == "timeouts":
        return float(run.flow("upload", "up")["timeouts"])
    of = packets(run)
    scale = run.meta["duration_s"] / case(row).duration_s
    start_s, end_s = (scale * end for end in window_s(row))
    if row.metric.endswith("_all"):
        start_s = 0
    if row.metric == "goodput":
        return goodput_mbps(of, start_s, end_s)
    if row.metric.startswith("drops"):
        dropped_s = of.arrived_s[of.is_dropped]
        return float(np.count_nonzero((start_s <= dropped_s) & (dropped_s < end_s)))
    left_s, waits_ms = of.waits(peak_mbps(row))
    return of_waits(row.metric, waits_ms[(start_s <= left_s) & (left_s < end_s)])


def goodput_mbps(of: Packets, start_s: float, end_s: float) -> float:
    """Payload that the receiver did not have before."""
    came = np.flatnonzero(~of.is_dropped & ~np.isnan(of.received_s))
    came = came[np.argsort(of.received_s[came], kind="stable")]
    numbers = np.stack([of.connection[came], of.seq[came]], axis=1)
    _, first = np.unique(numbers, axis=0, return_index=True)
    new = came[first]
    is_then = (start_s <= of.received_s[new]) & (of.received_s[new] < end_s)
    return float(of.payload_bytes[new][is_then].sum() * 8 / (end_s - start_s) / 1e6)


def of_waits(metric: str, waits_ms: Numbers) -> float | None:
    """A statistic of waits; none of no waits."""
    if not len(waits_ms):
        return None
    statistic = metric.removeprefix("qdelay_")
    if statistic == "mean":
        return float(waits_ms.mean())
    return float(np.percentile(waits_ms, float(statistic.removeprefix("p"))))


def start_queue(row: Row, run: StoredRun) -> tuple[Numbers, Numbers]:
    """The mean wait in ms of packets that are sent in each 100 ms of the first 3 s, and when."""
    started_s, waits_ms = packets(run).waits(peak_mbps(row))
    bins = np.floor(started_s / BIN_S).astype(int)
    means = np.full(START_BINS, np.nan)
    for number in range(START_BINS):
        here = waits_ms[bins == number]
        if len(here):
            means[number] = here.mean()
    return np.linspace(0, START_BINS * BIN_S, START_BINS, endpoint=False), means
