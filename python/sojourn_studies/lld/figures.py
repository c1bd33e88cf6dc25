"""Latency of the game with DSCP 45 by load, for each modem."""

import numpy as np

from ..framework.canvas import Plot, drawing_of_panels
from ..framework.cases import Case, Runs
from ..framework.drawing import Drawing, Figure
from ..framework.rows import FigureNumber
from .cases import LOADS, MAPS_MS, RATES_MBPS, SCHEMES, Where, case

_METRICS = {"median": "latency_p50_ms", "99.9 %": "latency_p999_ms"}


def _latencies(mbps: int, map_ms: int, metric: str, runs: Runs) -> list[Plot]:
    """A line per modem over the loads, in their order."""
    places = np.arange(len(LOADS), dtype=float)

    def values(scheme: str) -> list[float]:
        flows = (runs[case(Where(mbps, map_ms, scheme, load)).name] for load in LOADS)
        return [run.flow("game-45", "up")[metric] for run in flows]

    return [Plot(scheme, places, np.array(values(scheme), dtype=float)) for scheme in SCHEMES]


def _games(runs: Runs) -> Drawing:
    panels = {
        f"{mbps} Mbps, MAP {map_ms} ms, {name}": _latencies(mbps, map_ms, metric, runs)
        for name, metric in _METRICS.items()
        for mbps in RATES_MBPS
        for map_ms in MAPS_MS
    }
    loads = ", ".join(f"{place} {load}" for place, load in enumerate(LOADS))
    title = f"Latency of the game with DSCP 45 by load: {loads}"
    return drawing_of_panels(title, panels, 4, "load", "latency (ms)", yscale="log")


def _cases() -> list[Case]:
    return [
        case(Where(mbps, map_ms, scheme, load))
        for mbps in RATES_MBPS
        for map_ms in MAPS_MS
        for load in LOADS
        for scheme in SCHEMES
    ]


FIGURES: dict[FigureNumber, Figure] = {"games": Figure(_games, _cases())}
