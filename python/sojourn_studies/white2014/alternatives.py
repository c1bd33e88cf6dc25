"""What might have been taken for White 2014 instead."""

from collections.abc import Mapping
from typing import Any

from ..framework.cases import Alternative
from ..framework.changes import all_of, of_keys, of_kind, of_traffic, recovering


def _docsis_pie(scenario: dict[str, Any]) -> None:
    queue = scenario["upstream"]["queue"]
    if queue.get("law", {}).get("kind") == "pie_early" and "scheduler" not in queue:
        queue["law"] = {"kind": "docsis_pie", "target_ms": 15, "track_rate": True}


def _is_repeated(entry: Mapping[str, Any]) -> bool:
    return entry["kind"] == "transfer" and "pause_s" in entry


_OVER_ALL = ("fig-1", "fig-2", "fig-5")

ALTERNATIVES = (
    Alternative(
        "window-400",
        "windows up to 400 segments, as CoDel's test script has them",
        of_keys("tcp", max_window_segments=400),
        (*_OVER_ALL, "fig-6"),
    ),
    Alternative(
        "docsis-pie",
        "PIE is DOCSIS-PIE with rate tracking: the changes of §6",
        _docsis_pie,
        (*_OVER_ALL, "fig-6"),
        schemes=("PIE",),
    ),
    *(
        Alternative(
            f"window-{segments}",
            f"windows up to {segments} segments, by which slow start overshoots less, and that "
            "DOCSIS-PIE",
            all_of(of_keys("tcp", max_window_segments=segments), _docsis_pie),
            ("fig-6",),
        )
        for segments in (800, 1400)
    ),
    Alternative(
        "cubic",
        "the uploads of the TCP test have CUBIC, with that DOCSIS-PIE",
        all_of(
            of_traffic(of_kind("transfer"), {"congestion_control": {"kind": "cubic"}}), _docsis_pie
        ),
        ("fig-6",),
    ),
    *(
        Alternative(
            f"sack1-{number}",
            "uploads of the TCP test recover as ns-2's Sack1, every second segment is "
            f"acknowledged, with that DOCSIS-PIE; random numbers of draw {number}",
            all_of(
                of_keys("tcp", ack_every_segments=2),
                of_traffic(recovering("linux"), {"recovery": "sack"}),
                _docsis_pie,
            ),
            ("fig-6",),
            draw=number - 1,
        )
        for number in (1, 2, 3)
    ),
    Alternative(
        "1024-bins",
        "1024 sub-flows, so that no call shares one with an upload",
        of_keys("upstream.queue.scheduler", bins=1024),
        _OVER_ALL,
        schemes=("SFQ-CoDel", "SFQ-PIE"),
    ),
    Alternative(
        "limited",
        "windows up to 400 segments, and 0.3 s between repeated files",
        all_of(of_keys("tcp", max_window_segments=400), of_traffic(_is_repeated, pause_s=0.3)),
        _OVER_ALL,
        schemes=("BufferBloat", "BufferControl"),
    ),
    Alternative(
        "new-connections",
        "each file of repeated uploads has a connection of its own",
        of_traffic(of_kind("transfer"), keep_connection=False),
        _OVER_ALL,
        schemes=("BufferBloat", "BufferControl"),
    ),
)
