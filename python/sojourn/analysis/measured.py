"""What a log of a measured line says, as Python objects. The Rust core reads and answers."""

import json
import os
from bz2 import BZ2Decompressor
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from lzma import LZMADecompressor, LZMAError
from typing import Any

import numpy as np

from .._sojourn import LineLog, ScenarioError, digits_of_letter
from ..base.files import read_content
from ..base.grid import Grid, digits, informative
from ..base.problems import refusal
from .bufferbloat import letters_grid
from .distribution import Numbers


@dataclass(frozen=True)
class UnderLoad:
    """What one load did to the probes: delays in ms, rates in Mbps; `None` if not measured."""

    host: int | None
    """Its number, from 1, where the log has several hosts."""
    load: str | None
    """`idle`, `down`, `up` or `both`; `None` where the log does not say what ran."""
    answered: int
    lost_percent: float | None
    rtt_p10_ms: float | None
    rtt_p50_ms: float | None
    rtt_p90_ms: float | None
    rtt_p99_ms: float | None
    added_ms: float | None
    """What the load adds to the mean round trip."""
    added_up_ms: float | None
    added_down_ms: float | None
    own_p50_ms: float | None
    """The median round trip of requests on the load's own connections."""
    down_mbps: float | None
    up_mbps: float | None


@dataclass(frozen=True)
class Responsiveness:
    """Round trips per minute under a load, as a test gave them, and the rule it follows."""

    load: str
    rpm: float
    rule: str


@dataclass(frozen=True)
class Measured:
    """The answer on a log. Round trips are medians in ms; `None` if not measured."""

    tool: str
    letter: str | None
    """On DSLReports' scale from A+ to F, by what the worst load adds to the mean round trip."""
    host: int | None
    """The worst host, of which letter and numbers are, where the log has several."""
    idle_ms: float | None
    downloading_ms: float | None
    uploading_ms: float | None
    both_ms: float | None
    """While downloads and uploads run at once."""
    loads: Sequence[UnderLoad]
    rates_count: str | None
    """What the rates count."""
    responsiveness: Sequence[Responsiveness]
    sentences: Sequence[str]

    @classmethod
    def of(cls, found: dict[str, Any]) -> "Measured":
        """From what the core found."""
        parts = {
            "loads": [UnderLoad(**one) for one in found["loads"]],
            "responsiveness": [Responsiveness(**one) for one in found["responsiveness"]],
        }
        return cls(**{field.name: found[field.name] for field in fields(cls)} | parts)


@dataclass(frozen=True)
class Stream:
    """Probes: when each was sent, and delays in ms; what is not known is NaN, as of lost ones."""

    sent_ms: Numbers
    up_ms: Numbers
    down_ms: Numbers
    rtt_ms: Numbers


@dataclass(frozen=True)
class Rates:
    """The mean rate of a direction before each time."""

    at_ms: Numbers
    mbps: Numbers


@dataclass(frozen=True)
class MeasuredLine:
    """A log of a measured line: its probes and rates, and the answer on it."""

    measured: Measured
    streams: Sequence[Stream]
    down: Rates
    up: Rates
    log: LineLog


Spans = Sequence[tuple[float, float]]


def read_log(
    path: str | os.PathLike[str],
    *,
    down_s: Spans = (),
    up_s: Spans = (),
    interval_s: float | None = None,
) -> MeasuredLine:
    """Reads a log of flent, irtt, ping, fping, Crusader or networkQuality, or CSV, maybe packed.

    With `down_s` and `up_s`, pairs of seconds after the first probe, it is known when downloads and
    uploads ran where the log does not say so; `interval_s` is the time between probes of a log
    without times. Raises `ScenarioError` for what is no log, and for times that cannot be right.

    >>> from pathlib import Path
    >>> rows = [f"{100 * n},20,idle" for n in range(40)]
    >>> rows += [f"{100 * n},90,up" for n in range(40, 80)]
    >>> _ = Path("line.csv").write_text("\\n".join(["sent_ms,rtt_ms,load", *rows]))
    >>> line = sojourn.read_log("line.csv").measured
    >>> line.letter, line.idle_ms, line.uploading_ms
    ('C', 20.0, 90.0)
    """
    log = open_log(path)
    if interval_s is not None:
        log = log.with_interval(interval_s)
    if down_s or up_s:
        log = log.with_loads(list(down_s), list(up_s))
    streams = [Stream(*map(np.array, columns)) for columns in log.streams()]
    down, up = (Rates(*map(np.array, rates)) for rates in log.rates())
    return MeasuredLine(_answer(log), streams, down, up, log)


def _answer(log: LineLog, elsewhere: Sequence[str] = ()) -> Measured:
    return Measured.of(json.loads(log.measured_json(elsewhere)))


def of_one_line(lines: Sequence[MeasuredLine]) -> list[MeasuredLine]:
    """The same logs; what one lacks and another has is not asked for."""
    graded = [
        {one.load for one in line.measured.loads if one.added_ms is not None} for line in lines
    ]
    others = [set[str | None]().union(*graded[:at], *graded[at + 1 :]) for at in range(len(lines))]
    return [
        replace(line, measured=_answer(line.log, list(filter(None, loads))))
        for line, loads in zip(lines, others, strict=True)
    ]


def open_log(path: str | os.PathLike[str]) -> LineLog:
    """The log in a file; raises `ScenarioError` for what is none."""
    content, name = read_content(path, most_bytes=LineLog.MOST_BYTES), os.fspath(path)
    packer = next((one for head, one in _PACKERS.items() if content.startswith(head)), None)
    return LineLog(_unpacked(content, packer, name) if packer else content, name)


_PACKERS: dict[bytes, tuple[str, Callable[[], BZ2Decompressor | LZMADecompressor]]] = {
    b"BZh": ("bzip2", BZ2Decompressor),
    b"\xfd7zXZ": ("xz", LZMADecompressor),
}
"""By how their files begin. The core itself unpacks gzip."""


def _unpacked(content: bytes, packer: tuple[str, Callable[[], Any]], file: str) -> bytes:
    """The content of all parts of a packed file, up to a byte more than a log may have."""
    name, decompressor = packer
    plain = bytearray()
    try:
        while content and len(plain) <= LineLog.MOST_BYTES:
            part = decompressor()
            plain += part.decompress(content, LineLog.MOST_BYTES + 1 - len(plain))
            if not part.eof and len(plain) <= LineLog.MOST_BYTES:
                raise EOFError
            content = part.unused_data.lstrip(b"\0")
    except (OSError, EOFError, LZMAError):
        found = f"found a damaged or cut {name} file; allowed: a whole one"
        raise refusal(ScenarioError, file, "", found, code="unusable-file") from None
    return bytes(plain)


LOADS = {
    "idle": "idle",
    "down": "downloading",
    "up": "uploading",
    "both": "both at once",
    None: "all of the log",
}
"""What ran, as tables and figures name it."""


def named(load: str | None, host: int | None) -> str:
    """A load, and a host where there are several."""
    return LOADS[load] if host is None else f"host {host}, {LOADS[load]}"


def headline(lines: Mapping[str, Measured]) -> Grid:
    """One letter and the numbers that the logs have, a row for each log."""
    rows = {
        name: (one.letter, one.idle_ms, one.downloading_ms, one.uploading_ms, one.both_ms)
        for name, one in lines.items()
    }
    return letters_grid("the median round trip in ms", rows)


_COLUMNS = {
    "answered": "probes\nanswered",
    "lost_percent": "lost\n%",
    "rtt_p10_ms": "p10\nms",
    "rtt_p50_ms": "p50\nms",
    "rtt_p90_ms": "p90\nms",
    "rtt_p99_ms": "p99\nms",
    "added_ms": "added\nms",
    "added_up_ms": "of it\nup",
    "added_down_ms": "of it\ndown",
    "down_mbps": "down\nMbps",
    "up_mbps": "up\nMbps",
}


def loads_grid(measured: Measured) -> Grid:
    """A row for each load: round trips, what it adds, loss and rates; no columns of blanks."""

    def cell(one: UnderLoad, column: str) -> str:
        value = getattr(one, column)
        is_graded = column == "added_ms" and value is not None
        return digits_of_letter(value) if is_graded else digits(value)

    rows = [
        [named(one.load, one.host), *(cell(one, column) for column in _COLUMNS)]
        for one in measured.loads
    ]
    return informative("Round trips under each load", ["", *_COLUMNS.values()], rows)
