"""The cable of a scenario, for formats that tell of its propagation."""

from collections.abc import Mapping
from typing import Any

_MS_PER_KM = 0.005
_SPECIFICATION_KM = 8.0
_DOCUMENTS_MS = 1.0


def one_way_ms(scenario: Mapping[str, Any]) -> float:
    """Propagation between CMTS and the modem of the first home, as the simulation has it."""
    cable = scenario["cable"]
    homes = list((scenario.get("homes") or {}).values())
    own_km = homes[0].get("distance_km") if homes else None
    if own_km is not None:
        return float(own_km) * _MS_PER_KM
    if cable.get("delay_ms") is not None:
        return float(cable["delay_ms"])
    if cable.get("distance_km") is not None:
        return float(cable["distance_km"]) * _MS_PER_KM
    timing = cable.get("timing") or {"kind": "documents"}
    is_specified = timing["kind"] == "specification"
    return _SPECIFICATION_KM * _MS_PER_KM if is_specified else _DOCUMENTS_MS
