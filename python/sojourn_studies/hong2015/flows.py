"""The traffic of Hong 2015, flow by flow, and the scenario that it makes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ..framework.cases import unshaped

ETHERNET = 1518 / 1500
"""Bytes on the channel for each of IP: a header and a check sequence of 18 bytes for 1500. Service
rates count them too: table 4.16 has 23.7 Mbps of 24."""

_CABLE_MS = 1
MAC_MS = 6
"""Request and grant with an empty queue: 4 to 8 ms."""

_CONNECTIONS = 180
"""Accounts of each traffic entry: as many as ME2 has on/off flows."""


@dataclass(frozen=True)
class Flows:
    """A traffic entry: flows that are alike."""

    name: str
    app: Mapping[str, Any]
    rtt_ms: float = 80
    """Round trip without queueing."""
    weight: float = 1
    """Of its service tier."""
    cap_mbps: float | None = None
    """Of its conventional service tier."""
    link_mbps: float = 1000
    """Rate of the server's link."""
    one_way_ms: float | None = None
    """From the server, if that is not half of the round trip."""
    homes: int = 1
    """Homes with such a flow, each on a modem of its own (section 3.2.2)."""


@dataclass(frozen=True)
class Channel:
    """A downstream channel with its CMTS."""

    mbps: float = 38
    limit_packets: int = 2048
    channels: int = 1
    upstream_mbps: float = 30
    window_segments: int = 10_000
    not_links_ms: float = MAC_MS
    """Of an "uncongested path RTT", what is not that of links."""

    @property
    def capacity_mbps(self) -> float:
        """Of all its channels."""
        return self.mbps * self.channels


@dataclass(frozen=True)
class Run:
    """What a run is made of."""

    title: str
    flows: Sequence[Flows]
    channel: Channel
    duration_s: float
    metrics: Mapping[str, Any] = field(default_factory=dict)

    @property
    def weights(self) -> dict[str, float]:
        """Of the traffic entries."""
        return {flows.name: flows.weight for flows in self.flows if flows.weight != 1}

    def scenario(self, queue: Mapping[str, Any]) -> dict[str, Any]:
        """With this queue manager at the CMTS."""
        channel = self.channel
        values: dict[str, Any] = {
            "title": f"Hong 2015, {self.title}",
            "duration_s": self.duration_s,
            "dialect": "ns2",
            "cable": {"timing": {"kind": "documents"}, "byte_count": "ip"},
            "upstream": unshaped(channel.upstream_mbps),
            "downstream": {**unshaped(channel.capacity_mbps), "regulator": False},
            "cmts": {
                "channel": {
                    "kind": "rate",
                    "rate_mbps": channel.mbps,
                    "channels": channel.channels,
                },
                "framing": {"ethernet_bytes": 18, "mac_header_bytes": 0},
                "unit": "connection",
                "queue": queue,
            },
            "tcp": {
                "congestion_control": {"kind": "reno"},
                "ack_every_segments": 2,
                "delayed_ack_ms": 200,
                "delayed_ack_beats": True,
                "min_rto_s": 1,
                "max_window_segments": channel.window_segments,
            },
            "homes": {_home(flows): _tier(flows) for flows in self.flows},
            "servers": {flows.name: _server(flows, channel) for flows in self.flows},
            "traffic": {flows.name: _entry(flows) for flows in self.flows},
        }
        return values | {"metrics": {"connections": _CONNECTIONS, **self.metrics}}


def _server(flows: Flows, channel: Channel) -> dict[str, Any]:
    one_way_ms = flows.one_way_ms or (flows.rtt_ms - channel.not_links_ms) / 2
    return {"delay_ms": one_way_ms - _CABLE_MS, "rate_mbps": flows.link_mbps}


def _entry(flows: Flows) -> dict[str, Any]:
    is_web = flows.app["kind"] == "web_sessions"
    server = {"servers": [flows.name]} if is_web else {"server": flows.name}
    return {**flows.app, **server, "home": _home(flows)}


def _home(flows: Flows) -> str:
    return f"of-{flows.name}"


def _tier(flows: Flows) -> dict[str, Any]:
    """Homes whose service has a cap, which counts Ethernet frames, or none."""
    homes = {"count": flows.homes}
    if flows.cap_mbps is None:
        return homes
    rate = flows.cap_mbps / ETHERNET
    caps = {"sustained_mbps": rate, "peak_mbps": rate, "regulator": True}
    return {**homes, "downstream": {**caps, "queue": {"limit_packets": 2048}}}


# The applications.


SEND_JITTER = {"send_jitter_us": 20}
"""Of FTP and on/off flows: ns-2's overhead_, as public scripts of the group set it."""

_OF_TRANSFER = ("start_s", "stop_s", "file_bytes", "tcp")


def ftp(name: str, rtt_ms: float = 80, **keys: Any) -> Flows:
    """An endless download."""
    own = {key: keys.pop(key) for key in _OF_TRANSFER if key in keys}
    tcp = SEND_JITTER | own.pop("tcp", {})
    app = {"kind": "transfer", "direction": "down", "start_spread_s": 2, "tcp": tcp, **own}
    return Flows(name, app, rtt_ms, **keys)


def voip(one_way_ms: float) -> Flows:
    """The call of section 3.2.2.2."""
    app = {
        "kind": "stream",
        "purpose": "voice",
        "playout": "fixed",
        "direction": "down",
        "packet_bytes": 238,
        "start_s": 0,
    }
    return Flows("voip", app, one_way_ms=one_way_ms)


def udp(name: str, mbps: float, **keys: Any) -> Flows:
    """Packets of 1500 bytes at a constant rate."""
    app: dict[str, Any] = {
        "kind": "stream",
        "purpose": "data",
        "direction": "down",
        "packet_bytes": 1500,
        "interval_ms": 12 / mbps,
    }
    app |= {key: keys.pop(key) for key in ("start_s", "stop_s") if key in keys}
    return Flows(name, app, **keys)


FULL_TCP = {
    "recovery": "full_sack",
    "ack_every_segments": 1,
    "delayed_ack_ms": 100,
}
"""Of video, and FTP beside it in chapter 4: ns-2's segsperack_ and interval_."""

BUFFER_S = 120
"""Of the player: what tables 4.12, 4.13, 5.28 and 5.29 have fetched and not played."""

_OF_VIDEO = ("ladder_mbps", "adaptation")


def has(name: str, rtt_ms: float = 80, **keys: Any) -> Flows:
    """Adaptive video; `ladder_mbps` and `adaptation` as in a scenario."""
    app: dict[str, Any] = {
        "kind": "video",
        "start_spread_s": 2,
        "fill_buffer": True,
        "buffer_s": BUFFER_S,
        "tcp": FULL_TCP,
    }
    app |= {key: keys.pop(key) for key in _OF_VIDEO if key in keys}
    if "ladder_mbps" not in app:
        app["ladder"] = "hong2015"
    return Flows(name, app, rtt_ms, **keys)


def web(name: str, rtt_ms: float = 80, **keys: Any) -> Flows:
    """A user of the web in each of the homes (section 4.2.3)."""
    return Flows(name, {"kind": "web_sessions", "sessions": 1}, rtt_ms, **keys)


def probe(rtt_ms: float, kilobytes: int = 20, **keys: Any) -> Flows:
    """The designated flow that the web response time is measured of."""
    app = {
        "kind": "web_sessions",
        "pushed": True,
        "think_s": {"kind": "exponential", "mean": 10},
        "objects": {"kind": "constant", "value": 1},
        "object_units": {"kind": "constant", "value": kilobytes},
        "unit_bytes": 1024,
        "tcp": {"restart_after_idle": False},
    }
    return Flows("wrt-client", app, rtt_ms, **keys)


def on_off(
    name: str,
    sources: int,
    mbps: Sequence[float],
    on_s: Sequence[float],
    off_per_on: float,
) -> Flows:
    """Exponential on/off sources over TCP (section 5.3.2), one in each home."""
    app = {
        "kind": "on_off",
        "direction": "down",
        "sources": 1,
        "mean_mbps": list(mbps),
        "on_s": list(on_s),
        "off_per_on": off_per_on,
        "tcp": SEND_JITTER,
    }
    return Flows(name, app, homes=sources)
