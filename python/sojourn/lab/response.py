"""What a page draws of its runs: figures as plain numbers, and what to think of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from ..analysis.curves import Curve, Sample, cdf, over_time, series
from ..analysis.distribution import Distribution, Numbers
from ..analysis.groups import Results
from ..analysis.tables import RunTables
from ..base.grid import digits
from ..report.grades import Assessment
from ..report.verdict import verdict
from .catalog import Json, activities
from .lab_request import LabRequest

_DIGITS = 4
"""More than a screen can show would only make the response larger."""


@dataclass(frozen=True)
class Line:
    """A curve, and what it comes to in words."""

    curve: Curve
    words: str

    def json(self) -> Json:
        """For the page."""
        x, y = _short(self.curve.x), _short(self.curve.y)
        return {"name": self.curve.name, "x": x, "y": y, "words": self.words}


@dataclass(frozen=True)
class Figure:
    """Lines on two axes; `activity` is the one it is about, empty if about all."""

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
    """Everything that the page shows but the moving picture."""
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
    mark, grade = (one.grade.value, one.grade.word) if one.grade else ("", "open")
    return {"mark": mark, "grade": grade, "summary": one.summary}


def _figures(lab_request: LabRequest, results: Results) -> Iterator[Figure]:
    runs = [(group.name, group.first) for group in results.groups]
    delays = over_time(results.groups, "queue_delay", ["upstream"])
    yield _of_time("queue", "", "Delay in the upstream queue", "delay (ms)", delays)
    for name in lab_request.present():
        entries = list(lab_request.entries(name))
        label = activities()[name].label
        latencies = [Sample(variant, _latency(result, entries)) for variant, result in runs]
        yield Figure(
            "latency",
            name,
            f"Latency upstream: {label}",
            "one-way latency (ms)",
            "packets (%)",
            [Line(cdf(each), _quantiles(each)) for each in latencies if len(each.values.values)],
        )
        way = activities()[name].payload
        rates = [Curve(variant, *_throughput(result, entries, way)) for variant, result in runs]
        title = f"Throughput {way}stream: {label}"
        yield _of_time("throughput", name, title, "throughput (Mbps)", rates)


def _of_time(kind: str, activity: str, title: str, y: str, curves: list[Curve]) -> Figure:
    lines = [Line(curve, _mean_and_most(curve)) for curve in curves if not np.isnan(curve.y).all()]
    return Figure(kind, activity, title, "time (s)", y, lines)


def _quantiles(sample: Sample) -> str:
    half, most, nearly_all = (digits(sample.values.quantile(q)) for q in (0.5, 0.9, 0.99))
    return f"half within {half} ms, 90 % within {most} ms, 99 % within {nearly_all} ms"


def _mean_and_most(curve: Curve) -> str:
    mean, most = (digits(float(f(curve.y))) for f in (np.nanmean, np.nanmax))
    return f"over time {mean} in the mean, {most} at most"


def _latency(result: RunTables, entries: list[str]) -> Distribution:
    """One-way latency upstream in ms, of all entries together."""
    mine = pc.field("traffic").isin(entries) & (pc.field("direction") == "up")
    cells = result.latencies.filter(mine)
    return Distribution.of(cells["latency_ms"].to_pylist(), cells["packets"].to_pylist())


def _throughput(result: RunTables, entries: list[str], way: str) -> tuple[Numbers, Numbers]:
    """Mbps over time in s, of all entries together."""
    curves = [series(result, f"{entry} {way}", "throughput") for entry in entries]
    return curves[0][0], np.sum([values for _, values in curves], axis=0)


def _short(values: np.ndarray[Any, Any]) -> list[float | None]:
    return [None if np.isnan(value) else float(f"{value:.{_DIGITS}g}") for value in values]
