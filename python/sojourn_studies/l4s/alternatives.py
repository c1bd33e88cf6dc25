"""What else the cases are run with."""

from collections.abc import Mapping
from typing import Any

from ..framework.cases import Change


def _prague(**keys: Any) -> Change:
    """Sets keys of every Prague."""

    def change(scenario: dict[str, Any]) -> None:
        for entry in scenario["traffic"].values():
            control = entry.get("tcp", {}).get("congestion_control", {})
            if control.get("kind") == "prague":
                control.update(keys)

    return change


def _dualq(**keys: Any) -> Change:
    def change(scenario: dict[str, Any]) -> None:
        scheduler = scenario["upstream"]["queue"].get("scheduler", {})
        if scheduler.get("kind") == "dualq":
            scheduler.update(keys)

    return change


def _version_0_7(scenario: dict[str, Any]) -> None:
    """The defaults of the simulator's Prague."""
    for entry in scenario["traffic"].values():
        control = entry.get("tcp", {}).get("congestion_control", {})
        if control.get("kind") == "prague":
            kept = {key: control[key] for key in ("kind", "rtt_independence") if key in control}
            entry["tcp"]["congestion_control"] = kept


def _paced(scenario: dict[str, Any]) -> None:
    """All senders pace, as behind the queueing discipline fq."""
    for entry in scenario["traffic"].values():
        if "tcp" in entry:
            entry["tcp"]["pacing"] = True


CHANGES: Mapping[str, Change] = {
    "independent": _prague(rtt_independence=True),
    "dependent": _prague(rtt_independence=False),
    "single-segments": _prague(least_burst_segments=1),
    "wobble": _prague(wobble_percent=3.125),
    "version-0.7": _version_0_7,
    "even": _dualq(spacing="even"),
    "ramp": _dualq(native_min_us=800.0, native_range_us=400.0),
    "time-shift": _dualq(service="time_shifted_fifo"),
    "paced": _paced,
}
