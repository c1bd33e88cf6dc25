"""How long packets wait: limits, and the laws that keep the wait short."""

from typing import Any

import numpy as np
import pyarrow.compute as pc
from sojourn.analysis.curves import series
from sojourn.analysis.distribution import Numbers

from ..framework.drawing import Drawing
from . import link
from .compared import Series, compare, numbers


def drop_tail() -> Drawing:
    """The greatest sojourn time of a full queue is its limit over the rate of the link."""
    limits = numbers([10, 20, 50, 100, 200, 500, 1000]) * link.PACKET_BYTES

    def greatest_ms(mbps: float) -> Numbers:
        def of(limit: float) -> float:
            # At twice the rate of the link as much waits as has gone.
            duration_s = 3 * 8e-6 * limit / mbps
            load = {"load": link.stream(2 * mbps)}
            result = link.run(link.scenario(mbps, {"limit_bytes": int(limit)}, load, duration_s))
            return link.sojourn(result, "sojourn_max_ms")

        return numbers([of(limit) for limit in limits])

    plots = [
        Series(f"{mbps} Mbps", limits / 1e3, 8e-3 * limits / mbps, greatest_ms(mbps))
        for mbps in (5, 50)
    ]
    return compare(
        "Drop-tail: the wait in a full queue",
        "limit / rate",
        plots,
        xscale="log",
        yscale="log",
        xlabel="limit (kB)",
        ylabel="greatest sojourn time (ms)",
    )


_CODEL_DROPS = 100


def codel() -> Drawing:
    """When the hundred packets after the first are dropped, while the queue is never short."""
    queue = {"limit_bytes": 10**9, "law": {"kind": "codel"}}
    metrics = {"packet_trace": True}
    load = {"load": link.stream(200)}
    packets = link.run(link.scenario(100, queue, load, 2.5, metrics=metrics)).packets
    dropped = packets.filter(pc.field("outcome") == "aqm")["ended_s"].to_numpy() * 1e3
    drop = np.arange(1, _CODEL_DROPS + 1)
    expected = 100 * np.cumsum(1 / np.sqrt(drop))  # RFC 8289 §5.5: interval / sqrt(count)
    simulated = (dropped - dropped[0])[1 : _CODEL_DROPS + 1]
    return compare(
        "CoDel: when packets are dropped",
        "interval × Σ 1/√k",
        [Series("drops after the first", numbers(drop), expected, simulated)],
        xlabel="drop after the first",
        ylabel="time after the first drop (ms)",
    )


def codel_dt() -> Drawing:
    """The sojourn time predicted as a packet arrives, and what it proves to be."""
    plots = [_predicted("upstream", "with MAC"), _predicted("downstream", "no MAC")]
    return compare(
        "CoDel-DT: the predicted sojourn time",
        "as predicted",
        plots,
        xlabel="predicted at arrival (ms)",
        ylabel="sojourn and sending (ms)",
    )


_PREDICTED_FROM_S, _PREDICTED_TO_S = 5.0, 59.0
_SERVER_MS = 9.0


def _predicted(side: str, note: str) -> Series:
    """Each 400 ms, what was predicted for the packet that arrived last, over 5 Mbps."""
    result = link.run(_home(side))
    time_s, predicted = series(result, side, "predicted_sojourn")
    packets = result.packets.filter(pc.field("direction") == side.removesuffix("stream"))
    # From a server packets arrive 9 ms after they are sent, all alike, so that the order stands.
    delay_s = _SERVER_MS / 1e3 if side == "downstream" else 0.0
    arrived = packets["sent_s"].to_numpy() + delay_s
    order = np.argsort(arrived, kind="stable")
    last = order[np.searchsorted(arrived[order], time_s - 1e-9) - 1]
    took = (packets["ended_s"].to_numpy() - packets["sent_s"].to_numpy()) * 1e3 - _SERVER_MS
    delivered = np.array(packets["outcome"].to_pylist()) == "delivered"
    seen = (time_s > _PREDICTED_FROM_S) & (time_s < _PREDICTED_TO_S) & delivered[last]
    by_prediction = np.argsort(predicted[seen], kind="stable")
    x = predicted[seen][by_prediction]
    return Series(f"{side}, {note}", x, x, took[last][seen][by_prediction])


_SMALL = {"kind": "stream", "purpose": "data", "packet_bytes": 613, "interval_ms": 8.1}


def _home(side: str) -> link.Table:
    """A file, and a stream whose packets are smaller, so that all kinds of backlogs are met."""
    queue = {"limit_bytes": 625_000, "law": {"kind": "codel_dt"}}
    slow: dict[str, Any] = {"sustained_mbps": 5, "peak_mbps": 5, "burst_bytes": 1522}
    fast = {"sustained_mbps": 100, "peak_mbps": 100, "burst_bytes": 1_000_000}
    if side == "downstream":
        slow["channel_mbps"] = 5
    way = {"server": "files", "direction": side.removesuffix("stream")}
    return {
        "duration_s": 60,
        "dialect": "ns2",
        "cable": {"delay_ms": 0, "timing": {"kind": "documents"}, "byte_count": "ip"},
        "upstream": fast,
        "downstream": fast,
        side: {**slow, "queue": queue},
        "servers": {"files": {"delay_ms": _SERVER_MS, "rate_mbps": 1_000_000}},
        "traffic": {
            "file": {"kind": "transfer", **way},
            "data": {**way, **_SMALL},
        },
        "metrics": {"packet_trace": True, "series_interval_ms": 400},
    }


_EARLY_PIE = {
    "White & Rice 2013": {"target_ms": 5, "update_ms": 15, "alpha_hz": 0.25},
    "Hong 2015": {"target_ms": 20, "update_ms": 30, "alpha_hz": 0.125},
}
_EARLY_DROPS = numbers([0.002, 0.004, 0.02, 0.04, 0.07, 0.15, 0.25])


def pie_early() -> Drawing:
    """The delay settles at its reference, whichever operating point the load asks for."""
    plots = []
    for name, keys in _EARLY_PIE.items():
        # Dropping by size would scale the probability: 1500 bytes over a mean of 1000.
        law = {"kind": "pie_early", "by_size": False, **keys}
        reference = np.full_like(_EARLY_DROPS, float(keys["target_ms"]))
        settled = numbers([_settled_ms(law, share) for share in _EARLY_DROPS])
        plots.append(Series(name, 100 * _EARLY_DROPS, reference, settled))
    return compare(
        "Early PIE: the delay and its reference",
        "reference",
        plots,
        xscale="log",
        xlabel="share that must be dropped (%)",
        ylabel="mean queueing delay (ms)",
        ylim=(0, 25),
    )


def _settled_ms(law: link.Table, share: float) -> float:
    """Mean delay at 20 Mbps under so much more load that this share must go."""
    load = {"load": link.stream(20 / (1 - share))}
    queue = {"limit_bytes": 10**7, "law": law}
    result = link.run(link.scenario(20, queue, load, 300))
    return float(np.nanmean(link.watched(result, "queue_delay")))


def pi2() -> Drawing:
    """PI2 holds the queue at its target, whatever the load of senders that do not respond."""
    return _held("PI2", {"law": {"kind": "pi2"}})


def dualq() -> Drawing:
    """So does DualQ with the classic queue alone."""
    return _held("DualQ", {"scheduler": {"kind": "dualq"}})


def _held(name: str, queue: link.Table) -> Drawing:
    loads = numbers([1.05, 1.1, 1.2, 1.4, 1.7, 2])

    def median_ms(load: float) -> float:
        # A buffer that no queue near the target fills, and time for the first one to drain.
        limited = {"limit_bytes": 10**7, **queue}
        traffic = {"load": link.stream(load * _HELD_MBPS)}
        result = link.run(link.scenario(_HELD_MBPS, limited, traffic, 120))
        return link.sojourn(result, "sojourn_p50_ms")

    simulated = numbers([median_ms(load) for load in loads])
    return compare(
        f"{name}: the queue under a load above the link's rate",
        "target",
        [Series("median", loads, numbers([15.0] * len(loads)), simulated)],
        ylim=(0, 30),
        xlabel="load / rate of the link",
        ylabel="sojourn time (ms)",
    )


_HELD_MBPS = 20
