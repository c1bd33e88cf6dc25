"""The matrix: services, MAP intervals, modems and loads, with two games in each."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from ..framework.cases import Case

RATES_MBPS = (50, 200)
MAPS_MS = (1, 2)
SCHEMES = ("pie", "lld", "lld-pgs")
OPEN = "lld-open"
"""Without Queue Protection, which only abuse distinguishes."""
GAMES = ("game-0", "game-45")

_PRAGUE = {"congestion_control": {"kind": "prague"}}

LOADS: dict[str, dict[str, dict[str, Any]]] = {
    "idle": {},
    "cubic": {"cubic": {}},
    "cubic-8": {"cubic": {"connections": 8}},
    "prague": {"prague": {"tcp": _PRAGUE}},
    "prague-cubic": {"prague": {"tcp": _PRAGUE}, "cubic": {}},
    "abuse": {},
}
"""Uploads of each load; abuse has UDP instead."""

PROACTIVE_MBPS = 5
DURATION_S = 60
_GAME_BYTES = 146
_GAME_INTERVAL_MS = 15
_ABUSE = 1.2


@dataclass(frozen=True)
class Where:
    """A case of the matrix."""

    mbps: int
    map_ms: int
    scheme: str
    load: str

    @property
    def table(self) -> str:
        """The service and the MAP interval."""
        return f"{self.mbps}-mbps-map-{self.map_ms}"

    @property
    def uploads(self) -> list[str]:
        """Entries beside the games."""
        return ["udp"] if self.load == "abuse" else list(LOADS[self.load])


def _upstream(where: Where) -> dict[str, Any]:
    upstream: dict[str, Any] = {
        "sustained_mbps": where.mbps,
        "peak_mbps": round(1.1 * where.mbps),
        "burst_bytes": 100_000,
        "mac": {"map_interval_ms": where.map_ms},
    }
    if where.scheme == "pie":
        return {**upstream, "queue": {"law": {"kind": "docsis_pie"}}}
    protects = where.scheme != OPEN
    scheduler = {"kind": "low_latency", "queue_protection": protects}
    if where.scheme == "lld-pgs":
        upstream["scheduling"] = {
            "kind": "proactive_grants",
            "guaranteed_grant_rate_mbps": PROACTIVE_MBPS,
            "guaranteed_grant_interval_us": 1000 * where.map_ms,
        }
    return {**upstream, "queue": {"scheduler": scheduler}}


def _traffic(where: Where) -> dict[str, Any]:
    game = {
        "kind": "stream",
        "purpose": "game",
        "direction": "up",
        "server": "peer",
        "packet_bytes": _GAME_BYTES,
        "interval_ms": _GAME_INTERVAL_MS,
    }
    games = {name: {**game, "dscp": int(name.removeprefix("game-"))} for name in GAMES}
    if where.load != "abuse":
        upload = {"kind": "transfer", "server": "files"}
        return {**games, **{name: {**upload, **keys} for name, keys in LOADS[where.load].items()}}
    packet_bytes = 1500
    interval_ms = packet_bytes * 8 / (_ABUSE * where.mbps) / 1e3
    return {
        **games,
        "udp": {
            "kind": "stream",
            "purpose": "data",
            "server": "files",
            "packet_bytes": packet_bytes,
            "interval_ms": interval_ms,
            "ecn": "ect1",
        },
    }


@cache
def case(where: Where) -> Case:
    """A case of the matrix."""
    scenario = {
        "title": f"Low Latency DOCSIS, {where.table}, {where.scheme}, {where.load}",
        "duration_s": DURATION_S,
        "dialect": "linux",
        "upstream": _upstream(where),
        "downstream": {"sustained_mbps": 1000, "peak_mbps": 1000, "burst_bytes": 1_000_000},
        "servers": {"peer": {"delay_ms": 5}, "files": {"delay_ms": 10}},
        "traffic": _traffic(where),
    }
    name = f"{where.table}, {where.scheme}, {where.load}"
    return Case(name, scenario, also=("service_flows", "delay_parts"))
