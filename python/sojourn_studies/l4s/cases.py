"""The links of both testbeds as scenarios: one link, one flow or several of two kinds, and UDP.

A case is run twice: as long as the testbed was measured and had run before, and up to where it
began to be measured. Equal scenarios with equal seeds are equal as far as they go, so what was
measured is the difference. Round trips are fixed delays. Linux counts packets with their Ethernet
header, and a rate of UDP is that of its payload.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ..framework.cases import Case, unshaped
from ..framework.rows import Row

_TCP_BYTES = 1514
_ETHERNET_BYTES = 14
TCP_HEADER_BYTES = 40 + _ETHERNET_BYTES
"""Without the option of timestamps."""
_UDP_PAYLOAD_BYTES = 1470
"""iperf's."""
_UDP_BYTES = _UDP_PAYLOAD_BYTES + 28 + _ETHERNET_BYTES

_CABLE_MS = 0.01
_HOST_JITTER_US = 50
"""What the receiver takes at most to handle a packet, which is no delay of the queue."""
_RETURN_MBPS = 10_000
_SERVER_MBPS = 100_000
"""A server's link, which must take no time."""

_WARM_UP_S = {"mixed": 50, "overload": 50, "pairs": 30, "one_queue": 30, "bursty": 40}
"""How long a case runs before it is measured."""

MEASURED_S = {"mixed": 250, "overload": 250, "pairs": 60, "one_queue": 60, "bursty": 80}

_PRAGUE_0_6: dict[str, Any] = {
    "initial_alpha": 1.0,
    "dependent_rounds": 500,
    "wobble_percent": 0.0,
    "least_burst_segments": 2,
}
"""Version 0.6 of Linux' prague, that of 2020 to early 2022."""

PRAGUE: dict[str, dict[str, Any]] = {
    "mixed": _PRAGUE_0_6,
    "overload": _PRAGUE_0_6,
    "pairs": {**_PRAGUE_0_6, "rtt_independence": False},
    "one_queue": {**_PRAGUE_0_6, "rtt_independence": False},
    "bursty": _PRAGUE_0_6,
}
"""Keys of Prague, by table."""


def _red(kilobytes: int, weight: float) -> dict[str, Any]:
    """RED as tc sets it up by its limit: a quarter of it, a third of that; adaptive from 2 % on."""
    most = kilobytes / 4
    law = {"kind": "red", "in_bytes": True, "mean_packet_bytes": 1000, "gentle": False}
    thresholds = {"min_threshold_packets": most / 3, "max_threshold_packets": most}
    return {
        "limit_bytes": 1000 * kilobytes,
        "law": {
            **law,
            **thresholds,
            "max_p": 0.02,
            "weight": weight,
            "wait": False,
            "adaptive": True,
        },
    }


def _fq_codel(queues: int = 1024, target_ms: float = 5, interval_ms: float = 100) -> dict[str, Any]:
    return {
        "limit_packets": 10_240,
        "scheduler": {"kind": "fq", "queues": queues},
        "law": {"kind": "codel", "target_ms": target_ms, "interval_ms": interval_ms},
    }


def _pie(target_ms: float = 15, update_ms: float = 15, packets: int = 1000) -> dict[str, Any]:
    law = {"kind": "pie", "target_ms": target_ms, "update_ms": update_ms}
    return {"limit_packets": packets, "law": {**law, "estimate": "sojourn", "rests": False}}


QUEUES: dict[str, dict[str, Any]] = {
    "dualpi2": {"limit_packets": 10_000, "scheduler": {"kind": "dualq", "variant": "linux"}},
    "pie": _pie(),
    "pie_5ms": _pie(5, 32, 100),
    "codel": {"limit_packets": 1000, "law": {"kind": "codel"}},
    "fq_codel": _fq_codel(),
    "fq_codel_1": _fq_codel(1),
    "fq_codel_1_1ms": _fq_codel(1, 1, 20),
    "red_150kB": _red(150, 1 / 16),
    "red_400kB": _red(400, 1 / 32),
    "pfifo": {"limit_packets": 1000},
}
"""Queue managers with Linux' defaults, by scheme."""


@dataclass(frozen=True)
class Link:
    """The words of a load: `rate=100:a=prague-10:b=cubic-10:flows=5:udp=50-low:call=2.3-low`."""

    mbps: float
    senders: dict[str, tuple[str, float]]
    """Control and round trip in ms of the entries `a` and `b`."""
    flows: int
    udp: tuple[float, str] | None
    """Mbps, and the queue that its mark sends it to."""
    call: tuple[float, str] | None
    """Mbps of a video call, and the queue that its mark sends it to."""

    @staticmethod
    def of(row: Row) -> "Link":
        """That of a row."""
        words = dict(word.split("=") for word in row.load.split(":"))
        senders = {name: words[name].split("-") for name in ("a", "b") if name in words}

        def stream(name: str) -> tuple[float, str] | None:
            mbps, _, queue = words.get(name, "").partition("-")
            return (float(mbps), queue) if mbps else None

        return Link(
            mbps=float(words["rate"]),
            senders={name: (control, float(ms)) for name, (control, ms) in senders.items()},
            flows=int(words.get("flows", 1)),
            udp=stream("udp"),
            call=stream("call"),
        )

    def base_ms(self, entry: str) -> float:
        """The mean one-way delay of a full packet that waits for nothing but its receiver."""
        _, rtt_ms = self.senders["a" if entry == "udp" else entry]
        size_bytes = _UDP_BYTES if entry == "udp" else _TCP_BYTES
        return rtt_ms / 2 + size_bytes * 8 / self.mbps / 1e3 + _HOST_JITTER_US / 2e3

    def entries(self, queue: str) -> list[str]:
        """The entries whose packets wait in a queue, `low` or `classic`, or are of one kind."""
        low = [name for name, (control, _) in self.senders.items() if control == "prague"]
        by_kind = {"low": low or ["a"], "both": list(self.senders)}
        by_kind["classic"] = [name for name in self.senders if name not in by_kind["low"]]
        if self.udp:
            by_kind[self.udp[1]] = [*by_kind[self.udp[1]], "udp"]
        return by_kind.get(queue, [queue])


@cache
def case(row: Row) -> Case:
    """The run of a row; rows of the same experiment and queue manager share it."""
    link = Link.of(row)
    scenario = {
        "title": f"L4S, {row.table}, {row.experiment}, {row.scheme}",
        "duration_s": _WARM_UP_S[row.table] + MEASURED_S[row.table],
        "dialect": "linux",
        "upstream": {**unshaped(link.mbps), "modem": {"kind": "link"}, "queue": QUEUES[row.scheme]},
        "downstream": unshaped(_RETURN_MBPS, 1_000_000),
        "cable": {"delay_ms": _CABLE_MS},
        "servers": {
            name: {
                "delay_ms": rtt_ms / 2 - _CABLE_MS,
                "rate_mbps": _SERVER_MBPS,
                "host_jitter_us": _HOST_JITTER_US,
            }
            for name, (_, rtt_ms) in link.senders.items()
        },
        "traffic": _traffic(row.table, link),
    }
    name = f"{row.table}, {row.experiment}, {row.scheme}"
    return Case(name, scenario, latencies=True)


@cache
def warm_up(whole: Case, table: str) -> Case:
    """The part of a case before it is measured."""
    scenario = {**whole.scenario, "duration_s": _WARM_UP_S[table]}
    return replace(whole, name=f"{whole.name}, before", scenario=scenario)


def _traffic(table: str, link: Link) -> dict[str, Any]:
    entries = {
        name: {
            "kind": "transfer",
            "server": name,
            "connections": link.flows,
            "tcp": _tcp(table, control),
        }
        for name, (control, _) in link.senders.items()
    }
    if link.udp:
        mbps, queue = link.udp
        entries["udp"] = {
            "kind": "stream",
            "purpose": "data",
            "server": "a",
            "packet_bytes": _UDP_BYTES,
            "interval_ms": _UDP_PAYLOAD_BYTES * 8 / mbps / 1e3,
            "ecn": _ecn(queue),
        }
    if link.call:
        mbps, queue = link.call
        entries["call"] = {
            "kind": "video_call",
            "server": "a",
            "direction": "up",
            "rate_mbps": mbps,
            "ecn": _ecn(queue),
        }
    return entries


def _ecn(queue: str) -> str:
    """The mark that sends datagrams to a queue."""
    return "ect1" if queue == "low" else "not_ect"


def _tcp(table: str, control: str) -> dict[str, Any]:
    kind, _, ecn = control.partition("_")
    keys = PRAGUE[table] if kind == "prague" else {}
    return {
        "congestion_control": {"kind": kind, **keys},
        "header_bytes": TCP_HEADER_BYTES,
        **({"ecn": "classic"} if ecn else {}),
    }
