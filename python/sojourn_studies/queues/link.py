"""A bare link: the downstream without cable, bursts or far servers, so that its queue is all."""

from collections.abc import Mapping
from typing import Any

from sojourn.analysis.curves import series
from sojourn.analysis.distribution import Numbers
from sojourn.runs.request import load
from sojourn.runs.result import Result
from sojourn.runs.runner import run_variants

PACKET_BYTES = 1500
Table = Mapping[str, Any]


def scenario(mbps: float, queue: Table, traffic: Table, duration_s: float, **keys: Any) -> Table:
    """A link of `mbps` behind `queue`; servers are so near that packets are there at once."""
    fast = {"sustained_mbps": 1000, "peak_mbps": 1000, "burst_bytes": 1_000_000}
    bare = {"sustained_mbps": mbps, "peak_mbps": mbps, "channel_mbps": mbps, "burst_bytes": 1522}
    return {
        "duration_s": duration_s,
        "clock_drift_ppm": 0,
        "dialect": "rfc",
        "cable": {"delay_ms": 0, "timing": {"kind": "documents"}, "byte_count": "ip"},
        "upstream": fast,
        "downstream": {**bare, "queue": queue},
        "servers": {"near": {"delay_ms": 0, "rate_mbps": 1_000_000}},
        "traffic": traffic,
        **keys,
    }


def run(scenario: Table) -> Result:
    """Runs a scenario of one variant."""
    result = run_variants(load(scenario))
    assert isinstance(result, Result)
    return result


def stream(mbps: float) -> Table:
    """Packets of 1500 bytes at a constant rate."""
    return {
        "kind": "stream",
        "purpose": "data",
        "server": "near",
        "direction": "down",
        "packet_bytes": PACKET_BYTES,
        "interval_ms": packet_ms(mbps),
    }


def packet_ms(mbps: float, size: int = PACKET_BYTES) -> float:
    """Time that a packet takes at a rate, in ms."""
    return 8 * size / mbps / 1e3


def sojourn(result: Result, column: str) -> float:
    """A column of the downstream's queue."""
    return float({row["queue"]: row[column] for row in result.queues.to_pylist()}["downstream"])


def of_flows(result: Result, column: str) -> dict[str, float]:
    """A column of the flows that go down, by traffic entry."""
    return {f["traffic"]: f[column] for f in result.flows.to_pylist() if f["direction"] == "down"}


def watched(result: Result, metric: str) -> Numbers:
    """A series of the downstream's queue, without the first quarter of the run."""
    _, values = series(result, "downstream", metric)
    return values[len(values) // 4 :]
