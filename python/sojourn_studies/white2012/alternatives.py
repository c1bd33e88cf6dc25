"""Alternative assumptions on White & Padden 2012 that are more than keys."""

from collections.abc import Mapping
from typing import Any

from ..framework.cases import Change


def _transmit_32(scenario: dict[str, Any]) -> None:
    scenario["upstream"]["modem"] = {"kind": "two_queues", "transmit_packets": 32}


CHANGES: Mapping[str, Change] = {"transmit_32": _transmit_32}
