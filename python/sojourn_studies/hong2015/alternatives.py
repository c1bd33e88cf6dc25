"""What might have been taken for Hong 2015 instead."""

from typing import Any

from ..framework.cases import Alternative, Change
from ..framework.changes import all_of, nothing, of_keys, of_kind, of_traffic, recovering
from .cases import NOT_LINKS_5_MS
from .flows import MAC_MS
from .schemes import HEAD_DROP


def _round_trips_of_eleven(scenario: dict[str, Any]) -> None:
    """Of flows beyond 11, in turn those of the first 11."""
    servers = scenario["servers"]
    for name, server in servers.items():
        kind, _, number = name.partition("-")
        if kind == "ftp":
            server.update(servers[f"ftp-{(int(number) - 1) % 11 + 1}"])


def _longer_links(ms: float) -> Change:
    """Of all but the call, by so much each way."""

    def change(scenario: dict[str, Any]) -> None:
        for name, server in scenario["servers"].items():
            if name != "voip":
                server["delay_ms"] += ms

    return change


def _plain_upstream(scenario: dict[str, Any]) -> None:
    """One home for all flows, which are one an entry; round trips stay what they are."""
    del scenario["homes"]
    for entry in scenario["traffic"].values():
        del entry["home"]
    scenario["upstream"]["modem"] = {"kind": "link"}
    _longer_links(MAC_MS / 2)(scenario)


def _shared_upstream(scenario: dict[str, Any]) -> None:
    scenario["upstream"]["modem"] = {"kind": "shared_channel"}
    scenario["upstream_channel"] = {"channels": 1}


def _of_ared(**keys: float) -> Change:
    """Of its parameters."""

    def change(scenario: dict[str, Any]) -> None:
        law = scenario["cmts"]["queue"].get("law", {})
        if law.get("kind") == "red":
            law.update(keys)

    return change


def _fast_links(scenario: dict[str, Any]) -> None:
    for name, server in scenario["servers"].items():
        if name.startswith("ftp"):
            server["rate_mbps"] = 1000


def _whole_channel(scenario: dict[str, Any]) -> None:
    cmts = scenario["cmts"]
    cmts["queue"]["scheduler"]["capacity_mbps"] = cmts["channel"]["rate_mbps"]


_BUFFER_240 = of_traffic(of_kind("video"), buffer_s=240)
_EVERY_SECOND = of_traffic(recovering("full_sack"), {"ack_every_segments": 2})
_AT_ONCE = of_traffic(recovering("full_sack"), {"nagle": False})
_VIDEO = ("table-4.11", "table-4.12", "table-4.13")
_TIERED_VIDEO = ("table-5.26", "table-5.27", "table-5.28", "table-5.29")
_MICE = ("table-5.7", "table-5.13", "table-5.14", "table-5.15")
_SHARES_OF_TIME = "fig-5.7"
_MANY = ("sec-4.2.1.2", "sec-4.2.1.3")
_BY_CHANCE = (
    *_VIDEO,
    *(f"table-4.{number}" for number in (2, 5, 6, 8, 10, 14, 16)),
    *(f"table-5.{number}" for number in (3, 7, 13, 16, 18)),
    *("sec-4.2.1.1", "sec-4.2.1.2", "fig-4.3", "fig-4.4", "fig-5.1"),
)

ALTERNATIVES = (
    Alternative(
        "buffer-240",
        "players buffer 240 s, as the text has it",
        _BUFFER_240,
        (*_VIDEO, _SHARES_OF_TIME),
    ),
    Alternative(
        "every-second",
        "FullTcp acknowledges every second segment, as section 4.1 has it of all TCP",
        _EVERY_SECOND,
        (*_VIDEO, "sec-4.2.2", "table-5.28"),
    ),
    Alternative(
        "as-text",
        "every second segment, a buffer of 240 s, and no Nagle's algorithm: all as in the text",
        all_of(_BUFFER_240, _EVERY_SECOND, _AT_ONCE),
        (*_VIDEO, *_TIERED_VIDEO),
    ),
    Alternative(
        "rto-200-ms",
        "a least retransmission timeout of 0.2 s, as ns-2 has it since October 2004",
        of_keys("tcp", min_rto_s=0.2),
        (*_VIDEO, *_MICE, "sec-4.2.2", "table-4.14", "fig-4.4"),
    ),
    Alternative(
        "no-nagle",
        "FullTcp without Nagle's algorithm: the last segment does not wait for a round trip",
        _AT_ONCE,
        (*_VIDEO, "sec-4.2.2", _SHARES_OF_TIME),
    ),
    Alternative(
        "example",
        "without it, and with 3 segments at first: the very 1.07 s of section 4.2.2",
        all_of(_AT_ONCE, of_traffic(recovering("full_sack"), {"initial_window_segments": 3})),
        (*_VIDEO, "sec-4.2.2", *_TIERED_VIDEO),
    ),
    Alternative(
        "video-kept",
        "windows of video are kept over the pauses between requests",
        of_traffic(recovering("full_sack"), {"restart_after_idle": False}),
        (*_VIDEO, "sec-4.2.2", *_TIERED_VIDEO),
    ),
    Alternative(
        "one-a-segment",
        "players ask for one segment in a segment's time (section 4.2.2) and fill no buffer",
        of_traffic(of_kind("video"), fill_buffer=False),
        _VIDEO,
    ),
    Alternative(
        "each-segment",
        "an acknowledgement for each segment",
        of_keys("tcp", ack_every_segments=1),
        _MICE,
    ),
    Alternative(
        "wait-100-ms",
        "acknowledgements wait 100 ms for a second segment, rather than for a beat of 200 ms",
        of_keys("tcp", delayed_ack_beats=False, delayed_ack_ms=100),
        _MICE,
    ),
    Alternative(
        "kept",
        "windows are kept over the pauses of on/off flows too",
        of_keys("tcp", restart_after_idle=False),
        _MICE,
    ),
    Alternative(
        "probe-restarts",
        "the window of the web probe starts again after each pause, by ns-2's default",
        of_traffic(lambda entry: bool(entry.get("pushed")), {"restart_after_idle": True}),
        ("table-4.14", "fig-4.4"),
        schemes=("DT",),
    ),
    Alternative(
        "no-jitter",
        "FTP sends without a random time before it",
        of_traffic(of_kind("transfer"), {"send_jitter_us": 0}),
        ("table-4.14", "fig-4.4"),
        schemes=("DT",),
    ),
    Alternative(
        "on-top",
        "round trips are those of the links: request and grant, 6 ms, come on top",
        _longer_links(MAC_MS / 2),
        ("table-4.2", "table-4.4", "table-4.10", "sec-4.2.1.2"),
    ),
    Alternative(
        "within",
        "request and grant are part of round trips in chapter 5 too",
        _longer_links((NOT_LINKS_5_MS - MAC_MS) / 2),
        ("table-5.3", *_MICE, "table-5.16", "table-5.17", "table-5.18"),
    ),
    Alternative(
        "all-of-it",
        "ABB divides the rate of the channel, what Ethernet takes of it too",
        _whole_channel,
        (*(f"table-5.{number}" for number in (1, 9, 15, 24, 25, 28)), "sec-5.1.3"),
        schemes=("ABB-2", "ABB-3", "ABB-4", "ABB-5"),
    ),
    Alternative(
        "head-drop",
        "flows of DRR-CoDel have ns-2's CoDel, which drops at the head",
        of_keys("cmts.queue", law=HEAD_DROP),
        ("table-5.3", *_MICE, "table-5.16", "table-5.17", "table-5.18"),
        schemes=("DRR-CoDel",),
    ),
    Alternative(
        "turns-of-12",
        "the same, and a turn of a flow of weight 1 is 18 000 bytes long",
        all_of(
            of_keys("cmts.queue", law=HEAD_DROP),
            of_keys("cmts.queue.scheduler", quantum_bytes=18_000),
        ),
        ("table-5.16", "table-5.17", "table-5.18"),
        schemes=("DRR-CoDel",),
    ),
    Alternative(
        "no-mac",
        "upstream is a link of that rate, without request and grant",
        _plain_upstream,
        ("table-4.2", "table-4.4", "table-4.10", "table-5.3", "sec-4.2.1.1", "sec-4.2.1.2"),
        schemes=("DT20", "CoDel", "PIE", "all"),
    ),
    Alternative(
        "shared",
        "the modems share an upstream channel of 30.72 Mbps, on which they ask in contention",
        _shared_upstream,
        ("table-4.10", "table-5.3"),
        schemes=("CoDel",),
    ),
    Alternative(
        "quick-average",
        "ARED averages the queue over 500 packets (ns-2's q_weight_ of 0.002), not over 9500",
        _of_ared(weight=0.002),
        ("table-4.2", "table-4.4", "table-4.5", "sec-4.2.1.1"),
        schemes=("ARED", "ARED,CoDel,PIE"),
    ),
    *(
        Alternative(
            name,
            f"max_p of ARED is {floor:g} at least, {whose}",
            _of_ared(bottom=floor),
            ("table-4.2", "table-4.4", "table-4.10", *_VIDEO),
            schemes=("ARED",),
        )
        for name, floor, whose in (
            ("floor", 0.01, "as Floyd, Gummadi & Shenker 2001 have it"),
            ("floor-of-1-gbps", 8e-5, "as ns-2 derives it from a link of 1 Gbps"),
        )
    ),
    Alternative(
        "fast-links",
        "servers of FTP have links of 1 Gbps, all four",
        _fast_links,
        _MICE,
        schemes=("ABB-2", "ABB-3", "ABB-4", "CoDel"),
    ),
    Alternative(
        "another-seed", "the same, with other random numbers", nothing, _BY_CHANCE, draw=100
    ),
    Alternative(
        "eleven",
        "round trips of flows beyond 11 are those of 11 in turn",
        _round_trips_of_eleven,
        _MANY,
    ),
)
