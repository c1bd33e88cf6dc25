"""The data of the queue animation: events at the modem in a short time window."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ..runs.result import Result
from .catalog import Json
from .checked import number, table
from .lab_request import LabRequest

SHOWN_S = 1.0
"""The length of the window, unless it has too many events."""
MOST_EVENTS = 20_000
"""The limit of events per run."""
MOST_TRACED_BYTES = 250e6
"""How far runs are traced: the bytes a modem can have sent. Memory grows with them."""
METRICS: Json = {"modem_trace": True}
"""The metrics that an animation needs."""

_LEAVES = pa.array(["dequeue", "drop"])


@dataclass(frozen=True)
class FrameRequest:
    """A request for a time window of the queue animation."""

    lab_request: LabRequest
    """The runs; they end where the window ends."""
    from_s: float

    @staticmethod
    def read(sent: object) -> "FrameRequest":
        """Checks the request; raises `RequestError`."""
        sent = table("frame", sent, ("request", "from_s"))
        lab_request = LabRequest.read(sent.get("request"))
        from_s = number("from_s", sent.get("from_s", 0.0), 0.0, latest_s(lab_request))
        base = {**lab_request.base, "duration_s": min(from_s + SHOWN_S, lab_request.duration_s)}
        return FrameRequest(replace(lab_request, base=base), from_s)


def latest_s(lab_request: LabRequest) -> float:
    """The latest start of the window, in s."""
    peak_mbps = lab_request.base["upstream"].get("peak_mbps")
    # The core reports an invalid rate with a better message.
    is_rate = isinstance(peak_mbps, int | float) and peak_mbps > 0
    traced_s = MOST_TRACED_BYTES * 8e-6 / peak_mbps if is_rate else lab_request.duration_s
    return max(0.0, min(lab_request.duration_s, traced_s) - SHOWN_S)


def picture(frame_request: FrameRequest, runs: Mapping[str, Result]) -> Json:
    """The same window of each run: the packets queued at its start, and the events in it."""
    windows = {
        name: _Window.of(result.modem_events, frame_request) for name, result in runs.items()
    }
    to_s = min(window.to_s for window in windows.values())
    present = frame_request.lab_request.present()
    numbers = {
        entry: number
        for number, name in enumerate(present)
        for entry in frame_request.lab_request.entries(name)
    }
    return {
        "from_s": frame_request.from_s,
        "to_s": to_s,
        "activities": present,
        "runs": [
            {
                "name": name,
                "is_fifo": runs[name].settings["upstream"]["queue"]["scheduler"]["kind"] == "fifo",
                **window.json(frame_request.from_s, to_s, numbers),
            }
            for name, window in windows.items()
        ],
    }


@dataclass(frozen=True)
class _Window:
    """The events before and in the window, and the end of the window."""

    before: pa.Table
    within: pa.Table
    to_s: float

    @staticmethod
    def of(events: pa.Table, frame_request: FrameRequest) -> "_Window":
        start = int(np.searchsorted(events["time_s"].to_numpy(), frame_request.from_s))
        within = events.slice(start, MOST_EVENTS)
        is_all = start + MOST_EVENTS >= events.num_rows
        to_s = frame_request.lab_request.duration_s if is_all else within["time_s"][-1].as_py()
        return _Window(events.slice(0, start), within, to_s)

    def _tokens(self) -> float:
        """The level of the token bucket at the start of the window, in bytes."""
        near = (
            self.before["tokens_bytes"][-1:]
            if self.before.num_rows
            else self.within["tokens_bytes"]
        )
        return float(near[0].as_py()) if len(near) else 0.0

    def json(self, from_s: float, to_s: float, numbers: Mapping[str, int]) -> Json:
        """The window as JSON; times are in ms from its start, activities are numbers."""
        events = self.within.filter(pc.field("time_s") <= to_s)
        return {
            "waiting": _columns(_waiting(self.before), numbers),
            "sending": _columns(_sending(self.before), numbers),
            "tokens": self._tokens(),
            "events": {
                "ms": _rounded((events["time_s"].to_numpy() - from_s) * 1e3, 4),
                "kind": events["event"].to_pylist(),
                "tokens": _rounded(events["tokens_bytes"].to_numpy(), 0),
                **_columns(events, numbers),
            },
        }


def _sending(before: pa.Table) -> pa.Table:
    """The packet in transmission, as a table with at most one row."""
    taken = before.filter(pc.field("event") == "dequeue")
    last = taken.slice(max(0, taken.num_rows - 1))
    sent = before.filter(pc.field("event") == "sent")["packet"]
    return last.filter(pc.invert(pc.is_in(last["packet"], sent.combine_chunks())))


def _waiting(before: pa.Table) -> pa.Table:
    """The packets that arrived and have not left, in order of arrival."""
    came = before.filter(pc.field("event") == "arrive")
    left = before.filter(pc.is_in(before["event"].cast(pa.string()), _LEAVES))["packet"]
    return came.filter(pc.invert(pc.is_in(came["packet"], left.combine_chunks())))


def _columns(events: pa.Table, numbers: Mapping[str, int]) -> Json:
    return {
        "packet": events["packet"].to_pylist(),
        "activity": [numbers.get(name) for name in events["traffic"].to_pylist()],
        "bytes": events["bytes"].to_pylist(),
    }


def _rounded(values: np.ndarray[Any, Any], digits: int) -> list[float]:
    return [round(value, digits) for value in values.tolist()]
