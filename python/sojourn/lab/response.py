"""The response to a page: the grades and the figures of its runs, as JSON."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from ..analysis.curves import Curve, Sample, cdf, over_time, series
from ..analysis.distribution import Distribution, Numbers
from ..analysis.groups import Results
from ..analysis.tables import RunTables
from ..analysis.verdict import Assessment, verdict
from ..base.grid import digits
from .catalog import Json, activities
from .lab_request import LabRequest

_DIGITS = 4
"""Significant digits; a screen cannot show more."""


@dataclass(frozen=True)
class Line:
    """A curve, and a summary of it in words."""

    curve: Curve
    summary: str

    def json(self) -> Json:
        """For the page."""
        x, y = _short(self.curve.x), _short(self.curve.y)
        return {"name": self.curve.name, "x": x, "y": y, "summary": self.summary}


@dataclass(frozen=True)
class Figure:
    """Lines on two axes; `activity` is empty if the figure shows all activities."""

    kind: str
    activity: str
    title: str
    x: str
    y: str
    lines: list[Line]

    def json(self) -> Json:
        """For the page."""
        return {**vars(self), "lines": [line.json() for line in self.lines]}


def response(lab_request: LabRequest, runs: Mapping[str, RunTables]) -> Json:
    """Everything that the page shows except the animation."""
    results = Results.of(runs)
    judged = verdict(results)
    return {
        "runs": [_run(name, result) for name, result in runs.items()],
        "sentences": judged.sentences,
        "ungraded": judged.ungraded,
        "verdicts": [
            {
                "application": application.name,
                "cells": [_cell(judged.of(name, application)) for name in judged.groups],
            }
            for application in judged.applications
        ],
        "figures": [figure.json() for figure in _figures(lab_request, results) if figure.lines],
    }


def _run(name: str, result: RunTables) -> Json:
    kept = ("duration_s", "seed", "fingerprint", "warnings", "forwarded_packets")
    return {"name": name, **{key: result.meta[key] for key in kept}}


def _cell(one: Assessment | None) -> Json | None:
    if one is None:
        return None
    mark, grade = (one.grade.value, one.grade.word) if one.grade else ("", "not measured")
    return {"mark": mark, "grade": grade, "summary": one.summary}


def _figures(lab_request: LabRequest, results: Results) -> Iterator[Figure]:
    runs = [(group.name, group.first) for group in results.groups]
    delays = over_time(results.groups, "queue_delay", ["upstream"])
    yield _of_time("queue", "", "Upstream queueing delay", "delay (ms)", delays)
    for name in lab_request.present():
        entries = list(lab_request.entries(name))
        label = activities()[name].label
        latencies = [Sample(variant, _latency(result, entries)) for variant, result in runs]
        yield Figure(
            "latency",
            name,
            f"Upstream latency: {label}",
            "one-way latency (ms)",
            "packets (%)",
            [Line(cdf(each), _quantiles(each)) for each in latencies if len(each.values.values)],
        )
        direction = activities()[name].payload
        rates = [
            Curve(variant, *_throughput(result, entries, direction)) for variant, result in runs
        ]
        title = f"{direction.capitalize()}stream throughput: {label}"
        yield _of_time("throughput", name, title, "throughput (Mbps)", rates)


def _of_time(kind: str, activity: str, title: str, y: str, curves: list[Curve]) -> Figure:
    lines = [Line(curve, _mean_and_most(curve)) for curve in curves if not np.isnan(curve.y).all()]
    return Figure(kind, activity, title, "time (s)", y, lines)


def _quantiles(sample: Sample) -> str:
    half, most, nearly_all = (digits(sample.values.quantile(q)) for q in (0.5, 0.9, 0.99))
    return f"50 % within {half} ms, 90 % within {most} ms, 99 % within {nearly_all} ms"


def _mean_and_most(curve: Curve) -> str:
    mean, most = (digits(float(f(curve.y))) for f in (np.nanmean, np.nanmax))
    return f"mean {mean}, maximum {most}"


def _latency(result: RunTables, entries: list[str]) -> Distribution:
    """Upstream one-way latency in ms, over all entries."""
    mine = pc.field("traffic").isin(entries) & (pc.field("direction") == "up")
    cells = result.latencies.filter(mine)
    return Distribution.of(cells["latency_ms"].to_pylist(), cells["packets"].to_pylist())


def _throughput(result: RunTables, entries: list[str], direction: str) -> tuple[Numbers, Numbers]:
    """Throughput in Mbps over time in s, summed over all entries."""
    curves = [series(result, f"{entry} {direction}", "throughput") for entry in entries]
    return curves[0][0], np.sum([values for _, values in curves], axis=0)


def _short(values: np.ndarray[Any, Any]) -> list[float | None]:
    return [None if np.isnan(value) else float(f"{value:.{_DIGITS}g}") for value in values]
