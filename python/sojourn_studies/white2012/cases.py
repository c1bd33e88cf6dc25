"""The runs of White & Padden 2012: table 2, and those behind its figures and remarks."""

from collections.abc import Mapping
from dataclasses import dataclass
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
    "2": UPLOAD,
    "3": _FIVE,
    "4": _FIVE,
    "5": BURSTY,
}
"""The bulk traffic of each scenario of §3.2.1."""

TRANSMIT_BYTES = 48_000
"""The transmit queue's 32 packets (§3.1.2), each of 1500 bytes."""


@dataclass(frozen=True)
class Scheme:
    """A queue manager of §3.1.2 with its limit in packets."""

    name: str
    codel: bool
    limit: int

    @property
    def queue(self) -> dict[str, Any]:
        """As a scenario has it. CoDel with target 5 ms and interval 100 ms (§1.1)."""
        if not self.codel:
            return {"limit_packets": self.limit}
        law = {"kind": "codel", "variant": "ns2", "target_ms": 5, "interval_ms": 100}
        return {"limit_packets": self.limit, "law": law}


def scheme(name: str) -> Scheme:
    """The scheme of a row, by its name: `DropTail-21pkt`, `CoDel-417pkt`."""
    kind, limit = name.split("-")
    return Scheme(name, kind == "CoDel", int(limit.removesuffix("pkt")))


# Table 2: the last digit of a case is the bulk traffic with its round trip.
_BULK = {"1": "1", "2": "2", "3": "2", "4": "3", "5": "3", "6": "4", "7": "4", "8": "5", "9": "5"}


@cache
def case(experiment: str, scheme_name: str) -> Case:
    """Test case `D01` to `C19` of table 2 under a scheme."""
    name = f"{experiment} {scheme_name}"
    return Case(name, scenario(experiment, scheme(scheme_name)))


@cache
def over_time(experiment: str, scheme_name: str, duration_s: int, interval_ms: int) -> Case:
    """A test case for figures: shorter, and with its series."""
    values = scenario(experiment, scheme(scheme_name))
    values |= {"duration_s": duration_s, "metrics": {"series_interval_ms": interval_ms}}
    return Case(f"{experiment} {scheme_name}, {duration_s} s", values, series=True)


@cache
def traced(experiment: str, scheme_name: str, duration_s: int) -> Case:
    """A test case that is shorter, with the outcome of every packet."""
    values = scenario(experiment, scheme(scheme_name))
    values |= {"duration_s": duration_s, "metrics": {"packet_trace": True}}
    return Case(f"{experiment} {scheme_name}, traced", values, packets=True)


@cache
def page_of_appendix_a() -> Case:
    """The page of appendix A, object by object from one server, each with its account."""
    values = scenario("D01", scheme("DropTail-417pkt"))
    page = {**_web(), "servers": ["web1"], "connections_per_server": 1}
    page |= {"objects": {"kind": "appendix_a"}, "pause_s": 1e6}
    values |= {"traffic": {"web": page}, "metrics": {"connections": 101}}
    return Case("page of appendix A", values)


def scenario(experiment: str, scheme: Scheme) -> dict[str, Any]:
    """A test case as a scenario."""
    congested, bulk = experiment[1] == "1", _BULK[experiment[2]]
    is_long = experiment[2] in "3579"
    return home(
        DURATION_S,
        _upstream(scheme, congested),
        title=f"White & Padden 2012, {experiment}, {scheme.name}",
        downstream={"sustained_mbps": 20, "peak_mbps": 50, "burst_bytes": 20_000_000},
        servers=servers(files=100 if is_long else 20),
        traffic=_traffic(bulk),
    )


def _upstream(scheme: Scheme, congested: bool) -> dict[str, Any]:
    upstream: dict[str, Any] = {
        "sustained_mbps": SUSTAINED_MBPS,
        "peak_mbps": PEAK_MBPS,
        "burst_bytes": BURST_BYTES,
        "modem": {"kind": "two_queues", "transmit_bytes": TRANSMIT_BYTES},
        "queue": scheme.queue,
    }
    if congested:
        # §3.1.3: 1250 bytes in the mean of every MAP of 2 ms, and up to 20 % more or less.
        upstream["congestion"] = {"levels_mbps": [5, 5, 5, 5], "grant_spread_percent": 20}
    return upstream


def _traffic(bulk: str) -> dict[str, Any]:
    traffic: dict[str, Any] = {"call": call_to("peer"), "web": _web()}
    if ftp := _FTP[bulk]:
        traffic["ftp"] = {"kind": "transfer", **ftp, "server": "files"}
    if bulk == "4":
        traffic["cbr"] = CBR
    return traffic


def _web() -> dict[str, Any]:
    """§3.2.3."""
    return web({"kind": "fixed", "per_server": 25, "bytes": 25_000})
