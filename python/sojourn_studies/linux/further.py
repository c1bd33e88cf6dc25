"""Further uploads of the kernel's host: pauses, files, several flows, loss, slow ways back.

They were measured later. Reno and CUBIC are not paced, as on a host of today, and the receiver
does not merge. The kernel was run once to three times; what chance decides is run three times.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from sojourn.analysis.distribution import Numbers
from sojourn.store.stored_run import AbsentError, StoredRun

from ..framework.cases import Case, Runs, unshaped
from ..framework.rows import Row
from .cases import CABLE_MS, CONTROLS, HANDSHAKE_S, RETURN_MBPS, SERVER_MBPS, link
from .measured import ARRIVED, Flags, Packets, goodput_mbps, of_waits, packets

TABLE = "further"

_FILES = (10_000, 30_000, 100_000, 300_000, 1_000_000)
_LARGE_FILES = (300_000, 1_000_000, 3_000_000, 10_000_000)
_MIXED = {"n_reno_cubic_b100": ("reno", "cubic"), "n_bbr_cubic_b250": ("bbr", "cubic")}
"""The controls of two flows that differ, the first first."""
_STEPS = ((10, 20), (10, 5), (10, 20), (10, 10))
"""A link that changes: for how many s it has which Mbps."""
_DRAWS = 3

Words = dict[str, float]
"""The words of a row's load, as numbers."""


def title(row: Row) -> str:
    """The case in words; the control and what is special are in its name."""
    of = link(row)
    name = row.experiment.removeprefix("n_").replace("_", " ")
    return f"{name}: {of['rate']:g} Mbps, {of['rtt']:g} ms, buffer {of['buffer']:g} ms"


def window_s(row: Row) -> tuple[float, float]:
    """From when to when statistics are taken."""
    of = link(row)
    if "chunk" in of or of.get("bulk") == 0:
        return 0, _duration_s(of)
    if "bulk" in of:
        return 5, 60
    return (15, 60) if _has_two(of) else (10, 40)


def _has_two(of: Words) -> bool:
    return of.get("flows") == 2


def _duration_s(of: Words) -> float:
    if "chunk" in of:
        return of["ends"]
    if of.get("bulk") == 0:
        return of["start"] + of["files"] * of["round"] + 2
    return 60 if "bulk" in of or _has_two(of) else 40


def _tcp(control: str, of: Words) -> dict[str, Any]:
    return {
        "congestion_control": {"kind": CONTROLS[control]},
        "pacing": control == "bbr",
        "interrupt_interval_us": 0,
        **({"ecn": "classic"} if "ecn" in of else {}),
    }


def _control(row: Row) -> str:
    return row.experiment.split("_")[1] if "short" not in row.experiment else "cubic"


def _bulk(row: Row, of: Words) -> dict[str, Any]:
    """The uploads that go on."""
    if of.get("bulk") == 0:
        return {}
    bulk = {"kind": "transfer", "server": "receiver"}
    if row.experiment not in _MIXED and not {"late", "rtt2"} & set(of):
        chunks = {"file_bytes": int(of["chunk"]), "every_s": of["every"]} if "chunk" in of else {}
        return {"upload": {**bulk, "connections": int(of.get("flows", 1)), **chunks}}
    first, second = _MIXED.get(row.experiment, (_control(row),) * 2)
    far = "second" if "rtt2" in of else "receiver"
    return {
        "upload1": {**bulk, "tcp": _tcp(first, of)},
        "upload2": {
            **bulk,
            "server": far,
            "start_s": of.get("late", 0),
            "tcp": _tcp(second, of),
        },
    }


def _files(of: Words) -> dict[str, Any]:
    """Files of several sizes in turn, each over a connection of its own."""
    sizes = _LARGE_FILES if "large" in of else _FILES
    starts_s = {
        (size, turn): of["start"] + turn * of["round"] + place * of["step"]
        for place, size in enumerate(sizes)
        for turn in range(int(of.get("files", 0)))
    }
    file = {"kind": "transfer", "server": "receiver", "pause_s": 1000}
    return {
        f"{size // 1000} kB {turn}": {**file, "file_bytes": size, "start_s": start_s}
        for (size, turn), start_s in starts_s.items()
    }


def _queue(of: Words) -> dict[str, Any]:
    if "codel" not in of:
        return {"limit_bytes": round(of["rate"] * of["buffer"] * 125)}
    law = {"kind": "codel", "target_ms": of["codel"], "interval_ms": 100}
    return {"limit_packets": int(of["limit"]), "law": law}


def _scenario(row: Row) -> dict[str, Any]:
    of = link(row)
    back_mbps = of.get("rev", RETURN_MBPS)
    back_queue = {"queue": {"limit_bytes": int(of["revbuffer"])}} if "rev" in of else {}
    steps = [{"for_s": for_s, "mbps": mbps} for for_s, mbps in _STEPS]
    queue = {"limit_bytes": 10**9}
    lossy = {"rate_mbps": SERVER_MBPS, "loss_percent": of.get("loss"), "queue": queue}
    rtts_ms = {"receiver": of["rtt"], **({"second": of["rtt2"]} if "rtt2" in of else {})}
    return {
        "title": f"Linux 6.18, {row.experiment}",
        "duration_s": _duration_s(of) + HANDSHAKE_S,
        "dialect": "linux",
        "tcp": _tcp(_control(row), of),
        "upstream": {
            **unshaped(of["rate"]),
            "modem": {"kind": "link"},
            "queue": _queue(of),
            **({"capacity": {"steps": steps}} if "steps" in of else {}),
        },
        "downstream": {
            **unshaped(back_mbps, 3000 if "rev" in of else 1_000_000),
            **back_queue,
        },
        "cable": {"delay_ms": CABLE_MS},
        **({"core": {"lossy": {"upstream": lossy, "downstream": lossy}}} if "loss" in of else {}),
        "servers": {
            name: {"delay_ms": rtt_ms / 2 - CABLE_MS, "rate_mbps": SERVER_MBPS}
            for name, rtt_ms in rtts_ms.items()
        },
        "traffic": {**_bulk(row, of), **_files(of)},
        "metrics": {"packet_trace": True},
    }


@cache
def _cases(experiment: str, row: Row) -> tuple[Case, ...]:
    of = link(row)
    is_chance = bool({"flows", "bulk", "loss"} & set(of)) and of.get("bulk") != 0
    draws = range(_DRAWS if is_chance else 1)
    scenario = _scenario(row)
    return tuple(Case(f"{experiment}, run {n + 1}", scenario, packets=True, draw=n) for n in draws)


def cases_of(row: Row) -> Sequence[Case]:
    """The runs of a cell."""
    bare = row._replace(flow="", metric="", published="", unit="", note="", turn=0)
    return _cases(row.experiment, bare)


def value_of(row: Row, runs: Runs) -> float | None:
    """The mean of a cell over its runs."""
    values = [_value(row, runs[case.name]) for case in cases_of(row)]
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if len(known) == len(values) else None


def _value(row: Row, run: StoredRun) -> float | None:
    of, metric = link(row), row.metric
    scale = run.meta["duration_s"] / (_duration_s(of) + HANDSHAKE_S)
    start_s, end_s = (scale * end for end in window_s(row))
    if metric.startswith("fct"):
        return _file_ms(row, run)
    if metric.startswith("rev"):
        return _way_back(metric, run, (start_s, end_s), of)
    if metric.startswith("chunk"):
        return _chunk_ms(metric, packets(run), of)
    return _of_upload(row, run, (0 if metric.endswith("_all") else start_s, end_s), of)


def _of_upload(row: Row, run: StoredRun, window: tuple[float, float], of: Words) -> float | None:
    upload, metric = packets(run), row.metric
    if metric.startswith("goodput"):
        connections = np.unique(upload.connection)
        if metric == "goodput_flow":
            place = int(row.flow.removeprefix("upload ")) - 1
            if place >= len(connections):
                raise AbsentError(row.flow)
            upload = upload.where(upload.connection == connections[place])
        elif "bulk" in of:
            upload = upload.where(upload.connection == connections[0])
        return goodput_mbps(upload, *window)
    times_s = {
        "drops": lambda: upload.arrived_s[upload.is_dropped],
        "losses": lambda: upload.arrived_s[np.isnan(upload.received_s) & ~upload.is_dropped],
        "marks": lambda: upload.arrived_s[upload.is_marked],
    }.get(metric.removesuffix("_all"))
    if times_s is not None:
        return float(np.count_nonzero(_is_in(times_s(), window)))
    left_s, waits_ms = upload.waits(of["rate"])
    return of_waits(metric, waits_ms[_is_in(left_s, window)])


def _is_in(time_s: Numbers, window: tuple[float, float]) -> Flags:
    return (window[0] <= time_s) & (time_s < window[1])


def _file_ms(row: Row, run: StoredRun) -> float:
    """From the SYN to the last byte, over the files of a size that came whole."""
    names = pc.unique(run.packets["traffic"]).to_pylist()
    of_size = [name for name in names if name.startswith(f"{row.flow} ")]
    size_bytes = 1000 * int(row.flow.removesuffix(" kB"))
    times_ms = [_one_file_ms(run.packets, name, size_bytes) for name in of_size]
    whole_ms = [ms for ms in times_ms if ms is not None]
    if not whole_ms:
        raise AbsentError(f"files of {row.flow}")
    return float(np.median(whole_ms) if row.metric.endswith("p50") else np.mean(whole_ms))


def _one_file_ms(table: pa.Table, name: str, size_bytes: int) -> float | None:
    is_sent = pc.and_(pc.equal(table["traffic"], name), pc.equal(table["direction"], "up"))
    sent = table.filter(is_sent)
    is_data = pc.greater(sent["payload_bytes"], 0)
    came = sent.filter(pc.and_(is_data, pc.equal(sent["outcome"], ARRIVED)))
    first = came.group_by("seq").aggregate([("ended_s", "min"), ("payload_bytes", "max")])
    if (pc.sum(first["payload_bytes_max"]).as_py() or 0) < size_bytes:
        return None
    return float(1e3 * (pc.max(first["ended_s_min"]).as_py() - pc.min(sent["sent_s"]).as_py()))


def _chunk_ms(metric: str, upload: Packets, of: Words) -> float:
    """From a write to its last byte; the handshake before the first one is left out."""
    came = upload.where(~np.isnan(upload.received_s))
    came = came.where(np.argsort(came.received_s, kind="stable"))
    _, first = np.unique(came.seq, return_index=True)
    came = came.where(first)
    base = came.seq.min()
    number = ((came.seq + came.payload_bytes - base - 1) // of["chunk"]).astype(int)
    ends_s = np.array([came.received_s[number == n].max() for n in range(number.max() + 1)])
    written_s = np.arange(len(ends_s)) * of["every"]
    written_s[1:] -= of["rtt"] / 1e3
    times_ms = 1e3 * (ends_s - written_s)
    later = times_ms[1:]
    if not len(later):
        raise AbsentError("a second chunk")
    found = {"chunk_first": times_ms[0], "chunk_p50": np.median(later), "chunk_max": later.max()}
    return float(found[metric])


def _way_back(metric: str, run: StoredRun, window: tuple[float, float], of: Words) -> float:
    """Drops of acknowledgements, and how long others wait."""
    table = run.packets
    back = table.filter(pc.equal(table["direction"], "down"))
    sent_s, left_s, size_bytes = (
        back[name].to_numpy().astype(float) for name in ("sent_s", "forwarded_s", "size_bytes")
    )
    came_s = sent_s + of["rtt"] / 2e3 - CABLE_MS / 1e3
    is_dropped = np.isnan(left_s)
    if metric == "rev_drops":
        return float(np.count_nonzero(is_dropped & _is_in(came_s, window)))
    waits_ms = 1e3 * (left_s - size_bytes * 8 / of["rev"] / 1e6 - came_s)
    return float(waits_ms[~is_dropped & _is_in(left_s, window)].mean())
