"""Writes the subset of the pcapng format that captures of a simulation need.

Follows draft-ietf-opsawg-pcapng: a section header, one interface, name resolution, and packets with
comments. Files are little-endian, and blocks are padded to four bytes.
"""

import struct
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

_SECTION, _INTERFACE, _NAMES, _PACKET = 0x0A0D0D0A, 1, 4, 6
_BYTE_ORDER = 0x1A2B3C4D
_LINKTYPE_RAW = 101  # packets begin with their IP header
_IPV4_NAME = 1

# Numbers of options, by block (sections 3.5, 4.1 to 4.3 of the draft).
_COMMENT = 1
_APPLICATION = 4
_NAME, _DESCRIPTION, _RESOLUTION = 2, 3, 9


@dataclass(frozen=True)
class Frame:
    """A captured packet: its first bytes, original length and comment."""

    time_ns: int
    head: bytes
    length: int
    comment: str = ""


def pcapng(
    frames: Iterable[Frame],
    *,
    application: str,
    comment: str,
    interface: str,
    description: str,
    names: Mapping[str, bytes],
) -> Iterator[bytes]:
    """The blocks of a file with one section and one interface.

    `names` maps host names to IPv4 addresses.
    """
    yield _block(
        _SECTION,
        struct.pack("<IHHq", _BYTE_ORDER, 1, 0, -1)
        + _options([(_COMMENT, comment.encode()), (_APPLICATION, application.encode())]),
    )
    yield _block(
        _INTERFACE,
        struct.pack("<HHI", _LINKTYPE_RAW, 0, 0)
        + _options(
            [
                (_NAME, interface.encode()),
                (_DESCRIPTION, description.encode()),
                (_RESOLUTION, b"\x09"),  # times are in ns
            ]
        ),
    )
    yield _block(_NAMES, b"".join(_records(names)) + bytes(4))
    yield from map(_packet, frames)


def _packet(frame: Frame) -> bytes:
    high, low = divmod(frame.time_ns, 1 << 32)
    fixed = struct.pack("<IIIII", 0, high, low, len(frame.head), frame.length)
    comment = [(_COMMENT, frame.comment.encode())] if frame.comment else []
    return _block(_PACKET, fixed + _padded(frame.head) + _options(comment))


def _records(names: Mapping[str, bytes]) -> Iterator[bytes]:
    for name, address in names.items():
        value = address + name.encode() + b"\0"
        yield struct.pack("<HH", _IPV4_NAME, len(value)) + _padded(value)


def _options(options: list[tuple[int, bytes]]) -> bytes:
    written = [struct.pack("<HH", code, len(v)) + _padded(v) for code, v in options if v]
    return b"".join([*written, bytes(4)]) if written else b""


def _block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def _padded(content: bytes) -> bytes:
    return content + bytes(-len(content) % 4)
