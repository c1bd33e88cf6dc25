"""Plotly figures, as the plain dicts that its script reads. Colours that depend on light or dark
mode are set in the page."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..api import Result
from ..summary import flows_of, transfers
from .curves import (
    PALETTE,
    Curve,
    judged_by_latency,
    latency_cdfs,
    page_cdfs,
    queue_delays,
    throughputs,
)

Json = dict[str, Any]
_DASHES = ("solid", "dash", "dot")
_LOG_TICKS = [step * 10.0**decade for decade in range(-3, 7) for step in (1, 2, 5)]


@dataclass(frozen=True)
class Figure:
    """A figure and what it shows."""

    title: str
    caption: str
    data: list[Json]
    layout: Json


def figures(runs: Mapping[str, Result]) -> list[Figure]:
    """Every figure for which the runs have data."""
    all_figures = [
        _latency(runs),
        _page_distribution(runs),
        _pages(runs),
        *_throughput(runs),
        _queue_delay(runs),
    ]
    return [figure for figure in all_figures if figure.data]


def _latency(runs: Mapping[str, Result]) -> Figure:
    quality = judged_by_latency(runs)
    return Figure(
        f"Latency of {quality} packets",
        "Share of packets whose one-way latency is at most the value on the horizontal axis. "
        "Further left is better; a tail to the right is what people notice.",
        _lines(latency_cdfs(runs, flows_of(quality))),
        _axes("one-way latency (ms)", "packets (%)", x="log"),
    )


def _page_distribution(runs: Mapping[str, Result]) -> Figure:
    lines = _lines(page_cdfs(runs))
    for line in lines:
        line["line"]["shape"] = "hv"
    return Figure(
        "Distribution of page load times",
        "Share of pages whose load time is at most the value on the horizontal axis.",
        lines,
        _axes("page load time (s)", "pages (%)"),
    )


def _pages(runs: Mapping[str, Result]) -> Figure:
    boxes = [
        {
            "type": "box",
            "orientation": "h",
            "name": name or "pages",
            "x": result.pages["load_time_s"].to_pylist(),
            "boxpoints": "all",
            "pointpos": 0,
            "jitter": 0.4,
            "marker": {"size": 4, "opacity": 0.6, **color},
            "line": {"width": 1.5, **color},
            "fillcolor": "rgba(0,0,0,0)",
        }
        for (name, result), color in zip(runs.items(), _colors(len(runs)), strict=True)
        if result.pages.num_rows
    ]
    layout = _axes("page load time (s)", "")
    layout["showlegend"] = False
    layout["yaxis"] = {"type": "category", "autorange": "reversed", "automargin": True}
    caption = "Every page is a dot; boxes span the quartiles."
    return Figure("Page load times", caption, boxes, layout)


def _throughput(runs: Mapping[str, Result]) -> list[Figure]:
    return [
        Figure(
            f"{name} throughput",
            "Bytes on the wire delivered, over time.",
            _lines(throughputs(runs, transfers(direction))),
            _axes("time (s)", "throughput (Mbps)"),
        )
        for name, direction in (("Upload", "up"), ("Download", "down"))
    ]


def _queue_delay(runs: Mapping[str, Result]) -> Figure:
    return Figure(
        "Upstream queueing delay",
        "Mean time that packets had spent in the modem's queue when they left it.",
        _lines(queue_delays(runs, "upstream")),
        _axes("time (s)", "queueing delay (ms)", y="log"),
    )


def _lines(curves: Sequence[Curve]) -> list[Json]:
    return [
        {
            "type": "scatter",
            "mode": "lines",
            "name": curve.name,
            "x": _rounded(curve.x),
            "y": _rounded(curve.y),
            "line": {"width": 1.5, "dash": _DASHES[index // len(PALETTE) % len(_DASHES)], **color},
        }
        for index, (curve, color) in enumerate(zip(curves, _colors(len(curves)), strict=True))
    ]


def _colors(count: int) -> list[Json]:
    return [{"color": PALETTE[index % len(PALETTE)]} for index in range(count)]


def _rounded(values: np.ndarray[Any, Any]) -> list[float | None]:
    # More digits than a screen can show would only make the file larger.
    return [None if np.isnan(value) else float(f"{value:.5g}") for value in values]


def _axes(x_title: str, y_title: str, x: str = "linear", y: str = "linear") -> Json:
    return {"xaxis": _axis(x_title, x), "yaxis": _axis(y_title, y)}


def _axis(title: str, kind: str) -> Json:
    ticks = {"tickvals": _LOG_TICKS} if kind == "log" else {}
    return {"title": {"text": title}, "type": kind, **ticks}
