"""Reads logs of probes: irtt, flent, ping, fping and CSV."""

import gzip
import io
import json
import math
import os
import re
import zlib
from collections.abc import Iterable, Iterator
from csv import DictReader
from csv import Error as CsvError
from dataclasses import replace
from typing import Any, NoReturn

import numpy as np

from .._sojourn import ScenarioError
from ..base.files import read_content
from ..base.json_text import json_of
from ..base.lookup import listed
from ..base.problems import refusal
from .log import Log, Probes, Values, step_of

MOST_BYTES = 256 * 1024 * 1024
"""Of a log that was compressed, when it is not."""
_HEAD_LINES = 50
"""Among which a log of ping or fping has a reply."""
FORMS = "irtt JSON, flent.gz, ping, fping, or CSV with sent_ms and received_ms"


def refuse(file: str, key: str, found: str) -> NoReturn:
    """Raises the error for a log that cannot be used."""
    raise refusal(ScenarioError, file, key, found)


def read(path: str | os.PathLike[str]) -> Log:
    """The probes of a log, as they are in it; raises `ScenarioError` if it is none."""
    log = _read(os.fspath(path), read_content(path))
    if not log.streams:
        refuse(log.file, "", "found no answered probe; allowed: 1000 and more")
    return replace(log, resolution_ms=max(log.resolution_ms, step_of(log)))


def _read(file: str, content: bytes) -> Log:
    content = _plain(file, content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        refuse(file, "", f"not UTF-8 text (byte {error.start}); allowed: {FORMS}")
    if not text.strip():
        refuse(file, "", f"found nothing in it; allowed: {FORMS}")
    if text.lstrip().startswith("{"):
        return _json(file, content)
    lines = text.splitlines()
    if _is_csv(lines):
        return _csv(file, text)
    return _lines(file, lines)


def _is_csv(lines: list[str]) -> bool:
    """Has it columns, and no reply of ping or fping, whose lines have commas too?"""
    if any(_FPING.match(line) or _REPLY.match(line) for line in lines[:_HEAD_LINES]):
        return False
    return "," in lines[0] or ";" in lines[0] or bool(_COLUMN.search(lines[0]))


def _plain(file: str, content: bytes) -> bytes:
    if content[:2] != b"\x1f\x8b":
        return content
    try:
        with gzip.GzipFile(fileobj=io.BytesIO(content)) as packed:
            plain = packed.read(MOST_BYTES + 1)
    except (OSError, EOFError, zlib.error) as error:
        refuse(file, "", f"found a damaged gzip file ({error}); allowed: a complete one")
    if len(plain) > MOST_BYTES:
        refuse(file, "", f"found more than {MOST_BYTES} bytes in it; allowed: a shorter log")
    return plain


def _json(file: str, content: bytes) -> Log:
    try:
        value = json_of(content)
    except (ValueError, json.JSONDecodeError) as error:
        refuse(file, "", f"found damaged JSON ({error}); allowed: {FORMS}")
    try:
        if "round_trips" in value:
            return _irtt(file, value["round_trips"])
        if "raw_values" in value:
            return _flent(file, value["raw_values"])
    except ScenarioError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        lacks = isinstance(error, KeyError)
        what = f"lacks {error}" if lacks else "a value is of another kind than there"
        found = f"found JSON that is not as irtt and flent write it ({what})"
        refuse(file, "", f"{found}; allowed: a file that they wrote")
    refuse(file, "", "found JSON without round_trips (irtt) or raw_values (flent)")


def _irtt(file: str, trips: list[Any]) -> Log:
    rows = []
    for trip in trips:
        if str(trip.get("lost", "false")) != "false":
            continue
        delay, times = trip["delay"], trip["timestamps"]["client"]
        sent = times["send"]["wall"]
        rows.append((sent, delay.get("send"), delay.get("receive"), delay["rtt"]))
    return Log(file, _streams(rows, 1e-6, ["irtt"] * len(rows)))


def _flent(file: str, raw: dict[str, list[Any]]) -> Log:
    """flent's time of a probe is that of its return, so it was sent a round trip before."""
    rows, names = [], []
    for name, values in raw.items():
        if "ping" not in name.lower():
            continue
        for value in values:
            if (rtt := value.get("val")) is None:
                continue
            sent = value["t"] * 1e3 - rtt
            rows.append((sent, value.get("owd_up"), value.get("owd_down"), rtt))
            names.append(name)
    if not rows:
        there = listed(list(raw)) or "none"
        refuse(file, "raw_values", f"found no answered probe in the series {there}; allowed: pings")
    one_way = {name for name, row in zip(names, rows, strict=True) if row[1] is not None}
    if one_way:  # round trips alone say less
        kept = [name in one_way for name in names]
        rows = [row for row, keep in zip(rows, kept, strict=True) if keep]
        names = [name for name, keep in zip(names, kept, strict=True) if keep]
    log = Log(file, _streams(rows, 1.0, names), resolution_ms=_resolution(raw))
    uploads, downloads = (_rates(raw, way) for way in ("upload", "download"))
    if not uploads and not downloads:
        return log
    times = np.array([time for time, _ in uploads or downloads])
    first = min(stream.sent_ms[0] for stream in log.streams) / 1e3
    loaded_s = (float(times.min() - first), float(times.max() - first))
    log = replace(log, loaded_s=loaded_s, has_download=bool(downloads))
    seconds = np.unique(np.round(times)).size
    if not uploads or seconds <= 2:
        return log
    streams = max(1.0, len(times) * float(np.median(np.diff(np.unique(times)))) / seconds)
    rate = float(np.median([rate for _, rate in uploads]))
    return replace(log, up_mbps=rate * min(streams, 64.0))


def _rates(raw: dict[str, list[Any]], way: str) -> list[tuple[float, float]]:
    """Times in s and rates in Mbps of what goes up or down, while it goes."""
    return [
        (value["t"], value["val"])
        for name, values in raw.items()
        if way in name.lower() and "ping" not in name.lower()
        for value in values
        if value.get("val")
    ]


def _resolution(raw: dict[str, list[Any]]) -> float:
    """1 ms where all times of flent are whole milliseconds."""
    times = [value["t"] for values in raw.values() for value in values[:50]]
    return 1.0 if all(abs(t * 1e3 - round(t * 1e3)) < 1e-6 for t in times) else 0.0


_UNITS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
_COLUMN = re.compile(r"(sent|received|returned|rtt)_(ns|us|ms|s)")


def _csv(file: str, text: str) -> Log:
    header = text.split("\n", 1)[0]
    reader = DictReader(io.StringIO(text), delimiter=";" if ";" in header else ",")
    columns: dict[str, tuple[str, float]] = {}
    for name in reader.fieldnames or []:
        if found := _COLUMN.fullmatch(name.strip()):
            columns[found[1]] = (name, _UNITS[found[2]])
    allowed = (
        "allowed: columns sent_UNIT and received_UNIT (at the server), returned_UNIT, rtt_UNIT, "
        "with ns, us, ms or s as UNIT, and stream"
    )
    if "sent" not in columns:
        refuse(file, "sent_ms", f"found no column of send times; {allowed}")
    if not columns.keys() & {"received", "returned", "rtt"}:
        refuse(file, "received_ms", f"found send times alone; {allowed}")
    rows, names = [], []
    places: dict[str, int] = {}
    for number, row in _csv_rows(file, reader):
        at = {}
        for key, (name, unit) in columns.items():
            cell = (row.get(name) or "").strip()
            places[key] = max(places.get(key, 0), len(cell.partition(".")[2]))
            at[key] = None if cell.lower() in ("", "nan") else _number(cell) * unit
            if not math.isfinite(at[key] or 0.0):
                refuse(file, f"line {number}: {name}", f"found {cell[:40]!r}; allowed: a number")
        sent, received, returned = at["sent"], at.get("received"), at.get("returned")
        rtt = at.get("rtt")
        if sent is None or (received is None and returned is None and rtt is None):
            continue  # lost
        if rtt is None and returned is not None:
            rtt = returned - sent
        up = None if received is None else received - sent
        down = None if up is None or rtt is None else rtt - up
        rows.append((sent, up, down, rtt))
        names.append(row.get("stream") or "probes")
    if not rows:
        refuse(file, "", "found no answered probe; allowed: 1000 and more")
    arrival = columns.get("received", columns["sent"])
    resolution = arrival[1] * 10.0 ** -places.get("received", places["sent"])
    return Log(file, _streams(rows, 1.0, names), resolution_ms=resolution)


def _csv_rows(file: str, reader: "DictReader[str]") -> Iterator[tuple[int, dict[str, str]]]:
    try:
        yield from enumerate(reader, 2)
    except CsvError as error:
        refuse(file, f"line {reader.line_num}", f"not CSV ({error}); allowed: numbers with commas")


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.inf


_REPLY = re.compile(
    r"(?:\[(?P<at>\d+\.\d+)\] )?(?:[^=]*?icmp_seq=(?P<seq>\d+))?"
    r".*?(?:time|Zeit|temps|tiempo)[=<](?P<rtt>\d+(?:[.,]\d+)?) ?ms"
)
_CLOCK = re.compile(r"^(\d\d):(\d\d):(\d\d\.\d+) ")
_FPING = re.compile(
    r"^(?:\[(?P<at>\d+\.\d+)\] )?(?P<host>\S+)\s*: \[(?P<seq>\d+)\], (?:\d+ bytes, )?"
    r"(?P<rtt>\d+(?:\.\d+)?) ms"
)


def _lines(file: str, lines: Iterable[str]) -> Log:
    """ping and fping print when a reply came, and ping does so only with -D."""
    rows: list[tuple[float | None, ...]] = []
    names, timed, day_ms = [], True, 0.0
    for line in lines:
        found = _FPING.match(line) or _REPLY.match(line)
        if not found:
            continue
        values = found.groupdict()
        rtt = float(values["rtt"].replace(",", "."))
        if values["at"]:
            back = float(values["at"]) * 1e3
        elif clock := _CLOCK.match(line):
            back = (int(clock[1]) * 3600 + int(clock[2]) * 60 + float(clock[3])) * 1e3 + day_ms
            if rows and back < (rows[-1][0] or 0) - 43_200_000:
                day_ms += 86_400_000
                back += 86_400_000
        else:
            timed = False
            back = float(values.get("seq") or len(rows)) * 1e3 + rtt
        rows.append((back - rtt, None, None, rtt))
        names.append(values.get("host") or "ping")
    if not rows:
        refuse(file, "", f"found no line of a reply; allowed: {FORMS}")
    notes = [] if timed else [UNTIMED]
    return Log(file, _streams(rows, 1.0, names), notes)


UNTIMED = (
    "The lines have no times (ping needs -D, fping -D -l): nothing is known of a grid; one probe a "
    "second is supposed."
)


def _streams(rows: list[Any], unit: float, names: list[str]) -> list[Probes]:
    """A stream for each name, in the order of the log; delays that some rows lack are left out."""
    table = [
        np.array([np.nan if row[at] is None else row[at] * unit for row in rows], float)
        for at in range(4)
    ]
    labels = np.array(names)
    streams = []
    for name in dict.fromkeys(names):
        own = labels == name
        columns = [column[own] for column in table]
        delays = [_if_known(columns[at]) for at in (1, 3)]
        delay = delays[1] if delays[0] is None else delays[0]
        if delay is None:
            continue
        kept = ~np.isnan(delay)
        known = [c if _if_known(c) is not None else None for c in columns[1:]]
        streams.append(Probes(name, columns[0], *known).where(kept))
    return streams


def _if_known(values: Values) -> Values | None:
    return None if np.isnan(values).mean() > 0.5 else values
