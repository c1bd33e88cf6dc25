"""Captures for Wireshark: the packets that pass a point on the path.

Payloads are not simulated, so packets are captured with headers only and their full length. There
is no link-layer framing: packets begin with the IP header.
"""

from collections import ChainMap
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from .._sojourn import version
from ..analysis.entries import entries_of
from ..store.stored_run import StoredRun
from . import headers
from .cable import one_way_ms
from .headers import Ends, Syn
from .pcapng import Frame, pcapng
from .recorded import heads_of
from .traces import DROPS, packets_of

POINTS = {
    "home": "the first home's computers, before its router if it has one, else its modem",
    "channel": "the cable, when the last byte leaves the modem (upstream) or the CMTS (downstream)",
    "cmts": "network side of the CMTS",
    "server": "the servers",
}
"""Capture points, in order from the home to the server."""

_WAY = tuple(POINTS)
_HOME_NET, _SERVER_NET = (10, 0), (198, 18)  # RFC 1918; RFC 2544, for benchmarks
_FIRST_PORT, _PORTS = 49_152, 16_384  # RFC 6335, section 6
_LARGEST_WINDOW, _LARGEST_SHIFT = 65_535, 14  # RFC 7323, section 2.3
_DEFAULT_MSS, _DEFAULT_WINDOW = 1460, 10_000
_ROWS_AT_A_TIME = 65_536

Packet = dict[str, Any]


def capture(run: StoredRun, point: str) -> Iterator[bytes]:
    """The parts of a pcapng file of all packets that pass a point, in order of time."""
    path = _Path(run.settings)
    packets = packets_of(run)
    times = passing_s(packets, point, run.settings)
    rows = _rows_in_order(packets.append_column("passes_s", times))
    meta = run.meta
    return pcapng(
        (path.frame(row, point) for row in rows),
        application=f"sojourn {version}",
        comment=f"Simulated with seed {meta['seed']}, fingerprint {meta['fingerprint']}"
        f"{path.about_real_packets}",
        interface=point,
        description=POINTS[point],
        names=path.servers,
    )


def passing_s(packets: pa.Table, point: str, scenario: Mapping[str, Any]) -> pa.ChunkedArray:
    """When each packet passes a point; null if it never does."""
    cable_s = one_way_ms(scenario) / 1e3
    came = pc.if_else(pc.equal(packets["outcome"], "delivered"), packets["ended_s"], None)
    sent, passed = packets["sent_s"], packets["forwarded_s"]
    up = (sent, passed, pc.add(passed, cable_s), came)
    down = (came, passed, packets["reached_cmts_s"], sent)
    place = _WAY.index(point)
    times = pc.if_else(pc.equal(packets["direction"], "up"), up[place], down[place])
    return pc.if_else(pc.equal(packets["home"], 1), times, None) if point == "home" else times


def _rows_in_order(packets: pa.Table) -> Iterator[Packet]:
    """The packets that pass, in order of time; few of them are rows at once."""
    keys = [("passes_s", "ascending"), ("packet", "ascending")]
    order = pc.sort_indices(packets.select(["passes_s", "packet"]), keys)
    passing = order.slice(0, len(packets) - packets["passes_s"].null_count)
    for start in range(0, len(passing), _ROWS_AT_A_TIME):
        yield from packets.take(passing.slice(start, _ROWS_AT_A_TIME)).to_pylist()


def _is_behind_queue(packet: Packet, point: str) -> bool:
    """Is the point behind the packet's queue?"""
    is_home_side = _WAY.index(point) < (1 if packet["direction"] == "up" else 2)
    is_down: bool = packet["direction"] == "down"
    return is_home_side == is_down


def _comment(packet: Packet, is_behind: bool, has_head: bool) -> str:
    comments = []
    if packet["handle"] is not None:
        headers_of = "" if has_head else "; its addresses and most of its header are not known"
        comments.append(f"real packet {packet['handle']}{headers_of}")
    if packet["marked"]:
        comments.append("ECN-marked by the AQM" if is_behind else "ECN-marked later in the queue")
    if drop := DROPS.get(packet["outcome"]):
        comments.append(f"{drop}, at {packet['ended_s']:.6f} s")
    return "; ".join(comments)


@dataclass(frozen=True)
class _Transport:
    """Header fields that follow from a traffic entry."""

    syn: Syn
    window: int
    """The receive window in bytes."""

    @staticmethod
    def of(scenario: dict[str, Any], entry: Mapping[str, Any]) -> "_Transport":
        """Takes TCP keys from the entry, else from the scenario, else the defaults."""
        keys = ChainMap(dict(entry.get("tcp", {})), scenario.get("tcp", {}))
        mss = keys.get("mss_bytes", _DEFAULT_MSS)
        window = mss * keys.get("max_window_segments", _DEFAULT_WINDOW)
        window = min(window, _LARGEST_WINDOW << _LARGEST_SHIFT)
        shift = next(n for n in range(_LARGEST_SHIFT + 1) if window >> n <= _LARGEST_WINDOW)
        selective = keys.get("recovery", "sack") in ("sack", "full_sack", "linux")
        return _Transport(Syn(mss, shift, selective), window)


class _Path:
    """Addresses, ports and header fields of a scenario."""

    def __init__(self, scenario: dict[str, Any]) -> None:
        self.servers = {
            name: bytes((*_SERVER_NET, *divmod(number, 256)))
            for number, name in enumerate(scenario["servers"], start=1)
        }
        self._transports = {
            name: _Transport.of(scenario, entry) for name, entry in entries_of(scenario).items()
        }
        real = {name: of for name, of in scenario["traffic"].items() if of["kind"] == "outside"}
        self._heads = {name: heads_of(of.get("record")) for name, of in real.items()}
        without = [name for name, heads in self._heads.items() if not heads]
        self.about_real_packets = (
            f"; headers of real packets are stand-ins ({', '.join(without)}): "
            "the replay of a record has the real ones"
            if without
            else ""
        )
        self._ports: dict[tuple[Any, ...], int] = {}
        self._used: dict[int, int] = {}

    def frame(self, packet: Packet, point: str) -> Frame:
        """The packet as captured at the point."""
        is_behind = _is_behind_queue(packet, point)
        ecn = headers.ECN["ce" if packet["marked"] and is_behind else packet["ecn"]]
        time_ns = round(packet["passes_s"] * 1e9)
        is_real = packet["handle"] is not None
        real = self._heads[packet["traffic"]].get(packet["handle"]) if is_real else None
        comment = _comment(packet, is_behind, real is not None)
        if real is not None:
            head = headers.with_class(real.head, packet["dscp"] << 2 | ecn)
            return Frame(time_ns, head, real.length, comment)
        transport, ends = self._transports[packet["traffic"]], self._ends(packet)
        if is_real and packet["server_port"] is None:
            payload = packet["payload_bytes"]
            protocol, inner = headers.UNKNOWN, b""
        elif packet["flags"] is None:
            around = headers.IP_BYTES + headers.UDP_BYTES
            whole = packet["payload_bytes"] if is_real else packet["size_bytes"] - around
            payload = max(whole, 0)
            protocol, inner = headers.UDP, headers.udp(ends, payload)
        else:
            payload = packet["payload_bytes"]
            protocol, inner = headers.TCP, _segment(ends, transport, packet)
        length = headers.IP_BYTES + len(inner) + payload
        traffic_class = packet["dscp"] << 2 | ecn
        number = packet["packet"]
        ip = headers.ipv4(ends, protocol, length, traffic_class=traffic_class, number=number)
        return Frame(time_ns, ip + inner, length, comment)

    def _ends(self, packet: Packet) -> Ends:
        home, server = bytes((*_HOME_NET, *divmod(packet["home"], 256))), packet["server"]
        ports = (self._home_port(packet), packet["server_port"] or 0)
        up = Ends((home, self.servers[server]), ports)
        return up if packet["direction"] == "up" else up.reversed()

    def _home_port(self, packet: Packet) -> int:
        """The home's port of a connection; ports are assigned in the order of first packets."""
        if packet["handle"] is not None:
            return packet["home_port"] or 0
        home = packet["home"]
        key = (home, packet["traffic"], packet["connection"])
        if key not in self._ports:
            count = self._used.get(home, 0)
            self._ports[key] = _FIRST_PORT + count % _PORTS
            self._used[home] = count + 1
        return self._ports[key]


def _segment(ends: Ends, transport: _Transport, packet: Packet) -> bytes:
    """The TCP header of a packet."""
    syn = transport.syn if "syn" in packet["flags"] else None
    echo = packet["echo_s"]
    times = None if echo is None else (_ms(packet["sent_s"]), _ms(echo))
    blocks = [] if syn else list(_blocks(packet["sack"] or ""))
    options = headers.tcp_options(times, blocks, syn)
    window = transport.window >> (0 if syn else transport.syn.window_shift)
    return headers.tcp(
        ends,
        packet["seq"],
        packet["ack"],
        packet["flags"],
        min(window, _LARGEST_WINDOW),
        options,
        packet["payload_bytes"],
    )


def _ms(time_s: float) -> int:
    return int(time_s * 1e3)


def _blocks(text: str) -> Iterator[tuple[int, int]]:
    """SACK blocks in the packet trace, written as `2921-4381 7301-8761`."""
    for block in text.split():
        start, end = block.split("-")
        yield int(start), int(end)
