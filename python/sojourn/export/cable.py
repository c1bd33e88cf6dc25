"""Delays of a scenario's links, for formats that tell of their propagation."""

from collections.abc import Mapping
from typing import Any

from ..analysis.entries import router_of_first_home

_MS_PER_KM = 0.005
_GROUP_INDEX = 1.468  # as in fibre.rs
_LIGHT_KM_PER_MS = 299.792_458
_SPECIFICATION_KM = 8.0
_DOCUMENTS_MS = 1.0


def way_back_ms(scenario: Mapping[str, Any], server: str) -> float:
    """From a server to the first home, at least: over all links, without queues."""
    links = [core.get("downstream") for core in (scenario.get("core") or {}).values()]
    links += [scenario["servers"][server], router_of_first_home(scenario).get("downstream")]
    return one_way_ms(scenario) + sum(float(link["delay_ms"]) for link in links if link)


def one_way_ms(scenario: Mapping[str, Any]) -> float:
    """From the modem of the first home to the network side of the CMTS, at least."""
    homes = list((scenario.get("homes") or {}).values())
    own_km = homes[0].get("distance_km") if homes else None
    access = scenario.get("access") or {"kind": "docsis"}
    if access["kind"] == "fibre":
        length_km = access["length_km"] if own_km is None else own_km
        return float(length_km) * _GROUP_INDEX / _LIGHT_KM_PER_MS
    interconnect = scenario["cable"].get("interconnect") or {}
    return _cable_ms(scenario["cable"], own_km) + float(interconnect.get("delay_us", 0)) / 1e3


def _cable_ms(cable: Mapping[str, Any], own_km: float | None) -> float:
    if own_km is not None:
        return float(own_km) * _MS_PER_KM
    if cable.get("delay_ms") is not None:
        return float(cable["delay_ms"])
    if cable.get("distance_km") is not None:
        return float(cable["distance_km"]) * _MS_PER_KM
    timing = cable.get("timing") or {"kind": "documents"}
    is_specified = timing["kind"] == "specification"
    return _SPECIFICATION_KM * _MS_PER_KM if is_specified else _DOCUMENTS_MS
