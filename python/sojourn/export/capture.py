"""A capture of the packets that pass a point on the path, as Wireshark reads it.

Payloads are not simulated: only headers are captured, of packets at their full length. Link framing
is left out: packets begin with their IP header.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .. import _sojourn
from ..store import StoredRun
from . import headers
from .headers import Ends, Syn
from .pcapng import Frame, pcapng
from .runs import packets_of

POINTS = {
    "home": "the home's side of the modem, of the first home",
    "channel": "the cable, as the last byte leaves the modem upstream, the CMTS downstream",
    "cmts": "the network's side of the CMTS",
    "server": "the servers",
}
"""Points on the path, from the home on."""

_WAY = tuple(POINTS)
_HOME_NET, _SERVER_NET = (10, 0), (198, 18)  # RFC 1918; RFC 2544, for benchmarks
_FIRST_PORT, _PORTS = 49_152, 16_384  # RFC 6335, section 6
_LARGEST_WINDOW, _LARGEST_SHIFT = 65_535, 14  # RFC 7323, section 2.3
_DEFAULT_MSS, _DEFAULT_WINDOW = 1460, 10_000
_DROPS = {
    "overflow": "dropped: the queue was full",
    "aqm": "dropped early by the queue manager",
    "link": "lost at random on the server's link",
    "superseded": "replaced in the modem by a newer acknowledgement",
    "contention": "discarded by the modem after requests in vain",
}

Packet = dict[str, Any]


def capture(run: StoredRun, point: str) -> bytes:
    """All packets that pass a point, in the order in which they do."""
    packets = packets_of(run).to_pylist()
    path = _Path(run.scenario)
    passing = ((_time_s(packet, point, path.cable_s), packet) for packet in packets)
    seen = [(time, p) for time, p in passing if time is not None and _is_here(p, point)]
    seen.sort(key=lambda entry: (entry[0], entry[1]["packet"]))
    frames = [path.frame(time, packet, point) for time, packet in seen]
    meta = run.meta
    return pcapng(
        frames,
        application=f"sojourn {_sojourn.version}",
        comment=f"Simulated with seed {meta['seed']}, fingerprint {meta['fingerprint']}",
        interface=point,
        description=POINTS[point],
        names=path.names(),
    )


def _is_here(packet: Packet, point: str) -> bool:
    return point != "home" or int(packet["home"]) == 1


def _time_s(packet: Packet, point: str, cable_s: float) -> float | None:
    """When a packet passes a point, `None` if it does not."""
    came = packet["ended_s"] if packet["fate"] == "delivered" else None
    passed: float | None = packet["passed_s"]
    if packet["direction"] == "up":
        at_cmts = None if passed is None else passed + cable_s
        times = (packet["sent_s"], passed, at_cmts, came)
    else:
        times = (came, passed, packet["reached_cmts_s"], packet["sent_s"])
    return times[_WAY.index(point)]


def _is_behind_queue(packet: Packet, point: str) -> bool:
    """Has a packet left its queue there?"""
    is_home_side = _WAY.index(point) < (1 if packet["direction"] == "up" else 2)
    is_down: bool = packet["direction"] == "down"
    return is_home_side == is_down


def _comment(packet: Packet, is_behind: bool) -> str:
    comments = []
    if packet["marked"]:
        comments.append("marked by the queue manager" if is_behind else "marked later in the queue")
    if drop := _DROPS.get(packet["fate"]):
        comments.append(f"{drop}, at {packet['ended_s']:.6f} s")
    return "; ".join(comments)


@dataclass
class _Path:
    """What headers have of a scenario."""

    scenario: dict[str, Any]
    ports: dict[tuple[Any, ...], int] = field(default_factory=dict)
    used: dict[int, int] = field(default_factory=dict)

    @property
    def cable_s(self) -> float:
        """One-way delay of the cable."""
        return float(self.scenario["cable"]["delay_ms"]) / 1e3

    def names(self) -> dict[str, bytes]:
        """Servers' addresses."""
        return {name: self._server(name) for name in self.scenario["servers"]}

    def frame(self, time_s: float, packet: Packet, point: str) -> Frame:
        """The packet as it is there."""
        is_behind = _is_behind_queue(packet, point)
        ends = self._ends(packet)
        if packet["flags"] is None:
            payload = max(packet["size_bytes"] - headers.IP_BYTES - headers.UDP_BYTES, 0)
            protocol, inner = headers.UDP, headers.udp(ends, payload)
        else:
            payload = packet["payload_bytes"]
            protocol, inner = headers.TCP, self._segment(ends, packet)
        length = headers.IP_BYTES + len(inner) + payload
        ecn = "ce" if packet["marked"] and is_behind else packet["ecn"]
        traffic_class = self._entry(packet)["dscp"] << 2 | headers.ECN[ecn]
        number = packet["packet"]
        ip = headers.ipv4(ends, protocol, length, traffic_class=traffic_class, number=number)
        return Frame(round(time_s * 1e9), ip + inner, length, _comment(packet, is_behind))

    def _segment(self, ends: Ends, packet: Packet) -> bytes:
        is_syn = "syn" in packet["flags"]
        syn = self._syn(packet)
        echo = packet["echo_s"]
        times = None if echo is None else (_ms(packet["sent_s"]), _ms(echo))
        blocks = list(_blocks(packet["sack"] or ""))
        options = headers.tcp_options(times, blocks, syn if is_syn else None)
        window = min(self._window(packet), _LARGEST_WINDOW << _LARGEST_SHIFT)
        window = min(window, _LARGEST_WINDOW) if is_syn else window >> syn.window_shift
        seq, ack, flags = packet["seq"], packet["ack"], packet["flags"]
        return headers.tcp(ends, seq, ack, flags, window, options, packet["payload_bytes"])

    def _syn(self, packet: Packet) -> Syn:
        window, shift = self._window(packet), 0
        while window >> shift > _LARGEST_WINDOW and shift < _LARGEST_SHIFT:
            shift += 1
        recovery = self._tcp(packet, "recovery", "sack")
        selective = recovery in ("sack", "full_sack")
        return Syn(self._tcp(packet, "mss_bytes", _DEFAULT_MSS), shift, selective)

    def _window(self, packet: Packet) -> int:
        """The receiver's window in bytes."""
        segments: int = self._tcp(packet, "max_window_segments", _DEFAULT_WINDOW)
        return segments * int(self._tcp(packet, "mss_bytes", _DEFAULT_MSS))

    def _tcp(self, packet: Packet, key: str, default: Any) -> Any:
        tables = (self._entry(packet).get("tcp", {}), self.scenario.get("tcp", {}))
        return next((table[key] for table in tables if key in table), default)

    def _entry(self, packet: Packet) -> dict[str, Any]:
        entry: dict[str, Any] = self.scenario["traffic"][packet["traffic"]]
        return entry

    def _ends(self, packet: Packet) -> Ends:
        home, server = bytes((*_HOME_NET, *divmod(packet["home"], 256))), packet["server"]
        ports = (self._home_port(packet), packet["server_port"])
        up = Ends((home, self._server(server)), ports)
        return up if packet["direction"] == "up" else up.reversed()

    def _server(self, name: str) -> bytes:
        number = list(self.scenario["servers"]).index(name) + 1
        return bytes((*_SERVER_NET, *divmod(number, 256)))

    def _home_port(self, packet: Packet) -> int:
        """Each connection has its own in its home, in the order of their first packets."""
        home = packet["home"]
        key = (home, packet["traffic"], packet["connection"])
        if key not in self.ports:
            count = self.used.get(home, 0)
            self.ports[key] = _FIRST_PORT + count % _PORTS
            self.used[home] = count + 1
        return self.ports[key]


def _ms(time_s: float) -> int:
    return int(time_s * 1e3)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """Blocks of the packet trace: `2921-4381 7301-8761`."""
    for block in text.split():
        start, end = block.split("-")
        yield int(start), int(end)
