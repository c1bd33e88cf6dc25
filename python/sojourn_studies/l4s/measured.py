"""What a run reports of its flows between the end of the warm-up and the end."""

from collections import Counter
from dataclasses import dataclass
from functools import lru_cache

from sojourn.analysis.distribution import Distribution
from sojourn.store.stored_run import AbsentError, StoredRun


@dataclass(frozen=True)
class Flow:
    """What an entry sent, and how long its packets were under way."""

    delivered_bytes: float
    delivered: float
    dropped: float
    marked: float
    mean_ms: float
    latencies_ms: Distribution
    """By the upper edges of cells, which are narrower than 0.1 %."""


def flow(entry: str, whole: StoredRun, before: StoredRun) -> Flow:
    """An entry's packets that ended in the whole run but not before."""
    every, early = _counted(whole, entry), _counted(before, entry)
    more = {name: value - early[name] for name, value in every.items()}
    latencies = Counter(_latencies(whole)[entry])
    latencies.subtract(_latencies(before).get(entry, {}))
    there = {ms: count for ms, count in sorted(latencies.items()) if count > 0}
    if not there:
        raise AbsentError(entry)
    return Flow(
        delivered_bytes=more["delivered_bytes"],
        delivered=more["delivered_packets"],
        dropped=more["dropped"],
        marked=more["marked_packets"],
        mean_ms=more["latency_sum_ms"] / more["delivered_packets"],
        latencies_ms=Distribution.of(there.keys(), there.values()),
    )


def _counted(run: StoredRun, entry: str) -> dict[str, float]:
    row = run.flow(entry, "up")
    plain = {name: row[name] for name in ("delivered_bytes", "delivered_packets", "marked_packets")}
    return {
        **plain,
        "dropped": row["dropped_overflow_packets"] + row["dropped_aqm_packets"],
        "latency_sum_ms": row["latency_mean_ms"] * row["delivered_packets"],
    }


@lru_cache(maxsize=8)
def _latencies(run: StoredRun) -> dict[str, dict[float, int]]:
    """By entry the packets in each cell of the one-way latencies of the uploads."""
    by_entry: dict[str, dict[float, int]] = {}
    for row in run.rows("latencies"):
        if row["direction"] == "up":
            by_entry.setdefault(row["traffic"], {})[row["latency_ms"]] = row["packets"]
    return by_entry
