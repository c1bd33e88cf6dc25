"""Traces for mahimahi: what the first home's line carried, as chances to send 1500 bytes."""

from collections.abc import Iterator
from math import ceil

import pyarrow as pa
import pyarrow.compute as pc

from ..analysis.entries import router_of_first_home
from ..store.stored_run import StoredRun
from .runs import ExportError
from .traces import packets_of

DIRECTIONS = ("up", "down")
_CHANCE_BYTES = 1500


def mahimahi(run: StoredRun, direction: str) -> Iterator[str]:
    """The lines of a trace: the millisecond of each chance, from `metrics.from_s` on.

    Bytes are those of the simulated link, as where a scenario reads such a trace. Raises
    `ExportError` if the line was idle, or may have been behind a router: what it could have carried
    then is not known.
    """
    if direction == "up" and "upstream" in router_of_first_home(run.settings):
        raise ExportError(
            "a router stands before the first home's line, and when packets leave it is not "
            "recorded; allowed: the direction down, or a run without router.upstream"
        )
    from_s: float = run.settings["metrics"]["from_s"]
    free_s, sent_bytes, chances = from_s, 0, 0
    for came_s, left_s, size_bytes in _carried(run, direction, from_s):
        if came_s > free_s:
            raise _idle(direction, free_s, came_s)
        free_s = left_s
        sent_bytes += size_bytes
        while sent_bytes >= (chances + 1) * _CHANCE_BYTES:
            chances += 1
            # A chance at a time is of the millisecond before it.
            yield f"{max(1, ceil((left_s - from_s) * 1e3))}\n"
    if not chances:
        raise ExportError(
            f"the first home's line carried {sent_bytes} bytes {direction}; allowed: 1500 or more"
        )


def _carried(run: StoredRun, direction: str, from_s: float) -> list[tuple[float, float, int]]:
    """When each packet came to the line and left it, in s, and its bytes, in order of leaving."""
    packets = packets_of(run)
    is_mine = pc.and_(pc.equal(packets["direction"], direction), pc.equal(packets["home"], 1))
    mine: pa.Table = packets.filter(is_mine)
    came = mine["sent_s"] if direction == "up" else mine["reached_cmts_s"]
    columns = (came, mine["forwarded_s"], mine["size_bytes"])
    rows = zip(*(column.to_pylist() for column in columns), strict=True)
    known = [row for row in rows if row[0] is not None and row[1] is not None]
    return sorted((row for row in known if row[1] > from_s), key=lambda row: row[1])


def _idle(direction: str, free_s: float, came_s: float) -> ExportError:
    return ExportError(
        f"the line was idle {direction} for {(came_s - free_s) * 1e3:.3g} ms at {free_s:.3f} s; "
        "allowed: packets that always wait, as those of a stream that is faster than the line or, "
        "after metrics.from_s, of uploads and downloads"
    )
