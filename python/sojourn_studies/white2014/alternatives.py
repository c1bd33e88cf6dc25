"""Alternative assumptions on White 2014 that are more than keys."""

from collections.abc import Mapping
from typing import Any

from ..framework.cases import Change


def _docsis_pie(scenario: dict[str, Any]) -> None:
    queue = scenario["upstream"]["queue"]
    if queue.get("law", {}).get("kind") == "pie_early" and "scheduler" not in queue:
        queue["law"] = {"kind": "docsis_pie", "target_ms": 15, "track_rate": True}


CHANGES: Mapping[str, Change] = {"docsis_pie": _docsis_pie}
