"""Changes of alternatives that are more than keys."""

from collections.abc import Mapping
from typing import Any

from ..framework.cases import Change
from .cases import FITTED

_BUSY = 0.7


def _busy(scenario: dict[str, Any]) -> None:
    sending = scenario["traffic"]["sending"]
    sending["interval_ms"] *= FITTED["load"] / _BUSY


def _no_router(scenario: dict[str, Any]) -> None:
    scenario["homes"]["ours"].pop("router", None)


CHANGES: Mapping[str, Change] = {"busy": _busy, "no_router": _no_router}
"""By the name that alternatives.toml has."""
