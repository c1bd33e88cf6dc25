"""From runs to the cells of both testbeds."""

from collections.abc import Sequence
from operator import attrgetter

import numpy as np
from sojourn.analysis.distribution import Distribution
from sojourn.base.grid import Grid

from ..framework.cases import Case, Runs
from ..framework.rows import Row
from ..framework.score import Compared, scores
from .cases import MEASURED_S, TCP_HEADER_BYTES, Link, case, warm_up
from .measured import Flow, flow


def cases_of(row: Row) -> Sequence[Case]:
    """The run of a cell, and its warm-up."""
    return [case(row), warm_up(case(row), row.table)]


def value_of(row: Row, runs: Runs) -> float | None:
    """A cell."""
    link = Link.of(row)
    whole, before = (runs[one.name] for one in cases_of(row))

    def flows(name: str) -> dict[str, Flow]:
        return {entry: flow(entry, whole, before) for entry in link.entries(name)}

    if row.metric == "rate_ratio":
        of = flows("both")
        return of["a"].delivered_bytes / of["b"].delivered_bytes
    if row.metric == "goodput":
        of_a = flow("a", whole, before)
        payload_bytes = of_a.delivered_bytes - TCP_HEADER_BYTES * of_a.delivered
        return payload_bytes * 8e-6 / MEASURED_S[row.table]
    if row.metric == "share":
        everything = flows("both") | flows("udp")
        total = sum(one.delivered_bytes for one in everything.values())
        return 100 * everything[row.flow].delivered_bytes / total
    of = flows(row.flow)
    return _of_queue(row.metric, of, {entry: link.base_ms(entry) for entry in of})


def _of_queue(metric: str, of: dict[str, Flow], base_ms: dict[str, float]) -> float | None:
    delivered = sum(one.delivered for one in of.values())
    if metric == "marks":
        return 100 * sum(one.marked for one in of.values()) / delivered
    if metric == "drop_rate":
        dropped = sum(one.dropped for one in of.values())
        return 100 * dropped / (delivered + dropped)
    if metric == "delay_mean":
        waits = ((one.mean_ms - base_ms[entry]) * one.delivered for entry, one in of.items())
        return sum(waits) / delivered
    parts = [_waits(one.latencies_ms, base_ms[entry]) for entry, one in of.items()]
    together = Distribution.of(
        np.concatenate([part.values for part in parts]),
        np.concatenate([part.weights for part in parts]),
    )
    return together.quantile(float(metric.removeprefix("delay_p")) / 100)


def _waits(latencies_ms: Distribution, base_ms: float) -> Distribution:
    """Waits from latencies, which stand for cells by their upper edges: by their middles here."""
    edges = latencies_ms.values
    cell_ms = 2.0 ** np.floor(np.log2(np.maximum(edges, 1e-3) * 1e3) - 10) / 1e3
    middles = edges - np.maximum(cell_ms, 1e-3) / 2
    return Distribution(np.maximum(middles - base_ms, 0), latencies_ms.weights)


def overview(cells: Sequence[Compared]) -> Sequence[Grid]:
    """The score of each metric, and of each queue manager."""
    return [
        Grid(
            f"Cells by {what}",
            [what, "cells", "agree", "%"],
            [score.texts for score in scores(cells, attrgetter(key))],
        )
        for what, key in (("metric", "metric"), ("queue manager", "scheme"))
    ]
