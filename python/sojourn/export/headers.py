"""IPv4, TCP and UDP headers of simulated packets."""

import struct
from dataclasses import dataclass

TCP, UDP = 6, 17
UNKNOWN = 253  # for experiments: RFC 3692, section 2.1
IP_BYTES, TCP_BYTES, UDP_BYTES = 20, 20, 8

_DONT_FRAGMENT = 0x4000
_HOPS = 64
FLAGS = {"fin": 0x01, "syn": 0x02, "ack": 0x10, "ece": 0x40, "cwr": 0x80, "ae": 0x100}
"""Bits of TCP by their name in the packet trace (RFC 9293, section 3.1; RFC 3168; AccECN)."""
ECN = {"not_ect": 0b00, "ect1": 0b01, "ect0": 0b10, "ce": 0b11}
"""The ECN field by its name in the packet trace (RFC 3168, section 5)."""


@dataclass(frozen=True)
class Ends:
    """Addresses and ports; the sender comes first."""

    addresses: tuple[bytes, bytes]
    ports: tuple[int, int]

    def reversed(self) -> "Ends":
        """These ends for the opposite direction."""
        return Ends(self.addresses[::-1], self.ports[::-1])


@dataclass(frozen=True)
class Syn:
    """The options of a SYN (RFC 9293, 7323 and 2018)."""

    mss: int
    window_shift: int
    selective: bool


def ipv4(ends: Ends, protocol: int, length: int, *, traffic_class: int, number: int) -> bytes:
    """An IPv4 header with checksum, for a packet of `length` bytes in total (RFC 791)."""
    source, destination = ends.addresses
    fields = (0x45, traffic_class, length, number & 0xFFFF, _DONT_FRAGMENT, _HOPS, protocol)
    head = struct.pack(">BBHHHBB", *fields)
    checksum = _checksum(head + source + destination)
    return head + struct.pack(">H", checksum) + source + destination


def with_class(head: bytes, traffic_class: int) -> bytes:
    """The header of a real packet, IPv4 or IPv6, with another code point and ECN field."""
    if head[0] >> 4 == 6:
        return (
            bytes([0x60 | traffic_class >> 4, traffic_class << 4 & 0xF0 | head[1] & 0x0F])
            + head[2:]
        )
    end = 4 * (head[0] & 0x0F)
    checksum = _checksum(bytes([head[0], traffic_class]) + head[2:10] + bytes(2) + head[12:end])
    return bytes([head[0], traffic_class]) + head[2:10] + struct.pack(">H", checksum) + head[12:]


def tcp(
    ends: Ends, seq: int, ack: int | None, flags: str, window: int, options: bytes, payload: int
) -> bytes:
    """A TCP header (RFC 9293, section 3.1); the checksum assumes a payload of zeros.

    Sequence numbers wrap at 32 bits.
    """
    bits = sum(FLAGS[flag] for flag in flags.split())
    offset = (TCP_BYTES + len(options)) // 4
    wrap = 0xFFFF_FFFF
    fields = (
        *ends.ports,
        seq & wrap,
        (ack or 0) & wrap,
        offset << 4 | bits >> 8,
        bits & 0xFF,
        window,
    )
    head = struct.pack(">HHIIBBH", *fields)
    checksum = _checksum(
        _pseudo(ends, TCP, len(head) + 4 + len(options) + payload) + head + options
    )
    return head + struct.pack(">HH", checksum, 0) + options


def udp(ends: Ends, payload: int) -> bytes:
    """A UDP header (RFC 768); the checksum assumes a payload of zeros."""
    head = struct.pack(">HHH", *ends.ports, UDP_BYTES + payload)
    checksum = _checksum(_pseudo(ends, UDP, UDP_BYTES + payload) + head)
    return head + struct.pack(">H", checksum or 0xFFFF)


def tcp_options(
    times_ms: tuple[int, int] | None, blocks: list[tuple[int, int]], syn: Syn | None
) -> bytes:
    """TCP options in the order of Linux, padded to 32-bit words.

    `times_ms` are the timestamp value and echo reply (RFC 7323), `blocks` the SACK blocks
    (RFC 2018).
    """
    options = b""
    if syn:
        options += struct.pack(">BBH", 2, 4, syn.mss)
        options += b"\x04\x02" if syn.selective else b""
    if times_ms:
        padding = b"" if syn and syn.selective else b"\x01\x01"
        value, echo = (time & 0xFFFF_FFFF for time in times_ms)
        options += padding + struct.pack(">BBII", 8, 10, value, echo)
    if syn:
        options += struct.pack(">BBBB", 1, 3, 3, syn.window_shift)
    if blocks:
        options += struct.pack(">BBBB", 1, 1, 5, 2 + 8 * len(blocks))
        edges = (edge & 0xFFFF_FFFF for block in blocks for edge in block)
        options += b"".join(struct.pack(">I", edge) for edge in edges)
    return options + b"\x01" * (-len(options) % 4)


def _pseudo(ends: Ends, protocol: int, length: int) -> bytes:
    """The pseudo-header that checksums include (RFC 9293, section 3.1)."""
    return b"".join(ends.addresses) + struct.pack(">BBH", 0, protocol, length & 0xFFFF)


def _checksum(content: bytes) -> int:
    """The Internet checksum (RFC 1071)."""
    content += bytes(len(content) % 2)
    total: int = sum(struct.unpack(f">{len(content) // 2}H", content))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF
