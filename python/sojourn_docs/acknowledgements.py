"""What a download sends back: acknowledgements over its rate, with and without merging."""

from typing import Any

import numpy as np
import sojourn
from sojourn.analysis.curves import Curve
from sojourn.plot.charts.base import Axis, Chart
from sojourn.plot.charts.lines import Lines

_RATES_MBPS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000)
_RECEIVERS: dict[str, dict[str, Any]] = {
    "TCP": {},
    "QUIC": {"transport": "quic"},
    "TCP, no merging": {"interrupt_interval_us": 0},
}


def scenario(mbps: float, tcp: dict[str, Any]) -> dict[str, Any]:
    """One download, alone on the line."""
    return {
        "duration_s": 8,
        "baseline": False,
        "metrics": {"from_s": 3},
        "upstream": {"sustained_mbps": 50},
        "downstream": {"sustained_mbps": mbps},
        "servers": {"near": {"delay_ms": 5, "rate_mbps": 10_000}},
        "tcp": tcp,
        "traffic": {"get": {"kind": "transfer", "direction": "down"}},
    }


def upstream_mbps(mbps: float, tcp: dict[str, Any]) -> float:
    """The rate of the acknowledgements."""
    result = sojourn.run(scenario(mbps, tcp))
    assert isinstance(result, sojourn.Result)
    rows = {row["direction"]: row for row in result.flows.to_pylist()}
    return float(rows["up"]["throughput_mbps"])


def drawing() -> Chart:
    """A line for each kind of receiver."""
    rates = np.array(_RATES_MBPS, dtype=float)
    curves = [
        Curve(name, rates, np.array([upstream_mbps(mbps, tcp) for mbps in _RATES_MBPS]))
        for name, tcp in _RECEIVERS.items()
    ]
    return Lines(
        "Acknowledgements of a download",
        "What a home sends upstream while it downloads.",
        Axis("download (Mbps)", log=True),
        Axis("acknowledgements (Mbps)"),
        curves=curves,
        marked=True,
    )
