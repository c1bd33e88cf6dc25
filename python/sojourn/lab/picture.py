"""What the moving picture of the queue shows: the events at the modem in a short time."""

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
"""How much of a run is shown, unless more happens in it than can be."""
MOST_EVENTS = 20_000
"""Events that are shown of one run."""
MOST_TRACED_BYTES = 250e6
"""Up to where runs are traced: what a modem may have sent by then, for memory grows with it."""
METRICS: Json = {"modem_trace": True}
"""What runs for a picture have to keep."""

_LEAVES = pa.array(["dequeue", "drop"])


@dataclass(frozen=True)
class FrameRequest:
    """From when on the queue is to be seen."""

    lab_request: LabRequest
    """The runs, cut off where the picture ends."""
    from_s: float

    @staticmethod
    def read(sent: object) -> "FrameRequest":
        """What was sent; raises `RequestError`."""
        asked = table("glance", sent, ("wish", "from_s"))
        lab_request = LabRequest.read(asked.get("wish"))
        from_s = number("from_s", asked.get("from_s", 0.0), 0.0, latest_s(lab_request))
        base = {**lab_request.base, "duration_s": min(from_s + SHOWN_S, lab_request.duration_s)}
        return FrameRequest(replace(lab_request, base=base), from_s)


def latest_s(lab_request: LabRequest) -> float:
    """Up to when a picture may begin, in s."""
    peak_mbps = lab_request.base["upstream"].get("peak_mbps")
    # What is no rate is refused by the core, with a better message.
    is_rate = isinstance(peak_mbps, int | float) and peak_mbps > 0
    traced_s = MOST_TRACED_BYTES * 8e-6 / peak_mbps if is_rate else lab_request.duration_s
    return max(0.0, min(lab_request.duration_s, traced_s) - SHOWN_S)


def picture(frame_request: FrameRequest, runs: Mapping[str, Result]) -> Json:
    """The same time of each run: packets that wait at its start, and what happens from then on."""
    shots = {name: _Shot.of(result.modem_events, frame_request) for name, result in runs.items()}
    to_s = min(shot.to_s for shot in shots.values())
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
                **shot.json(frame_request.from_s, to_s, numbers),
            }
            for name, shot in shots.items()
        ],
    }


@dataclass(frozen=True)
class _Shot:
    """Events before the picture and in it, and up to when all of them are there."""

    before: pa.Table
    within: pa.Table
    to_s: float

    @staticmethod
    def of(events: pa.Table, frame_request: FrameRequest) -> "_Shot":
        start = int(np.searchsorted(events["time_s"].to_numpy(), frame_request.from_s))
        within = events.slice(start, MOST_EVENTS)
        is_all = start + MOST_EVENTS >= events.num_rows
        to_s = frame_request.lab_request.duration_s if is_all else within["time_s"][-1].as_py()
        return _Shot(events.slice(0, start), within, to_s)

    def _tokens(self) -> float:
        """The level of the bucket when the picture begins, in bytes."""
        near = (
            self.before["tokens_bytes"][-1:]
            if self.before.num_rows
            else self.within["tokens_bytes"]
        )
        return float(near[0].as_py()) if len(near) else 0.0

    def json(self, from_s: float, to_s: float, numbers: Mapping[str, int]) -> Json:
        """For the page; times are in ms from the start of the picture, activities by number."""
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
    """The packet that is being sent, as a table of one row or none."""
    taken = before.filter(pc.field("event") == "dequeue")
    last = taken.slice(max(0, taken.num_rows - 1))
    sent = before.filter(pc.field("event") == "sent")["packet"]
    return last.filter(pc.invert(pc.is_in(last["packet"], sent.combine_chunks())))


def _waiting(before: pa.Table) -> pa.Table:
    """The packets that came and did not leave, in the order in which they came."""
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
