"""Every scenario of RFC 7928 that the simulator can run: a line each, and what it needs.

The dumbbell of section 3.1 has its bottleneck upstream: data goes from the home to servers, one
for each round trip. Numbers without a section are choices, which choices.toml explains.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

Table = dict[str, Any]

RATE_MBPS = 10
RTT_MS = 100
SECONDS = 300
_PACKET_BITS = 12_000
_BUFFER_MS = 250
"""The default of modems and links."""
_HELD_PACKETS = RATE_MBPS * 1e3 * (RTT_MS + _BUFFER_MS) / _PACKET_BITS
LOSS_PERCENT = {"mild": 0.1, "medium": 0.5, "heavy": 1.0}
LEVELS = {
    name: round(_HELD_PACKETS * (percent / 100 / 0.76) ** 0.5)
    for name, percent in LOSS_PERCENT.items()
}
"""Flows of each congestion level, by section 8.2.1: behind drop-tail N flows lose the share
0.76 N^2 / S^2 (Morris 2000), where S packets are in the path and in the buffer together."""

FAR_MBPS = 4
"""The second bottleneck of section 10."""
LOW_MBPS = 1
"""Where the capacity varies by a decade (section 8.2.6)."""


@dataclass(frozen=True)
class Scenario:
    """A scenario of a section: its traffic upstream, and how the capacity varies."""

    section: str
    name: str
    what: str
    traffic: Mapping[str, Table]
    steps: Sequence[tuple[float, float]] = field(default=())
    """Seconds and Mbps, again and again."""

    @property
    def up(self) -> dict[str, Table]:
        """The entries that send data through the queue."""
        return {name: one for name, one in self.traffic.items() if one.get("direction") != "down"}

    @property
    def files(self) -> list[str]:
        """The entries whose files are timed."""
        return [name for name, entry in self.up.items() if "file_bytes" in entry]

    @property
    def bulk(self) -> list[str]:
        """The entries whose goodput counts: they would take all there is."""
        return [name for name, entry in self.up.items() if name not in self.files + self.streams]

    @property
    def streams(self) -> list[str]:
        """The entries whose latency counts."""
        return [name for name in self.up if name in ("cbr", "video")]

    @property
    def shares(self) -> list[str]:
        """The endless connections that should share the link."""
        tcp = [name for name in self.bulk if self.up[name]["kind"] == "transfer"]
        return tcp if sum(self.up[name]["connections"] for name in tcp) > 1 else []

    @property
    def is_marked(self) -> bool:
        """Do any senders use ECN?"""
        return any({"ecn", "prague"} & set(_words(entry)) for entry in self.up.values())


def _words(entry: Table) -> list[str]:
    tcp = entry.get("tcp", {})
    return [*tcp, tcp.get("congestion_control", {}).get("kind", "")]


def _tcp(control: str = "reno", flows: int = 1, rtt_ms: float = RTT_MS, **keys: Any) -> Table:
    """Connections that send without end, or files."""
    options = {name: keys.pop(name) for name in ("ecn", "initial_window_segments") if name in keys}
    return {
        "kind": "transfer",
        "server": f"rtt-{rtt_ms:g}",
        "connections": flows,
        "start_spread_s": 1,
        "tcp": {"congestion_control": {"kind": control}, **options},
        **keys,
    }


def _files(window: int) -> Table:
    """Files of 100 packets, one after the other (section 5.1.2)."""
    return _tcp(file_bytes=146_000, pause_s=0.5, initial_window_segments=window)


def _datagrams(mbps: float, packet_bytes: int = 1500, **keys: Any) -> Table:
    return {
        "kind": "stream",
        "purpose": "data",
        "server": f"rtt-{RTT_MS}",
        "direction": "up",
        "packet_bytes": packet_bytes,
        "interval_ms": packet_bytes * 8 / mbps / 1e3,
        **keys,
    }


_PAGE_EVERY_S = 5
OBJECT_BYTES = 50_000
_PAGES = {
    f"page-{number:02}": _tcp(
        "cubic",
        10,
        file_bytes=OBJECT_BYTES,
        start_s=_PAGE_EVERY_S * number,
        start_spread_s=0.1,
        initial_window_segments=10,
    )
    for number in range(1, SECONDS // _PAGE_EVERY_S - 1)
}
"""Web traffic: pages of ten objects at set times, so that each queue manager gets the same load."""

_CBR = _datagrams(0.1, 200)
_VIDEO = {"kind": "video_call", "server": f"rtt-{RTT_MS}", "direction": "up"}
_BULK = _tcp()

_FOURTH_S = SECONDS / 4
_MORE = {
    "second": _tcp(
        flows=LEVELS["medium"] - LEVELS["mild"], start_s=_FOURTH_S, stop_s=3 * _FOURTH_S
    ),
    "third": _tcp(
        flows=LEVELS["heavy"] - LEVELS["medium"], start_s=2 * _FOURTH_S, stop_s=3 * _FOURTH_S
    ),
}


def _rtts(rtt_ms: float) -> Scenario:
    what = f"two flows, round trips of {RTT_MS} and {rtt_ms:g} ms"
    traffic = {"fixed": _tcp(), "varied": _tcp(rtt_ms=rtt_ms)}
    return Scenario("6.2", f"rtt-{rtt_ms:g}", what, traffic)


def _level(section: str, name: str) -> Scenario:
    flows = LEVELS[name]
    return Scenario(section, name, f"{flows} flows", {"bulk": _tcp(flows=flows)})


_ALL = (
    Scenario("5.1.1", "reno", "one Reno flow", {"bulk": _BULK}),
    Scenario(
        "5.1.2",
        "iw-3",
        "files with an initial window of 3, beside Reno",
        {"bulk": _BULK, "files": _files(3)},
    ),
    Scenario("5.1.2", "iw-10", "the same with 10", {"bulk": _BULK, "files": _files(10)}),
    Scenario("5.2", "cubic", "one CUBIC flow", {"bulk": _tcp("cubic")}),
    Scenario("5.3", "udp", "UDP of 12 Mbps", {"udp": _datagrams(12)}),
    Scenario("5.3", "udp-reno", "UDP of 8 Mbps beside Reno", {"udp": _datagrams(8), "reno": _BULK}),
    Scenario("5.4", "ledbat", "one LEDBAT flow", {"ledbat": _tcp("ledbat")}),
    Scenario("5.4", "ledbat-reno", "LEDBAT beside Reno", {"ledbat": _tcp("ledbat"), "reno": _BULK}),
    *map(_rtts, (20, 200, 500)),
    Scenario("7.2", "burst-1", "case I: web and CBR", {**_PAGES, "cbr": _CBR}),
    Scenario("7.2", "burst-2", "case II: and bulk TCP", {**_PAGES, "cbr": _CBR, "bulk": _BULK}),
    Scenario(
        "7.2", "burst-3", "case III: web, CBR and video", {**_PAGES, "cbr": _CBR, "video": _VIDEO}
    ),
    Scenario(
        "7.2",
        "burst-4",
        "case IV: all of them",
        {**_PAGES, "cbr": _CBR, "video": _VIDEO, "bulk": _BULK},
    ),
    _level("8.2.2", "mild"),
    _level("8.2.3", "medium"),
    _level("8.2.4", "heavy"),
    Scenario(
        "8.2.5",
        "levels",
        "mild, medium, heavy and mild, a quarter of the time each",
        {"bulk": _tcp(flows=LEVELS["mild"]), **_MORE},
    ),
    Scenario(
        "8.2.6",
        "steps",
        "two flows; 10 and 1 Mbps for 20 s each",
        {"bulk": _tcp(flows=2)},
        ((20, RATE_MBPS), (20, LOW_MBPS)),
    ),
    Scenario(
        "8.2.6",
        "flutter",
        "the same for 100 ms each",
        {"bulk": _tcp(flows=2)},
        ((0.1, RATE_MBPS), (0.1, LOW_MBPS)),
    ),
    Scenario(
        "9.1",
        "mix",
        "two bulk flows, LEDBAT, web, CBR and video",
        {
            "bulk": _tcp("cubic", 2),
            "ledbat": _tcp("ledbat"),
            **_PAGES,
            "cbr": _CBR,
            "video": _VIDEO,
        },
    ),
    Scenario(
        "9.2",
        "two-way",
        "a flow up, two down",
        {"bulk": _BULK, "down": _tcp(flows=2, direction="down")},
    ),
    Scenario(
        "10",
        "tandem",
        "a flow through both queues, one through the first",
        {"far": {**_BULK, "server": "far"}, "near": _BULK},
    ),
    Scenario(
        "4.5",
        "ecn",
        "medium congestion, ECN",
        {"bulk": _tcp(flows=LEVELS["medium"], ecn="classic")},
    ),
    Scenario("4.5", "l4s", "one Prague flow", {"prague": _tcp("prague")}),
    Scenario(
        "4.5",
        "l4s-cubic",
        "Prague beside CUBIC with ECN",
        {"prague": _tcp("prague"), "cubic": _tcp("cubic", ecn="classic")},
    ),
)

SCENARIOS: Mapping[str, Scenario] = {one.name: one for one in _ALL}
