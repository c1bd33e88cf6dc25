"""What a page draws of its runs: figures as plain numbers, and what to think of them."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow.compute as pc

from ..api import Result
from ..report.curves import Curve, Numbers, queue_delays, series
from ..report.grades import USES, Judged, judged
from .catalog import Json, activities
from .wish import Wish

_DIGITS = 4
"""More than a screen can show would only make the answer larger."""
_SHARES = np.linspace(0, 100, 301)[1:]
"""Points of a distribution in %."""


@dataclass(frozen=True)
class Figure:
    """Lines on two axes; `activity` is the one it is about, empty if about all."""

    kind: str
    activity: str
    title: str
    x: str
    y: str
    x_log: bool
    lines: list[Curve]

    def json(self) -> Json:
        """For the page."""
        lines = [{"name": c.name, "x": _short(c.x), "y": _short(c.y)} for c in self.lines]
        return {**vars(self), "lines": lines}


def answer(wish: Wish, runs: Mapping[str, Result]) -> Json:
    """Everything that the page shows but the moving picture."""
    return {
        "runs": [_run(name, result) for name, result in runs.items()],
        "verdicts": list(_verdicts(runs)),
        "figures": [figure.json() for figure in _figures(wish, runs) if figure.lines],
    }


def _run(name: str, result: Result) -> Json:
    kept = ("duration_s", "seed", "fingerprint", "warnings", "forwarded_packets")
    return {"name": name, **{key: result.meta[key] for key in kept}}


def _verdicts(runs: Mapping[str, Result]) -> Iterator[Json]:
    """A row for each use that a run has, with a cell for each run."""
    found = [{one.use.name: one for one in judged([result])} for result in runs.values()]
    for use in USES:
        cells = [_cell(of_run.get(use.name)) for of_run in found]
        if any(cells):
            yield {"use": use.name, "cells": cells}


def _cell(one: Judged | None) -> Json | None:
    if one is None:
        return None
    mark, grade = (one.grade.value, one.grade.word) if one.grade else ("", "open")
    return {"mark": mark, "grade": grade, "words": one.words}


def _figures(wish: Wish, runs: Mapping[str, Result]) -> Iterator[Figure]:
    time = "time (s)"
    delays = queue_delays(runs, "upstream")
    yield Figure("queue", "", "Delay in the upstream queue", time, "delay (ms)", False, delays)
    for name in wish.present():
        entries = list(wish.entries(name))
        label = activities()[name].label
        yield Figure(
            "latency",
            name,
            f"Latency upstream: {label}",
            "one-way latency (ms)",
            "packets (%)",
            True,
            [Curve(n, *cdf) for n, r in runs.items() if (cdf := _latency(r, entries))],
        )
        way = activities()[name].payload
        yield Figure(
            "throughput",
            name,
            f"Throughput {'up' if way == 'up' else 'down'}stream: {label}",
            time,
            "throughput (Mbps)",
            False,
            [Curve(n, *_throughput(r, entries, way)) for n, r in runs.items()],
        )


def _latency(result: Result, entries: list[str]) -> tuple[Numbers, Numbers] | None:
    """Share of the packets in %, over their latency upstream in ms, of all entries together."""
    mine = pc.field("traffic").isin(entries) & (pc.field("direction") == "up")
    cells = result.latencies.filter(mine).group_by("latency_ms").aggregate([("packets", "sum")])
    if not cells.num_rows:
        return None
    cells = cells.sort_by("latency_ms")
    upto = np.cumsum(cells["packets_sum"].to_numpy())
    at = np.searchsorted(upto, _SHARES / 100 * upto[-1])
    return cells["latency_ms"].to_numpy()[np.minimum(at, len(upto) - 1)], _SHARES


def _throughput(result: Result, entries: list[str], way: str) -> tuple[Numbers, Numbers]:
    """Mbps over time in s, of all entries together."""
    curves = [series(result, f"{entry} {way}", "throughput") for entry in entries]
    return curves[0][0], np.sum([values for _, values in curves], axis=0)


def _short(values: np.ndarray[Any, Any]) -> list[float | None]:
    return [None if np.isnan(value) else float(f"{value:.{_DIGITS}g}") for value in values]
