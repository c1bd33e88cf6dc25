"""The headers of real packets, from their record."""

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from ..base.files import read_content

_PACKET = 6
_HEAD, _FIXED = 8, 20
_MOST_BYTES = 4 << 30


class Recorded(NamedTuple):
    """The first bytes of a packet, and its length."""

    head: bytes
    length: int


def heads_of(record: str | None) -> Mapping[int, Recorded]:
    """The packets of a record by their number; none if it is no longer there."""
    if record is None or not Path(record).is_file():
        return {}
    return dict(enumerate(_packets(read_content(record, most_bytes=_MOST_BYTES))))


def _packets(content: bytes) -> Iterator[Recorded]:
    """The packets of a pcapng file, which has been read by the simulator before."""
    at = 0
    while at + _HEAD + _FIXED <= len(content):
        kind, length = struct.unpack_from("<II", content, at)
        if kind == _PACKET:
            *_, kept, whole = struct.unpack_from("<IIIII", content, at + _HEAD)
            begin = at + _HEAD + _FIXED
            yield Recorded(content[begin : begin + kept], whole)
        at += max(length, 12)
