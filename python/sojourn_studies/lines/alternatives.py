"""Changes of alternatives that are more than keys."""

from typing import Any

from .cases import FITTED

_BUSY = 0.7


def _busy(scenario: dict[str, Any]) -> None:
    sending = scenario["traffic"]["sending"]
    sending["interval_ms"] *= FITTED["load"] / _BUSY
