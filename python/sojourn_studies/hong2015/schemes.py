"""The queue managers of Hong 2015: sections 4.1 and 5.2."""

from collections.abc import Mapping
from typing import Any

CHAPTER_4 = ("DRR", "DT", "DT20", "ARED", "CoDel", "PIE")
CHAPTER_5 = ("DRR-CoDel", "SFQ-CoDel", "ABB-2", "ABB-3", "ABB-4", "CoDel")

QUEUE_CAPACITY = 2048
"""Packets at the CMTS in chapter 4."""

DT20_PACKETS = 65

IDLE_KBPS = 100
"""Section 5.1.2.3 suggests 50 or 100, "which should cover" VoIP: it has 95."""

DIVIDED_BY_ABB = 935 / 948
"""Of the channel. Public scripts of the group have 935 Mbps at 1 Gbps, what downloads get."""

HEAD_DROP = {"kind": "codel", "variant": "ns2", "target_ms": 20, "interval_ms": 100}

# CableLabs' ns-2 code takes 6 ms for request and grant off the target; downstream there is neither,
# and 20 ms of queue are published. Nor is there the shaper that the code predicts from: it then
# measures the rate of departures.
_TAIL_DROP = {
    "kind": "codel_dt",
    "target_ms": 20,
    "interval_ms": 100,
    "mac_allowance_ms": 0,
    "prediction": "departure_rate",
}

# Section 4.1 prints the gains of PIE under swapped names. VoIP loses more than FTP does (section
# 4.2.1.3), so small packets are not spared.
_PIE = {
    "kind": "pie_early",
    "target_ms": 20,
    "update_ms": 30,
    "max_burst_ms": 100,
    "alpha_hz": 0.125,
    "beta_hz": 1.25,
    "by_size": False,
}


def _ared(capacity_packets: int) -> dict[str, Any]:
    """Thresholds are parts of the capacity (section 4.1), which bonding makes four times as great.

    ns-2's `bottom_` is 0, from which its RED derives a floor by the rate of its link; a queue in
    the DOCSIS MAC has none. With the floor of that rate, 0.0021, one flow has 14 ms of queue, not
    45.
    """
    return {
        "kind": "red",
        "adaptive": True,
        "min_threshold_packets": capacity_packets / 20,
        "max_threshold_packets": capacity_packets / 2,
        "interval_s": 0.5,
        "max_p": 0.1,
        "bottom": 0.0,
        "by_size": False,
    }


def queue(
    scheme: str, limit_packets: int, weights: Mapping[str, float], capacity_mbps: float
) -> dict[str, Any]:
    """A scheme as a scenario has it; `weights` are those of the traffic entries, `capacity_mbps` is
    that of the channel."""
    match scheme.split("-"):
        case ["DT"]:
            return {"limit_packets": limit_packets}
        case ["DT20"]:
            return {"limit_packets": DT20_PACKETS}
        case ["ARED"]:
            return {"limit_packets": limit_packets, "law": _ared(limit_packets)}
        case ["PIE"]:
            return {"limit_packets": limit_packets, "law": _PIE}
        case ["CoDel"]:
            return {"limit_packets": limit_packets, "law": _TAIL_DROP}
        case ["DRR"]:
            # A tenth of the capacity for each flow, and no limit for all together.
            scheduler = {"kind": "drr", "flow_limit_packets": limit_packets // 10}
            return {"limit_packets": 10 * limit_packets, "scheduler": scheduler}
        case ["DRR", "CoDel"]:
            # In the group's scripts a discipline serves queues of any kind, and their CoDel is the
            # one that drops at the tail.
            scheduler = {"kind": "drr", "weights": dict(weights)}
            return {"limit_packets": limit_packets, "scheduler": scheduler, "law": _TAIL_DROP}
        case ["SFQ", "CoDel"]:
            # A packet a round: the ns-2 code's own default.
            scheduler = {"kind": "sfq", "bins": 1024, "quantum_bytes": 0}
        case ["ABB", bins]:
            scheduler = {"kind": "abb", "bins": int(bins), "weights": dict(weights)}
            divided_mbps = capacity_mbps * DIVIDED_BY_ABB
            scheduler |= {"idle_kbps": IDLE_KBPS, "capacity_mbps": divided_mbps}
        case _:
            raise AssertionError(scheme)
    return {"limit_packets": limit_packets, "scheduler": scheduler, "law": HEAD_DROP}
