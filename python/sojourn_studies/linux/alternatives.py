"""What else the cases are run with."""

from collections.abc import Mapping
from typing import Any

from ..framework.cases import Change


def _rfc(scenario: dict[str, Any]) -> None:
    """The dialect of the RFCs, which does not pace."""
    scenario["dialect"] = "rfc"
    del scenario["tcp"]["pacing"]


CHANGES: Mapping[str, Change] = {"rfc": _rfc}
