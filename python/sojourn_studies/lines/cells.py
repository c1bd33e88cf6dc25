"""From runs to cells: quantiles of probes, each from the median."""

import csv
from collections.abc import Sequence
from functools import cache, lru_cache
from io import StringIO

from sojourn.analysis.curves import latencies_of
from sojourn.analysis.distribution import Distribution, pooled
from sojourn.base.grid import Grid
from sojourn.store.stored_run import AbsentError, StoredRun

from ..framework.cases import Case, Runs
from ..framework.references import shown
from ..framework.rows import Row, data
from ..framework.score import Compared, scores
from .cases import WAYS, case, probes


def cases_of(row: Row) -> Sequence[Case]:
    """The runs of a cell."""
    return [case(each) for each in _rows(row)]


def _rows(row: Row) -> list[Row]:
    """What is run for a cell: for what is added by a load, the line without it too."""
    if row.table == "evening":
        return [row, row._replace(scheme="neighbourhood")]
    if row.metric.startswith("added_"):
        return [row, row._replace(load="interconnect=0")]
    return [row, row._replace(table="idle")] if row.metric == "added" else [row]


def value_of(row: Row, runs: Runs) -> float | None:
    """A cell."""
    if row.table == "lab":
        return _of_lab(row, runs)
    if row.metric == "added":
        loaded, without = (_round_trip_ms(runs[case(each).name]) for each in _rows(row))
        return loaded - without
    delays = _delays(runs[case(row).name], row.experiment)
    if row.table == "field":
        return _quantile(delays, 50)
    return _quantile(delays, int(row.metric.removeprefix("p"))) - _quantile(delays, 50)


def _of_lab(row: Row, runs: Runs) -> float:
    statistic = row.metric.removeprefix("added_")
    values = [
        float(runs[case(each).name].flow("stream", "up")[f"latency_{statistic}_ms"])
        for each in _rows(row)
    ]
    return values[0] - values[1] if row.metric.startswith("added_") else values[0]


def _round_trip_ms(run: StoredRun) -> float:
    return sum(_quantile(_delays(run, way), 50) for way in WAYS)


@lru_cache(maxsize=64)
def _delays(run: StoredRun, way: str) -> Distribution:
    """One-way delays of the probes in ms."""
    return pooled(latencies_of(run, name, way) for name in probes(way))


def _quantile(delays: Distribution, percent: int) -> float:
    value = delays.quantile(percent / 100)
    if value is None:
        raise AbsentError("a probe")
    return value


@cache
def first_half() -> dict[tuple[str, str, str], float]:
    """What was measured in the other half: by table, experiment and metric."""
    lines = csv.DictReader(StringIO(data("published", "lines-first.csv")))
    return {
        (line["table"], line["experiment"], line["metric"]): float(line["value"]) for line in lines
    }


def overview(cells: Sequence[Compared]) -> Sequence[Grid]:
    """For each condition and way: measured, its parts, and what each scheme predicts."""
    places = dict.fromkeys((cell.row.table, cell.row.experiment) for cell in cells)
    by_scheme = [score.texts for score in scores(cells, lambda row: row.scheme)]
    return [
        Grid("Cells by scheme", ["scheme", "cells", "agree", "%"], by_scheme),
        *(_grid(*place, cells) for place in places),
    ]


def _grid(table: str, experiment: str, cells: Sequence[Compared]) -> Grid:
    here = [c for c in cells if (c.row.table, c.row.experiment) == (table, experiment)]
    schemes = list(dict.fromkeys(cell.row.scheme for cell in here))
    lines = dict.fromkeys((cell.row.load, cell.row.metric) for cell in here)
    by_keys = {(c.row.load, c.row.metric, c.row.scheme): c for c in here}

    def line(load: str, metric: str) -> list[str]:
        of = [by_keys.get((load, metric, scheme)) for scheme in schemes]
        known = next(cell for cell in of if cell is not None)
        ends = known.row.spread
        between = " to ".join(shown(end, 3) for end in ends) if ends else ""
        words = load if load != "spectrum" else ""
        other = first_half().get((table, experiment, metric))
        return [
            " ".join(filter(None, (metric, words))),
            shown(known.published, 3),
            between,
            "" if other is None else shown(other, 3),
            *(_shown(cell) for cell in of),
        ]

    head = ["ms", "measured", "its parts", "other half", *schemes]
    return Grid(f"{table}, {experiment}; ✗ is outside", head, [line(*of) for of in lines])


def _shown(cell: Compared | None) -> str:
    if cell is None:
        return ""
    ours = "none" if cell.ours is None else shown(cell.ours, 3)
    return ours + cell.mark
