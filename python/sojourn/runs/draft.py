"""Writes a first scenario for somebody's line and household, with comments, ready to run."""

import json
import math
import re
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._sojourn import presets_json, version
from ..base.lookup import UnknownError, look_up
from ..base.toml_text import toml_value

WRITTEN = f"# Written by `sojourn init` of Sojourn {version}."
"""The line by which a draft says that it relies on the defaults of this version."""

_DURATION_S = 120
"""Long enough for a film to climb its ladder, and for slow start to be a small part of it."""

_PRESETS: dict[str, dict[str, Any]] = json.loads(presets_json())
"""Queue managers by name, as crates/sojourn-scenario/src/presets.toml describes them."""


@dataclass(frozen=True)
class _Use:
    """What somebody does: comment, keys of the traffic entry, and what it takes of the line."""

    comment: str
    keys: str
    fills: str = ""
    """The direction whose queue it fills: upstream, downstream or none."""
    count_key: str = ""
    """The key that counts how many there are; without one, each has an entry."""
    is_bulk: bool = False
    """Is it left out on the idle line?"""
    of_neighbours: str = ""
    """The keys of neighbours, where they do less of it."""


_USES = {
    "game": _Use(
        "an online game: a small packet every 20 ms, from the player and from the server",
        'kind = "stream"\npurpose = "game"\nserver = "OWN"\n'
        'direction = "both"   # "up" or "down" sends only what leaves the home, or comes to it\n'
        "dscp = 45   # NQB, which Low Latency DOCSIS puts into its low-latency flow",
    ),
    "call": _Use(
        "a voice call: both ends speak",
        'kind = "stream"\npurpose = "voice"\nserver = "OWN"\n'
        'direction = "both"   # "up" is what leaves the home, "down" what is heard in it\n'
        "dscp = 46   # EF, likewise",
    ),
    "video_call": _Use(
        "a video call, whose rate follows the line as browsers do it",
        'kind = "video_call"\nserver = "OWN"\n'
        'control = "gcc"   # "scream" with ecn = "ect1" is one that low-latency queues take',
    ),
    "cloud_game": _Use(
        "a game that a server plays: frames of 20 Mbps come down, inputs go up",
        'kind = "cloud_game"\nserver = "OWN"',
    ),
    "web": _Use(
        "pages of today, one after the other, over HTTP/1.1, HTTP/2 and HTTP/3",
        'kind = "web"\nservers = ["near", "far"]\nobjects = { kind = "almanac2025" }',
        count_key="users",
        of_neighbours='kind = "web"\nservers = ["near", "far"]\n'
        'objects = { kind = "appendix_a" }   # small ones',
    ),
    "video": _Use(
        "a film, in segments of adaptive quality",
        'kind = "video"\nserver = "OWN"',
        fills="downstream",
        count_key="viewers",
    ),
    "upload": _Use(
        "an upload without end",
        'kind = "transfer"\nserver = "far"\ndirection = "up"',
        fills="upstream",
        count_key="connections",
        is_bulk=True,
    ),
    "download": _Use(
        "a download without end",
        'kind = "transfer"\nserver = "far"\ndirection = "down"',
        fills="downstream",
        count_key="connections",
        is_bulk=True,
    ),
    "responsiveness": _Use(
        "a test of responsiveness: round trips per minute under a load of both directions",
        'kind = "responsiveness"\nserver = "OWN"\nstart_s = 10\n'
        "interval_s = 1   # as programs have it; the draft has 5",
        fills="downstream",
        is_bulk=True,
    ),
    "torrent": _Use(
        "a torrent that is seeded",
        'kind = "torrent"\nservers = ["far"]',
        fills="upstream",
        is_bulk=True,
    ),
}

AQMS = tuple(name for name, preset in _PRESETS.items() if "only_for" not in preset)
"""What `aqms` may be: those for any line of today."""
TO_BUY = tuple(name for name in AQMS if "where" in _PRESETS[name])
"""Those that one can buy or set: in a modem, or in a router before it."""
LABORATORY = tuple(name for name in AQMS if name not in TO_BUY)
"""The others, which replace the queues of modem and CMTS."""
USUAL = ("docsis_pie", "low_latency", "router_cake")
"""What drop-tail, the modem as it is, is compared with."""
USUAL_SHARE = 90
"""Of the rates of the service, in percent: what a router before the modem may send."""


def queue_of(aqm: str) -> Mapping[str, Any]:
    """The keys of a queue with this queue manager."""
    keys: Mapping[str, Any] = _PRESETS[aqm]["queue"]
    return keys


USES = tuple(_USES)
"""What `uses` may be."""
DEFAULT_USES = ("game", "call", "web", "upload")
"""What a household does by default."""
_MOST = 100
"""Of each use."""


@dataclass(frozen=True)
class _Neighbours:
    """The homes on the same channels: what a comment says of them, and how many do what."""

    comment: str
    homes: dict[str, int]
    """Homes by their use."""
    saves: bool = False
    """Do the homes with a game save files too?"""


_ON_CHANNEL = {
    "none": None,
    "neighbourhood": _Neighbours(
        "a hundred homes that use little",
        {"game": 15, "call": 15, "web": 50, "video": 20},
    ),
    "busy-hour": _Neighbours(
        "a hundred homes in the evening",
        {"game": 25, "call": 10, "web": 25, "video": 40},
        saves=True,
    ),
}
NEIGHBOURS = tuple(_ON_CHANNEL)
"""What `neighbours` may be."""

_CARRIERS_MBPS = 90
"""The fastest service on the default channel, of which one modem can have 97."""
_OFDMA_MBPS = 750
"""The fastest service for each OFDMA channel, of which one modem can have 800."""
MOST_MBPS = {"down": 10_000, "up": 7 * _OFDMA_MBPS}
"""The fastest services of DOCSIS 4.0, which has seven OFDMA channels upstream."""

_BYTES = {"B": 1, "kB": 1000, "KB": 1000, "KiB": 1024, "MB": 1_000_000, "MiB": 1_048_576}


def bytes_of(size: str) -> int:
    """The bytes of a size like `256kB`; raises `ValueError` with what is allowed."""
    found = re.fullmatch(r"\s*(\d{1,15}(?:\.\d{1,15})?)\s*([A-Za-z]*)\s*", size)
    if not found or (found[2] or "B") not in _BYTES or float(found[1]) == 0:
        units = ", ".join(_BYTES)
        raise ValueError(f"found {size}; allowed: a number above 0 and one of {units}, as in 256kB")
    return round(float(found[1]) * _BYTES[found[2] or "B"])


def draft(
    *,
    down_mbps: float,
    up_mbps: float,
    buffer_bytes: int | None = None,
    down_buffer_bytes: int | None = None,
    aqms: Sequence[str] = USUAL,
    router_percent: float = USUAL_SHARE,
    uses: Sequence[str] = DEFAULT_USES,
    people: Sequence[str] | None = None,
    neighbours: str = "neighbourhood",
    schema: str = "",
) -> str:
    """The TOML text of a scenario that compares drop-tail, the modem as it is, and `aqms`.

    Each is in a modem or in a router before it, as one can buy or set it, or else in modem and
    CMTS, as in a laboratory. A router sends `router_percent` of the service's rates, both ways.
    Rates are those of the service in Mbps. `buffer_bytes` and `down_buffer_bytes` are the buffers
    of the modem and of the CMTS, by default what 250 ms at the rate fill. `uses` are what the
    household does, with counts such as `upload:4`; the variants change the queues that it fills.
    `people` is the old name of `uses`. `neighbours` are the homes on the same channels, by default
    a hundred that use little; with `none` the home has channels of its own. `schema` is the path
    of the JSON Schema from the scenario, for editors.

    Raises `UnknownError` for an unknown queue manager, use or kind of neighbours, and for a rate
    that no cable has.
    """
    if people is not None:
        warnings.warn("people is the old name of uses", DeprecationWarning, stacklevel=2)
        uses = people
    for way, mbps in (("down", down_mbps), ("up", up_mbps)):
        if not mbps <= MOST_MBPS[way]:
            raise UnknownError(
                f"{way}: found {mbps:.15g}; allowed: {MOST_MBPS[way]} Mbps or less, "
                "as on DOCSIS 4.0"
            )
    for aqm in aqms:
        look_up("aqm", aqm, AQMS)
    if not 1 <= router_percent <= 100:
        raise UnknownError(f"router: found {router_percent:g}; allowed: 1 to 100 percent")
    others = _ON_CHANNEL[look_up("neighbours", neighbours, NEIGHBOURS)]
    counts = _counts(uses)
    fills = {_USES[use].fills for use in counts}
    # Downloads fill the upstream too, with acknowledgements, and tests of responsiveness do.
    compared = ["upstream", *(["downstream"] if "downstream" in fills else [])]
    entries = [text for use, count in counts.items() for text in _entries(use, count)]
    parts = [
        *([f"#:schema {schema}"] if schema else []),
        _head(down_mbps, up_mbps),
        _service(down_mbps, up_mbps, buffer_bytes, down_buffer_bytes, others is not None),
        _servers(max(down_mbps, up_mbps), "".join(entries)),
        *([_ELSEWHERE, _channel(up_mbps), *_homes(others), _SEEN] if others else []),
        *entries,
        *(_entries_of_neighbours(others) if others else []),
        _head_of_variants(
            compared, others is not None, len({_USES[use].is_bulk for use in counts}) == 2
        ),
        *(
            _in_router(_PRESETS[aqm], router_percent, (up_mbps, down_mbps), others is not None)
            if _PRESETS[aqm].get("where") == "router"
            else _in_queues(_PRESETS[aqm], compared)
            for aqm in dict.fromkeys(("drop_tail", *aqms))
        ),
    ]
    return "\n".join(parts)


def _counts(uses: Sequence[str]) -> dict[str, int]:
    """How many there are of each use: 2 for `game:2`, and for `game` twice."""
    counts: Counter[str] = Counter()
    for written in uses:
        use, colon, count = written.partition(":")
        look_up("uses", use, USES)
        if colon and not (re.fullmatch("[0-9]{1,3}", count) and 1 <= int(count) <= _MOST):
            raise UnknownError(
                f"uses: found {written!r}; allowed: {use}:N, N being a whole number from 1 to "
                f"{_MOST}"
            )
        counts[use] += int(count or 1)
    return dict(counts)


_LINE = (
    "The line is an even one: the modem may send each 2 ms, and the path has no jitter. Measured",
    "ones are less steady (docs/studies/lines.md). `sojourn fit` makes a scenario of your probes.",
)


_LOADS = {
    "upstream": ("upload", "torrent", "responsiveness"),
    "downstream": ("download", "responsiveness"),
}
"""What fills each direction."""


def remarks(up_mbps: float, neighbours: str, uses: Sequence[str]) -> list[str]:
    """What somebody should know of the line and of the household in a draft."""
    found = [" ".join(_LINE)]
    for way, loads in _LOADS.items():
        if not _counts(uses).keys() & set(loads):
            found.append(
                f"Nothing fills the {way} direction, so its queues are not compared: "
                f"--uses {','.join((*uses, loads[0]))} adds that."
            )
    if neighbours != "none" and up_mbps > _CARRIERS_MBPS:
        found.append(
            f"{up_mbps:g} Mbps do not fit on the usual four carriers (up to {_CARRIERS_MBPS}); the "
            f"homes share {_in_words(_ofdma_channels(up_mbps))}."
        )
    return found


def _ofdma_channels(up_mbps: float) -> int:
    return math.ceil(up_mbps / _OFDMA_MBPS)


def _in_words(channels: int) -> str:
    return f"{channels} OFDMA channel{'s' if channels > 1 else ''} of 96 MHz"


def _head(down_mbps: float, up_mbps: float) -> str:
    return f"""\
{WRITTEN}
# Check it with `sojourn validate FILE`, run it with `sojourn run FILE`.
# `sojourn schema upstream.queue` describes that part: every key, its unit, range and default.
#
# {_LINE[0]}
# {_LINE[1]}

title = "{down_mbps:g}/{up_mbps:g} Mbps"
duration_s = {_DURATION_S}          # simulated time; a run takes far less
"""


def _service(
    down_mbps: float,
    up_mbps: float,
    buffer_bytes: int | None,
    down_buffer_bytes: int | None,
    shares_channels: bool,
) -> str:
    modem = (
        '\nmodem = { kind = "shared_channel" }   # on a channel with others'
        if shares_channels
        else ""
    )
    return f"""\
[upstream]               # what the modem may send
sustained_mbps = {up_mbps:g}
# peak_mbps = {2 * up_mbps:g}            # where the service has a boost: the rate after idling,
# burst_bytes = 1_000_000   # and the bytes that may go at that rate
{_buffer(buffer_bytes, "the modem's buffer")}{modem}

[downstream]             # what comes to it, on channels of its own
sustained_mbps = {down_mbps:g}
{_buffer(down_buffer_bytes, "the CMTS's buffer")}
"""


def _buffer(limit_bytes: int | None, whose: str) -> str:
    if limit_bytes:
        return f"queue.limit_bytes = {limit_bytes:_}   # {whose}"
    return f"# queue.limit_bytes = 256_000     # {whose}; without it 250 ms"


_FAST_MBPS = 500
"""From here on the default link of servers, 1000 Mbps, may be what is slow."""


_DELAY_MS, _FAR_MS = 9, 24
_SERVER = re.compile(r"^servers? = (.*)$", re.MULTILINE)


def _servers(service_mbps: float, keys: str) -> str:
    """The servers that keys of traffic name, each with a link of its own."""
    rate = f", rate_mbps = {10 * service_mbps:g}" if service_mbps >= _FAST_MBPS else ""
    lists = "\n".join(_SERVER.findall(keys))
    servers = [
        f"{name} = {{ delay_ms = {_FAR_MS if name == 'far' else _DELAY_MS}{rate} }}\n"
        for name in dict.fromkeys(re.findall('"(.*?)"', lists))
    ]
    return f"""\
[servers]                # one-way delays from the cable network on; the cable adds its own
{"".join(servers)}"""


_ELSEWHERE = """\
[servers.elsewhere]      # those of the neighbours, together
delay_ms = 9
rate_mbps = 100_000
"""


def _entries(use: str, count: int) -> list[str]:
    """The traffic entries of a use: one that has its count, or game1 and game2."""
    one = _USES[use]
    is_counted = one.count_key and count > 1
    several = [f"{use}{number}" for number in range(1, count + 1)]
    more = f"{one.count_key} = {count}\n" if is_counted else ""
    # Queues that are fair to hosts would take what one server sends for one user's.
    return [
        f"[traffic.{name}]   # {one.comment}\n" + one.keys.replace("OWN", name) + f"\n{more}"
        for name in ([use] if is_counted or count == 1 else several)
    ]


def _channel(up_mbps: float) -> str:
    """The channel that all share."""
    described = "# `sojourn schema upstream_channel` describes it: OFDMA, MAPs, requests\n"
    if up_mbps <= _CARRIERS_MBPS:
        what, keys = "four bonded carriers of 6.4 MHz", ""
    else:
        count = _ofdma_channels(up_mbps)
        what, keys = _in_words(count), f'channels = {count}\nphy = {{ kind = "ofdma" }}\n'
    return f"[upstream_channel]       # {what}, which all homes share\n{described}{keys}"


def _homes(neighbours: _Neighbours) -> list[str]:
    """The homes; the numbers are made up."""
    return [
        f"[homes.ours]             # and {neighbours.comment}, by what they do\n",
        *(f"[homes.{use}]\ncount = {count}\n" for use, count in neighbours.homes.items()),
    ]


_SEEN = """\
[metrics]
homes = "ours"           # grades and answers are of this household
"""


_SAVE = """\
[traffic.neighbours_save]   # files that are saved, with pauses
kind = "transfer"
server = "elsewhere"
home = "game"
file_bytes = 5_000_000
pause_s = 40
start_spread_s = 40
"""


def _entries_of_neighbours(neighbours: _Neighbours) -> list[str]:
    """Their entries, without comments, from servers of their own."""
    parts = []
    for use in neighbours.homes:
        keys = re.sub("   #.*", "", _USES[use].of_neighbours or _USES[use].keys)
        keys = re.sub('"OWN"|"near"(, "far")?', '"elsewhere"', keys)
        spread = "start_spread_s = 20\n" if _USES[use].count_key else ""
        parts.append(f'[traffic.neighbours_{use}]\n{keys}\nhome = "{use}"\n{spread}')
    return [*parts, *([_SAVE] if neighbours.saves else [])]


_WHOSE = {"upstream": "the modem's queue", "downstream": "the queue at the CMTS"}


def _head_of_variants(compared: Sequence[str], has_neighbours: bool, has_idle_line: bool) -> str:
    queues = " and ".join(_WHOSE[direction] for direction in compared)
    lines = [
        "# Each variant changes some keys; the traffic is the same in all of them. They differ in",
        f"# the queue manager of what this household fills: {queues}.",
        "# A router before the modem leaves these queues as they are.",
    ]
    if has_neighbours:
        lines.append("# Those of the neighbours change with it; they have no routers.")
    if has_idle_line:
        lines.append(
            "# An idle line is run as well: the same traffic without uploads and downloads."
        )
    return "\n".join([*lines, ""])


def _in_queues(preset: Mapping[str, Any], compared: Sequence[str]) -> str:
    """The variant with a queue manager in the modem, at the CMTS or in both."""
    where = [] if "where" in preset else ["a laboratory setting, which nobody sells"]
    note = "; ".join([*where, *([preset["note"]] if "note" in preset else [])])
    lines = [
        f"{direction}.queue.{key} = {toml_value(value)}"
        for direction in compared
        for key, value in preset["queue"].items()
    ]
    return _variant(preset["label"], note, lines)


def _in_router(
    preset: Mapping[str, Any], percent: float, rates_mbps: Sequence[float], has_neighbours: bool
) -> str:
    """The variant with a queue manager in a router that sends less than the modem may."""
    router = "homes.ours.router" if has_neighbours else "router"
    ways = {
        way: {"rate_mbps": mbps * percent / 100, "queue": preset["queue"]}
        for way, mbps in zip(("upstream", "downstream"), rates_mbps, strict=True)
    }
    lines = [f"{router}.{way} = {toml_value(keys)}" for way, keys in ways.items()]
    note = f"{percent:g} % of the service's rates; the tables show what that costs"
    return _variant(f"{preset['label']} at {percent:g} %", note, lines)


def _variant(name: str, note: str, lines: Sequence[str]) -> str:
    head = f'[compare."{name}"]' + (f"   # {note}" if note else "")
    return "\n".join([head, *lines, ""])
