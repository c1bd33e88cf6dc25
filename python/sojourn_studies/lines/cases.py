"""Scenarios of the lines: as fitted, as `sojourn init` describes one, and a modem alone."""

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from sojourn.fit.model import Stream
from sojourn.fit.model import scenario as fitted_scenario
from sojourn.runs.draft import draft

from ..framework.cases import Case
from ..framework.rows import Row

DOWN_MBPS, UP_MBPS = 940.0, 40.0
"""The service of the line called spectrum."""
FITTED = {
    "grid_ms": 5.04,
    "requests": 0.128,
    "advance_ms": 2.8,
    "load": 0.259,
    "buffer_ms": 250.0,
}
"""What `sojourn fit` gives for the first half of the idle half hour."""
PATH_JITTER_MS = 0.25
"""Of the scheme `jitter`: the mean that the downstream's 75th to 95th percentile have in common."""
_PROBES = [Stream(200.0, 0.0, start) for start in (0.0, 9.0, 21.0)]
"""Three series of five a second; measured ones are 0 to 30 ms apart, too."""
_PROBE_BYTES = 98
_IDLE_S, _LOADED_S, _EVENING_S = 120.0, 30.0, 60.0
_SETTLED_S = 2.0
ROUTER_UP_MBPS = 33.0
"""CAKE's upstream rate in the router, which is not recorded: that of the 31.5 Mbps that came."""
DOWNLOAD_MBPS = 645.0
"""The mean rate of the download. At times it had 936, so no shaper below that stood in its way."""
ACKNOWLEDGEMENTS_PER_S = 8376
"""What the download's receiver sent."""
_LAB_BYTES, _LAB_MBPS = 66, 50
_LAB_S = 5.0

WAYS = ("up", "down")
_OURS = {"home": "ours"}
"""Where a line has several homes."""

Scenario = dict[str, Any]


@dataclass(frozen=True)
class Where:
    """What a scenario depends on."""

    condition: str
    scheme: str
    load: str


def probes(way: str) -> list[str]:
    """The entries that probe a direction."""
    return [f"probe{number}{way}" for number in range(1, len(_PROBES) + 1)]


@cache
def case(row: Row) -> Case:
    """The run of a cell."""
    where = Where(row.table, row.scheme, row.load)
    make = {"lab": _lab, "evening": _evening, "field": _field}.get(row.table, _spectrum)
    name = ", ".join(word for word in (where.condition, where.scheme, where.load) if word)
    return Case(name, make(where), latencies=True)


def _spectrum(where: Where) -> Scenario:
    scenario = _line(where.scheme, _IDLE_S if where.condition == "idle" else _LOADED_S)
    home = _OURS if scenario.get("homes") else {}
    traffic = scenario["traffic"]
    traffic.update(_probing(home))
    if where.condition == "idle":
        return scenario
    shaper = {"rate_mbps": ROUTER_UP_MBPS, "queue": {"scheduler": {"kind": "cake"}}}
    router = {"router": {"upstream": shaper}}
    scenario.update({"homes": {**scenario["homes"], "ours": router}} if home else router)
    load = {"kind": "transfer", "server": "near", "direction": "up", **home}
    if where.condition == "download":
        sender = {"delay_ms": scenario["servers"]["near"]["delay_ms"], "rate_mbps": DOWNLOAD_MBPS}
        scenario["servers"]["sender"] = sender
        scenario["tcp"] = {"interrupt_interval_us": round(1e6 / ACKNOWLEDGEMENTS_PER_S)}
        load.update(server="sender", direction="down")
    traffic["load"] = load
    return scenario


def _probing(home: Mapping[str, str], ways: Sequence[str] = WAYS) -> Scenario:
    """The entries of the probes."""
    return {
        name: {**_probe(way, stream), **home}
        for way in ways
        for name, stream in zip(probes(way), _PROBES, strict=True)
    }


def _probe(way: str, stream: Stream) -> Scenario:
    return {
        "kind": "stream",
        "purpose": "data",
        "server": "near",
        "direction": way,
        "interval_ms": stream.interval_ms,
        "packet_bytes": _PROBE_BYTES,
        "start_s": _SETTLED_S + stream.start_ms / 1e3,
    }


def _line(scheme: str, duration_s: float) -> Scenario:
    if scheme in ("fitted", "jitter"):
        scenario = tomllib.loads(fitted_scenario(FITTED, [], idle_s=duration_s, up_mbps=UP_MBPS))
        scenario["downstream"]["sustained_mbps"] = DOWN_MBPS
        if scheme == "jitter":
            scenario["servers"]["near"]["path_jitter_ms"] = PATH_JITTER_MS
        return scenario
    return _drafted(scheme, DOWN_MBPS, UP_MBPS, duration_s)


def _drafted(scheme: str, down_mbps: float, up_mbps: float, duration_s: float) -> Scenario:
    """What `sojourn init` writes, without the household's own traffic."""
    neighbours = {"lone": "none", "default": "neighbourhood"}.get(scheme, scheme)
    text = draft(down_mbps=down_mbps, up_mbps=up_mbps, uses=["game"], neighbours=neighbours)
    scenario = tomllib.loads(text)
    scenario["traffic"] = {
        name: entry for name, entry in scenario["traffic"].items() if name.startswith("neighbours_")
    }
    servers = scenario["servers"].items()
    scenario["servers"] = {{"game": "near"}.get(name, name): server for name, server in servers}
    del scenario["compare"]
    return {**scenario, "duration_s": duration_s, "baseline": False}


def _lab(where: Where) -> Scenario:
    """A modem alone behind a remote PHY: 50 Mbps of 66 B, and the interconnect's delay."""
    delay_us = 1000 * int(where.load.partition("=")[2])
    stream = {
        "kind": "stream",
        "purpose": "data",
        "server": "near",
        "direction": "up",
        "interval_ms": _LAB_BYTES * 8e-3 / _LAB_MBPS,
        "packet_bytes": _LAB_BYTES,
    }
    return {
        "duration_s": _LAB_S,
        "baseline": False,
        "upstream": {"sustained_mbps": 2 * _LAB_MBPS, "mac": {"map_interval_ms": 2}},
        "downstream": {"sustained_mbps": DOWN_MBPS},
        "cable": {"interconnect": {"delay_us": delay_us}},
        "servers": {"near": {"delay_ms": 0}},
        "traffic": {"stream": stream},
    }


def _evening(where: Where) -> Scenario:
    """A plan's line, probed while the neighbours do little or it is evening."""
    down, up = where.load.partition("=")[2].split("-")
    scenario = _drafted(where.scheme, float(down), float(up), _EVENING_S)
    scenario["traffic"].update(_probing(_OURS))
    return scenario


def _field(where: Where) -> Scenario:
    """An upload on a line with neighbours, behind DOCSIS-PIE."""
    scenario = _drafted("default", DOWN_MBPS, UP_MBPS, _LOADED_S)
    scenario["upstream"]["queue"] = {"law": {"kind": "docsis_pie"}}
    scenario["traffic"]["load"] = {"kind": "transfer", "server": "near", **_OURS}
    scenario["traffic"].update(_probing(_OURS, ["up"]))
    return scenario
