"""The runs of White & Rice 2013: 5 schemes, 17 traffic scenarios, 3 levels of congestion.

The body of table 2 is lost. What stands here as its scenarios is deduced: from what the text says
of the groups (§3.7, §4.1.1, §4.2), the examples in the slides, and White & Padden 2012, whose cases
come in pairs of a short and a long round trip. `CHOICES` says which of them are guesses.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..cablelabs.scenarios import (
    BURSTY,
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

DURATION_S = 7200
"""§4: two hours of each."""

SUSTAINED_MBPS, PEAK_MBPS, BURST_BYTES = 5, 20, 10_000_000
"""The upstream service (§3.4)."""
_SERVICE = {"sustained_mbps": SUSTAINED_MBPS, "peak_mbps": PEAK_MBPS, "burst_bytes": BURST_BYTES}

SHORT_S, SHORT_INTERVAL_MS = 30, 100
"""§4.4 and §3.8: the upload alone."""

RF: Mapping[str, tuple[float, ...]] = {
    "none": (),
    "light": (2.5, 5, 12.5, 20),
    "moderate": (1.7, 3.3, 5, 12.5),
}
"""Free capacity of the channel in Mbps (§3.3)."""

FILE_BYTES = 2_500_000
BINS = 32

_CODEL = {"kind": "codel", "variant": "ns2", "target_ms": 10, "interval_ms": 150}
_PIE = {
    "kind": "pie_early",
    "target_ms": 5,
    "update_ms": 15,
    "alpha_hz": 0.25,
    "beta_hz": 1.25,
    "rate_threshold_bytes": 1500,
}


def _sfq(bins: int) -> dict[str, Any]:
    return {
        "limit_bytes": 625_000,
        "scheduler": {"kind": "sfq", "bins": bins, "quantum_bytes": 300},
        "law": _CODEL,
    }


QUEUES: Mapping[str, Mapping[str, Any]] = {
    "BufferBloat": {"limit_bytes": 625_000},
    "BufferControl": {"limit_bytes": 31_250},
    "CoDel": {"limit_bytes": 625_000, "law": _CODEL},
    "SFQ-CoDel": _sfq(BINS),
    "PIE": {"limit_bytes": 300_000, "law": _PIE},
}
"""The schemes (§3.2)."""

SCHEMES = tuple(QUEUES)


@dataclass(frozen=True)
class Traffic:
    """A row of table 2, as deduced."""

    group: str
    voip: int
    web: int
    upload: str | None = None
    """`continuous`, `bursty`, `ftp` for files again and again, or `bittorrent`."""
    connections: int = 0
    rtt_ms: int = 20
    cbr: bool = False

    @property
    def sessions(self) -> int:
        """As §4.1.1 counts them: a web client has 24."""
        return self.voip + 24 * self.web + self.connections


def _pair(
    group: str, voip: int, web: int, upload: str, connections: int, cbr: bool = False
) -> list[Traffic]:
    """At the short and the long round trip."""
    return [Traffic(group, voip, web, upload, connections, rtt_ms, cbr) for rtt_ms in (20, 100)]


TRAFFIC = dict(
    enumerate(
        [
            Traffic("light", 1, 1),
            *_pair("light", 1, 1, "continuous", 1),
            *_pair("light", 1, 1, "bursty", 1),
            *_pair("light", 4, 4, "continuous", 1),
            *_pair("moderate", 1, 1, "ftp", 5),
            *_pair("moderate", 1, 1, "ftp", 5, cbr=True),
            *_pair("heavy", 4, 4, "ftp", 5),
            *_pair("heavy", 4, 4, "ftp", 10),
            *_pair("heavy", 4, 1, "bittorrent", 32),
        ],
        1,
    )
)
"""The 17 scenarios of table 2, as deduced."""

GROUPS = ("light", "moderate", "heavy")


@cache
def case(scheme: str, number: int, rf: str) -> Case:
    """A scenario of table 2 under a scheme."""
    values = _scenario(QUEUES[scheme], rf)
    traffic = TRAFFIC[number]
    values |= {
        "title": f"White & Rice 2013, scenario {number}, congestion {rf}, {scheme}",
        "traffic": _traffic(traffic),
        "servers": servers(files=traffic.rtt_ms),
    }
    return Case(f"{scheme}, scenario {number}, rf {rf}", values, latencies=True, draw=number)


@cache
def with_bins(bins: int, number: int) -> Case:
    """A scenario under SFQ-CoDel with another number of sub-flows (§4.1.1), no congestion."""
    if bins == BINS:
        return case("SFQ-CoDel", number, "none")
    base = case("SFQ-CoDel", number, "none").scenario
    values = {**base, "upstream": {**base["upstream"], "queue": _sfq(bins)}}
    name = f"SFQ-CoDel of {bins} bins, scenario {number}"
    return Case(name, values, latencies=True, draw=number)


@cache
def short(scheme: str) -> Case:
    """One Reno upload alone (§4.4)."""
    values = _scenario(QUEUES[scheme], "none") | {
        "title": f"White & Rice 2013 section 4.4, {scheme}",
        "duration_s": SHORT_S,
        "servers": servers(files=100),
        "traffic": {"ftp": {**RENO_UPLOAD, "server": "files"}},
        "metrics": {"series_interval_ms": SHORT_INTERVAL_MS},
    }
    return Case(f"{scheme}, upload alone", values, series=True)


def page_alone(extra_rtt_ms: int) -> Case:
    """Scenario 1, all web servers farther away by so much (§1.1)."""
    base = case("SFQ-CoDel", 1, "none").scenario
    farther = {
        name: {"delay_ms": server["delay_ms"] + extra_rtt_ms / 2 * name.startswith("web")}
        for name, server in base["servers"].items()
    }
    values = {**base, "servers": farther, "duration_s": DURATION_S / 10}
    return Case(f"pages {extra_rtt_ms} ms farther", values)


def _scenario(queue: Mapping[str, Any], rf: str) -> dict[str, Any]:
    upstream = {**_SERVICE, "queue": queue}
    downstream = {"sustained_mbps": 20, "peak_mbps": 50, "burst_bytes": 10_000_000}
    metrics = {"connections": 0}
    return home(DURATION_S, upstream, RF[rf], downstream=downstream, metrics=metrics)


def _traffic(load: Traffic) -> dict[str, Any]:
    traffic = {**calls(load.voip), "web": web({"kind": "appendix_a"}, load.web)}
    if upload := _upload(load):
        traffic["ftp"] = upload
    if load.cbr:
        traffic["cbr"] = CBR
    return traffic


def _upload(load: Traffic) -> Mapping[str, Any] | None:
    transfer = {"kind": "transfer", "server": "files"}
    match load.upload:
        case "continuous":
            return {**UPLOAD, "server": "files"}
        case "bursty":
            return {**transfer, **BURSTY}
        case "ftp":
            return repeated("files", load.connections, FILE_BYTES)
        case "bittorrent":
            swarm = {"kind": "torrent", "servers": ["files"], "start_spread_s": 1}
            return {**swarm, "connections": load.connections, "tcp": LEDBAT}
    return None
