"""The shared upstream channel under load: what a game waits, by homes and by load.

`python -m sojourn_docs.busy_hour` measures again and writes the file that the
figure and the table of docs/plant.md are drawn from.
"""

import csv
from collections.abc import Iterator
from itertools import product
from pathlib import Path
from statistics import mean
from typing import Any

import numpy as np
import sojourn
from sojourn.analysis.curves import Curve
from sojourn.plot.charts.base import Axis, Chart
from sojourn.plot.charts.lines import Lines

FILE = Path(__file__).resolve().parents[2] / "docs" / "img" / "busy-hour.csv"
PHYS = {"ofdma": ("OFDMA, one channel", 1, 834.6), "sc_qam": ("SC-QAM, four carriers", 4, 109.7)}
"""Names, channels and greatest rates in Mbps (network.md)."""
HOMES = (10, 50, 200, 500)
LOADS_PERCENT = (1, 10, 30, 60, 90)
QUANTILES = ("p50", "p90", "p99")
_SEEDS = 5
_GAME_MBPS = 0.1
"""Less than a game takes on the channel; where games alone are more than the load, none is run."""
_PACKET_BYTES = 1400

Key = tuple[str, int, int]
"""Physical layer, homes, load in percent."""


def scenario(phy: str, homes: int, load_percent: int) -> dict[str, Any] | None:
    """Homes with a game each, of which all send datagrams that make up the load."""
    _, channels, greatest_mbps = PHYS[phy]
    mbps = greatest_mbps * load_percent / 100 - homes * _GAME_MBPS
    if mbps <= 0:
        return None
    interval_ms = _PACKET_BYTES * 8 / 1e3 * homes / mbps
    stream = {"kind": "stream", "server": "near", "direction": "up"}
    return {
        "duration_s": 10,
        "baseline": False,
        "metrics": {"from_s": 2},
        "upstream": {"sustained_mbps": 200, "modem": {"kind": "shared_channel"}},
        "downstream": {"sustained_mbps": 200},
        "upstream_channel": {"channels": channels, "phy": {"kind": phy}},
        "servers": {"near": {"delay_ms": 0, "rate_mbps": 100_000}},
        "homes": {"all": {"count": homes}},
        "traffic": {
            "game": {**stream, "purpose": "game"},
            "data": {
                **stream,
                "purpose": "data",
                "packet_bytes": _PACKET_BYTES,
                "interval_ms": interval_ms,
            },
        },
    }


def measure() -> Iterator[list[Any]]:
    """Rows of the file: means over the seeds."""
    for case in product(PHYS, HOMES, LOADS_PERCENT):
        text = scenario(*case)
        if text is None:
            continue
        result = sojourn.run(text, seeds=_SEEDS)
        assert isinstance(result, sojourn.Result)
        games = [
            row
            for row in result.flows.to_pylist()
            if (row["traffic"], row["direction"]) == ("game", "up")
        ]
        means = (mean(game[f"latency_{quantile}_ms"] for game in games) for quantile in QUANTILES)
        yield [*case, *(f"{value:.3g}" for value in means)]


def read() -> dict[Key, list[float]]:
    """The quantiles in ms of each case."""
    with FILE.open(newline="") as file:
        _, *rows = csv.reader(file)
    return {
        (phy, int(homes), int(load)): [float(value) for value in values]
        for phy, homes, load, *values in rows
    }


def drawing() -> Chart:
    """The median and the 99th percentile over the load, on OFDMA."""
    rows = read()
    curves = []
    for homes, (number, quantile) in product((10, 200, 500), ((0, "p50"), (2, "p99"))):
        points = [
            (load, rows["ofdma", homes, load][number])
            for load in LOADS_PERCENT
            if ("ofdma", homes, load) in rows
        ]
        x, y = np.array(points, dtype=float).T
        curves.append(Curve(f"{homes} homes, {quantile}", x, y))
    return Lines(
        "A game on a shared upstream channel",
        "Latency from the player to the CMTS and a server beside it.",
        Axis("load of the channel (%)"),
        Axis("one-way latency (ms)"),
        curves=curves,
        marked=True,
    )


def table() -> str:
    """The rows of docs/plant.md."""
    rows = read()
    lines = []
    for phy, homes in product(PHYS, HOMES):
        cells = [
            " / ".join(f"{value:g}" for value in rows[phy, homes, load])
            if (phy, homes, load) in rows
            else ""
            for load in LOADS_PERCENT
        ]
        lines.append(f"| {PHYS[phy][0]} | {homes} | {' | '.join(cells)} |\n")
    return "".join(lines)


if __name__ == "__main__":
    with FILE.open("w", newline="") as target:
        writer = csv.writer(target, lineterminator="\n")
        writer.writerow(["phy", "homes", "load_percent", *QUANTILES])
        writer.writerows(measure())
