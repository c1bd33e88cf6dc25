"""Reads the traces of a run for export, and refuses values that no run of its scenario has."""

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..analysis.entries import entries_of
from ..base.lookup import listed
from ..store.checksums import DamagedError
from ..store.stored_run import StoredRun
from .headers import ECN, FLAGS
from .runs import ExportError

DROPS = {
    "overflow": "dropped: the queue was full",
    "aqm": "dropped early by the AQM",
    "link": "lost at random on the link to the server",
    "superseded": "dropped: the modem sent a newer acknowledgement instead",
    "contention": "dropped by the modem after its requests failed",
}
"""Outcomes of packets that were not delivered, and what they mean."""

_WORDS: Mapping[str, Collection[str]] = {
    "direction": ("up", "down"),
    "ecn": tuple(ECN),
    "outcome": ("delivered", *DROPS),
}
_TIMES = ("echo_s", "sent_s", "reached_cmts_s", "forwarded_s", "ended_s")
_SIZES = ("payload_bytes", "size_bytes")
_MOST_BYTES = 1 << 14
"""Of a packet: a jumbo frame has 9018, and framing and SACK blocks may come on top."""
_BLOCKS = re.compile(r"[0-9]{1,20}-[0-9]{1,20}( [0-9]{1,20}-[0-9]{1,20}){0,2}")
_ROUNDED = 1e-6
"""By what share times may be beyond their ends."""
_MOST_SHOWN = 40


def packets_of(run: StoredRun) -> pa.Table:
    """The packet trace of a run."""
    if not run.keeps("packets"):
        raise ExportError(
            "the run has no packet trace; rerun the scenario with --set metrics.packet_trace=true"
        )
    packets = run.table("packets")
    _refuse(run, "packets", _faults_of_packets(packets, run.settings))
    return packets


def series_of(run: StoredRun) -> pa.Table:
    """The series of a run."""
    settings = run.settings
    interval_s = settings["metrics"]["series_interval_ms"] / 1e3
    _refuse(run, "series", [_beyond(run.series, "time_s", interval_s, settings["duration_s"])])
    return run.series


def _refuse(run: StoredRun, table: str, faults: Iterable[str]) -> None:
    """Raises `DamagedError` if there is a fault."""
    if fault := next(filter(None, faults), None):
        raise DamagedError(run.path_of(table), fault)


def _faults_of_packets(packets: pa.Table, scenario: Mapping[str, Any]) -> Iterator[str]:
    """What is wrong with each column; empty if nothing is."""
    names = {"traffic": entries_of(scenario), "server": scenario["servers"]}
    for column, words in {**names, **_WORDS}.items():
        yield _other_text(packets, column, words.__contains__, listed(list(words)))
    for column in _TIMES:
        yield _beyond(packets, column, 0, scenario["duration_s"])
    for column in _SIZES:
        yield _beyond(packets, column, 0, _MOST_BYTES)
    yield _other_text(packets, "flags", _are_flags, f"each of {listed(list(FLAGS))} once")
    yield _other_text(packets, "sack", _BLOCKS.fullmatch, "1 to 3 blocks such as 2921-4381")
    if pc.any(pc.less(packets["ended_s"], packets["sent_s"])).as_py():
        yield "a value of 'ended_s' is before that of 'sent_s'"


def _are_flags(text: str) -> bool:
    flags = text.split()
    return len(flags) == len(FLAGS.keys() & flags)


def _other_text(
    table: pa.Table, column: str, is_allowed: Callable[[str], object], allowed: str
) -> str:
    """What is wrong with a column of texts; empty if all of them are allowed."""
    texts = table[column].unique().drop_null().to_pylist()
    other = next((text for text in texts if not is_allowed(text)), None)
    return "" if other is None else _found(column, other, allowed)


def _beyond(table: pa.Table, column: str, least: float, most: float) -> str:
    """What is wrong with a column of numbers; empty if all of them are in between."""
    low, high = least * (1 - _ROUNDED), most * (1 + _ROUNDED)
    ends = pc.min_max(table[column].drop_null()).as_py().values()
    other = next((end for end in ends if end is not None and not low <= end <= high), None)
    return "" if other is None else _found(column, other, f"{least:g} to {most:g}")


def _found(column: str, value: object, allowed: str) -> str:
    return f"found {str(value)[:_MOST_SHOWN]!r} in {column!r}; allowed: {allowed}"
