"""The runs of White 2014: 7 schemes, 9 traffic loads, 4 levels of congestion; and the TCP test."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..cablelabs.scenarios import (
    BURSTY_PERIOD_S,
    CABLE,
    CBR,
    LEDBAT,
    RENO_UPLOAD,
    UPLOAD,
    calls,
    home,
    repeated,
    servers,
    web,
)
from ..framework.cases import Case

DURATION_S = 120
"""One cycle of the channel's levels (§2.3); how long the runs were is not said."""

TEST_S: Mapping[int, int] = {20: 100, 50: 25, 100: 100, 200: 100}
"""How long the TCP test lasts by its round trip in ms: up to 100 s (§2.2.2), 25 at 50 (§5.3)."""

TEST_INTERVAL_MS = 100

SUSTAINED_MBPS, PEAK_MBPS, BURST_BYTES = 200, 250, 30_000_000
"""The upstream service (§2.1)."""
_SERVICE = {"sustained_mbps": SUSTAINED_MBPS, "peak_mbps": PEAK_MBPS, "burst_bytes": BURST_BYTES}

RF: Mapping[str, tuple[float, ...]] = {
    "none": (),
    "light": (165, 200, 225, 250),
    "moderate": (185, 190, 200, 225),
    "heavy": (100, 120, 180, 200),
}
"""Free capacity of the channel in Mbps (§2.3)."""

RTTS_MS = (20, 50, 100, 200)
"""Round trips of the TCP test (§2.2.2)."""

BINS = 32


def _limit_bytes(ms: int) -> int:
    """Of a buffer of so many ms at the sustained rate (§4.1)."""
    return ms * SUSTAINED_MBPS * 1000 // 8


def _queue(**more: Any) -> dict[str, Any]:
    """A queue of the default buffer (§9)."""
    return {"limit_bytes": _limit_bytes(250), **more}


def _codel(target_ms: int, interval_ms: int) -> dict[str, Any]:
    return {
        "kind": "codel",
        "variant": "ns2",
        "target_ms": target_ms,
        "interval_ms": interval_ms,
    }


RATE_BYTES = 62_500
"""Over how much a departure rate is measured: what one MAP of 2 ms grants at most, at 250 Mbps."""


def _pie(target_ms: int) -> dict[str, Any]:
    return {
        "kind": "pie_early",
        "target_ms": target_ms,
        "update_ms": 15,
        "rate_threshold_bytes": RATE_BYTES,
    }


_CODEL_DT = {
    "kind": "codel_dt",
    "prediction": "departure_rate",
    "rate_threshold_bytes": RATE_BYTES,
}

_SFQ = {"kind": "sfq", "bins": BINS}

QUEUES: Mapping[str, Mapping[str, Any]] = {
    "BufferBloat": _queue(),
    "BufferControl": {"limit_bytes": _limit_bytes(50)},
    "CoDel": _queue(law=_codel(20, 150)),
    "CoDel-DT": _queue(law=_CODEL_DT),
    "SFQ-CoDel": _queue(scheduler=_SFQ, law=_codel(50, 200)),
    "PIE": _queue(law=_pie(15)),
    "SFQ-PIE": _queue(scheduler={**_SFQ, "one_law": True}, law=_pie(45)),
}
"""The schemes (§4)."""

SCHEMES = tuple(QUEUES)
AQMS = SCHEMES[2:]
SINGLE_QUEUE = ("CoDel", "CoDel-DT", "PIE")


@dataclass(frozen=True)
class Load:
    """A row of table 1. Of its uploads as many have 20 ms as have 100 ms."""

    uploads: int
    """At each of the two round trips."""
    file_bytes: int | None
    """Nothing for an endless file."""
    web: int
    calls: int
    cbr_mbps: int = 0
    torrents: int = 0
    is_bursty: bool = False


LOADS = {
    1: Load(0, None, 1, 1),
    2: Load(1, None, 1, 1),
    3: Load(3, 50_000_000, 1, 1),
    4: Load(3, 50_000_000, 1, 1, cbr_mbps=6),
    5: Load(1, 19_000_000, 1, 1, is_bursty=True),
    6: Load(3, 50_000_000, 4, 4),
    7: Load(3, 50_000_000, 4, 4, cbr_mbps=6),
    8: Load(5, 2_500_000, 4, 4, cbr_mbps=6),
    9: Load(3, 50_000_000, 4, 1, torrents=100),
}
"""Table 1."""


@cache
def case(scheme: str, number: int, rf: str) -> Case:
    """A traffic load under a scheme and a level of congestion."""
    name = f"{scheme}, load {number}, rf {rf}"
    values = _scenario(QUEUES[scheme], RF[rf]) | {
        "title": f"White 2014, load {number}, congestion {rf}, {scheme}",
        "servers": servers(near=20, far=100),
        "traffic": _traffic(LOADS[number]),
    }
    return Case(name, values, latencies=True, draw=number)


@cache
def tcp_test(scheme: str, rtt_ms: int) -> Case:
    """Two Reno uploads (§2.2.2)."""
    test = {**RENO_UPLOAD, "server": "files", "connections": 2, "start_spread_s": 0.01}
    values = _scenario(QUEUES[scheme], ()) | {
        "title": f"White 2014 section 5.3, {scheme}, {rtt_ms} ms",
        "duration_s": TEST_S[rtt_ms],
        "servers": servers(files=rtt_ms),
        "traffic": {"ftp": test},
        "metrics": {"series_interval_ms": TEST_INTERVAL_MS},
    }
    return Case(f"{scheme}, two uploads at {rtt_ms} ms", values, series=True)


@cache
def tracking(track_rate: bool, share: float) -> Case:
    """Appendix A.1: heavy traffic, where the channel gives a share of the sustained rate."""
    queue = _queue(law={"kind": "docsis_pie", "target_ms": 15, "track_rate": track_rate})
    levels = () if share == 1 else (share * SUSTAINED_MBPS,) * 4
    values = _scenario(queue, levels) | {
        "title": f"White 2014 appendix A.1, {100 * share:.0f} % of the sustained rate",
        "servers": servers(near=20, far=100),
        "traffic": _traffic(LOADS[8]),
    }
    what = "rates tracked" if track_rate else "token bucket alone"
    return Case(f"{what}, {100 * share:.0f} % of the sustained rate", values, latencies=True)


@cache
def lone_call() -> Case:
    """A call in an idle home (§7); with 20.01 ms its packets meet MAPs at all phases."""
    (call,) = calls(1).items()
    values = _scenario(QUEUES["BufferBloat"], ()) | {
        "servers": {"peer": {"delay_ms": 0}},
        "traffic": {call[0]: {**call[1], "interval_ms": 20.01}},
    }
    return Case("lone call", values)


@cache
def overload() -> Case:
    """Datagrams at 2.5 times the rate under DOCSIS-PIE (appendix B)."""
    flood = {
        "kind": "stream",
        "purpose": "data",
        "server": "cbr",
        "packet_bytes": 1024,
        "interval_ms": 1.6384,  # 5 Mbps
    }
    upstream = {"sustained_mbps": 2, "peak_mbps": 2, "burst_bytes": 10_000}
    values = {
        "title": "White 2014 appendix B: 2.5 times the rate",
        "duration_s": DURATION_S,
        "dialect": "ns2",
        "cable": CABLE,
        "upstream": {**upstream, "queue": {"law": {"kind": "docsis_pie"}}},
        "downstream": {"sustained_mbps": 20, "peak_mbps": 20, "burst_bytes": 10_000},
        "servers": {"cbr": {"delay_ms": 0}},
        "traffic": {"flood": flood},
    }
    return Case("overload", values, series=True)


def _scenario(queue: Mapping[str, Any], levels: tuple[float, ...]) -> dict[str, Any]:
    # §7: bursts at up to 1 Gbps in DOCSIS 3.1.
    upstream = {**_SERVICE, "mac": {"channel_mbps": 1000}, "queue": queue}
    rates = {"sustained_mbps": 1000, "peak_mbps": 1500, "burst_bytes": 330_000_000}
    downstream = {**rates, "queue": {"limit_bytes": 250_000}}
    metrics = {"connections": 0}
    return home(DURATION_S, upstream, levels, downstream=downstream, metrics=metrics)


def _traffic(load: Load) -> dict[str, Any]:
    traffic = {**calls(load.calls), "web": web({"kind": "white2014"}, load.web)}
    if load.uploads:
        traffic |= {f"ftp_{server}": _upload(load, server) for server in ("near", "far")}
    if load.cbr_mbps:
        traffic["cbr"] = {**CBR, "interval_ms": CBR["interval_ms"] / load.cbr_mbps}
    if load.torrents:
        traffic["torrent"] = {
            "kind": "torrent",
            "servers": ["near", "far"],
            "connections": load.torrents,
            "limit_mbps": SUSTAINED_MBPS / 2,
            "start_spread_s": 1,
            "tcp": LEDBAT,
        }
    return traffic


def _upload(load: Load, server: str) -> dict[str, Any]:
    if load.file_bytes is None:
        return {**UPLOAD, "server": server, "connections": load.uploads}
    every_s = BURSTY_PERIOD_S if load.is_bursty else None
    return repeated(server, load.uploads, load.file_bytes, every_s)
