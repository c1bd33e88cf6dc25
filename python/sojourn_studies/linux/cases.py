"""The uploads of the kernel's host as scenarios: one link, and nothing else.

A case begins with the letter of its kind: `a` and `d` ran for 40 s, `c` for 30 s, `s` for 8 s.
Rates and buffers are in IP bytes, and the buffer does not count the packet being sent. The round
trip is a fixed delay.
"""

from functools import cache
from typing import Any

from ..framework.cases import Case, unshaped
from ..framework.rows import Row

CONTROLS = {"reno": "reno", "cubic": "cubic", "bbr": "bbr1"}
"""Congestion controls of the kernel, by table, as the simulator names them."""

_ENDS_S = {"a": 40, "c": 30, "d": 40, "s": 8}
_MEASURED_FROM_S = {"a": 10, "c": 10, "d": 10, "s": 4}

HANDSHAKE_S = 0.2
"""Time starts at the first full packet, so a run is longer by more than a round trip."""

RETURN_MBPS = 1000
SERVER_MBPS = 100_000
"""A server's link, which must take no time."""

CABLE_MS = 1
"""What a plain link has for the cable, each way."""


def window_s(row: Row) -> tuple[float, float]:
    """From when to when statistics are taken."""
    kind = row.experiment[0]
    return _MEASURED_FROM_S[kind], _ENDS_S[kind]


def link(row: Row) -> dict[str, float]:
    """The words of its load as numbers: `rate=5:rtt=20:buffer=50`."""
    words = (word.split("=") for word in row.load.split(":"))
    return {name: float(value) for name, value in words}


def peak_mbps(row: Row) -> float:
    """The rate at which the link sends a packet."""
    of = link(row)
    return of.get("peak", of["rate"])


_PACKET_BYTES = 1500


def _limit_bytes(of: dict[str, float]) -> int:
    """The buffer; with a token bucket less the packet that waits for tokens outside the queue."""
    outside = _PACKET_BYTES if "peak" in of else 0
    return round(of["rate"] * of["buffer"] * 125) - outside


@cache
def case(row: Row) -> Case:
    """The upload of a row; those of the same case share it."""
    of = link(row)
    queue: dict[str, Any] = {"limit_bytes": _limit_bytes(of)}
    if "codel" in of:
        queue["law"] = {"kind": "codel", "target_ms": of["codel"], "interval_ms": 100}
    scenario = {
        "title": f"Linux 6.18, {row.experiment}, {row.scheme}",
        "duration_s": _ENDS_S[row.experiment[0]] + HANDSHAKE_S,
        "dialect": "linux",
        "tcp": {
            "congestion_control": {"kind": CONTROLS[row.table]},
            "pacing": row.scheme == "paced",
            "interrupt_interval_us": 0,
        },
        "upstream": {
            "sustained_mbps": of["rate"],
            "peak_mbps": peak_mbps(row),
            "burst_bytes": int(of.get("burst", 3000)),
            "modem": {"kind": "link"},
            "queue": queue,
        },
        "downstream": unshaped(RETURN_MBPS, 1_000_000),
        "cable": {"delay_ms": CABLE_MS},
        "servers": {"receiver": {"delay_ms": of["rtt"] / 2 - CABLE_MS, "rate_mbps": SERVER_MBPS}},
        "traffic": {
            "upload": {
                "kind": "transfer",
                "server": "receiver",
                "connections": int(of.get("flows", 1)),
            }
        },
        "metrics": {"packet_trace": True},
    }
    return Case(f"{row.experiment}, {row.scheme}", scenario, packets=True)
