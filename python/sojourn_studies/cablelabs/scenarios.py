"""What the scenarios of CableLabs' three studies have in common."""

from collections.abc import Mapping, Sequence
from typing import Any

from ..framework.cases import Case

Table = dict[str, Any]

CABLE: Mapping[str, Any] = {"timing": {"kind": "documents"}, "byte_count": "ip"}
"""The studies' plant: whole MAP intervals between request and grant (White & Rice 2013 §4.1.1), and
rates that count IP packets."""

BURSTY_PERIOD_S = 30
"""5.3 s at 20 Mbps, 8.7 s at 5 Mbps and 16 s idle, at set times (White & Padden 2012 §3.2.1)."""

BURSTY: Mapping[str, Any] = {
    "file_bytes": 18_750_000,
    "every_s": BURSTY_PERIOD_S,
    # Table 1.
    "tcp": {"congestion_control": {"kind": "reno"}, "recovery": "reno"},
}
"""The bursty upload of White & Padden 2012 §3.2.1."""

CBR: Mapping[str, Any] = {
    "kind": "stream",
    "purpose": "data",
    "server": "cbr",
    "packet_bytes": 1000,
    "interval_ms": 8,
}
"""1 Mbps of datagrams (slides of White & Rice 2013)."""


def transport(sustained_mbps: float) -> Table:
    """TCP of all connections: the greatest window, of which the studies do not tell.

    Their authors' ns-2 scripts have 16 times what the sustained rate carries in 100 ms, in whole
    packets of 1500 bytes.
    """
    packets = round(sustained_mbps * 1e6 * 0.1 / (8 * 1500))
    return {"max_window_segments": 16 * packets}


def home(
    duration_s: float, upstream: Table, levels_mbps: Sequence[float] = (), **more: Any
) -> Table:
    """A home on the studies' plant, whose channel gives it `levels_mbps` in turn, if any."""
    congestion = {"congestion": {"levels_mbps": levels_mbps}} if levels_mbps else {}
    return {
        "duration_s": duration_s,
        "dialect": "ns2",
        "cable": CABLE,
        "tcp": transport(upstream["sustained_mbps"]),
        "upstream": {**upstream, **congestion},
        **more,
    }


def servers(**file_rtts_ms: float) -> Table:
    """File servers with these round trips, the far ends of calls and datagrams, and web servers.

    White & Padden 2012 §2.3: the cable's 1 ms each way is part of the round trips.
    """
    rtts_ms = {**file_rtts_ms, "peer": 2, "cbr": 2, "web1": 20, "web2": 30, "web3": 50, "web4": 100}
    return {name: {"delay_ms": rtt_ms / 2 - 1} for name, rtt_ms in rtts_ms.items()}


UPLOAD: Mapping[str, Any] = {"kind": "transfer", "tcp": {"recovery": "linux"}}
"""An upload by "Linux TCP" (White & Padden 2012 table 1): ns-2's agent TCP/Linux, with CUBIC."""

_RENO = {"congestion_control": {"kind": "reno"}}
RENO_UPLOAD: Mapping[str, Any] = {**UPLOAD, "tcp": {**UPLOAD["tcp"], **_RENO}}
"""One of the same agent with Reno: a slide of White & Rice 2013 has CUBIC in that test too."""

LEDBAT: Mapping[str, Any] = {
    **UPLOAD["tcp"],
    "congestion_control": {"kind": "ledbat", "target_ms": 100},
}
"""TCP of torrents: tcp-ledbat in the same agent (White & Rice 2013 §3.6)."""


def repeated(server: str, connections: int, file_bytes: int, every_s: float | None = None) -> Table:
    """Uploads that start again as each ends, or at set times, on the same connection."""
    at_once = {"pause_s": 0, "keep_connection": True}
    return {
        **UPLOAD,
        "server": server,
        "connections": connections,
        "file_bytes": file_bytes,
        "start_spread_s": 1,
        **(at_once if every_s is None else {"every_s": every_s}),
    }


def call_to(server: str) -> Table:
    """A call as the studies have it: what the home says, and not what it hears."""
    call = {"kind": "stream", "purpose": "voice", "direction": "up", "playout": "fixed"}
    return {**call, "server": server}


def calls(count: int) -> Table:
    """Calls `call1` and so on, which stand for games as well."""
    return {f"call{number}": call_to("peer") for number in range(1, count + 1)}


def web(objects: Mapping[str, Any], users: int = 1) -> Table:
    """People loading pages, from the first second on (White & Padden 2012 §3.2.3, §4.3.2).

    Its SYNs of 50 bytes have timestamps. Several people start within the pause between two pages.
    """
    page: Table = {
        "kind": "web",
        "servers": ["web1", "web2", "web3", "web4"],
        "objects": objects,
        "start_s": 1,
        "tcp": {"timestamps": True},
    }
    return page if users == 1 else {**page, "users": users, "start_spread_s": 5}


_EXTRA_MS = tuple(range(0, 401, 20))
"""What the calls of `voice_model` have in latency, beyond what all have."""


def voice_model() -> Case:
    """Calls over an idle modem, to ever more distant peers: the score over the latency."""
    return Case(
        "voice model",
        {
            "title": "The scores of calls over their latency",
            "duration_s": 60,
            "dialect": "ns2",
            "cable": CABLE,
            "upstream": {"sustained_mbps": 20, "peak_mbps": 20, "burst_bytes": 10_000_000},
            "downstream": {"sustained_mbps": 20, "peak_mbps": 50, "burst_bytes": 10_000_000},
            "servers": {f"peer{ms}": {"delay_ms": ms} for ms in _EXTRA_MS},
            "traffic": {f"call{ms}": call_to(f"peer{ms}") for ms in _EXTRA_MS},
        },
    )
