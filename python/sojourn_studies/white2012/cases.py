"""The runs of White & Padden 2012: table 2, and those behind its figures and remarks."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from ..cablelabs.scenarios import BURSTY, CBR, UPLOAD, call_to, home, repeated, servers, web
from ..framework.cases import Case

DURATION_S = 600
"""§4.3.1."""

LARGE, SMALL = 417, 21
"""Packets of 1500 bytes in 1 s and in 50 ms at 5 Mbps (§3.1.2)."""

BURST_BYTES, PEAK_MBPS, SUSTAINED_MBPS = 10_000_000, 20, 5
"""The upstream service (§3.1.1)."""

FILE_BYTES = 2_500_000
"""The "moderately sized" file (§3.2.1): that which White 2014 table 1 row 8 repeats."""

_FIVE = repeated("files", 5, FILE_BYTES)

_FTP: Mapping[str, Mapping[str, Any]] = {
    "1": {},
    **dict.fromkeys("23", UPLOAD),
    **dict.fromkeys("4567", _FIVE),
    **dict.fromkeys("89", BURSTY),
}
"""The bulk traffic of §3.2.1 by the last digit of a case of table 2, which has its round trip."""

TRANSMIT_BYTES = 48_000
"""The transmit queue's 32 packets (§3.1.2), each of 1500 bytes."""


def _queue(scheme: str) -> dict[str, Any]:
    """The queue manager of §3.1.2 and its limit in packets: `DropTail-21pkt`, `CoDel-417pkt`.

    CoDel has target 5 ms and interval 100 ms (§1.1).
    """
    kind, limit = scheme.split("-")
    codel = {"kind": "codel", "variant": "ns2", "target_ms": 5, "interval_ms": 100}
    law = {"law": codel} if kind == "CoDel" else {}
    return {"limit_packets": int(limit.removesuffix("pkt")), **law}


@cache
def case(experiment: str, scheme: str) -> Case:
    """Test case `D01` to `C19` of table 2 under a scheme."""
    name = f"{experiment} {scheme}"
    return Case(name, scenario(experiment, scheme))


@cache
def over_time(experiment: str, scheme: str, duration_s: int, interval_ms: int) -> Case:
    """A test case for figures: shorter, and with its series."""
    values = scenario(experiment, scheme)
    values |= {"duration_s": duration_s, "metrics": {"series_interval_ms": interval_ms}}
    return Case(f"{experiment} {scheme}, {duration_s} s", values, series=True)


@cache
def traced(experiment: str, scheme: str, duration_s: int) -> Case:
    """A test case that is shorter, with the outcome of every packet."""
    values = scenario(experiment, scheme)
    values |= {"duration_s": duration_s, "metrics": {"packet_trace": True}}
    return Case(f"{experiment} {scheme}, traced", values, packets=True)


@cache
def page_of_appendix_a() -> Case:
    """The page of appendix A, object by object from one server, each with its account."""
    values = scenario("D01", "DropTail-417pkt")
    page = {**_web(), "servers": ["web1"], "connections_per_server": 1}
    page |= {"objects": {"kind": "appendix_a"}, "pause_s": 1e6}
    values |= {"traffic": {"web": page}, "metrics": {"connections": 101}}
    return Case("page of appendix A", values)


def scenario(experiment: str, scheme: str) -> dict[str, Any]:
    """A test case as a scenario."""
    congestion, bulk = experiment[1], experiment[2]
    return home(
        DURATION_S,
        _upstream(scheme, congestion == "1"),
        title=f"White & Padden 2012, {experiment}, {scheme}",
        downstream={"sustained_mbps": 20, "peak_mbps": 50, "burst_bytes": 20_000_000},
        servers=servers(files=100 if bulk in "3579" else 20),
        traffic=_traffic(bulk),
    )


def _upstream(scheme: str, congested: bool) -> dict[str, Any]:
    upstream: dict[str, Any] = {
        "sustained_mbps": SUSTAINED_MBPS,
        "peak_mbps": PEAK_MBPS,
        "burst_bytes": BURST_BYTES,
        "modem": {"kind": "two_queues", "transmit_bytes": TRANSMIT_BYTES},
        "queue": _queue(scheme),
    }
    if congested:
        # §3.1.3: 1250 bytes in the mean of every MAP of 2 ms, and up to 20 % more or less.
        upstream["congestion"] = {"levels_mbps": [5, 5, 5, 5], "grant_spread_percent": 20}
    return upstream


def _traffic(bulk: str) -> dict[str, Any]:
    traffic: dict[str, Any] = {"call": call_to("peer"), "web": _web()}
    if ftp := _FTP[bulk]:
        traffic["ftp"] = {"kind": "transfer", **ftp, "server": "files"}
    if bulk in "67":
        traffic["cbr"] = CBR
    return traffic


def _web() -> dict[str, Any]:
    """§3.2.3."""
    return web({"kind": "fixed", "per_server": 25, "bytes": 25_000})
