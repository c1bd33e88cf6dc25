"""What might have been taken for White & Padden 2012 instead."""

from collections.abc import Mapping
from typing import Any

from ..cablelabs.scenarios import SCRIPT_TCP
from ..framework.cases import Alternative
from ..framework.changes import of_keys, of_kind, of_traffic, recovering


def _transmit_32(scenario: dict[str, Any]) -> None:
    scenario["upstream"]["modem"] = {"kind": "two_queues", "transmit_packets": 32}


def _is_bursty(entry: Mapping[str, Any]) -> bool:
    return "every_s" in entry


_ONE_UPLOAD = ("D02", "D03", "C02", "C03")
_BURSTY = ("C08", "C09", "D08", "D09")
_CALLS = ("table-3", "table-4")
_PAGES = ("table-5", "table-6", "table-7", "table-8")

ALTERNATIVES = (
    *(
        Alternative(
            f"call-{delay_ms}-ms",
            f"calls start {delay_ms} ms later, and so at another phase to the MAPs of 2 ms",
            of_traffic(of_kind("stream"), start_s=delay_ms / 1000),
            (*_CALLS, "table-6"),
            _ONE_UPLOAD,
        )
        for delay_ms in (0.6, 1.2)
    ),
    Alternative(
        "sack1",
        "uploads recover as ns-2's Sack1",
        of_traffic(recovering("linux"), {"recovery": "sack"}),
    ),
    Alternative(
        "bursty-64",
        "the bursty upload has windows up to 64 segments",
        of_traffic(_is_bursty, {"max_window_segments": 64}),
        (*_CALLS, *_PAGES),
        _BURSTY,
    ),
    Alternative(
        "bursty-sack",
        "the bursty upload has selective acknowledgements",
        of_traffic(_is_bursty, {"recovery": "sack"}),
        (*_CALLS, *_PAGES),
        _BURSTY,
    ),
    Alternative(
        "window-4",
        "uploads have an initial window of 4 segments and timestamps, as in the authors' scripts",
        of_traffic(of_kind("transfer"), SCRIPT_TCP),
    ),
    Alternative(
        "window-10",
        "uploads have an initial window of 10 segments, as Linux since 2.6.39, and timestamps",
        of_traffic(of_kind("transfer"), {"initial_window_segments": 10, "timestamps": True}),
        ("fig-2", "fig-3", "fig-4", "fig-5", "fig-6"),
    ),
    Alternative(
        "window-400",
        "windows up to 400 segments, as CoDel's test script has them",
        of_keys("tcp", max_window_segments=400),
    ),
    Alternative(
        "no-window",
        "windows up to 10 000 segments",
        of_keys("tcp", max_window_segments=10_000),
    ),
    Alternative(
        "apart",
        "a page's connections open 0.6 ms apart, as the segments of its HTML come at 20 Mbps",
        of_traffic(of_kind("web"), open_gap_ms=0.6),
        (*_PAGES, "sec-4.3.2"),
    ),
    Alternative(
        "transmit-32",
        "a transmit queue of 32 packets, whatever their size",
        _transmit_32,
        _PAGES,
    ),
)
