"""Writes a first scenario for somebody's line and household, with comments, ready to run."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from ..base.lookup import look_up

_DURATION_S = 60

_LAWS = {
    "drop_tail": ("drop-tail", 'law = { kind = "none" }'),
    "docsis_pie": ("DOCSIS-PIE", 'law = { kind = "docsis_pie" }'),
    "pie": ("PIE", 'law = { kind = "pie" }'),
    "codel": ("CoDel", 'law = { kind = "codel" }'),
    "pi2": ("PI2", 'law = { kind = "pi2" }'),
    "fq_codel": ("FQ-CoDel", 'scheduler = { kind = "fq" }\nlaw = { kind = "codel" }'),
    "low_latency": ("LLD", 'scheduler = { kind = "low_latency" }'),
}
"""Queue managers by the name of the option: their label, and the keys of the queue."""


@dataclass(frozen=True)
class _Person:
    """What somebody does: comment, keys of the traffic entry, and whether it fills a queue."""

    comment: str
    keys: str
    is_bulk: bool = False


_PEOPLE = {
    "game": _Person(
        "an online game: a small packet every 20 ms",
        'kind = "stream"\npurpose = "game"\nserver = "near"\n'
        "dscp = 45   # NQB, which Low Latency DOCSIS puts into its low-latency flow",
    ),
    "call": _Person(
        "a voice call, as it leaves the home",
        'kind = "stream"\npurpose = "voice"\nserver = "near"\ndscp = 46   # EF, likewise',
    ),
    "web": _Person(
        "pages, one after the other",
        'kind = "web"\nservers = ["near", "far"]\nobjects = { kind = "appendix_a" }',
    ),
    "video": _Person("a film, in segments of adaptive quality", 'kind = "video"\nserver = "near"'),
    "upload": _Person(
        "an upload without end",
        'kind = "transfer"\nserver = "far"\ndirection = "up"',
        is_bulk=True,
    ),
    "download": _Person(
        "a download without end",
        'kind = "transfer"\nserver = "far"\ndirection = "down"',
        is_bulk=True,
    ),
    "torrent": _Person("a torrent that is seeded", 'kind = "torrent"\nservers = ["far"]', True),
}

AQMS = tuple(_LAWS)
"""What `aqms` may be."""
PEOPLE = tuple(_PEOPLE)
"""What `people` may do."""

_BYTES = {"B": 1, "kB": 1000, "KB": 1000, "KiB": 1024, "MB": 1_000_000, "MiB": 1_048_576}


def bytes_of(size: str) -> int:
    """The bytes of a size like `256kB`; raises `ValueError` with what is allowed."""
    found = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([A-Za-z]*)\s*", size)
    if not found or (found[2] or "B") not in _BYTES or float(found[1]) == 0:
        units = ", ".join(_BYTES)
        raise ValueError(f"found {size}; allowed: a number above 0 and one of {units}, as in 256kB")
    return round(float(found[1]) * _BYTES[found[2] or "B"])


def draft(
    *,
    down_mbps: float,
    up_mbps: float,
    buffer_bytes: int | None = None,
    aqms: Sequence[str] = ("docsis_pie",),
    people: Sequence[str] = ("game", "call", "upload"),
    schema: str = "",
) -> str:
    """The TOML text of a scenario that compares drop-tail and `aqms`.

    Rates are those of the service in Mbps. `buffer_bytes` is the modem's buffer, by default what
    250 ms at the upstream rate fill. `schema` is the path of the JSON Schema from the scenario, for
    editors. Raises `UnknownError` for an unknown queue manager or activity.
    """
    for aqm in aqms:
        look_up("aqm", aqm, AQMS)
    for activity in people:
        look_up("people", activity, PEOPLE)
    names = _entry_names(people)
    parts = [
        *([f"#:schema {schema}"] if schema else []),
        _head(down_mbps, up_mbps),
        _service(down_mbps, up_mbps, buffer_bytes),
        _SERVERS,
        *(_entry(name, _PEOPLE[activity]) for name, activity in names),
        _variants(aqms, has_idle_line=len({_PEOPLE[activity].is_bulk for activity in people}) == 2),
    ]
    return "\n".join(parts)


def _entry_names(people: Sequence[str]) -> list[tuple[str, str]]:
    """A name for each activity: game, or game1 and game2 where two do the same."""
    names = []
    for number, activity in enumerate(people):
        order = list(people[: number + 1]).count(activity)
        several = list(people).count(activity) > 1
        names.append((f"{activity}{order}" if several else activity, activity))
    return names


def _head(down_mbps: float, up_mbps: float) -> str:
    return f"""\
# Check it with `sojourn validate FILE`, run it with `sojourn run FILE`.
# `sojourn schema upstream.queue` describes that part: every key, its unit, range and default.

title = "{down_mbps:g}/{up_mbps:g} Mbps"
duration_s = {_DURATION_S}          # simulated time; a run takes far less
"""


def _service(down_mbps: float, up_mbps: float, buffer_bytes: int | None) -> str:
    buffer = (
        f"queue.limit_bytes = {buffer_bytes:_}   # the modem's buffer"
        if buffer_bytes
        else "# queue.limit_bytes = 256_000     # the modem's buffer; without it 250 ms"
    )
    return f"""\
[upstream]               # what the modem may send
sustained_mbps = {up_mbps:g}
# peak_mbps = {2 * up_mbps:g}            # where the service has a boost: the rate after idling,
# burst_bytes = 1_000_000   # and the bytes that may go at that rate
{buffer}

[downstream]             # what comes to it
sustained_mbps = {down_mbps:g}
"""


_SERVERS = """\
[servers]                # one-way delays from the cable network on; the cable adds its own
near = { delay_ms = 9 }
far = { delay_ms = 24 }
"""


def _entry(name: str, person: _Person) -> str:
    return f"[traffic.{name}]   # {person.comment}\n{person.keys}\n"


def _variants(aqms: Sequence[str], has_idle_line: bool) -> str:
    parts = ["# Each variant changes some keys; the traffic is the same in all of them."]
    if has_idle_line:
        parts.append(
            "# An idle line is run as well: the same traffic without uploads and downloads."
        )
    parts.append("")
    for label, keys in (_LAWS[aqm] for aqm in dict.fromkeys(("drop_tail", *aqms))):
        settings = "\n".join(f"upstream.queue.{line}" for line in keys.splitlines())
        parts.append(f'[compare."{label}"]\n{settings}\n')
    return "\n".join(parts)
