"""Alternative assumptions on White 2014 that are more than keys."""

from typing import Any


def _docsis_pie(scenario: dict[str, Any]) -> None:
    queue = scenario["upstream"]["queue"]
    if queue.get("law", {}).get("kind") == "pie_early" and "scheduler" not in queue:
        queue["law"] = {"kind": "docsis_pie", "target_ms": 15, "track_rate": True}
