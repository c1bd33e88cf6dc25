"""What else the cases are run with that is more than keys."""

from typing import Any


def _version_0_7(scenario: dict[str, Any]) -> None:
    """The defaults of the simulator's Prague."""
    for entry in scenario["traffic"].values():
        control = entry.get("tcp", {}).get("congestion_control", {})
        if control.get("kind") == "prague":
            kept = {key: control[key] for key in ("kind", "rtt_independence") if key in control}
            entry["tcp"]["congestion_control"] = kept
